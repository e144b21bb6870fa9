// Members of a call on davey, one request and one answer a line. Bytes travel as
// base64. The Go test on the other end is the voice server.
import readline from 'node:readline';
import { DAVESession, MediaType } from '@snazzah/davey';

const members = new Map();
const bytes = (s) => Buffer.from(s ?? '', 'base64');
const text = (b) => (b ? Buffer.from(b).toString('base64') : '');

const does = {
  join({ user, channel }) {
    const session = new DAVESession(1, user, channel);
    members.set(user, session);
    return { data: text(session.getSerializedKeyPackage()) };
  },
  rejoin(member, { user, channel }) {
    member.reinit(1, user, channel);
    return { data: text(member.getSerializedKeyPackage()) };
  },
  externalSender: (member, { data }) => void member.setExternalSender(bytes(data)),
  proposals(member, { data, users }) {
    const b = bytes(data);
    const { commit, welcome } = member.processProposals(b[0], b.subarray(1), users);
    return { data: commit ? text(Buffer.concat([commit, welcome ?? Buffer.alloc(0)])) : '' };
  },
  commit: (member, { data }) => void member.processCommit(bytes(data)),
  welcome: (member, { data }) => void member.processWelcome(bytes(data)),
  seal: (member, { data }) => ({ data: text(member.encryptOpus(bytes(data))) }),
  open: (member, { from, data }) => ({ data: text(member.decrypt(from, MediaType.AUDIO, bytes(data))) }),
  state: (member) => ({ code: member.voicePrivacyCode, epoch: Number(member.epoch ?? 0) }),
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    const { op } = request;
    answer = op === 'join' ? does.join(request) : (does[op](members.get(request.user), request) ?? {});
  } catch (e) {
    answer = { error: String(e?.message ?? e) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
