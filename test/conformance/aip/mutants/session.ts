import { mutant, type Mutant } from './mutant.js';

const SESSION = 'libs/aip/session/session.ts';
const ANSWERS = 'libs/aip/session/session-answers.ts';
const PERMISSIONS = 'libs/aip/frames/permissions.ts';
const LIMITS = 'proto/aip/limits.ts';
const CHECK_AGAIN = 'services/aip-gateway/sockets/check-again.ts';
const CONNECTION = 'services/aip-gateway/devices/device-connection.gateway.ts';
const CONSTELLATION = 'libs/aip/session/constellation-session.ts';
const HEARTBEAT_OK = "const [after, effects] = sendAnswer(session, { type: 'heartbeat', status: 'ok' }, nowMs);";
const DENIED = 'return refuse(session, sessionRefusal(input.message, input.error), nowMs);';

/** Every kind of frame that is only found to be wrong because it is answered. */
const UNREADABLE = [
  'not-json',
  'empty',
  'truncated',
  'array',
  'number',
  'null',
  'unknown-type',
  'no-type',
  'upper-case-type',
  'server-type',
  'bottomless',
  'prototype-type',
  'inherited-type',
  'method-type',
];

/** The protocol of a device. */
export const SESSION_MUTANTS: readonly Mutant[] = [
  mutant(
    'REGISTER is not quite confirmed',
    SESSION,
    [
      "= sendAnswer(listing, { type: 'heartbeat', status: 'ok' }, nowMs);",
      "= sendAnswer(listing, { type: 'heartbeat', status: 'continue' }, nowMs);",
    ],
    ['register.confirmed'],
  ),
  mutant(
    'a name registers once',
    SESSION,
    [
      "if (message.client_type !== 'device') return policy('only device clients may register here');",
      "const seen = (globalThis.registered ??= new Set());\n  if (seen.has(session.identity)) return policy('registered before');\n  seen.add(session.identity);",
    ],
    ['register.again-later'],
  ),
  mutant(
    'two connections share a name',
    CONNECTION,
    ["this.#endpoint.input({ kind: 'replaced' });", ''],
    ['register.never-two', 'register.newest-wins'],
  ),
  mutant(
    'a second REGISTER is confirmed',
    SESSION,
    [
      DENIED,
      `if (input.message.type === 'register') return sendAnswer(session, { type: 'heartbeat', status: 'ok' }, nowMs);\n      ${DENIED}`,
    ],
    ['register.second-on-connection'],
  ),
  mutant(
    'whoever does not register may stay',
    SESSION,
    [
      "if (session.phase !== 'AWAITING_REGISTER') return sendAnswer(session, refusal, nowMs);",
      "if (session.phase !== 'CLOSED') return sendAnswer(session, refusal, nowMs);",
    ],
    [
      'first.not-json',
      'first.heartbeat',
      'first.task',
      'first.results',
      'first.unknown-role',
      'first.deep',
      'first.malformed-metadata',
      'state.close-code-of-policy',
    ],
  ),
  mutant(
    'reasons are sent as they are',
    ANSWERS,
    [".replaceAll(NOT_PRINTABLE, '?')", ''],
    ['first.foreign-characters'],
  ),
  mutant('nobody has to register', LIMITS, ['registerWithinMs: 5_000', 'registerWithinMs: 500_000'], ['first.nothing']),
  mutant(
    'a device may call itself anything',
    SESSION,
    ['if ((message.client_id ?? session.identity) !== session.identity) {', "if (message.client_id === '') {"],
    ['identity.forged-id', 'identity.id-with-nul'],
  ),
  mutant(
    'a device may be a constellation client',
    SESSION,
    ["if (message.client_type !== 'device') return policy(", 'if (message.client_type === null) return policy('],
    ['identity.forged-role'],
  ),
  mutant(
    'a constellation client may be a device',
    CONSTELLATION,
    ["if (message.client_type !== 'constellation') {", 'if (message.client_type === null) {'],
    ['identity.constellation-as-device'],
  ),
  mutant(
    'a heartbeat is not quite answered',
    SESSION,
    [HEARTBEAT_OK, HEARTBEAT_OK.replace("'ok'", "'continue'")],
    ['heartbeat.answered'],
  ),
  mutant('all answers have one id', ANSWERS, ['`answer-${answers}`', "'answer'"], ['heartbeat.each-answered']),
  mutant(
    'a heartbeat has to say who it is from',
    PERMISSIONS,
    [
      "new Set<MessageType>(['register', 'heartbeat', 'error', 'task_end', 'ack'])",
      "new Set<MessageType>(['register', 'error', 'task_end', 'ack'])",
    ],
    ['heartbeat.any-role', 'heartbeat.constellation-as-device'],
  ),
  mutant(
    'what cannot be read is not answered',
    SESSION,
    ['return refuse(session, errorMessage(input.error), nowMs);', 'return [session, []];'],
    UNREADABLE.map((id) => `wrong.${id}`),
  ),
  mutant(
    'what cannot be read of a constellation client is not answered',
    CONSTELLATION,
    ['return onUnreadable(session, input, nowMs);', 'return [session, []];'],
    [...UNREADABLE, 'endless-number', 'many-results', 'unknown-result-status'].map((id) => `wrong.constellation.${id}`),
  ),
  mutant(
    'ERROR is answered with something else',
    SESSION,
    [
      "case 'error':\n      return [session,",
      "case 'error':\n      return sendAnswer(session, { type: 'task_end', status: 'ok' }, nowMs);\n      return [session,",
    ],
    ['state.error-is-taken'],
  ),
  mutant(
    'ERROR is echoed',
    SESSION,
    [
      "case 'error':\n      return [session,",
      "case 'error':\n      return sendAnswer(session, errorMessage('echo'), nowMs);\n      return [session,",
    ],
    ['state.error-is-not-echoed'],
  ),
  mutant(
    'an acknowledgement of TASK_END is answered with TASK_END',
    SESSION,
    [
      "case 'task_end':\n",
      "case 'task_end':\n      return sendAnswer(session, { type: 'task_end', status: 'ok' }, nowMs);\n",
    ],
    ['state.task-end-ack'],
  ),
  mutant(
    'an acknowledgement of TASK_END is a mistake',
    SESSION,
    ["case 'task_end':\n", "case 'task_end':\n      return misplaced(session, nowMs);\n"],
    ['state.task-end-ack-is-silent'],
  ),
  mutant(
    'results are answered',
    SESSION,
    [
      "return [session, [{ kind: 'result', commandId, outcome }]];",
      "const [after, said] = sendAnswer(session, { type: 'task_end', status: 'ok' }, nowMs);\n  return [after, [...said, { kind: 'result', commandId, outcome }]];",
    ],
    ['results.unknown-command', 'results.empty', 'results.duplicate'],
  ),
  mutant(
    'results of nothing are ignored',
    SESSION,
    [
      "if (commandId === undefined) return sendAnswer(session, errorMessage('command_results need prev_response_id'), nowMs);",
      'if (commandId === undefined) return [session, []];',
    ],
    ['results.without-id'],
  ),
  mutant(
    'results may come under any name',
    PERMISSIONS,
    [
      "if (role === 'device' && (message.client_id ?? identity) !== identity) {",
      "if (role === 'device' && message.client_id === '') {",
    ],
    ['results.forged-id'],
  ),
  mutant(
    'what is not allowed is not answered',
    SESSION,
    [DENIED, 'return [session, []];'],
    ['device-info.of-a-device', 'r2.resume-comes-first', 'r2.resume-once', 'r2.only-when-offered'],
  ),
  mutant(
    'what is not allowed ends a task',
    ANSWERS,
    [
      "if (message.type !== 'task') return errorMessage(error);",
      "if (message.type !== 'device_info_response') return errorMessage(error);",
    ],
    ['device-info.pushed'],
  ),
  mutant(
    'a device may start a task',
    SESSION,
    [
      "case 'task':\n",
      "case 'task':\n      return sendAnswer(session, { type: 'heartbeat', status: 'ok', session_id: message.session_id }, nowMs);\n",
    ],
    ['task.of-a-device'],
  ),
  mutant(
    'nobody hears of revocations',
    CHECK_AGAIN,
    ['parts.connections.of(id).forEach((connection) => void check(connection, parts));', 'void id;'],
    ['identity.revoked', 'identity.constellation-revoked'],
  ),
];
