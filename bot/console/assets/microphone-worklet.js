// The worklet that hears: the sound card's rate down to 16 kHz, 16 bit, in frames
// of 20 ms, which is what recognisers take.

const RATE = 16000;
const FRAME = 320;
const PHASES = 64; // positions between two samples that the filter knows
const REACH = 12; // zero crossings on each side

// A windowed sinc below 7.4 kHz: what lies above half the new rate would fold
// back as noise.
function filter(ratio) {
  const half = Math.ceil(REACH * ratio);
  const cut = 7400 / RATE / ratio * 2;
  const taps = [];
  for (let p = 0; p <= PHASES; p++) {
    const phase = new Float32Array(2 * half);
    let sum = 0;
    for (let i = 0; i < phase.length; i++) {
      const x = i - half + 1 - p / PHASES;
      const sinc = x === 0 ? 1 : Math.sin(Math.PI * cut * x) / (Math.PI * cut * x);
      const window = Math.abs(x) >= half ? 0 : 0.5 + 0.5 * Math.cos(Math.PI * x / half);
      sum += phase[i] = sinc * window;
    }
    for (let i = 0; i < phase.length; i++) phase[i] /= sum;
    taps.push(phase);
  }
  return { taps, half };
}

class Hear extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ratio = sampleRate / RATE;
    Object.assign(this, filter(Math.max(1, this.ratio)));
    this.ring = new Float32Array(1 << 13);
    this.written = 2 * this.half; // silence before the first sample
    this.next = this.half; // where the next output sample lies
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.power = 0;
  }

  process(inputs) {
    const input = inputs[0][0];
    if (!input) return true; // the microphone has not started yet
    const mask = this.ring.length - 1;
    for (let i = 0; i < input.length; i++) this.ring[this.written++ & mask] = input[i];
    while (Math.floor(this.next) + this.half + 1 < this.written) {
      const base = Math.floor(this.next);
      const taps = this.taps[Math.round((this.next - base) * PHASES)];
      let sum = 0;
      for (let i = 0; i < taps.length; i++) sum += taps[i] * this.ring[(base - this.half + 1 + i) & mask];
      this.put(sum);
      this.next += this.ratio;
    }
    return true;
  }

  put(v) {
    this.power += v * v;
    this.frame[this.filled++] = Math.max(-32768, Math.min(32767, Math.round(v * 32767)));
    if (this.filled < FRAME) return;
    const level = Math.min(1, Math.sqrt(this.power / FRAME) * 6);
    this.port.postMessage({ frame: this.frame.buffer, level }, [this.frame.buffer]);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.power = 0;
  }
}

registerProcessor('hear', Hear);
