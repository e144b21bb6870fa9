// Sound plays what the room hears: a socket of 20 ms frames into a worklet that
// holds as little of them as it can. See appendSound in sound.go for the format.

const FRAME = 1;
const SILENCE = 2;

export class Sound {
  // on: count(name), level(npc, 0..1), state(word), error(text), reasonFor(path).
  constructor(on) {
    this.on = on;
    this.wanted = false;
    this.tries = 0;
  }

  open() {
    if (this.wanted) return;
    this.wanted = true;
    this.connect();
    this.wake();
  }

  close() {
    this.wanted = false;
    clearTimeout(this.again);
    this.socket?.close();
    this.flush();
    this.context?.suspend();
    this.on.state('off');
  }

  // wake starts the sound card, which browsers allow only once somebody has
  // touched the page.
  async wake() {
    if (!this.wanted) return;
    try {
      this.starting ??= this.start();
      await this.starting;
      if (this.context.state !== 'running' && navigator.userActivation?.hasBeenActive !== false) await this.context.resume();
    } catch (err) {
      this.starting = undefined;
      if (!this.told) this.on.error('This browser cannot play the table: ' + err.message);
      this.told = true;
    }
    this.tell();
  }

  async start() {
    this.context = new AudioContext({ sampleRate: 48000, latencyHint: 'interactive' });
    this.context.addEventListener('statechange', () => this.tell());
    await this.context.audioWorklet.addModule('/assets/play-worklet.js');
    this.node = new AudioWorkletNode(this.context, 'play', { numberOfInputs: 0, outputChannelCount: [1] });
    this.node.port.onmessage = (e) => {
      for (const [npc, level] of e.data.levels) this.on.level(npc, level);
      if (e.data.played) this.on.count('framesPlayed', e.data.played);
    };
    this.node.connect(this.context.destination);
  }

  tell() {
    if (!this.wanted) return;
    const running = this.context?.state === 'running';
    this.on.state(running ? 'on' : 'waiting');
  }

  connect() {
    const socket = new WebSocket(new URL('/sound', location.href.replace(/^http/, 'ws')));
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => { this.tries = 0; };
    socket.onmessage = (e) => this.take(e.data);
    socket.onclose = async () => {
      if (!this.wanted || this.socket !== socket) return;
      if (++this.tries === 3) {
        const why = await this.on.reasonFor('/sound');
        if (why) this.on.error(why);
      }
      this.again = setTimeout(() => this.wanted && this.connect(), Math.min(500 * 2 ** this.tries, 15000));
    };
    this.socket = socket;
  }

  take(data) {
    const head = new Uint8Array(data, 0, 2);
    const npc = new TextDecoder().decode(new Uint8Array(data, 2, head[1]));
    if (head[0] === SILENCE) {
      this.on.count('flushes');
      this.node?.port.postMessage({ flush: npc });
      return;
    }
    if (head[0] !== FRAME) return;
    this.on.count('framesReceived');
    if (this.context?.state !== 'running') return;
    const from = 2 + head[1] + (head[1] % 2);
    this.node?.port.postMessage({ npc, samples: new Int16Array(data, from) });
  }

  // flush falls silent here and now, before the server has heard of it.
  flush() { this.node?.port.postMessage({ flush: '' }); }
}
