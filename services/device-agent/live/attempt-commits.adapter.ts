import type { AttemptCommit, AttemptEvent, AttemptKey, AttemptSubjectKind, RunCommit, RunId } from '#proto';
import {
  Aggregates,
  type AggregateKind,
  type AttemptLog,
  type AttemptLogKey,
  type AggregateChange,
  type RunLog,
} from '#libs/event-log';
import type { Clock } from '#libs/platform';
import { findTask, foldRun, type Run } from '#libs/constellation';
import { emptyAttempt, findOrder, foldAttempt, type Attempt, type AttemptOrder } from '#libs/attempt';
import { SharedReads } from './shared-reads.js';

export const SERVICE = 'device-agent';

const ATTEMPT: AggregateKind<AttemptLogKey, AttemptCommit, Attempt> = {
  name: ({ runId, taskId, attempt }) => `attempt ${attempt} of task ${taskId} in run ${runId}`,
  ownerOf: ({ runId, taskId, attempt }) => ({ runId, taskId, attempt }),
  nothing: ({ runId, taskId, attempt }) => emptyAttempt({ runId, taskId, attempt }),
  follow: (attempt, stored) =>
    foldAttempt(
      attempt,
      stored.map(({ commit }) => commit),
    ),
};

/** A change of an attempt because of a commit of its run; `kind` says as what its facts are published. */
export function changeBy<T>(
  { key, kind, cause }: { readonly key: AttemptKey; readonly kind: AttemptSubjectKind; readonly cause: string },
  events: readonly AttemptEvent[],
  value: T,
): AggregateChange<AttemptEvent, T, AttemptLogKey> {
  return { value, events, causes: [{ kind: 'run', id: cause }], to: { ...key, kind } };
}

export interface CommitsOptions {
  readonly attempts: AttemptLog;
  readonly runs: RunLog;
  readonly clock: Clock;
  readonly instance: string;
}

/** Attempts and runs as they are stored; the only writer of ATTEMPTS. */
export class AttemptCommits extends Aggregates<AttemptLogKey, AttemptCommit, AttemptEvent, Attempt> {
  readonly #runs: RunLog;
  /** After an outage all attempts of a large run come again at once, and each asks how its run stands. */
  readonly #folded: SharedReads<RunId, Run | undefined>;

  constructor({ attempts, runs, clock, instance }: CommitsOptions) {
    super(ATTEMPT, { log: attempts, clock, by: { service: SERVICE, instance } });
    this.#runs = runs;
    this.#folded = new SharedReads(async (runId) => foldRun(await this.historyOf(runId)));
  }

  /** Whether the run, read now, has the task RUNNING with this attempt. */
  async isRunning({ runId, taskId, attempt }: AttemptKey): Promise<boolean> {
    const run = await this.#folded.of(runId);
    const task = run === undefined ? undefined : findTask(run, taskId);
    return task?.status === 'RUNNING' && task.attempt === attempt;
  }

  /** Whether the attempt was carried out for the run that this one was forked from: nothing of it is this run's to end. */
  async isInherited({ runId, taskId, attempt }: AttemptKey): Promise<boolean> {
    const [first] = await this.#runs.load(runId);
    const forked = first?.commit.events.find(({ type }) => type === 'RUN_FORKED');
    if (forked?.type !== 'RUN_FORKED') return false;
    return forked.data.tasks.some((task) => task.star.id === taskId && attempt <= task.attempt);
  }

  /** What is stored of a run; nothing when there is no such run. */
  async historyOf(runId: RunId): Promise<RunCommit[]> {
    return (await this.#runs.load(runId)).map(({ commit }) => commit);
  }

  /** The order that started the attempt, out of the history of its run. */
  async findOrder(key: AttemptKey): Promise<AttemptOrder | undefined> {
    return findOrder(await this.historyOf(key.runId), key);
  }
}
