import type { AttemptEvent, AttemptKey, AttemptSubjectKind } from '#proto';
import { newCommitId, type AttemptLog, type RunLog } from '#libs/event-log';
import type { Clock } from '#libs/platform';
import { findTask, foldRun } from '#libs/constellation';
import { findOrder, foldAttempt, nextCommit, type Attempt, type AttemptOrder } from '../attempt/index.js';

export const SERVICE = 'device-agent';

/** Appends of one decision that may lose against another writer before it is given up and decided again from the message. */
export const CONFLICTS_MAX = 16;

/** Others kept writing to the attempt; the message comes again. */
export class ContendedError extends Error {
  override readonly name = 'ContendedError';
  constructor({ runId, taskId, attempt }: AttemptKey) {
    super(`Attempt ${attempt} of task ${taskId} in run ${runId} was changed ${CONFLICTS_MAX} times meanwhile.`);
  }
}

export interface CommitsOptions {
  readonly attempts: AttemptLog;
  readonly runs: RunLog;
  readonly clock: Clock;
  readonly instance: string;
}

/** Attempts and runs as they are stored; the only writer of ATTEMPTS. */
export class AttemptCommits {
  readonly #options: CommitsOptions;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  async load(key: AttemptKey): Promise<Attempt> {
    return foldAttempt(key, await this.#options.attempts.load(key));
  }

  endsAt(key: AttemptKey): Promise<number> {
    return this.#options.attempts.endsAt(key);
  }

  /** Stores what was decided on this state of the attempt; null when somebody else wrote meanwhile. `cause`: the run's commit. */
  async append(
    attempt: Attempt,
    { kind, events, cause }: { kind: AttemptSubjectKind; events: readonly AttemptEvent[]; cause: string },
  ): Promise<Attempt | null> {
    const { attempts, clock, instance } = this.#options;
    const now = clock.now();
    const commit = nextCommit(attempt, events, {
      commit: newCommitId(now),
      now,
      by: { service: SERVICE, instance },
      causes: [{ kind: 'run', id: cause }],
    });
    const appended = await attempts.append({ ...attempt.key, kind }, commit, attempt.end.sequence);
    if (appended.kind === 'conflict') return null;
    const stored = [{ commit, sequence: appended.sequence }];
    return foldAttempt(attempt.key, stored, attempt);
  }

  /** Whether the run, read now, has the task RUNNING with this attempt. */
  async isRunning({ runId, taskId, attempt }: AttemptKey): Promise<boolean> {
    const stored = await this.#options.runs.load(runId);
    const run = foldRun(stored.map(({ commit }) => commit));
    const task = run === undefined ? undefined : findTask(run, taskId);
    return task?.status === 'RUNNING' && task.attempt === attempt;
  }

  /** Whether the attempt was carried out for the run that this one was forked from: nothing of it is this run's to end. */
  async isInherited({ runId, taskId, attempt }: AttemptKey): Promise<boolean> {
    const [first] = await this.#options.runs.load(runId);
    const forked = first?.commit.events.find(({ type }) => type === 'RUN_FORKED');
    if (forked?.type !== 'RUN_FORKED') return false;
    return forked.data.tasks.some((task) => task.star.id === taskId && attempt <= task.attempt);
  }

  /** The order that started the attempt, out of the history of its run. */
  async findOrder(key: AttemptKey): Promise<AttemptOrder | undefined> {
    const stored = await this.#options.runs.load(key.runId);
    return findOrder(
      stored.map(({ commit }) => commit),
      key,
    );
  }
}
