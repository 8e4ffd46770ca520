import {
  AIP_LIMITS,
  type Action,
  type AttemptKey,
  type CommandId,
  type CommandMessage,
  type CommandOutcome,
  type CommandWall,
  type Instant,
  isWorkspaceTool,
  type ScreenPlace,
  workspaceCommandIdOf,
} from '#proto';
import { endedWithout } from '../exec/index.js';
import type { JudgedOrder } from '../policy/index.js';
import type { AnsweredCommand } from './messages.js';

/** A command that is not over. */
export interface OpenCommand {
  readonly id: CommandId;
  readonly digest: string;
  readonly attempt: AttemptKey;
  readonly action: Action;
  /** How the service judged it; absent for an exact command of a request. */
  readonly judged: JudgedOrder | undefined;
  /** Where on a screen it is to act, as its agent has seen it. */
  readonly on: ScreenPlace | undefined;
  readonly reply: AnsweredCommand;
  readonly receivedMs: number;
  readonly startWithinMs: number;
  /** It runs in the workspace of its run; `startedAt`: when its attempt was. */
  readonly workspace: { readonly startedAt: Instant | undefined } | undefined;
  readonly stop: AbortController;
  state: 'queued' | 'running';
  /** Resolves when it is over; undefined while it waits. */
  run: Promise<void> | undefined;
}

/** What a command is started with beside its arguments. */
export interface CommandGiven {
  readonly stdinFile: string | undefined;
  readonly wall: CommandWall | undefined;
  readonly workspace: string | undefined;
}

export type OurCommand = CommandMessage & { orrery: NonNullable<CommandMessage['orrery']> };

/** No timer waits longer. */
const WAIT_MS_MAX = 24 * 60 * 60 * 1_000;

/** Aborted when the command is stopped, or when its time is over, which `late` tells. */
export function startDeadline(
  { stop, receivedMs, startWithinMs }: OpenCommand,
  nowMs: number,
): { readonly signal: AbortSignal; readonly late: AbortSignal } {
  const leftMs = Math.floor(receivedMs + startWithinMs - nowMs);
  const late = AbortSignal.timeout(Math.max(0, Math.min(leftMs, WAIT_MS_MAX)));
  return { late, signal: AbortSignal.any([stop.signal, late]) };
}

export const judgedOf = ({ judged, wall }: OurCommand['orrery']): JudgedOrder | undefined =>
  judged === undefined || judged === null ? undefined : { ...judged, wall: wall ?? undefined };

/** Of a command that runs in a workspace, or moves files of one. */
export function workspaceOf({ orrery, actions }: OurCommand): OpenCommand['workspace'] {
  const isIn = orrery.workspace === true || actions.some(({ tool_name: tool }) => isWorkspaceTool(tool));
  return isIn ? { startedAt: orrery.started_at ?? undefined } : undefined;
}

/** What moves files has an id that nothing else has: no other command may call it. */
export function wrongPlace({ orrery, actions: [action] }: OurCommand): CommandOutcome | undefined {
  const tool = action?.tool_name ?? '';
  if (!isWorkspaceTool(tool) || orrery.command_id === workspaceCommandIdOf(orrery.attempt, tool)) return undefined;
  return endedWithout('FAILED', 'INVALID_COMMAND', `${tool} is a tool of the system`);
}

export const INVALID = endedWithout('FAILED', 'INVALID_COMMAND', 'a command has exactly one action');

/** Queued or running: no server takes over more when the device comes back. */
export const OPEN_MAX = AIP_LIMITS.commandsMax;

export const BUSY = endedWithout('FAILED', 'DEVICE_BUSY', `more than ${OPEN_MAX} commands are open on this device`);
export const NOT_IN_TIME = endedWithout(
  'FAILED',
  'EXPIRED',
  'the time in which the command could start is over; it was not run',
);
export const REUSED = endedWithout(
  'FAILED',
  'COMMAND_ID_REUSED',
  'the command id is in use with other content; this one was not run',
);

export const sameAttempt = (a: AttemptKey, b: AttemptKey): boolean =>
  a.runId === b.runId && a.taskId === b.taskId && a.attempt === b.attempt;
