import {
  GENESIS_HASH,
  type Ask,
  type Json,
  type RunCommit,
  type RunEvent,
  type RunEventData,
  type RunOptions,
  type StopReason,
} from '#proto';
import { runIdOf, sealCommit } from '#libs/event-log';

/** A run written by hand, for tests: what the orchestrator would have appended. */
export const RUN_ID = 'run1';
export const DEVICE_ID = 'web-1';
export const SESSION_ID = 'session-1';
export const STARTED_AT = '2026-11-20T10:00:00.000Z';
export const ENDED_AT = '2026-11-20T10:00:00.050Z';
export const NOW = Date.parse(STARTED_AT) + 100;

export interface TaskLike {
  readonly id: string;
  readonly tool?: string;
  readonly arguments?: Record<string, Json>;
  readonly inputs?: readonly { taskId: string; attempt: number; runId?: string; field?: string }[];
  readonly attempt?: number;
  readonly startedAt?: string;
  /** What the start says besides, or instead. */
  readonly start?: Partial<RunEventData<'TASK_STARTED'>>;
  /** No exact command: the device's agent does it. */
  readonly agent?: boolean;
}

/** Commits of one run, chained as stored. */
export class TestRun {
  readonly commits: RunCommit[] = [];
  readonly runId: string;
  #events = 0;

  /** `first`: what it begins with instead of a request, as a fork does. */
  constructor(
    tasks: readonly TaskLike[],
    runId = RUN_ID,
    first?: readonly [RunEvent, ...RunEvent[]],
    options: RunOptions = {},
  ) {
    this.runId = runId;
    if (first !== undefined) {
      this.append(...first);
      return;
    }
    const stars = tasks.map((task) => ({
      id: task.id,
      name: task.id,
      description: '',
      tips: [],
      target: { device: DEVICE_ID },
      ...(task.agent !== true && { command: commandOf(task) }),
    }));
    this.append(
      {
        type: 'RUN_REQUESTED',
        data: {
          requestId: `request-${runId}`,
          namespace: 'default',
          contentHash: '0'.repeat(64),
          goal: null,
          constellation: { name: 'test', tasks: stars, lines: [] },
          options,
          metadata: {},
          requestedBy: { kind: 'external', id: 'test' },
          requestedAt: STARTED_AT,
          deadlineAt: '2026-11-21T10:00:00.000Z',
        },
      },
      {
        type: 'CONSTELLATION_MODIFIED',
        data: { revision: 1, origin: 'request', tasks: stars.length, lines: 0, modifiedAt: STARTED_AT },
      },
    );
  }

  append(...events: RunEvent[]): RunCommit {
    const last = this.commits.at(-1);
    const number = this.commits.length + 1;
    const recorded = events.map((event, index) => ({
      id: `${this.runId}-${number}-${index}`,
      sequence: this.#events + index + 1,
      schemaVersion: 1,
      ...event,
    }));
    this.#events += events.length;
    const draft = {
      // Not a real ULID, but the same one for the same commit, and no other run's.
      commit: runIdOf(this.runId, String(number)).toUpperCase(),
      number,
      at: STARTED_AT,
      by: { service: 'orchestrator', instance: 'test' },
      causes: [],
      runId: this.runId,
      events: recorded,
    };
    const commit = sealCommit(draft, last?.hash ?? GENESIS_HASH);
    this.commits.push(commit);
    return commit;
  }

  start(...tasks: TaskLike[]): RunCommit {
    return this.append(...tasks.map((task) => ({ type: 'TASK_STARTED' as const, data: startOf(task) })));
  }

  stop(taskId: string, attempt = 1, reason: StopReason = 'timeout'): RunCommit {
    const data = {
      taskId,
      attempt,
      reason,
      requestedAt: STARTED_AT,
      graceUntil: '2026-11-20T10:10:10.000Z',
    };
    return this.append({ type: 'TASK_STOP_REQUESTED', data });
  }

  /** As the orchestrator records what an attempt asks. */
  ask(ask: Ask, taskId = 'a'): RunCommit {
    const data = { taskId, attempt: 1, ask, requestedAt: STARTED_AT, attemptHash: 'c'.repeat(64) };
    return this.append({ type: 'APPROVAL_REQUESTED', data });
  }

  /** As the orchestrator records what a person said. */
  decide(
    decided: Omit<RunEventData<'APPROVAL_DECIDED'>, 'taskId' | 'attempt' | 'decidedAt' | 'by'>,
    taskId = 'a',
  ): RunCommit {
    const by = { kind: 'person' as const, id: 'operator' };
    const data = { taskId, attempt: 1, by, decidedAt: STARTED_AT, ...decided };
    return this.append({ type: 'APPROVAL_DECIDED', data });
  }

  /** A stopped task ends: with the hash of the end that its attempt has, or without any when the grace was over. */
  cancel(taskId: string, attemptHash: string | null, attempt = 1): RunCommit {
    const data = {
      taskId,
      attempt,
      reason: 'cancelled' as const,
      by: { kind: 'person' as const, id: 'operator' },
      lines: [],
      cancelledAt: STARTED_AT,
      attemptHash,
    };
    return this.append({ type: 'TASK_CANCELLED', data });
  }

  /** All of it is over. */
  end(completedAt = ENDED_AT): RunCommit {
    const counts = { completed: 1, failed: 0, skipped: 0, cancelled: 0 };
    return this.append({ type: 'RUN_COMPLETED', data: { outcome: 'succeeded', counts, completedAt } });
  }

  /** As an operator's RETRY of a task does. */
  reopen(reopenedAt: string): RunCommit {
    const by = { kind: 'person' as const, id: 'operator' };
    return this.append({
      type: 'RUN_REOPENED',
      data: { by, reopenedAt, deadlineAt: '2026-11-21T10:00:00.000Z' },
    });
  }

  /** Somebody does not want the directory any more that this device keeps. */
  discard(deviceId: string): RunCommit {
    const by = { kind: 'person' as const, id: 'operator' };
    return this.append({ type: 'WORKSPACE_DISCARDED', data: { deviceId, by, discardedAt: STARTED_AT } });
  }

  /** As after the grace of a stop: the task ends and nobody knows what happened on the device. */
  failWithoutEnd(taskId: string, attempt = 1): RunCommit {
    const error = { code: 'OUTCOME_UNKNOWN', message: 'grace over', outcome: 'unknown' as const };
    const data = { taskId, attempt, error, lines: [], failedAt: STARTED_AT, attemptHash: null };
    return this.append({ type: 'TASK_FAILED', data });
  }
}

export function startOf(task: TaskLike): RunEventData<'TASK_STARTED'> {
  return {
    taskId: task.id,
    attempt: task.attempt ?? 1,
    deviceId: DEVICE_ID,
    sessionId: SESSION_ID,
    journalId: 'journal-1',
    ...(task.agent !== true ? { command: commandOf(task) } : { agent: AGENT_ORDER }),
    inputs: [...(task.inputs ?? [])],
    priority: 0,
    startedAt: task.startedAt ?? STARTED_AT,
    timeoutAt: '2026-11-20T10:10:00.000Z',
    ...task.start,
  };
}

const AGENT_ORDER = { name: 'check', description: 'look at the disks', tips: [], blackboard: [] };

function commandOf(task: TaskLike): { tool: string; arguments: Record<string, Json> } {
  return { tool: task.tool ?? 'EXEC_CLI', arguments: task.arguments ?? { command: `echo ${task.id}` } };
}

/** What EXEC_CLI answers. */
export function execCli(stdout: string, exitCode = 0): Json {
  return {
    stdout,
    stderr: '',
    exit_code: exitCode,
    command: 'true',
    execution_time: 0.25,
    timestamp: STARTED_AT,
    status: exitCode === 0 ? 'SUCCESS' : 'ERROR',
  };
}
