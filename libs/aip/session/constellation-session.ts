import {
  instantOf,
  AIP_CLOSE,
  AIP_LIMITS,
  type ClientMessage,
  type RegisterMessage,
  type RunId,
  type ServerMessage,
  type TaskMessage,
} from '#proto';
import {
  contentOf,
  REQUEST_CHARS_MAX,
  safeTaskName,
  taskEndMessage,
  type ClientTask,
  type ClientTaskEnd,
} from './client-task.js';
import {
  senderOfConstellation,
  type ConstellationEffect,
  type ConstellationInput,
  type ConstellationSession,
  type OpenConstellation as Open,
  type ReadyConstellation as Ready,
  type Registered,
  type TargetState,
} from './constellation-state.js';
import { authorised, layered, type StepOf } from '../frames/index.js';
import { errorMessage } from './session-answers.js';
import { endedOf, noRoomFor, NO_TASKS, opened, withPhase, type OpenTask } from './task-book.js';

type Step = [ConstellationSession, ConstellationEffect[]];

/** UFO's clients wait for TASK_END this long; then nobody would take it. */
export const CLIENT_WAITS_MS = 1_000_000;
/** Questions for devices that are not answered yet. */
const INFOS_OPEN_MAX = 16;
const LABEL_CHARS_MAX = 128;
/** A close frame has room for 123 bytes, and clients have a say in what is refused. */
const CLOSE_REASON_CHARS_MAX = 100;
const NOT_PRINTABLE = /[^ -~]/gu;

const AGAIN = 'it is not known now whether the device is connected, try again';

function judged(session: ConstellationSession, input: ConstellationInput, nowMs: number): Step {
  if (session.phase === 'CLOSED') return [session, []];
  switch (input.kind) {
    case 'message':
      return onMessage(session, input.message, nowMs);
    case 'denied':
      return onDenied(session, input, nowMs);
    case 'unreadable':
      return onUnreadable(session, input, nowMs);
    case 'tick':
      return onTick(session, nowMs);
    case 'target':
      return input.sessionId === null
        ? onOwnTarget(session, input.state, nowMs)
        : onTarget(session, input.sessionId, { state: input.state, nowMs });
    case 'accepted':
      return onAccepted(session, input, nowMs);
    case 'refused':
      return onRefused(session, input, nowMs);
    case 'ended':
      return onEnded(session, input, nowMs);
    case 'device-info':
      return onDeviceInfo(session, input, nowMs);
    case 'revoked':
      return sendAway(session, { code: AIP_CLOSE.revoked, why: 'the credential is revoked', nowMs });
    case 'shutdown':
      return sendAway(session, { code: AIP_CLOSE.goingAway, why: 'the gateway stops', nowMs });
    case 'closed':
      return [{ phase: 'CLOSED' }, cancelsOf(session)];
  }
}

/** Only what its sender may send comes here. */
function onMessage(session: Open, message: ClientMessage, nowMs: number): Step {
  if (message.type === 'register') return onRegister(session, message, nowMs);
  if (message.type === 'task_end') return [session, []];
  if (message.type === 'error') {
    return [session, [{ kind: 'complaint', error: (message.error ?? '').slice(0, AIP_LIMITS.errorCharsMax) }]];
  }
  if (session.phase !== 'READY') return no(session, message, { error: 'the registration is not confirmed yet', nowMs });
  switch (message.type) {
    case 'heartbeat':
      // Whatever role or name it carries: UFO's own say `device`, and who it is from is known from the connection.
      return answer(session, { type: 'heartbeat', status: 'ok' }, nowMs);
    case 'task':
      return onTask(session, message, nowMs);
    case 'device_info_request':
      return onDeviceInfoRequest(session, message, nowMs);
    default:
      return answer(session, errorMessage(`a constellation client may not send ${message.type}`), nowMs);
  }
}

function onDenied(session: Open, { message, error }: { message: ClientMessage; error: string }, nowMs: number): Step {
  if (session.phase !== 'AWAITING_REGISTER') return no(session, message, { error, nowMs });
  const [told, effects] =
    message.type === 'task' ? endOf(session, taskOf(message), failure(error), nowMs) : [session, []];
  const [closed, last] = refuse(told, error, { code: AIP_CLOSE.protocolError, nowMs });
  return [closed, [...effects, ...last]];
}

/** A TASK gets its end, too. */
const no = (session: Open, message: ClientMessage, { error, nowMs }: Failing): Step =>
  message.type === 'task'
    ? refuseTask(session, taskOf(message), { error, nowMs })
    : answer(session, errorMessage(error), nowMs);

function onUnreadable(session: Open, input: Extract<ConstellationInput, { kind: 'unreadable' }>, nowMs: number): Step {
  const { error, taskSessionId = null } = input;
  const task = taskSessionId === null ? null : { sessionId: taskSessionId, request: '' };
  if (session.phase !== 'AWAITING_REGISTER') {
    return task === null ? answer(session, errorMessage(error), nowMs) : refuseTask(session, task, { error, nowMs });
  }
  const why = `REGISTER comes first: ${error}`;
  const [told, effects] = task === null ? [session, []] : endOf(session, task, failure(why), nowMs);
  const [closed, last] = refuse(told, why, { code: AIP_CLOSE.protocolError, nowMs });
  return [closed, [...effects, ...last]];
}

function onRegister(session: Open, message: RegisterMessage, nowMs: number): Step {
  if (message.client_type !== 'constellation') {
    const error = 'client_type must be constellation: the credential of this connection is of no device';
    return refuse(session, error, { code: AIP_CLOSE.policy, nowMs });
  }
  const label = message.client_id?.slice(0, LABEL_CHARS_MAX) ?? null;
  const targetId = message.target_id ?? null;
  const { identity, answers } = session;
  if (targetId === null) return ready({ identity, answers, label, targetId, sinceMs: nowMs }, nowMs);
  const checking = { phase: 'CHECKING', identity, answers, label, targetId, sinceMs: nowMs } as const;
  return [checking, [{ kind: 'lookUp', sessionId: null, deviceId: targetId }]];
}

function ready(registered: Registered, nowMs: number): Step {
  const { identity, answers, label, targetId } = registered;
  const connection = { identity, answers, label, targetId, sinceMs: nowMs };
  const session: Ready = { ...connection, phase: 'READY', tasks: NO_TASKS, infosOpen: 0 };
  return answer(session, { type: 'heartbeat', status: 'ok' }, nowMs);
}

/** What is not connected and what is not allowed get the same answer, as late as each other: there is nothing to learn. */
function onOwnTarget(session: Open, state: TargetState, nowMs: number): Step {
  if (session.phase !== 'CHECKING') return [session, []];
  const { targetId } = session;
  if (state === 'unknown') return refuse(session, AGAIN, { code: AIP_CLOSE.tryAgainLater, nowMs });
  if (state === 'connected' && mayUse(session, targetId)) return ready(session, nowMs);
  return refuse(session, notConnected(targetId), { code: AIP_CLOSE.normal, nowMs });
}

function onTask(session: Ready, message: TaskMessage, nowMs: number): Step {
  const { tasks, label, targetId } = session;
  const task = taskOf(message, session);
  const { sessionId } = task;
  const content = contentOf(message);
  const known = tasks.open.get(sessionId) ?? tasks.ended.get(sessionId);
  if (known !== undefined) return onKnownTask(session, known, { content, nowMs });
  if (isOther(label, message.client_id)) return refuseTask(session, task, { error: WRONG_LABEL, nowMs });
  const deviceId = message.target_id ?? targetId;
  if (deviceId === null) return refuseTask(session, task, { error: NO_TARGET, nowMs });
  if (task.request === '' && task.command === null) return fails(session, task, { error: NOTHING_TO_DO, nowMs });
  if (task.request.length > REQUEST_CHARS_MAX) {
    return fails(session, task, { error: `request: at most ${REQUEST_CHARS_MAX} characters are taken`, nowMs });
  }
  const error = noRoomFor(tasks, content);
  if (error !== undefined) return fails(session, task, { error, nowMs });
  const open: OpenTask = { ...task, deviceId, phase: 'CHECKING', content, sinceMs: nowMs };
  return [{ ...session, tasks: opened(tasks, open) }, [{ kind: 'lookUp', sessionId, deviceId }]];
}

const WRONG_LABEL = 'client_id does not match the registered connection';
const NO_TARGET = 'target_id is missing: a task needs the id of the device that is to do it';
const NOTHING_TO_DO = 'request is missing: say what to do, or give metadata.orrery.command';

/** A repeat runs nothing a second time; it is answered as the first one was. */
function onKnownTask(
  session: Ready,
  known: OpenTask | { readonly content: string; readonly message: ServerMessage },
  { content, nowMs }: { readonly content: string; readonly nowMs: number },
): Step {
  if ('message' in known) {
    if (known.content === content) return [session, [{ kind: 'send', message: known.message }]];
    const sessionId = known.message.session_id ?? '';
    const error = 'session_id has been used for another task on this connection';
    return refuseTask(session, { sessionId, request: '' }, { error, nowMs });
  }
  const { sessionId } = known;
  if (known.content !== content) {
    const error = `session_id '${sessionId}' is in use for another task, and this one is not taken`;
    return answer(session, taskError(sessionId, error), nowMs);
  }
  return known.phase === 'RUNNING' ? acknowledge(session, sessionId, nowMs) : [session, []];
}

const acknowledge = (session: Ready, sessionId: string, nowMs: number): Step =>
  answer(session, { type: 'heartbeat', status: 'ok', session_id: sessionId }, nowMs);

function onTarget(
  session: Open,
  sessionId: string,
  { state, nowMs }: { readonly state: TargetState; readonly nowMs: number },
): Step {
  const task = openTask(session, sessionId, 'CHECKING');
  if (session.phase !== 'READY' || task === undefined) return [session, []];
  if (state === 'unknown') return ends(session, task, { end: failure(AGAIN), nowMs });
  if (state !== 'connected' || !mayUse(session, task.deviceId)) {
    const error = notConnected(task.deviceId);
    const [told, effects] = answer(session, taskError(sessionId, error), nowMs);
    const [ended, last] = ends(told, task, { end: failure(error), nowMs });
    return [ended, [...effects, ...last]];
  }
  const tasks = withPhase(session.tasks, task, 'SUBMITTING');
  const { deviceId, name, request, command } = task;
  const submitted = { sessionId, deviceId, name, request, command };
  return [{ ...session, tasks }, [{ kind: 'submit', task: submitted, label: session.label }]];
}

function onAccepted(session: Open, input: { sessionId: string; runId: RunId }, nowMs: number): Step {
  const { sessionId, runId } = input;
  const task = openTask(session, sessionId, 'SUBMITTING');
  if (session.phase !== 'READY' || task === undefined) return [session, []];
  const tasks = withPhase(session.tasks, task, 'RUNNING');
  const [told, effects] = acknowledge({ ...session, tasks }, sessionId, nowMs);
  return [told, [...effects, { kind: 'follow', sessionId, runId }]];
}

function onRefused(session: Open, { sessionId, error }: { sessionId: string; error: string }, nowMs: number): Step {
  const task = openTask(session, sessionId, 'SUBMITTING');
  if (session.phase !== 'READY' || task === undefined) return [session, []];
  return ends(session, task, { end: failure(error), nowMs });
}

function onEnded(session: Open, input: { sessionId: string } & ClientTaskEnd, nowMs: number): Step {
  const task = openTask(session, input.sessionId, 'RUNNING');
  if (session.phase !== 'READY' || task === undefined) return [session, []];
  const { status, result, error, cut } = input;
  const end = { status, result, error, ...(cut !== undefined && { cut }) };
  return ends(session, task, { end, nowMs, remembered: true });
}

function onDeviceInfoRequest(
  session: Ready,
  message: Extract<ClientMessage, { type: 'device_info_request' }>,
  nowMs: number,
): Step {
  const requestId = message.request_id ?? null;
  const answered = requestId === null ? {} : { response_id: requestId };
  const fail = (error: string): Step => answer(session, { ...errorMessage(error), ...answered }, nowMs);
  if (isOther(session.label, message.client_id)) return fail(WRONG_LABEL);
  const deviceId = message.target_id ?? session.targetId;
  if (deviceId === null) return fail('target_id is missing: which device is meant?');
  if (session.infosOpen >= INFOS_OPEN_MAX) {
    return fail('too many questions for devices at once, wait for their answers');
  }
  return [{ ...session, infosOpen: session.infosOpen + 1 }, [{ kind: 'deviceInfo', requestId, deviceId }]];
}

/** A device that is not known and one that is not allowed get the same answer, as late as each other. */
function onDeviceInfo(
  session: Open,
  { requestId, deviceId, info }: Extract<ConstellationInput, { kind: 'device-info' }>,
  nowMs: number,
): Step {
  if (session.phase !== 'READY') return [session, []];
  const nothing = { error: `nothing is known of a device '${deviceId}' that this client may use` };
  const result = mayUse(session, deviceId) ? (info ?? nothing) : nothing;
  const idle = { ...session, infosOpen: Math.max(0, session.infosOpen - 1) };
  const response: ServerMessage = { type: 'device_info_response', status: 'ok', result };
  return answer(idle, requestId === null ? response : { ...response, response_id: requestId }, nowMs);
}

function onTick(session: Open, nowMs: number): Step {
  const { expiresAt } = session.identity;
  if (expiresAt !== null && nowMs >= Date.parse(expiresAt)) {
    return sendAway(session, { code: AIP_CLOSE.expired, why: 'the credential has expired', nowMs });
  }
  const waitedMs = nowMs - session.sinceMs;
  if (session.phase === 'AWAITING_REGISTER' && waitedMs >= AIP_LIMITS.registerWithinMs) {
    return refuse(session, 'REGISTER did not come in time', { code: AIP_CLOSE.policy, nowMs });
  }
  if (session.phase !== 'READY') return [session, []];
  const late = [...session.tasks.open.values()].filter(({ sinceMs }) => nowMs - sinceMs >= CLIENT_WAITS_MS);
  const error = `its end is not known after ${CLIENT_WAITS_MS / 1_000} s`;
  return late.reduce<Step>(
    ([before, effects], task) => {
      if (before.phase !== 'READY') return [before, effects];
      const [after, more] = ends(before, task, { end: failure(error), nowMs });
      return [after, [...effects, ...more, { kind: 'cancel', sessionId: task.sessionId }]];
    },
    [session, []],
  );
}

/** A client that still waits for a TASK_END gets it before the connection goes. */
function sendAway(session: Open, { code, why, nowMs }: { code: number; why: string; nowMs: number }): Step {
  const cancels = cancelsOf(session);
  let ending = session;
  const effects: ConstellationEffect[] = [];
  for (const task of session.phase === 'READY' ? session.tasks.open.values() : []) {
    const [told, end] = endOf(ending, task, failure(`${why}, and the task is cancelled`), nowMs);
    ending = told;
    effects.push(...end);
  }
  return [{ phase: 'CLOSED' }, [...effects, ...cancels, close(code, why)]];
}

/** What only waits for its device has no run yet. */
const cancelsOf = (session: Open): ConstellationEffect[] =>
  session.phase === 'READY'
    ? [...session.tasks.open.values()]
        .filter(({ phase }) => phase !== 'CHECKING')
        .map(({ sessionId }) => ({ kind: 'cancel', sessionId }))
    : [];

/** A TASK without a name gets one that no other has: it stands in the acknowledgement. */
function taskOf(message: TaskMessage, session?: Ready): Omit<ClientTask, 'deviceId'> {
  const given = message.session_id ?? '';
  const name = message.task_name ?? '';
  return {
    sessionId: given === '' ? newSessionId(session) : given,
    name: safeTaskName(name === '' ? given : name),
    request: message.request ?? '',
    command: message.metadata?.orrery?.command ?? null,
  };
}

function newSessionId(session: Ready | undefined): string {
  let number = session?.answers ?? 0;
  const idOf = (): string => `unnamed-${number}`;
  while (session?.tasks.open.has(idOf()) === true || session?.tasks.ended.has(idOf()) === true) number++;
  return idOf();
}

function openTask(session: Open, sessionId: string, phase: OpenTask['phase']): OpenTask | undefined {
  const task = session.phase === 'READY' ? session.tasks.open.get(sessionId) : undefined;
  return task?.phase === phase ? task : undefined;
}

const mayUse = ({ identity: { targets } }: Open, deviceId: string): boolean =>
  targets === null || targets.includes(deviceId);

const notConnected = (deviceId: string): string =>
  `Target device '${deviceId}' is not connected, or this client may not use it`;

const isOther = (label: string | null, given: string | null | undefined): boolean =>
  label !== null && given !== null && given !== undefined && given !== label;

const failure = (error: string): ClientTaskEnd => ({ status: 'failed', result: null, error });

type Named = Pick<ClientTask, 'sessionId' | 'request'>;

interface Failing {
  readonly error: string;
  readonly nowMs: number;
}

/** As UFO's server does, with ERROR; and with the TASK_END that it leaves out, unless an open task has its own to come. */
function refuseTask(session: Open, task: Named, { error, nowMs }: Failing): Step {
  const [told, effects] = answer(session, taskError(task.sessionId, error), nowMs);
  if (session.phase === 'READY' && session.tasks.open.has(task.sessionId)) return [told, effects];
  const [ended, last] = endOf(told, task, failure(error), nowMs);
  return [ended, [...effects, ...last]];
}

/** Where UFO's server sends no ERROR. */
const fails = (session: Ready, task: Named, { error, nowMs }: Failing): Step =>
  endOf(session, task, failure(error), nowMs);

/** TASK_END of a task that is open. One that had a run is remembered; one that was refused may be sent again. */
function ends(
  session: Ready,
  task: OpenTask,
  { end, nowMs, remembered = false }: { end: ClientTaskEnd; nowMs: number; remembered?: boolean },
): Step {
  const [told, effects] = endOf(session, task, end, nowMs);
  const [effect] = effects;
  const message = remembered && effect?.kind === 'send' && effect.message.type === 'task_end' ? effect.message : null;
  return [{ ...told, tasks: endedOf(told.tasks, task, message) }, effects];
}

const endOf = <S extends Open>(
  session: S,
  task: Named,
  end: ClientTaskEnd,
  nowMs: number,
): [S, ConstellationEffect[]] => answer(session, taskEndMessage(task, end), nowMs);

function refuse(session: Open, error: string, { code, nowMs }: { code: number; nowMs: number }): Step {
  const [, effects] = answer(session, errorMessage(error), nowMs);
  return [{ phase: 'CLOSED' }, [...effects, close(code, error)]];
}

/** UFO's server leaves its clients in the dark about which TASK it means. */
const taskError = (sessionId: string, error: string): ServerMessage => ({
  ...errorMessage(error),
  session_id: sessionId,
});

const close = (code: number, reason: string): ConstellationEffect => ({
  kind: 'close',
  code,
  reason: reason.slice(0, CLOSE_REASON_CHARS_MAX).replace(NOT_PRINTABLE, '?'),
});

function answer<S extends Open>(session: S, message: ServerMessage, nowMs: number): [S, ConstellationEffect[]] {
  const answers = session.answers + 1;
  const stamped = { response_id: `answer-${answers}`, ...message, timestamp: instantOf(nowMs) };
  return [{ ...session, answers }, [{ kind: 'send', message: stamped }]];
}

/** Pure: one input, the next session and its effects, to be carried out in order. Every wrong frame gets an answer. */
export const constellationStep: StepOf<ConstellationSession, ConstellationInput, ConstellationEffect> = layered<
  ConstellationSession,
  ConstellationInput,
  ConstellationEffect
>(judged, authorised(senderOfConstellation));
