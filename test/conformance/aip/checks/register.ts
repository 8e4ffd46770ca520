import { AIP_CLOSE, AIP_LIMITS } from '#proto';
import { demand, demandEqual, type Check } from '../check.js';
import { Client } from '../client.js';
import {
  constellationRegisterOf,
  HEARTBEAT,
  NULLS,
  registerOf,
  resultsFor,
  revisedRegisterOf,
  success,
  type Fields,
} from '../frames.js';
import type { Lab } from '../lab.js';

const TABLE = 'table 5, REGISTER';
const EVERY = 'our promise: every wrong frame is answered or its connection closed';

/** The frame in place of REGISTER is answered with ERROR, and the connection closed: nobody is left half open. */
const refusesFirst =
  (first: (lab: Lab) => Fields | string | Buffer, code?: number) =>
  async (lab: Lab): Promise<void> => {
    const peer = await lab.dial();
    const frame = first(lab);
    if (typeof frame === 'string' || Buffer.isBuffer(frame)) peer.raw(frame);
    else peer.send(frame);
    const error = await peer.nextOf('error');
    demandEqual(typeof error['error'], 'string', 'the type of the reason');
    const ended = await peer.untilClosed();
    demand(ended.code !== 1006, 'the connection was cut without a close frame');
    if (code !== undefined) demandEqual(ended.code, code, 'the close code');
    demandEqual(peer.frames.length, 1, 'the number of frames of the server');
  };

const confirms =
  (register: (id: string) => Fields) =>
  async (lab: Lab): Promise<void> => {
    const peer = await lab.dial();
    peer.send(register(lab.device.id));
    const [first] = [await peer.next('the answer to REGISTER', () => true)];
    demandEqual([first.type, first['status']], ['heartbeat', 'ok'], 'the answer to REGISTER');
  };

const FIRST_FRAMES: readonly Check[] = [
  {
    id: 'first.not-json',
    what: 'text that is not JSON instead of REGISTER',
    source: 'recording 21 c3, where the server kept silent',
    profile: 'strict',
    run: refusesFirst(() => 'this is not json', AIP_CLOSE.protocolError),
  },
  {
    id: 'first.binary',
    what: 'a binary frame instead of REGISTER',
    source: EVERY,
    profile: 'strict',
    run: refusesFirst(({ device }) => Buffer.from(JSON.stringify(registerOf(device.id))), AIP_CLOSE.protocolError),
  },
  {
    id: 'first.heartbeat',
    what: 'a HEARTBEAT instead of REGISTER',
    source: EVERY,
    profile: 'strict',
    run: refusesFirst(({ device }) => ({ ...HEARTBEAT, client_id: device.id }), AIP_CLOSE.protocolError),
  },
  {
    id: 'first.task',
    what: 'a TASK instead of REGISTER',
    source: 'recording 21 c4, where the server kept silent',
    profile: 'strict',
    run: refusesFirst(
      ({ device }) => ({ type: 'task', status: 'continue', target_id: device.id, request: 'x', session_id: 's-u1' }),
      AIP_CLOSE.protocolError,
    ),
  },
  {
    id: 'first.results',
    what: 'COMMAND_RESULTS instead of REGISTER: results before REGISTER count for nothing',
    source: EVERY,
    profile: 'strict',
    run: refusesFirst(
      ({ device }) => ({
        ...resultsFor({ response_id: 'r1', status: 'continue', actions: [{}] }, () => success({})),
        client_id: device.id,
      }),
      AIP_CLOSE.protocolError,
    ),
  },
  {
    id: 'first.no-status',
    what: 'REGISTER without a status',
    source: 'recording 21 c6, where the server kept silent',
    profile: 'strict',
    run: refusesFirst(({ device }) => ({ type: 'register', client_type: 'device', client_id: device.id })),
  },
  {
    id: 'first.unknown-role',
    what: 'REGISTER with a role that there is not',
    source: 'recording 21 c7, where the server kept silent',
    profile: 'strict',
    run: refusesFirst(({ device }) => ({ ...registerOf(device.id), client_type: 'robot' })),
  },
  {
    id: 'first.deep',
    what: 'brackets without an end instead of REGISTER',
    source: EVERY,
    profile: 'strict',
    run: refusesFirst(() => '['.repeat(50_000), AIP_CLOSE.protocolError),
  },
  {
    id: 'first.malformed-metadata',
    what: 'REGISTER whose system_info is no object',
    source: EVERY,
    profile: 'strict',
    run: refusesFirst(({ device }) => ({ ...registerOf(device.id), metadata: { system_info: 'linux' } })),
  },
  {
    id: 'first.foreign-characters',
    what: 'REGISTER with an unknown field whose name is long and in no Latin script: what is said about it fits into a close frame',
    source: 'RFC 6455 5.5: 123 bytes; our promise: every wrong frame is answered',
    profile: 'strict',
    run: async (lab) => {
      const peer = await lab.dial({ tokenIn: 'header' });
      const register = revisedRegisterOf(lab.device.id, 1);
      const orrery = (register['metadata'] as Fields)['orrery'] as Fields;
      const telemetry = { ...(orrery['telemetry'] as Fields), ['\u043a\u043b\u044e\u0447'.repeat(40)]: 1 };
      peer.send({ ...register, metadata: { orrery: { ...orrery, telemetry } } });
      await peer.nextOf('error');
      demand((await peer.untilClosed()).code !== 1006, 'the connection was cut without a close frame');
      await lab.revised(1);
    },
  },
  {
    id: 'first.nothing',
    what: 'nothing instead of REGISTER: ERROR, and the connection is closed in time',
    source: `${TABLE}: timeout`,
    profile: 'strict',
    waitsMs: AIP_LIMITS.registerWithinMs + 1_000,
    run: async (lab) => {
      const peer = await lab.dial();
      await peer.nextOf('error', AIP_LIMITS.registerWithinMs + 1_000 + lab.target.answerMs);
      demandEqual((await peer.untilClosed()).code, AIP_CLOSE.policy, 'the close code');
    },
  },
];

const IDENTITY: readonly Check[] = [
  {
    id: 'identity.forged-id',
    what: 'REGISTER in the name of another device is refused',
    source: 'our promise: identity comes from the credential, never from frames',
    profile: 'strict',
    run: refusesFirst(() => registerOf('somebody-else'), AIP_CLOSE.policy),
  },
  {
    id: 'identity.id-with-nul',
    what: 'REGISTER under its own name with a NUL behind it is refused: names are compared whole',
    source: 'our promise: NUL in ids',
    profile: 'strict',
    run: refusesFirst(({ device }) => registerOf(`${device.id}\u0000`)),
  },
  {
    id: 'identity.forged-role',
    what: 'REGISTER of a device as a constellation client is refused',
    source: 'our promise: identity comes from the credential, never from frames',
    profile: 'strict',
    run: refusesFirst(({ device }) => constellationRegisterOf(device.id, device.id), AIP_CLOSE.policy),
  },
  {
    id: 'identity.constellation-as-device',
    what: 'REGISTER of a constellation client as a device is refused',
    source: 'our promise: identity comes from the credential, never from frames',
    profile: 'strict',
    needs: ['constellation'],
    run: async (lab) => {
      const peer = await lab.dial({ token: lab.constellationAccount.token });
      peer.send(registerOf(lab.device.id));
      await peer.nextOf('error');
      demandEqual((await peer.untilClosed()).code, AIP_CLOSE.policy, 'the close code');
    },
  },
];

/** REGISTER and everything that may come instead of it. */
export const REGISTER: readonly Check[] = [
  {
    id: 'register.confirmed',
    what: 'REGISTER is confirmed with HEARTBEAT ok, which has an id and a time',
    source: `${TABLE}: HEARTBEAT(OK); recording 01`,
    profile: 'core',
    run: async (lab) => {
      const peer = await lab.dial();
      peer.send(registerOf(lab.device.id));
      const answer = await peer.next('the answer to REGISTER', () => true);
      demandEqual([answer.type, answer['status']], ['heartbeat', 'ok'], 'the answer to REGISTER');
      demandEqual([typeof answer['response_id'], typeof answer['timestamp']], ['string', 'string'], 'id and time');
    },
  },
  {
    id: 'register.minimal',
    what: 'REGISTER needs a type, a status and a name, nothing more',
    source: 'recording 21 c10',
    profile: 'core',
    run: confirms((id) => ({ type: 'register', status: 'ok', client_id: id })),
  },
  {
    id: 'register.unknown-fields',
    what: 'REGISTER may carry fields that the server does not know',
    source: 'recording 21 c11',
    profile: 'core',
    run: confirms((id) => ({ ...registerOf(id), foo: 'bar', version: '9.9', future: { deep: [1, null] } })),
  },
  {
    id: 'register.nulls',
    what: 'every optional field of REGISTER may be null',
    source: 'UFO: every optional field appears as null',
    profile: 'core',
    run: confirms((id) => ({ ...NULLS, type: 'register', status: 'ok', client_type: 'device', client_id: id })),
  },
  {
    id: 'register.again-later',
    what: 'REGISTER again on a new connection is confirmed again',
    source: `${TABLE}: idempotent, acknowledged again`,
    profile: 'core',
    run: async (lab) => {
      await (await lab.registered()).close();
      const again = await lab.registered();
      await again.answersToHeartbeat();
    },
  },
  {
    id: 'register.never-two',
    what: 'two live connections under one name are never both served',
    source: 'UFO; table 5: validation',
    profile: 'core',
    run: async (lab) => {
      const first = await lab.registered();
      const second = await lab.dial();
      second.send(registerOf(lab.device.id));
      const answer = await second.next(
        'the answer to REGISTER',
        ({ type }) => type === 'heartbeat' || type === 'error',
      );
      if (answer.type === 'heartbeat') new Client(second, { id: lab.device.id, role: 'device' }).answering();
      await (answer.type === 'heartbeat' ? first.peer : second).untilClosed();
    },
  },
  {
    id: 'register.newest-wins',
    what: 'a newer connection of a device takes its session over: a half-open socket locks nobody out',
    source: 'our promise: replaced by a newer connection of the same identity',
    profile: 'strict',
    run: async (lab) => {
      const first = await lab.registered();
      const second = await lab.registered();
      demandEqual((await first.peer.untilClosed()).code, AIP_CLOSE.replaced, 'the close code of the older connection');
      demandEqual((await second.answersToHeartbeat()).length, 1, 'the answers of the newer connection');
    },
  },
  {
    id: 'register.second-on-connection',
    what: 'a second REGISTER on a connection is answered with ERROR and changes nothing',
    source: 'recording 22: second REGISTER',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      await device.demandError(registerOf(lab.device.id));
    },
  },
  ...FIRST_FRAMES,
  ...IDENTITY,
];
