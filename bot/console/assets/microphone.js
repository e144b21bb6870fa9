// Microphone sends what it hears to the table while it is open. Who is meant and
// when a turn has ended is for the server to say.

export class Microphone {
  // on: count(name), level(0..1), state(word), error(text), reasonFor(path), path().
  constructor(on) {
    this.on = on;
    this.on.state('closed');
  }

  toggle() { if (this.session) this.close(); else this.open(); }

  async open() {
    const session = this.session = {};
    this.on.state('asking');
    try {
      if (!navigator.mediaDevices) throw new Error('browsers open the microphone only on 127.0.0.1, localhost or https pages');
      // Echo has to go, or NPCs would interrupt themselves. Automatic gain stays
      // off: Chromium's drives speech into clipping, and names are lost to it.
      session.stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: false } });
      if (this.session !== session) return this.end(session);
      session.context = new AudioContext();
      await session.context.audioWorklet.addModule('/assets/microphone-worklet.js');
      await session.context.resume();
      session.socket = await this.connect();
      if (this.session !== session) return this.end(session);
      session.socket.onclose = (e) => this.lost(session, e);
      const node = new AudioWorkletNode(session.context, 'hear', { numberOfOutputs: 0 });
      node.port.onmessage = ({ data }) => this.send(session.socket, data);
      session.context.createMediaStreamSource(session.stream).connect(node);
      for (const track of session.stream.getTracks()) track.onended = () => this.lost(session, { reason: 'the microphone was taken away' });
      this.on.state('open');
    } catch (err) {
      this.end(session);
      if (this.session !== session) return;
      this.session = undefined;
      this.on.state('closed');
      this.on.error(err.name === 'NotAllowedError'
        ? 'The browser does not allow the microphone: allow it beside the address, then try again.'
        : err.name === 'NotFoundError' ? 'No microphone was found: plug one in, then try again.'
          : 'The microphone did not open: ' + err.message);
    }
  }

  connect() {
    return new Promise((done, fail) => {
      const path = this.on.path();
      const socket = new WebSocket(new URL(path, location.href.replace(/^http/, 'ws')));
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => done(socket);
      socket.onclose = async () => fail(new Error(await this.on.reasonFor(path) || 'the table cannot be reached'));
    });
  }

  send(socket, { frame, level }) {
    this.on.level(level);
    if (socket.readyState !== WebSocket.OPEN) return;
    // A second of sound that has not left is a second too old.
    if (socket.bufferedAmount > 32000) { this.on.count('framesDropped'); return; }
    socket.send(frame);
    this.on.count('framesSent');
  }

  lost(session, { reason }) {
    if (this.session !== session) return;
    this.close();
    this.on.error('The microphone was closed: ' + (reason || 'the connection to the table is lost'));
  }

  close() {
    const session = this.session;
    this.session = undefined;
    if (session) this.end(session);
    this.on.level(0);
    this.on.state('closed');
  }

  end(session) {
    for (const track of session.stream?.getTracks() || []) { track.onended = null; track.stop(); }
    session.context?.close();
    session.socket?.close(1000);
  }
}
