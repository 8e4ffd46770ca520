import type { ActorId } from './actors.js';
import type { AttentionId } from './attention.js';
import type { AttemptKey } from './attempt-events.js';
import type { CommandId, DeviceId, RequestId, RunId, SessionId, TaskId } from './ids.js';
import type { RunEventType } from './run-events.js';

/** Runs are spread over this many partitions; it can never change without moving every subject that carries one. */
export const PARTITIONS = 32;

/** FNV-1a (32 bit) of the run id modulo 32: the partition that serves the run. */
export function partitionOf(runId: RunId): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < runId.length; index++) {
    hash ^= runId.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) % PARTITIONS;
}

export type AttemptSubjectKind = 'step' | 'ask' | 'end' | 'late';

const attemptPrefix = ({ runId, taskId, attempt }: AttemptKey) =>
  `orrery.attempt.${partitionOf(runId)}.${runId}.${taskId}.${attempt}`;

/** Every subject of the system; nothing else spells one. */
export const subjects = {
  /** Of the one external system that there was before each had a subject of its own. */
  requests: 'orrery.requests',
  /** Requests of one actor: only its key may publish there, so the subject says who asks. */
  requestsOf: (actorId: string) => `orrery.requests.${actorId}`,
  anyRequestsOf: 'orrery.requests.*',
  submit: 'orrery.submit',
  /** What became of a request on `orrery.requests`. */
  answer: (requestId: RequestId) => `orrery.answer.${requestId}`,
  anyAnswer: 'orrery.answer.*',
  /** The same on the subjects of actors: who asks hears what is said to him. */
  answerTo: (actorId: string, requestId: RequestId) => `orrery.answers.${actorId}.${requestId}`,
  answersTo: (actorId: string) => `orrery.answers.${actorId}.*`,
  anyAnswerTo: 'orrery.answers.*.*',
  run: (runId: RunId) => `orrery.run.${runId}`,
  anyRun: 'orrery.run.*',
  liveRun: (runId: RunId) => `orrery.live.run.${runId}`,
  anyLiveRun: 'orrery.live.run.*',
  attempt: (key: AttemptKey, kind: AttemptSubjectKind) => `${attemptPrefix(key)}.${kind}`,
  /** The filter of an attempt's expected sequence: identical for every writer. */
  attemptFilter: (key: AttemptKey) => `${attemptPrefix(key)}.*`,
  attemptsOfRun: (runId: RunId) => `orrery.attempt.${partitionOf(runId)}.${runId}.>`,
  attemptsOfPartition: (partition: number, kind: AttemptSubjectKind) => `orrery.attempt.${partition}.*.*.*.${kind}`,
  anyAttempt: 'orrery.attempt.>',
  plan: (runId: RunId) => `orrery.plan.${partitionOf(runId)}.${runId}`,
  plansOfPartition: (partition: number) => `orrery.plan.${partition}.*`,
  anyPlan: 'orrery.plan.>',
  fleet: (deviceId: DeviceId) => `orrery.fleet.${deviceId}`,
  anyFleet: 'orrery.fleet.*',
  actor: (actorId: ActorId) => `orrery.actor.${actorId}`,
  anyActor: 'orrery.actor.*',
  attention: (attentionId: AttentionId) => `orrery.attention.${attentionId}`,
  anyAttention: 'orrery.attention.*',
  /** What the holder of this key says that he has read. */
  accessByKey: (key: string) => `orrery.access.key.${key}`,
  /** What a service says of who came in there; `_` is nobody. */
  accessAt: (service: string, actorId: ActorId) => `orrery.access.${service}.${actorId}`,
  anyAccessAt: (service: string) => `orrery.access.${service}.*`,
  anyAccess: 'orrery.access.>',
  anyTimer: 'orrery.timer.>',
  runTimer: (runId: RunId) => `orrery.timer.run.${partitionOf(runId)}.${runId}`,
  anyRunTimer: 'orrery.timer.run.*.*',
  anyDue: 'orrery.due.>',
  runDue: (runId: RunId) => `orrery.due.run.${partitionOf(runId)}.${runId}`,
  runsDueOfPartition: (partition: number) => `orrery.due.run.${partition}.*`,
  deviceTimer: (deviceId: DeviceId) => `orrery.timer.device.${deviceId}`,
  anyDeviceTimer: 'orrery.timer.device.*',
  deviceDue: (deviceId: DeviceId) => `orrery.due.device.${deviceId}`,
  anyDeviceDue: 'orrery.due.device.*',
  /** `owner`: whose run it is, as `feedOwner` says it. Version 0.1.0 stored them without. */
  feed: (runId: RunId, type: RunEventType, owner: string) => `orrery.feed.${runId}.${type}.${owner}`,
  feedOfRun: (runId: RunId) => `orrery.feed.${runId}.>`,
  feedOf: (owner: string) => `orrery.feed.*.*.${owner}`,
  anyFeed: 'orrery.feed.>',
  dlq: (service: string) => `orrery.dlq.${service}`,
  anyDlq: 'orrery.dlq.*',
  verb: (runId: RunId, verb: string) => `orrery.command.${partitionOf(runId)}.${runId}.${verb}`,
  verbsOfPartition: (partition: number) => `orrery.command.${partition}.*.*`,
  anyVerbOf: (verb: string) => `orrery.command.*.*.${verb}`,
  anyVerb: 'orrery.command.>',
  deviceCommand: (deviceId: DeviceId) => `orrery.device.${deviceId}.command`,
  anyDeviceCommand: 'orrery.device.*.command',
  /** One session of a foreign device: while it lasts, and for a while after its end. */
  deviceSession: (deviceId: DeviceId, sessionId: SessionId) => `orrery.device.${deviceId}.session.${sessionId}`,
  anyDeviceSession: 'orrery.device.*.session.*',
  /** Command ids begin with their run and task, each a token of its own. */
  output: (commandId: CommandId) => `orrery.output.${commandId}`,
  outputOfRun: (runId: RunId) => `orrery.output.${runId}.>`,
  outputOfTask: (runId: RunId, taskId: TaskId) => `orrery.output.${runId}.${taskId}.>`,
  anyOutput: 'orrery.output.>',
  query: (service: string, name: string) => `orrery.v.${service}.${name}`,
  anyQuery: 'orrery.v.>',
  anyQueryOf: (service: string) => `orrery.v.${service}.>`,
} as const;

/** The streams of a key-value bucket and its keys, as every client of NATS knows them. */
const BUCKET_KEYS = '$KV.';
export const keysOfBucket = (bucket: string): string => `${BUCKET_KEYS}${bucket}.>`;

/**
 * Where the server says that something was stored on a subject, or on one that this filter names: `orrery.run.*` is told of on
 * `orrery.live.run.*`, `$KV.ACTORS.>` on `orrery.live.kv.ACTORS.>`.
 */
export function liveSubjectOf(filter: string): string {
  const isKey = filter.startsWith(BUCKET_KEYS);
  return `orrery.live.${isKey ? `kv.${filter.slice(BUCKET_KEYS.length)}` : filter.slice('orrery.'.length)}`;
}

/** `orrery.run.<runId>` or any subject whose run id stands where `subjects` puts it. */
export function runIdOfSubject(subject: string): RunId | undefined {
  const tokens = subject.split('.');
  switch (tokens[1]) {
    case 'run':
    case 'feed':
      return tokens[2];
    case 'attempt':
    case 'plan':
    case 'command':
      return tokens[3];
    case 'timer':
    case 'due':
      return tokens[2] === 'run' ? tokens[4] : undefined;
    default:
      return undefined;
  }
}

/** The attempt that a subject of ATTEMPTS belongs to. */
export function attemptOfSubject(subject: string): (AttemptKey & { kind: AttemptSubjectKind }) | undefined {
  const [root, name, , runId, taskId, attempt, kind, ...rest] = subject.split('.');
  if (root !== 'orrery' || name !== 'attempt' || rest.length > 0) return undefined;
  if (runId === undefined || taskId === undefined || attempt === undefined) return undefined;
  if (kind !== 'step' && kind !== 'ask' && kind !== 'end' && kind !== 'late') return undefined;
  return { runId, taskId, attempt: Number(attempt), kind };
}

/** The device at the end of `orrery.fleet.<id>`, `orrery.timer.device.<id>`, `orrery.due.device.<id>`. */
export function deviceIdOfSubject(subject: string): DeviceId | undefined {
  return subject.split('.').at(-1);
}

/** The actor at the end of `orrery.actor.<id>`. */
export function actorIdOfSubject(subject: string): ActorId | undefined {
  return subject.split('.').at(-1);
}
