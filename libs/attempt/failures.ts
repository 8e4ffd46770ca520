import { TaskError, type CommandState, type FailureOutcome } from '#proto';
import { clip } from './shape-result.js';

/** One way to fail, as an event names it. `sent` false: nobody was ever asked to execute it. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly outcome: FailureOutcome;
  readonly sent?: false | undefined;
}

/** Ends of commands and attempts, of both kinds, where nobody has better words. */
export const FAILURES = {
  FAILED: { code: 'COMMAND_FAILED', message: 'the tool reported an error', outcome: 'failed' },
  TIMED_OUT: { code: 'TIMEOUT', message: 'the command did not end in its time', outcome: 'timed_out' },
  CANCELLED: { code: 'CANCELLED', message: 'the command was stopped', outcome: 'cancelled' },
  OUTCOME_UNKNOWN: { code: 'OUTCOME_UNKNOWN', message: 'nobody can say whether it was executed', outcome: 'unknown' },
  stopped: { code: 'CANCELLED', message: 'it was stopped', outcome: 'cancelled' },
  neverSent: { code: 'CANCELLED', message: 'it was stopped before it was sent', outcome: 'cancelled' },
  deviceLost: { code: 'DEVICE_LOST', message: 'the device is lost', outcome: 'device_lost' },
} as const satisfies Record<Exclude<CommandState, 'COMPLETED'>, Failure> & Record<string, Failure>;

const MESSAGE_CHARS_MAX = 4_000;

/** As an event holds it: a code that is none becomes REFUSED. */
export function errorOf({ code, message, outcome, sent }: Failure): TaskError {
  return { code: codeOf(code), message: clip(message, MESSAGE_CHARS_MAX), outcome, ...(sent === false && { sent }) };
}

export function codeOf(code: string): string {
  return TaskError.shape.code.safeParse(code).success ? code : 'REFUSED';
}
