import { demand, demandEqual, type Check } from '../check.js';
import { typesOf } from '../client.js';
import { HEARTBEAT as BEAT, NULLS, type Fields } from '../frames.js';
import { rawSocket, unmaskedFrame, upgradeHead } from '../raw-socket.js';
import type { Lab } from '../lab.js';
import type { Frame } from '../peer.js';

const TABLE = 'table 5, HEARTBEAT';

const isAnswer = ({ type }: Frame): boolean => type === 'heartbeat' || type === 'error';

const accepts =
  (fields: Fields) =>
  async (lab: Lab): Promise<void> => {
    const device = await lab.registered();
    demandEqual(typesOf(await device.answersToHeartbeat(fields)), ['heartbeat'], 'the answer');
  };

/** Liveness, and the order of answers. */
export const HEARTBEATS: readonly Check[] = [
  {
    id: 'heartbeat.answered',
    what: 'HEARTBEAT is answered with one HEARTBEAT ok, which has an id and a time',
    source: `${TABLE}: HEARTBEAT ack in the opposite direction; recording 01`,
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const answers = await device.answersToHeartbeat();
      demandEqual(typesOf(answers), ['heartbeat'], 'the answer');
      const [answer] = answers;
      demandEqual(answer?.['status'], 'ok', 'the status');
      demandEqual([typeof answer?.['response_id'], typeof answer?.['timestamp']], ['string', 'string'], 'id and time');
    },
  },
  {
    id: 'heartbeat.each-answered',
    what: 'as many HEARTBEATs as come are answered, each under an id of its own',
    source: `${TABLE}: idempotent`,
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      for (let count = 0; count < 19; count++) device.heartbeat();
      const answers = await device.answersToHeartbeat();
      const ids = new Set(
        [...device.peer.frames].filter(({ type }) => type === 'heartbeat').map((f) => f['response_id']),
      );
      demand(answers.length > 0, 'the last heartbeat was not answered');
      demandEqual(ids.size, 21, 'the number of different ids: a confirmation and 20 heartbeats');
    },
  },
  {
    id: 'heartbeat.nulls',
    what: 'every optional field of HEARTBEAT may be null',
    source: 'UFO: every optional field appears as null',
    profile: 'core',
    run: accepts(NULLS),
  },
  {
    id: 'heartbeat.unknown-fields',
    what: 'HEARTBEAT may carry fields that the server does not know',
    source: 'UFO: unknown fields are ignored',
    profile: 'core',
    run: accepts({ future: { a: [1, 2, { b: null }] }, metadata: { device_id: 'x' }, seqence: 7 }),
  },
  {
    id: 'heartbeat.any-role',
    what: 'HEARTBEAT is answered whatever client_type it carries: the connection says who it is',
    source: 'UFO; our promise',
    profile: 'strict',
    run: accepts({ client_type: 'constellation' }),
  },
  {
    id: 'heartbeat.constellation-as-device',
    what: 'HEARTBEAT of a constellation client that calls itself a device is answered',
    source: 'UFO, the trap; recording 14',
    profile: 'strict',
    needs: ['constellation'],
    run: async (lab) => {
      const client = await lab.constellation(null);
      const answers = await client.answersToHeartbeat({
        client_type: 'device',
        metadata: { device_id: lab.device.id },
      });
      demandEqual(typesOf(answers), ['heartbeat'], 'the answer');
    },
  },
  {
    id: 'heartbeat.nameless',
    what: 'HEARTBEAT needs no client_id',
    source: 'recording 22: client_id is compared only if present',
    profile: 'core',
    run: accepts({ client_id: null }),
  },
  {
    id: 'order.of-answers',
    what: 'answers come in the order of what they answer, good and bad frames mixed',
    source: 'paper 7.1: deterministic ordering; table 5: ordering preserved',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const sent = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? 'heartbeat' : 'error'));
      for (const wanted of sent) device.send(wanted === 'heartbeat' ? BEAT : { type: 'telepathy' });
      const answers: Frame[] = [];
      for (const wanted of sent) answers.push(await device.peer.next(`an answer (${wanted})`, isAnswer));
      demandEqual(typesOf(answers), sent, 'the order of the answers');
    },
  },
];

/** What RFC 6455 demands of every server, and clients rely on. */
export const WEB_SOCKET: readonly Check[] = [
  {
    id: 'websocket.ping',
    what: 'a ping is answered with a pong of the same content, before REGISTER and after it',
    source: 'RFC 6455 5.5.2; UFO: pings every 20 s',
    profile: 'core',
    run: async (lab) => {
      await (await lab.dial()).ping('early');
      await (await lab.registered()).peer.ping('are you there?');
    },
  },
  {
    id: 'websocket.fragments',
    what: 'a message in pieces is one message',
    source: 'RFC 6455 5.4',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const text = JSON.stringify(device.stamped({ ...BEAT, padding: 'ä'.repeat(100) }));
      device.peer.fragments([text.slice(0, 10), '', text.slice(10, 60), text.slice(60)]);
      demandEqual(typesOf(await device.answersToHeartbeat()), ['heartbeat', 'heartbeat'], 'the answers');
    },
  },
  {
    id: 'websocket.not-utf8',
    what: 'a text frame that is not UTF-8 ends the connection with 1007',
    source: 'RFC 6455 8.1',
    profile: 'core',
    run: async (lab) => {
      const { peer } = await lab.registered();
      peer.bytesAsText(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]));
      demandEqual((await peer.untilClosed()).code, 1007, 'the close code');
    },
  },
  {
    id: 'websocket.unmasked',
    what: 'a frame of a client that is not masked ends the connection, whatever is in it',
    source: 'RFC 6455 5.1',
    profile: 'core',
    run: async (lab) => {
      const { url, answerMs } = lab.target;
      const socket = await rawSocket(url);
      socket.write(upgradeHead(url, lab.device.token));
      await socket.until('\r\n\r\n', answerMs);
      socket.write(unmaskedFrame(JSON.stringify({ type: 'register', status: 'ok', client_id: lab.device.id })));
      await socket.untilEnded(answerMs + 2_000);
      demand(!socket.received.includes('heartbeat'), 'it was answered like any other');
    },
  },
  {
    id: 'websocket.goodbye',
    what: 'a close frame is answered with a close frame',
    source: 'RFC 6455 5.5.1',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      demandEqual((await device.close()).code, 1000, 'the close code that came back');
    },
  },
];
