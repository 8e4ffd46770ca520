import {
  COMMAND_REFUSALS,
  LIMITS,
  type AttemptEvent,
  type CommandOutcome,
  type FailureOutcome,
  type ResultFile,
  type TaskError,
  type TaskResult,
} from '#proto';
import { answered, lastAnswered, NOTES_MAX, openCommands, type Book, type CommandRecord } from './book.js';
import { commandOf } from './recorded-outcomes.js';
import { errorOf, FAILURES } from './failures.js';
import { usableNotes } from './step-events.js';
import { leaving, type LeftFiles } from './task-files.js';

/** How an attempt of several steps ends, by itself or by others. */
export type AgentEnding =
  | {
      readonly kind: 'completed';
      readonly result: TaskResult;
      readonly notes?: readonly string[];
      /** What it leaves for others. */
      readonly left?: LeftFiles;
    }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly outcome?: FailureOutcome;
      readonly sent?: false;
      readonly output?: TaskResult | null;
      readonly notes?: readonly string[];
    };

export const STOPPED: AgentEnding = { kind: 'failed', ...FAILURES.stopped };

const DEVICE_LOST: AgentEnding & { readonly kind: 'failed' } = { kind: 'failed', ...FAILURES.deviceLost };

/** The same, of an attempt of which no command was issued. */
const DEVICE_LOST_BEFORE: AgentEnding = { ...DEVICE_LOST, sent: false };

const SESSION_OVER: AgentEnding = {
  kind: 'failed',
  code: COMMAND_REFUSALS.notSent,
  message: 'the session of the device ended before a command was sent',
  outcome: 'failed',
  sent: false,
};

/** A foreign device has left, and what it was doing nobody can say; for who did nothing on it yet it is one that comes back. */
const DEVICE_LEFT: AgentEnding = {
  ...DEVICE_LOST,
  message: 'the device left while its agent was at work; it keeps no journal, so nobody can go on there',
};

const LOST: ReadonlySet<AgentEnding> = new Set([DEVICE_LOST, DEVICE_LOST_BEFORE, SESSION_OVER, DEVICE_LEFT]);

/** Nobody is there who could be told anything. */
export const isLost = (ending: AgentEnding): boolean => LOST.has(ending);

/** How an attempt ends whose device is lost, or, of a foreign one, has left. `isForeign`: it keeps no journal. */
export function lostEnding({ commands }: Book, isForeign: boolean): AgentEnding {
  const mayHaveRun = ({ issued, finished }: CommandRecord): boolean =>
    issued !== null && finished?.error?.code !== COMMAND_REFUSALS.notSent;
  if ([...commands.values()].some(mayHaveRun)) return isForeign ? DEVICE_LEFT : DEVICE_LOST;
  return isForeign ? SESSION_OVER : DEVICE_LOST_BEFORE;
}

/**
 * The facts with which an attempt of several steps ends. Commands that nobody heard of any more have an unknown outcome;
 * who fails without a result of its own has what its last command answered.
 */
export function endOfSteps(book: Book, ending: AgentEnding): AttemptEvent[] {
  const unknown = openCommands(book).map((record) => commandEnded(record, UNKNOWN));
  const notes = usableNotes(ending.notes ?? book.notes, NOTES_MAX);
  const rest = { used: book.used, ...(notes.length > 0 && { notes }) };
  if (ending.kind === 'completed') {
    const result = leaving(withFiles(ending.result, book), ending.left);
    return [...unknown, { type: 'ATTEMPT_FINISHED', data: { status: 'completed', result, ...rest } }];
  }
  const output = ending.output ?? lastAnswered(book)?.finished?.result ?? null;
  const { code, message, outcome = 'failed', sent } = ending;
  const error = errorOf({ code, message, outcome, sent });
  const said: TaskError = output === null ? error : { ...error, output };
  return [...unknown, { type: 'ATTEMPT_FINISHED', data: { status: 'failed', error: said, ...rest } }];
}

/** What an agent answers is a text: the files that its commands came back with are those of its task. The newest count. */
function withFiles(result: TaskResult, { commands }: Book): TaskResult {
  const all = answered(commands).flatMap(({ finished }) => finished?.result?.files ?? []);
  const kept = new Map(all.flatMap((file) => (file.artifact === undefined ? [] : [[fileKey(file), file] as const])));
  const files = [...kept.values()].slice(-LIMITS.resultFilesMax);
  return files.length === 0 || result.files !== undefined ? result : { ...result, files };
}

const fileKey = ({ name, artifact }: ResultFile): string => `${artifact?.sha256} ${name}`;

/** What is known of a command's end. `refused`: it never ran. */
export interface CommandEnd {
  readonly state: CommandOutcome['state'];
  readonly result: TaskResult | null;
  readonly error: TaskError | null;
  readonly startedAt: string | null;
  readonly durationMs: number | null;
  readonly refused?: true;
}

const NOTHING = { result: null, startedAt: null, durationMs: null } as const;

export const UNKNOWN: CommandEnd = {
  ...NOTHING,
  state: 'OUTCOME_UNKNOWN',
  error: errorOf(FAILURES.OUTCOME_UNKNOWN),
};

export const NOT_SENT: CommandEnd = {
  ...NOTHING,
  state: 'CANCELLED',
  error: errorOf(FAILURES.neverSent),
};

export const UNREADABLE: CommandEnd = {
  ...UNKNOWN,
  error: errorOf({
    code: 'INVALID_ANSWER',
    message: 'the answer of the gateway could not be read',
    outcome: 'unknown',
  }),
};

/** A refused command never ran, but for the one refusal that says that an earlier request with its id may have. */
export function refusedEnd(code: string, message: string): CommandEnd {
  if (code === COMMAND_REFUSALS.outcomeUnknown)
    return { ...UNKNOWN, error: errorOf({ code, message, outcome: 'unknown' }) };
  const late = code === COMMAND_REFUSALS.expired;
  const error = errorOf({ code, message, outcome: late ? 'timed_out' : 'failed' });
  return { ...NOTHING, state: late ? 'TIMED_OUT' : 'FAILED', error, refused: true };
}

/** What the device said, with its answer as far as an event holds it. */
export function answeredEnd(
  { state, error, startedAt, durationMs }: CommandOutcome,
  result: TaskResult | null,
): CommandEnd {
  if (state === 'COMPLETED') return { state, result, error: null, startedAt, durationMs };
  const known = FAILURES[state];
  return {
    state,
    result,
    error: errorOf({ ...known, code: error?.code ?? known.code, message: error?.message ?? known.message }),
    startedAt,
    durationMs,
  };
}

export function commandEnded(record: CommandRecord, end: CommandEnd): AttemptEvent {
  const { issued, commandId } = record;
  const command = commandOf(record);
  if (issued === null || command === undefined) throw new Error(`${commandId} was never issued`);
  const { deviceId, sessionId } = issued;
  return { type: 'COMMAND_FINISHED', data: { commandId, deviceId, sessionId, command, ...end } };
}
