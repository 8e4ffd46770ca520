import { AIP_CLOSE, AIP_LIMITS } from '#proto';
import { demand, demandEqual, type Check, type Profile } from '../check.js';
import type { Client } from '../client.js';
import { typesOf } from '../client.js';
import { HEARTBEAT } from '../frames.js';
import type { Lab } from '../lab.js';

const PYDANTIC = 'UFO: answered with ERROR, the connection stays open';
const EVERY = 'our promise: every wrong frame is answered';
const LIMIT = 'our promise: every payload has a limit';

interface WrongFrame {
  readonly id: string;
  readonly what: string;
  readonly source: string;
  readonly profile: Profile;
  readonly frame: (client: Client) => string | Buffer;
}

const json =
  (fields: Readonly<Record<string, unknown>>) =>
  (client: Client): string =>
    JSON.stringify(client.stamped(fields));

/** Frames that no client may send once it is registered: each is answered with one ERROR, and the connection goes on. */
const WRONG: readonly WrongFrame[] = [
  {
    id: 'not-json',
    what: 'text that is not JSON',
    source: 'recording 22 c3',
    profile: 'core',
    frame: () => '{not json',
  },
  { id: 'empty', what: 'an empty text frame', source: PYDANTIC, profile: 'core', frame: () => '' },
  {
    id: 'truncated',
    what: 'a frame that is cut off in the middle',
    source: PYDANTIC,
    profile: 'core',
    frame: (client) => json(HEARTBEAT)(client).slice(0, -7),
  },
  {
    id: 'array',
    what: 'an array',
    source: PYDANTIC,
    profile: 'core',
    frame: (client) => `[${json(HEARTBEAT)(client)}]`,
  },
  { id: 'number', what: 'a number', source: PYDANTIC, profile: 'core', frame: () => '42' },
  { id: 'null', what: 'null', source: PYDANTIC, profile: 'core', frame: () => 'null' },
  {
    id: 'unknown-type',
    what: 'a type that there is not',
    source: 'recording 22 c4',
    profile: 'core',
    frame: json({ type: 'telepathy' }),
  },
  { id: 'no-type', what: 'no type', source: PYDANTIC, profile: 'core', frame: json({ type: undefined }) },
  {
    id: 'no-status',
    what: 'no status',
    source: 'recording 22 c5',
    profile: 'core',
    frame: json({ ...HEARTBEAT, status: undefined }),
  },
  {
    id: 'unknown-status',
    what: 'a status that there is not',
    source: PYDANTIC,
    profile: 'core',
    frame: json({ ...HEARTBEAT, status: 'splendid' }),
  },
  {
    id: 'unknown-role',
    what: 'a role that there is not',
    source: PYDANTIC,
    profile: 'core',
    frame: json({ ...HEARTBEAT, client_type: 'robot' }),
  },
  {
    id: 'wrong-field-type',
    what: 'a name that is a number',
    source: PYDANTIC,
    profile: 'core',
    frame: json({ ...HEARTBEAT, client_id: 5 }),
  },
  {
    id: 'upper-case-type',
    what: 'a type in capitals',
    source: PYDANTIC,
    profile: 'core',
    frame: json({ ...HEARTBEAT, type: 'HEARTBEAT' }),
  },
  {
    id: 'server-type',
    what: 'a message that only a server sends',
    source: PYDANTIC,
    profile: 'core',
    frame: json({ type: 'command', actions: [] }),
  },
  {
    id: 'binary',
    what: 'a binary frame',
    source: `${EVERY}; AIP is text frames only`,
    profile: 'strict',
    frame: (client) => Buffer.from(json(HEARTBEAT)(client)),
  },
  {
    id: 'nan',
    what: 'NaN, which is not JSON',
    source: 'RFC 8259 6',
    profile: 'strict',
    frame: (client) => json({ ...HEARTBEAT, padding: 0 })(client).replace('"padding":0', '"padding":NaN'),
  },
  {
    id: 'endless-number',
    what: '1e400 as a result: no number of JSON that could be written again',
    source: EVERY,
    profile: 'strict',
    frame: (client) =>
      json({ type: 'command_results', prev_response_id: 'r1', action_results: [{ status: 'success', result: 0 }] })(
        client,
      ).replace('"result":0', '"result":1e400'),
  },
  {
    id: 'too-deep',
    what: 'nesting below the limit of depth',
    source: LIMIT,
    profile: 'strict',
    frame: (client) => nested(client, AIP_LIMITS.jsonDepthMax + 1),
  },
  {
    id: 'bottomless',
    what: 'half a million brackets',
    source: LIMIT,
    profile: 'strict',
    frame: () => '['.repeat(500_000),
  },
  {
    id: 'too-many-values',
    what: 'a frame of hundreds of thousands of empty objects, which take long to check',
    source: LIMIT,
    profile: 'strict',
    frame: (client) =>
      json({ ...HEARTBEAT, padding: [] })(client).replace('"padding":[]', `"padding":[${'{},'.repeat(300_000)}0]`),
  },
  {
    id: 'long-name',
    what: 'a name longer than any name',
    source: LIMIT,
    profile: 'strict',
    frame: json({ ...HEARTBEAT, client_id: 'x'.repeat(1_000) }),
  },
  {
    id: 'prototype-type',
    what: 'a type that stands in __proto__ only',
    source: 'our promise: prototype keys',
    profile: 'strict',
    frame: (client) =>
      `{"__proto__":${json(HEARTBEAT)(client)},"constructor":{"prototype":${json(HEARTBEAT)(client)}}}`,
  },
  {
    id: 'inherited-type',
    what: 'types with the names of what every object has',
    source: 'our promise: prototype keys',
    profile: 'strict',
    frame: json({ type: '__proto__' }),
  },
  {
    id: 'method-type',
    what: 'a type named like a method',
    source: 'our promise: prototype keys',
    profile: 'strict',
    frame: json({ type: 'toString' }),
  },
  {
    id: 'many-results',
    what: 'more results in a frame than actions in any COMMAND',
    source: LIMIT,
    profile: 'strict',
    frame: json({
      type: 'command_results',
      prev_response_id: 'r1',
      action_results: Array.from({ length: 1_000 }, () => ({ status: 'success' })),
    }),
  },
  {
    id: 'unknown-result-status',
    what: 'a result with a status that there is not',
    source: PYDANTIC,
    profile: 'core',
    frame: json({ type: 'command_results', prev_response_id: 'r1', action_results: [{ status: 'splendid' }] }),
  },
];

/** An object so deep, counted with its own brackets. */
function nested(client: Client, depth: number): string {
  const inside = depth - 2;
  return json({ ...HEARTBEAT, padding: [] })(client).replace(
    '"padding":[]',
    `"padding":${'['.repeat(inside)}[]${']'.repeat(inside)}`,
  );
}

const asDevice = ({ id, what, source, profile, frame }: WrongFrame): Check => ({
  id: `wrong.${id}`,
  what: `${what}: one ERROR, and the connection goes on`,
  source,
  profile,
  run: async (lab) => {
    const device = await lab.registered();
    await device.demandError(frame(device));
  },
});

const asConstellation = ({ id, what, source, profile, frame }: WrongFrame): Check => ({
  id: `wrong.constellation.${id}`,
  what: `${what} of a constellation client: one ERROR, and the connection goes on`,
  source,
  profile,
  needs: ['constellation'],
  run: async (lab) => {
    const client = await lab.constellation(null);
    await client.demandError(frame(client));
  },
});

/** Strange, and right all the same: read the way every parser of JSON reads it. */
const STRANGE: readonly Check[] = [
  {
    id: 'strange.duplicate-keys',
    what: 'of a key that comes twice the last one counts, as everywhere',
    source: 'RFC 8259 4; our promise: duplicate keys',
    profile: 'strict',
    run: async (lab) => {
      const device = await lab.registered();
      await device.demandError('{"type":"heartbeat","status":"ok","type":"telepathy"}');
      const twice = '{"type":"telepathy","status":"ok","type":"heartbeat"}';
      demandEqual(typesOf(await device.answersTo(twice, { type: 'telepathy' })), ['heartbeat'], 'the answer');
    },
  },
  {
    id: 'strange.prototype-keys',
    what: 'keys named __proto__ and constructor are keys like others and change nothing for later frames',
    source: 'our promise: prototype keys',
    profile: 'strict',
    run: async (lab) => {
      const device = await lab.registered();
      const poison =
        '{"type":"heartbeat","status":"ok","__proto__":{"status":"failed","client_type":"robot"},"constructor":{"prototype":{"type":"register"}}}';
      demandEqual(typesOf(await device.answersTo(poison, { type: 'telepathy' })), ['heartbeat'], 'the answer');
      await device.demandError('{}');
      demandEqual(typesOf(await device.answersToHeartbeat()), ['heartbeat'], 'the answer to a later heartbeat');
    },
  },
  {
    id: 'strange.lone-surrogate',
    what: 'half a character in a name or a text breaks nothing',
    source: 'our promise: lone surrogates',
    profile: 'strict',
    run: async (lab) => {
      const device = await lab.registered();
      await device.demandSilence('{"type":"error","status":"error","error":"\\ud800 half \\udc00"}');
      const beat = '{"type":"heartbeat","status":"ok","client_id":"\\ud800"}';
      demandEqual((await device.answersTo(beat, { type: 'telepathy' })).length, 1, 'the number of answers');
    },
  },
  {
    id: 'strange.deep-enough',
    what: 'nesting up to the limit of depth is read',
    source: LIMIT,
    profile: 'strict',
    run: async (lab) => {
      const device = await lab.registered();
      const frame = nested(device, AIP_LIMITS.jsonDepthMax);
      demandEqual(typesOf(await device.answersTo(frame, { type: 'telepathy' })), ['heartbeat'], 'the answer');
    },
  },
  {
    id: 'strange.white-space',
    what: 'white space around a frame is no part of it',
    source: 'RFC 8259 2',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const frame = `\r\n\t ${JSON.stringify(device.stamped(HEARTBEAT))} \n`;
      demandEqual(typesOf(await device.answersTo(frame, { type: 'telepathy' })), ['heartbeat'], 'the answer');
    },
  },
];

/** A heartbeat of exactly so many bytes. */
function heartbeatOf(bytes: number): string {
  const empty = JSON.stringify({ ...HEARTBEAT, padding: '' });
  return JSON.stringify({ ...HEARTBEAT, padding: 'x'.repeat(bytes - empty.length) });
}

const holdsLimit =
  (tokenIn: 'query' | 'header', bytesMax: number) =>
  async (lab: Lab): Promise<void> => {
    const peer = await lab.dial({ tokenIn });
    peer.send({ type: 'register', status: 'ok', client_id: lab.device.id });
    await peer.nextOf('heartbeat');
    peer.raw(heartbeatOf(bytesMax));
    await peer.nextOf('heartbeat');
    peer.raw(heartbeatOf(bytesMax + 1));
    demandEqual((await peer.untilClosed()).code, 1009, 'the close code of a frame that is one byte too long');
  };

const LIMITS: readonly Check[] = [
  {
    id: 'limit.frame',
    what: 'with a token in the header, a frame of 1 MiB is read and one byte more ends the connection with 1009',
    source: LIMIT,
    profile: 'strict',
    run: holdsLimit('header', AIP_LIMITS.frameBytesMax),
  },
  {
    id: 'limit.foreign-frame',
    what: 'of a client of another system a frame of 8 MiB is read and one byte more ends the connection with 1009',
    source: 'UFO: limit per identity, say 8 MiB',
    profile: 'strict',
    run: holdsLimit('query', AIP_LIMITS.foreignFrameBytesMax),
  },
  {
    id: 'limit.pieces',
    what: 'the limit counts all pieces of a message together',
    source: LIMIT,
    profile: 'strict',
    run: async (lab) => {
      const peer = await lab.dial({ tokenIn: 'header' });
      const piece = 'x'.repeat(AIP_LIMITS.frameBytesMax / 4);
      peer.fragments(Array.from({ length: 5 }, () => piece));
      demandEqual((await peer.untilClosed()).code, 1009, 'the close code');
    },
  },
  {
    id: 'limit.flood',
    what: 'a client that sends faster than it is read is slowed down: every frame is answered in the end',
    source: 'our promise: slowed down, never dropped',
    profile: 'strict',
    waitsMs: 4_000,
    run: async (lab) => {
      const device = await lab.registered();
      const count = AIP_LIMITS.framesBurst + 2 * AIP_LIMITS.framesPerSecond;
      const before = device.peer.frames.filter(({ type }) => type === 'heartbeat').length;
      for (let sent = 0; sent < count; sent++) device.heartbeat();
      device.send({ type: 'telepathy' });
      await device.peer.nextOf('error', 4_000 + 5 * lab.target.answerMs);
      const answered = device.peer.frames.filter(({ type }) => type === 'heartbeat').length - before;
      demandEqual(answered, count, 'the number of answers');
    },
  },
];

/** The close codes that mean something to a device have to be the ones it knows. */
const STATE: readonly Check[] = [
  {
    id: 'state.error-is-taken',
    what: 'ERROR of a client is taken; answered, if at all, with ERROR',
    source: 'table 5, ERROR; UFO: echoed',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const answers = await device.answersTo({ type: 'error', status: 'error', error: 'the disk is full' });
      demand(
        answers.every(({ type }) => type === 'error'),
        `it was answered with ${typesOf(answers).join(', ')}`,
      );
    },
  },
  {
    id: 'state.error-is-not-echoed',
    what: 'ERROR of a client is not answered: two such ends would never stop',
    source: 'table 5, ERROR: operator / scheduler handling',
    profile: 'strict',
    run: async (lab) => {
      await (await lab.registered()).demandSilence({ type: 'error', status: 'error', error: 'the disk is full' });
    },
  },
  {
    id: 'state.task-end-ack',
    what: 'a TASK_END that a client sends as an acknowledgement breaks nothing',
    source: 'table 5, TASK_END: optional ack; recording 22',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const answers = await device.answersTo({ type: 'task_end', status: 'completed', session_id: 's1' });
      demand(
        answers.every(({ type }) => type === 'error'),
        `it was answered with ${typesOf(answers).join(', ')}`,
      );
    },
  },
  {
    id: 'state.task-end-ack-is-silent',
    what: 'the acknowledgement of TASK_END is not answered',
    source: 'table 5, TASK_END: optional ack',
    profile: 'strict',
    run: async (lab) => {
      await (await lab.registered()).demandSilence({ type: 'task_end', status: 'completed', session_id: 's1' });
    },
  },
  {
    id: 'state.close-code-of-policy',
    what: 'a connection that is sent away has a close code and a reason, not a cut cable',
    source: EVERY,
    profile: 'strict',
    run: async (lab) => {
      const peer = await lab.dial();
      peer.send(HEARTBEAT);
      const { code, reason } = await peer.untilClosed();
      demandEqual([code, reason.length > 0], [AIP_CLOSE.protocolError, true], 'close code and reason');
    },
  },
];

export const WRONG_FRAMES: readonly Check[] = [
  ...WRONG.map(asDevice),
  ...WRONG.map(asConstellation),
  ...STRANGE,
  ...LIMITS,
  ...STATE,
];
