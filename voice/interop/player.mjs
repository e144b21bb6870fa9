// Players of a call on discord.js's own voice package, driven by lines of JSON.
// What the main gateway would say comes from the Go test on the other end, or
// from a gateway that discord.js has logged in to (client.mjs); the call itself is
// a real one, over TLS and UDP. Opus packets travel as base64.
import readline from 'node:readline';
import { Readable } from 'node:stream';
import {
  AudioPlayerStatus,
  EndBehaviorType,
  NoSubscriberBehavior,
  StreamType,
  VoiceConnectionStatus,
  createAudioPlayer,
  createAudioResource,
  joinVoiceChannel,
} from '@discordjs/voice';
import * as client from './client.mjs';

const players = new Map();
const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

// join joins a call of which the Go test knows where it is.
function join({ user, guild, channel, session, token, endpoint }) {
  let adapter;
  connect({ user, guild, channel }, (methods) => {
    adapter = methods;
    return { sendPayload: () => true, destroy() {} };
  });
  adapter.onVoiceStateUpdate({ user_id: user, guild_id: guild, channel_id: channel, session_id: session });
  adapter.onVoiceServerUpdate({ token, guild_id: guild, endpoint });
}

// enter joins a call by asking the main gateway.
const enter = ({ user, guild, channel }) => connect({ user, guild, channel }, client.adapter(user, guild));

function connect({ user, guild, channel }, adapterCreator) {
  const connection = joinVoiceChannel({
    guildId: guild,
    channelId: channel,
    group: user, // one process may be several people
    selfDeaf: false,
    selfMute: false,
    debug: Boolean(process.env.VOICE_LOG),
    adapterCreator,
  });
  connection.on('debug', (m) => process.stderr.write(`${user}: ${m}\n`));
  connection.on('error', (e) => say({ event: 'error', user, text: String(e?.message ?? e) }));
  connection.on(VoiceConnectionStatus.Ready, () => say({ event: 'ready', user }));
  players.set(user, connection);
}

// speak sends packets of 20 ms, which is all that is left to do for Opus.
function speak({ user, packets }) {
  const player = createAudioPlayer({ behaviors: { noSubscriber: NoSubscriberBehavior.Play } });
  players.get(user).subscribe(player);
  const stream = Readable.from(packets.map((p) => Buffer.from(p, 'base64')), { objectMode: true });
  player.on('error', (e) => say({ event: 'error', user, text: String(e?.message ?? e) }));
  player.on(AudioPlayerStatus.Idle, () => say({ event: 'spoken', user }));
  player.play(createAudioResource(stream, { inputType: StreamType.Opus }));
}

// hear tells what one speaker says until they stop for 500 ms.
function hear({ user, from }) {
  const packets = [];
  players
    .get(user)
    .receiver.subscribe(from, { end: { behavior: EndBehaviorType.AfterSilence, duration: 500 } })
    .on('data', (p) => packets.push(p.toString('base64')))
    .on('end', () => say({ event: 'heard', user, from, packets }));
  say({ event: 'hearing', user });
}

const does = {
  ...client.does,
  join,
  enter,
  speak,
  hear,
  code: ({ user }) => say({ event: 'code', user, text: players.get(user).voicePrivacyCode ?? '' }),
  leave: ({ user }) => {
    players.get(user).destroy();
    players.delete(user);
    say({ event: 'left', user });
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  try {
    await does[request.op](request, say);
  } catch (e) {
    say({ event: 'error', user: request.user, text: String(e?.stack ?? e) });
  }
}
process.exit(0);
