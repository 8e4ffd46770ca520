import type { ToolAnswer } from '#libs/mcp';
import {
  ExecCliResult,
  POLICY_MISMATCH,
  type CommandOutcome,
  type CommandState,
  type Json,
  type ResultFile,
  type TaskError,
} from '#proto';
import { LIMIT_META } from './command-limits.js';
import { EXEC_CLI_DEFINITION } from './exec-cli.js';

export interface Timing {
  readonly startedAt: string;
  readonly durationMs: number;
}

/** The code of a command that was ended because it used more than it may. */
const LIMIT_REACHED = 'LIMIT_REACHED';

const LAST_LINE_CHARS_MAX = 300;
const MESSAGE_CHARS_MAX = 4_000;

const OUTCOMES = {
  COMPLETED: 'failed',
  FAILED: 'failed',
  TIMED_OUT: 'timed_out',
  CANCELLED: 'cancelled',
  OUTCOME_UNKNOWN: 'unknown',
} as const satisfies Record<CommandState, TaskError['outcome']>;

/** An end without a result of a tool. */
export function endedWithout(state: Exclude<CommandState, 'COMPLETED'>, code: string, message: string): CommandOutcome {
  return { ...ended(state, code, message, null), startedAt: null, durationMs: null };
}

/** What a call became, in the words of the wire. Output is kept in every case: it is what people read after a failure. */
export function outcomeOf(tool: string, answer: ToolAnswer, stop: AbortSignal, timing: Timing): CommandOutcome {
  const files = answer.kind === 'answered' ? answer.files : undefined;
  return { ...stateOf(tool, answer, stop), ...timing, ...(files !== undefined && { files: [...files] }) };
}

/** What became of files that were to be moved; `isLate`: the time of their command is over. */
export function movedOutcome(
  tool: string,
  moved: Moved,
  { stop, isLate, timing }: { readonly stop: AbortSignal; readonly isLate: boolean; readonly timing: Timing },
): CommandOutcome {
  if (moved.kind === 'failed') return { ...ended('FAILED', moved.code, moved.message, null), ...timing };
  if (moved.kind === 'aborted' && isLate && !stop.aborted) return outcomeOf(tool, { kind: 'timed_out' }, stop, timing);
  if (moved.kind === 'aborted') return outcomeOf(tool, { kind: 'cancelled', value: null }, stop, timing);
  const files = moved.files.length === 0 ? {} : { files: [...moved.files] };
  return { ...completed(moved.result), ...timing, ...files };
}

type Moved =
  | { readonly kind: 'moved'; readonly result: Json; readonly files: readonly ResultFile[] }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'aborted' };

/** The same of a command that ran into its wall; `how`: what is known of that, a sentence. */
export const mismatched = ({ result, startedAt, durationMs }: CommandOutcome, how: string): CommandOutcome => ({
  ...ended('FAILED', POLICY_MISMATCH, how, result),
  startedAt,
  durationMs,
});

type End = Pick<CommandOutcome, 'state' | 'result' | 'error'>;

function stateOf(tool: string, answer: ToolAnswer, stop: AbortSignal): End {
  switch (answer.kind) {
    case 'answered':
      if (answer.isError) return ended('FAILED', 'TOOL_ERROR', textOf(answer.value), answer.value);
      return tool === EXEC_CLI_DEFINITION.name
        ? execEnd(answer.value, answer.meta?.[LIMIT_META])
        : completed(answer.value);
    case 'timed_out':
      return ended('TIMED_OUT', 'TOOL_TIMEOUT', 'the tool did not answer in time', null);
    case 'cancelled':
      return cancelled(stop.reason, answer.value);
    case 'unavailable':
      return ended('FAILED', 'TOOL_UNAVAILABLE', answer.reason, null);
    case 'lost':
      return ended('OUTCOME_UNKNOWN', 'TOOL_SERVER_LOST', answer.reason, null);
  }
}

/** Reasons of an abort that are ours: nobody asked to stop the attempt, but the client ends, or has had no server for too long. */
export const DEVICE_STOPPED = 'DEVICE_STOPPED';
export const DISCONNECTED = 'DISCONNECTED';

/** Why a command was ended although its tool would have gone on; `result` is what it had produced until then. */
function cancelled(reason: unknown, result: Json): End {
  switch (reason) {
    case DEVICE_STOPPED:
      return ended('FAILED', DEVICE_STOPPED, 'the device client was stopped', result);
    case DISCONNECTED:
      return ended('CANCELLED', DISCONNECTED, 'the device lost its server, and ends its commands then', result);
    default:
      return ended('CANCELLED', 'ATTEMPT_STOPPED', 'the attempt was stopped', result);
  }
}

function execEnd(value: Json, limit: unknown): End {
  const parsed = ExecCliResult.safeParse(value);
  if (!parsed.success) return ended('FAILED', 'TOOL_ERROR', 'EXEC_CLI answered in an unknown form', value);
  const { status, exit_code: code, execution_time: seconds, stderr } = parsed.data;
  if (typeof limit === 'string') return ended('FAILED', LIMIT_REACHED, limit, value);
  if (status === 'TIMEOUT') return ended('TIMED_OUT', 'TIMEOUT', `killed after ${seconds} s`, value);
  if (code !== 0) return ended('FAILED', 'EXIT_CODE', withLastLine(`exit code ${code}`, stderr), value);
  return completed(value);
}

const completed = (result: Json): End => ({ state: 'COMPLETED', result, error: null });

function ended(state: Exclude<CommandState, 'COMPLETED'>, code: string, message: string, result: Json): End {
  const error = { code, message: message.slice(0, MESSAGE_CHARS_MAX), outcome: OUTCOMES[state] };
  return { state, result, error };
}

function withLastLine(message: string, stderr: string): string {
  const lastLine = stderr
    .trimEnd()
    .slice(stderr.trimEnd().lastIndexOf('\n') + 1)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return lastLine === '' ? message : `${message}: ${lastLine.slice(0, LAST_LINE_CHARS_MAX)}`;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
