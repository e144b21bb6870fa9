// The worklet that plays the table. Each speaker has a track; frames wait in it
// for as short a time as keeps the sound whole.

const START = 0.06 * sampleRate; // wait for 60 ms before a track begins
const GOOD = 0.1 * sampleRate; // above 100 ms, pauses in the speech are shortened
const MOST = 0.6 * sampleRate; // above 600 ms the oldest sound goes
const QUIET = 0.004;
const FADE = 240; // 5 ms, so that falling silent does not click

class Track {
  constructor() { this.frames = []; this.at = 0; this.held = 0; this.on = false; this.fade = 0; this.idle = 0; }

  push(samples) {
    const frame = new Float32Array(samples.length);
    let peak = 0;
    for (let i = 0; i < frame.length; i++) {
      frame[i] = samples[i] / 32768;
      peak = Math.max(peak, Math.abs(frame[i]));
    }
    if (this.held > GOOD && peak < QUIET) return;
    this.fade = 0;
    this.frames.push(frame);
    this.held += frame.length;
    while (this.held > MOST) this.drop();
    if (this.held >= START) this.on = true;
  }

  drop() {
    this.held -= this.frames.shift().length - this.at;
    this.at = 0;
  }

  flush() {
    if (this.on && this.held > 0) { this.fade = FADE; return; }
    this.clear();
  }

  clear() { this.frames = []; this.at = this.held = this.fade = 0; this.on = false; }

  // mix adds the track to out and answers how loud it was and how many frames
  // it finished.
  mix(out) {
    // The last frames of a line are fewer than START: play them after a moment.
    if (!this.on && this.held > 0 && ++this.idle > START / out.length) this.on = true;
    if (!this.on) return [0, 0];
    this.idle = 0;
    let peak = 0;
    let done = 0;
    for (let i = 0; i < out.length && this.frames.length; i++) {
      let v = this.frames[0][this.at];
      if (this.fade > 0) {
        v *= --this.fade / FADE;
        if (this.fade === 0) { this.clear(); break; }
      }
      out[i] += v;
      peak = Math.max(peak, Math.abs(v));
      this.held--;
      if (++this.at === this.frames[0].length) { this.drop(); done++; }
    }
    if (this.frames.length === 0) this.on = false;
    return [peak, done];
  }
}

class Play extends AudioWorkletProcessor {
  constructor() {
    super();
    this.tracks = new Map();
    this.blocks = 0;
    this.played = 0;
    this.levels = new Map();
    this.port.onmessage = ({ data }) => {
      if ('flush' in data) {
        for (const [npc, track] of this.tracks) if (data.flush === '' || data.flush === npc) track.flush();
        return;
      }
      let track = this.tracks.get(data.npc);
      if (!track) {
        if (this.tracks.size >= 16) this.tracks.clear();
        this.tracks.set(data.npc, track = new Track());
      }
      track.push(data.samples);
    };
  }

  process(_, outputs) {
    const out = outputs[0][0];
    for (const [npc, track] of this.tracks) {
      const [peak, done] = track.mix(out);
      this.played += done;
      this.levels.set(npc, Math.max(peak, this.levels.get(npc) || 0));
    }
    if (++this.blocks % 20 === 0 && (this.played > 0 || this.loud)) { // every 53 ms
      this.loud = [...this.levels.values()].some((v) => v > 0);
      this.port.postMessage({ levels: [...this.levels], played: this.played });
      this.levels.clear();
      this.played = 0;
    }
    return true;
  }
}

registerProcessor('play', Play);
