import {
  COMMAND_REFUSALS,
  commandIdOf,
  NO_USAGE,
  type TaskError,
  type AttemptEvent,
  type CommandCall,
  type CommandOutcome,
  type CommandState,
  type TaskResult,
} from '#proto';
import type { ExactOrder } from './attempt.js';
import { errorOf, FAILURES } from './failures.js';

/** How an attempt can come to its end. */
export type Ending =
  /** The device said what became of the command. `result` is its answer as far as an event holds it. */
  | { readonly kind: 'outcome'; readonly outcome: CommandOutcome; readonly result: TaskResult | null }
  /** Gateway or device will not execute it. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** A stop came before anybody was asked to execute it. */
  | { readonly kind: 'stopped' }
  /** The registry declared the session lost. `sent`: somebody may have been asked to execute it. */
  | { readonly kind: 'lost'; readonly sent: boolean }
  /** It cannot be asked for at all. */
  | { readonly kind: 'impossible'; readonly code: string; readonly message: string }
  /** Nobody will ever say: `message` tells why. */
  | { readonly kind: 'unknown'; readonly code: string; readonly message: string };

/** The events of the one commit of an exact command's attempt at its end. */
export function eventsOf(order: ExactOrder, ending: Ending): AttemptEvent[] {
  const events = endOf(order, ending);
  return order.start.budget === undefined ? events : withUsage(events);
}

/** A run with a budget wants to know what was used; the others save the bytes. */
function withUsage(events: readonly AttemptEvent[]): AttemptEvent[] {
  const commands = events.some(({ type }) => type === 'COMMAND_FINISHED') ? 1 : 0;
  const used = { ...NO_USAGE, commands };
  return events.map((event) =>
    event.type === 'ATTEMPT_FINISHED' ? { type: event.type, data: { ...event.data, used } } : event,
  );
}

function endOf(order: ExactOrder, ending: Ending): AttemptEvent[] {
  switch (ending.kind) {
    case 'outcome':
      return [commandFinished(order, ending.outcome, ending.result), finishedBy(order, ending.outcome, ending.result)];
    case 'refused':
      return refusedBy(order, ending);
    case 'stopped':
      return [failed(errorOf({ ...FAILURES.neverSent, sent: false }))];
    case 'lost':
      if (!ending.sent) return [failed(errorOf({ ...FAILURES.deviceLost, sent: false }))];
      return [commandFinished(order, UNKNOWN, null), failed(errorOf(FAILURES.deviceLost))];
    case 'impossible':
      return [failed(errorOf({ ...ending, outcome: 'failed' }))];
    case 'unknown':
      return [commandFinished(order, UNKNOWN, null), failed(errorOf({ ...ending, outcome: 'unknown' }))];
    default:
      return ending satisfies never;
  }
}

/** A refused command was never executed, but for the one refusal that says that an earlier request with its id may have been. */
function refusedBy(order: ExactOrder, { code, message }: { code: string; message: string }): AttemptEvent[] {
  if (code === COMMAND_REFUSALS.outcomeUnknown) return endOf(order, { kind: 'unknown', code, message });
  const outcome = code === COMMAND_REFUSALS.expired ? 'timed_out' : 'failed';
  return [failed(errorOf({ code, message, outcome, ...(isOfTheWay(code) && { sent: false }) }))];
}

/** Refused for what was on the way, and not for what it is: sent again, it may be taken. */
const isOfTheWay = (code: string): boolean => code === COMMAND_REFUSALS.expired || code === COMMAND_REFUSALS.notSent;

/** What arrived after the attempt had been closed without it: an annotation, never another end. */
export function lateEventsOf(order: ExactOrder, ending: Ending): AttemptEvent[] {
  if (ending.kind !== 'outcome' || ending.outcome.state === 'OUTCOME_UNKNOWN') return [];
  return [commandFinished(order, ending.outcome, ending.result)];
}

const UNKNOWN: CommandOutcome = {
  state: 'OUTCOME_UNKNOWN',
  result: null,
  error: null,
  startedAt: null,
  durationMs: null,
};

function commandFinished(order: ExactOrder, outcome: CommandOutcome, result: TaskResult | null): AttemptEvent {
  const { deviceId, sessionId, command } = order.start;
  const { state, startedAt, durationMs } = outcome;
  const error = state === 'COMPLETED' ? null : failureOf(outcome, state);
  return {
    type: 'COMMAND_FINISHED',
    data: {
      commandId: commandIdOf(order.key),
      deviceId,
      sessionId,
      command,
      state,
      result,
      error,
      startedAt,
      durationMs,
    },
  };
}

function finishedBy(order: ExactOrder, outcome: CommandOutcome, result: TaskResult | null): AttemptEvent {
  if (outcome.state !== 'COMPLETED') return failed(failureOf(outcome, outcome.state), result);
  const exitCode = exitCodeOf(order.start.command, result);
  if (exitCode !== 0) {
    const message = `the command ended with exit code ${exitCode}`;
    return failed({ code: 'EXIT_CODE', message, outcome: 'failed' }, result);
  }
  return { type: 'ATTEMPT_FINISHED', data: { status: 'completed', result: result ?? { value: null } } };
}

/** A foreign client calls every command that ran a success; by contract the exit code of EXEC_CLI decides. */
export function exitCodeOf({ tool }: CommandCall, result: TaskResult | null): number {
  const value = result?.value;
  if (tool !== 'EXEC_CLI' || typeof value !== 'object' || value === null || Array.isArray(value)) return 0;
  const exitCode = value['exit_code'];
  return typeof exitCode === 'number' ? exitCode : 0;
}

/** The device's own words, with the outcome that its state stands for: an output inside them is not taken, it could be any size. */
function failureOf({ error }: CommandOutcome, state: Exclude<CommandState, 'COMPLETED'>): TaskError {
  const known = FAILURES[state];
  const { code = known.code, message = known.message, sent } = error ?? {};
  return errorOf({ code, message, outcome: known.outcome, sent });
}

function failed(error: TaskError, output: TaskResult | null = null): AttemptEvent {
  const data = { status: 'failed' as const, error: output === null ? error : { ...error, output } };
  return { type: 'ATTEMPT_FINISHED', data };
}
