import { mutant, type Mutant } from './mutant.js';

const SESSION = 'libs/aip/session/constellation-session.ts';
const TASK = 'libs/aip/session/client-task.ts';
const TABLE = 'libs/aip/commands/command-table.ts';
const END = 'session_id: sessionId, result: nothing ? [] : [item], error }';
const OF_ANYBODY = ': answer(session, errorMessage(error), nowMs);\n\nfunction onUnreadable';

/** Clients that send tasks. */
export const CONSTELLATION_MUTANTS: readonly Mutant[] = [
  mutant(
    'REGISTER for a device is refused',
    SESSION,
    ["if (state === 'connected' && mayUse(session, targetId)) return ready(session, nowMs);", ''],
    ['constellation.registers'],
  ),
  mutant(
    'REGISTER needs a target',
    SESSION,
    [
      'if (targetId === null) return ready({',
      "if (targetId === null) return refuse(session, 'no target', { code: AIP_CLOSE.policy, nowMs });\n  if (label === '') return ready({",
    ],
    ['constellation.without-target'],
  ),
  mutant(
    'REGISTER for anything',
    SESSION,
    ["if (state === 'connected' && mayUse(session, targetId)) return", 'if (mayUse(session, targetId)) return'],
    ['constellation.unknown-target'],
  ),
  mutant(
    'device info under no id',
    SESSION,
    ['requestId === null ? response : { ...response, response_id: requestId }', 'response'],
    ['device-info.answered'],
  ),
  mutant(
    'few questions at once',
    SESSION,
    ['const INFOS_OPEN_MAX = 16;', 'const INFOS_OPEN_MAX = 2;'],
    ['device-info.concurrent'],
  ),
  mutant(
    'something is known of every device',
    SESSION,
    ['(info ?? nothing) : nothing', "(info ?? { platform: 'linux' }) : nothing"],
    ['device-info.other-device'],
  ),
  mutant(
    'a TASK is acknowledged after its end',
    SESSION,
    [
      'const [effect] = effects;',
      'const [, late] = acknowledge(told, task.sessionId, nowMs);\n  effects.push(...late);\n  const [effect] = effects;',
    ],
    ['task.acknowledged'],
  ),
  mutant(
    'TASK_END names no session',
    TASK,
    [END, END.replace('session_id: sessionId', 'session_id: null')],
    ['task.one-end', 'task.several', 'task.to-nobody', 'task.without-target', 'task.to-itself', 'task.without-request'],
  ),
  mutant(
    'a TASK for nobody is passed over',
    SESSION,
    [
      "if (state !== 'connected' || !mayUse(session, task.deviceId)) {",
      "if (state !== 'connected') return [session, []];\n  if (!mayUse(session, task.deviceId)) {",
    ],
    ['task.to-nobody.answered', 'task.to-nobody', 'task.to-itself'],
  ),
  mutant(
    'a TASK without a target is passed over',
    SESSION,
    [
      'if (deviceId === null) return refuseTask(session, task, { error: NO_TARGET, nowMs });',
      'if (deviceId === null) return [session, []];',
    ],
    ['task.without-target.answered', 'task.without-target'],
  ),
  mutant(
    'a TASK that is not allowed gets ERROR only',
    SESSION,
    ["  message.type === 'task'\n    ? refuseTask(", "  message.type === 'ack'\n    ? refuseTask("],
    ['task.forged-role'],
  ),
  mutant(
    'what a constellation client may not send ends a task',
    SESSION,
    [OF_ANYBODY, `: answer(session, { type: 'task_end', status: 'failed' }, nowMs);\n\nfunction onUnreadable`],
    ['results.of-a-constellation'],
  ),
  mutant(
    'TASK_END without the result',
    TASK,
    ['const item = { request, result, ', 'const item = { request, '],
    ['task.done'],
  ),
  mutant(
    'TASK_END without the reason',
    TASK,
    [END, END.replace(' error }', " error: '' }")],
    ['task.failed', 'task.to-nobody', 'task.without-request'],
  ),
  mutant(
    'every TASK is completed',
    SESSION,
    ['const end = { status, result, error, ', "const end = { status: 'completed', result, error, "],
    ['task.device-gone', 'task.failed'],
  ),
  {
    name: 'a TASK that comes twice is done twice',
    edits: [
      {
        file: SESSION,
        text: 'if (known !== undefined) return onKnownTask(session, known, { content, nowMs });',
        becomes: '',
      },
      {
        file: 'services/aip-gateway/clients/client-run.ts',
        text: '`${refusals}:${sessionId}`',
        becomes: '`${Math.random()}:${refusals}:${sessionId}`',
      },
    ],
    finds: ['task.twice-while-open', 'task.again-after-its-end', 'task.session-in-use'],
  },
  mutant(
    'the tasks of a client that leaves go on',
    SESSION,
    ["return [{ phase: 'CLOSED' }, cancelsOf(session)];", "return [{ phase: 'CLOSED' }, []];"],
    ['task.client-gone'],
  ),
  mutant(
    'nobody is told to stop',
    TABLE,
    ["this.#foreign ? [] : [{ kind: 'stop', attempt }]", '[]'],
    ['r2.stop', 'task.client-gone'],
  ),
];
