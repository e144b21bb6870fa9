// Reads {"client": bool, "message": {...}} lines and prints those that OpenAI's own
// agents would not understand, by their zod schemas.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const entry = createRequire(import.meta.url).resolve('@openai/agents-realtime');
const { realtimeClientEventSchema, realtimeServerEventSchema } = await import(
  pathToFileURL(join(dirname(entry), 'openaiRealtimeEvents.mjs')).href
);
let n = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { client, message } = JSON.parse(line);
  const r = (client ? realtimeClientEventSchema : realtimeServerEventSchema).safeParse(message);
  n++;
  if (!r.success) console.log(`${client ? 'client' : 'server'} ${message.type}: ${JSON.stringify(r.error.issues).slice(0, 600)}`);
}
console.error(`${n} messages`);
