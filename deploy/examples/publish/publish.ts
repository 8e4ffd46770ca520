// Signs a request, sends it over NATS and follows its run over FEED, with the public NATS client only: nothing of Orrery is imported.
//
//   npm install @nats-io/transport-node @nats-io/jetstream @nats-io/nkeys
//   ORRERY_NATS_SEED_FILE=external.seed node publish.ts request.json
//   ORRERY_ACTOR=billing ORRERY_NATS_SEED_FILE=billing.seed node publish.ts request.json   # after: orrery people add billing --system --key
import { readFile } from 'node:fs/promises';
import { jetstream } from '@nats-io/jetstream';
import { fromSeed } from '@nats-io/nkeys';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';

const {
  ORRERY_NATS_URL = 'nats://127.0.0.1:4222',
  ORRERY_NATS_SEED_FILE = '',
  ORRERY_ACTOR = 'external',
  ORRERY_PATIENCE_S = '30',
} = process.env;
const request = JSON.parse(await readFile(process.argv[2] ?? 'request.json', 'utf8')) as Record<string, unknown>;
const seed = new TextEncoder().encode((await readFile(ORRERY_NATS_SEED_FILE, 'utf8')).trim());
const key = fromSeed(seed);
// Answers are heard at the inbox of this key only.
const nc = await connect({
  servers: ORRERY_NATS_URL,
  authenticator: nkeyAuthenticator(seed),
  inboxPrefix: `_INBOX_${key.getPublicKey()}`,
});

// JSON in one form only (RFC 8785): the names of an object in order, no spaces. For ASCII names this is all there is to it.
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
};

// The request is signed with the key that lets this program in, for this subject and this time: whoever audits the run can check it.
const at = new Date().toISOString();
const signed = new TextEncoder().encode(canonical({ subject: 'orrery.submit', at, body: request }));
const signature = Buffer.from(key.sign(signed)).toString('base64url');
const actor = { key: key.getPublicKey(), at, signature };

// `orrery.submit` answers at once; the same request id may be sent again until it has: it is the same run for ever.
const answer = (await nc.request('orrery.submit', JSON.stringify({ ...request, actor }), { timeout: 6_000 })).json<{
  runId?: string;
  error?: { message: string };
}>();
if (answer.runId === undefined) {
  console.error(`refused: ${answer.error?.message}`);
  process.exit(3);
}
console.log(`accepted as run ${answer.runId}`);

// FEED holds every event as a CloudEvents message. A durable is made for this system, for the runs that it asked for: the server remembers
// how far it is, so nothing is missed by coming late. Programs of one system share it: one of them follows.
interface Event {
  type: string;
  subject?: string;
  orreryrunid: string;
  data: { outcome?: string };
}
const durable = ORRERY_ACTOR === 'external' ? 'external' : `external-${ORRERY_ACTOR}`;
const feed = await jetstream(nc, { domain: 'orrery' }).consumers.get('FEED', durable);
const expires = Number(ORRERY_PATIENCE_S) * 1_000;
let [told, exitCode] = [false, 2];
for (;;) {
  const message = await feed.next({ expires });
  if (message === null && !told) {
    console.error(`run ${answer.runId} is known, and its events were told before; orrery show ${answer.runId}`);
    exitCode = 4;
    break;
  }
  if (message === null) continue;
  message.ack();
  const { type, subject = '', orreryrunid, data } = message.json<Event>();
  if (orreryrunid !== answer.runId) continue;
  told = true;
  console.log(type, subject);
  if (/RUN_(?:COMPLETED|FAILED|CANCELLED)$/u.test(type)) {
    exitCode = data.outcome === 'succeeded' ? 0 : 2;
    break;
  }
}
// What was acknowledged last is on its way: without it the server would tell it once more.
await nc.drain();
process.exitCode = exitCode;
