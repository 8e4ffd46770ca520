import type { Instant, RecordedRunEvent, RunCommit, RunEventData, RunId, TaskConstellation, TaskId } from '#proto';
import { covered, type Interval } from '../values/index.js';
import { Attempts, type AttemptMetrics } from './metrics-attempts.js';
import { MeasuredPlan, type PlanChange, type ConstellationSize } from './metrics-plan.js';
import { type RoundMetrics, Rounds } from './metrics-rounds.js';
import { topologicalOrder, widthOf, type Successors } from '../plan/index.js';

/** What edits changed, by type (paper table 3). A primitive that changes nothing counts nowhere. */
export type ChangeCounts = Readonly<Record<PlanChange | 'total', number>>;

export interface EditMetrics {
  /** Rounds that were opened, that of the creation included. */
  readonly rounds: number;
  /** Rounds that were given up: nothing that could be applied came in time. */
  readonly abandoned: number;
  /** Proposals that were judged, and those of them that were refused; an operator's proposals count when they were applied. */
  readonly proposals: number;
  readonly rejected: number;
  /** Proposals that were applied after the creation, also those that changed nothing: what `perEdit` is an average over. */
  readonly applied: number;
  /** Sum over the run. What made the constellation is no change of it. */
  readonly changes: ChangeCounts;
  /** Average; null when nothing was applied after the creation. */
  readonly perEdit: ChangeCounts | null;
}

/** What ended before it began, by the clocks that recorded it. Such a time counts as 0 above: who adds up over many runs leaves it out. */
export interface SkewedTimes {
  readonly run: boolean;
  readonly attempts: number;
  readonly rounds: number;
  readonly pauses: number;
}

/**
 * What the paper measures of a run (sections 10.3 to 10.7), out of its facts alone. Times are in milliseconds between
 * recorded instants; an attempt, a round or a run that has not ended yet adds nothing to them.
 */
export interface RunMetrics {
  readonly runId: RunId;
  /** Most tasks that the constellation would allow to run at once, as it is now: its largest antichain, see `widthOf`. */
  readonly maxWidth: number;
  /** Most tasks that were RUNNING at once as it happened. */
  readonly peakConcurrency: number;
  /** L: the longest chain of the constellation, a task weighing what its last attempt worked; what did not run in this run weighs 0. */
  readonly criticalPathMs: number;
  /** The tasks of that chain in order; empty when L is 0. */
  readonly criticalPath: readonly TaskId[];
  /** W: all attempts together, without the time that they waited for people, as in L. */
  readonly totalWorkMs: number;
  /** P = W / L; null when L is 0. */
  readonly parallelismRatio: number | null;
  /** What attempts waited for approvals and answers of people, all of them together: neither in W nor in L. */
  readonly waitedMs: number;
  /** How long the run was paused, by a person or until one accepts its plan. What runs goes on meanwhile. */
  readonly pausedMs: number;
  /** From the request or the fork until the end; null while the run is open. */
  readonly endToEndMs: number | null;
  /** Time during which an edit round was open, the creation included. */
  readonly orchestrationMs: number;
  /** That of the creation alone. */
  readonly creationMs: number;
  /** The constellation as it was created or taken over from the parent run, and as it is now. */
  readonly initial: ConstellationSize;
  readonly final: ConstellationSize;
  readonly edits: EditMetrics;
  /** Every round, in the order in which they were opened. */
  readonly rounds: readonly RoundMetrics[];
  /** Every attempt that was started in this run, in that order. */
  readonly attempts: readonly AttemptMetrics[];
  readonly skewed: SkewedTimes;
}

/** Null for no commits at all; a run that is still open is measured as far as it has come. */
export function metricsOf(commits: readonly RunCommit[]): RunMetrics | null {
  const [first] = commits;
  if (first === undefined) return null;
  const measures = new Measures();
  for (const { events } of commits) for (const event of events) measures.add(event);
  return measures.result(first.runId);
}

/** Private to one walk over the events. */
class Measures {
  readonly #plan = new MeasuredPlan();
  readonly #attempts = new Attempts();
  readonly #rounds = new Rounds();
  readonly #pauses: Interval[] = [];
  readonly #changes = { ...NO_CHANGES };
  #pausedAt: Instant | null = null;
  #requested: TaskConstellation | null = null;
  #initial: ConstellationSize | null = null;
  #begun: Instant | null = null;
  #ended: Instant | null = null;
  #accepted = 0;
  #rejected = 0;
  #applied = 0;

  /** Exhaustive, and silent about what it does not know: a figure is worth less than the report that shows it. */
  add(event: RecordedRunEvent): void {
    switch (event.type) {
      case 'RUN_REQUESTED':
        this.#begun = event.data.requestedAt;
        this.#requested = event.data.constellation;
        return;
      case 'RUN_FORKED':
        return this.#fork(event.data);
      case 'CONSTELLATION_MODIFIED':
        return this.#modify(event.data);
      case 'EDIT_OPENED':
        return this.#rounds.open(event.data);
      case 'EDIT_REJECTED':
        this.#rejected++;
        return this.#rounds.reject(event.data);
      case 'EDIT_ABANDONED':
        return this.#rounds.abandon(event.data);
      case 'TASK_STARTED':
        this.#attempts.start(event.data);
        return this.#plan.settle(event.data.taskId, false);
      case 'TASK_COMPLETED':
        this.#attempts.end(event.data.taskId, event.data.completedAt, 'completed', event.data.used);
        return this.#plan.settle(event.data.taskId, false);
      case 'TASK_FAILED':
        this.#attempts.end(event.data.taskId, event.data.failedAt, 'failed', event.data.used);
        return this.#plan.settle(event.data.taskId, false);
      case 'TASK_SKIPPED':
        return this.#plan.settle(event.data.taskId, false);
      case 'TASK_CANCELLED':
        this.#attempts.end(event.data.taskId, event.data.cancelledAt, 'cancelled', event.data.used);
        return this.#plan.settle(event.data.taskId, false);
      case 'TASK_REOPENED':
        return this.#plan.settle(event.data.taskId, true);
      case 'RUN_COMPLETED':
        return this.#finish(event.data.completedAt);
      case 'RUN_FAILED':
        return this.#finish(event.data.failedAt);
      case 'RUN_CANCELLED':
        return this.#finish(event.data.cancelledAt);
      case 'RUN_REOPENED':
        this.#ended = null;
        return;
      case 'APPROVAL_REQUESTED':
        return this.#attempts.ask(event.data);
      case 'APPROVAL_DECIDED':
        return this.#attempts.answer(event.data);
      case 'RUN_PAUSED':
        this.#pausedAt = event.data.pausedAt;
        return;
      case 'RUN_RESUMED':
        return this.#resume(event.data.resumedAt);
      case 'WAVE_STARTED': {
        const { taskId, parts } = event.data;
        return this.#plan.startWave(
          taskId,
          parts.map((part) => part.taskId),
        );
      }
      case 'FAN_OUT_STARTED':
      case 'TASK_STOP_REQUESTED':
      case 'RUN_ANNOTATED':
      case 'TASKS_WAITING':
      case 'WORDS_SAID':
      case 'BOARD_WRITTEN':
      case 'WORKSPACE_DISCARDED':
      // Whoever is asked waits until it is decided, however many words that takes.
      case 'APPROVAL_GIVEN':
      case 'PLAN_ACCEPTED':
        return;
    }
  }

  result(runId: RunId): RunMetrics {
    const { ids, successors } = this.#plan.structure();
    const path = longestPath(
      successors,
      ids.map((id) => this.#workedMsOf(id)),
    );
    const size = this.#plan.size;
    const workMs = this.#attempts.sum('workedMs');
    const rounds = this.#rounds.all;
    return {
      runId,
      maxWidth: widthOf(this.#plan.widened()),
      peakConcurrency: this.#attempts.peak,
      criticalPathMs: path.length,
      criticalPath: path.positions.flatMap((position) => ids[position] ?? []),
      totalWorkMs: workMs,
      parallelismRatio: path.length === 0 ? null : workMs / path.length,
      waitedMs: this.#attempts.sum('waitedMs'),
      pausedMs: covered(this.#pauses),
      endToEndMs: this.#begun === null || this.#ended === null ? null : between(this.#begun, this.#ended),
      orchestrationMs: this.#rounds.openMs(),
      creationMs: this.#rounds.openMs('creation'),
      initial: this.#initial ?? size,
      final: size,
      edits: {
        rounds: rounds.length,
        abandoned: this.#rounds.abandoned,
        proposals: this.#accepted + this.#rejected,
        rejected: this.#rejected,
        applied: this.#applied,
        changes: withTotal(this.#changes, 1),
        perEdit: this.#applied === 0 ? null : withTotal(this.#changes, this.#applied),
      },
      rounds,
      attempts: this.#attempts.all,
      skewed: {
        run: this.#begun !== null && this.#ended !== null && Date.parse(this.#ended) < Date.parse(this.#begun),
        attempts: this.#attempts.skewed,
        rounds: this.#rounds.skewed,
        pauses: this.#pauses.filter(({ from, until }) => until < from).length,
      },
    };
  }

  /** Waves follow each other: a task on several devices takes as long as the longest of each. */
  #workedMsOf(id: TaskId): number {
    const worked = (part: TaskId): number => this.#attempts.workedMsOf(part);
    const waves = this.#plan.wavesOf(id).map((parts) => Math.max(0, ...parts.map(worked)));
    return waves.reduce((sum, ms) => sum + ms, worked(id));
  }

  #fork({ forkedAt, tasks, lines }: RunEventData<'RUN_FORKED'>): void {
    this.#begun = forkedAt;
    for (const { star, status, part, fanOut } of tasks)
      if (part === undefined) this.#plan.addTask(star, status === 'PENDING' && fanOut === undefined);
    for (const { line } of lines) this.#plan.addLine(line);
    if (tasks.length > 0) this.#initial = this.#plan.size;
  }

  /** The first one that leaves tasks behind is the creation. */
  #modify(data: RunEventData<'CONSTELLATION_MODIFIED'>): void {
    const { origin, edits } = data;
    if (origin === 'request' && this.#requested !== null) {
      for (const star of this.#requested.tasks) this.#plan.addTask(star, true);
      for (const line of this.#requested.lines) this.#plan.addLine(line);
    }
    if (origin !== 'request') this.#accepted++;
    const changes = (edits ?? []).flatMap((edit) => this.#plan.apply(edit));
    if (this.#initial !== null) {
      this.#applied++;
      for (const change of changes) this.#changes[change]++;
    } else if (this.#plan.size.tasks > 0) this.#initial = this.#plan.size;
    this.#rounds.accept(data, changes.length > 0);
  }

  /** A pause that lasts until the run ends is over then. */
  #finish(at: Instant): void {
    this.#ended = at;
    this.#resume(at);
  }

  #resume(at: Instant): void {
    if (this.#pausedAt !== null) this.#pauses.push({ from: Date.parse(this.#pausedAt), until: Date.parse(at) });
    this.#pausedAt = null;
  }
}

const NO_CHANGES: Readonly<Record<PlanChange, number>> = {
  addedTasks: 0,
  removedTasks: 0,
  modifiedTasks: 0,
  addedDependencies: 0,
  removedDependencies: 0,
  modifiedDependencies: 0,
};

function withTotal(counts: Readonly<Record<PlanChange, number>>, edits: number): ChangeCounts {
  const average = (change: PlanChange) => counts[change] / edits;
  return {
    addedTasks: average('addedTasks'),
    removedTasks: average('removedTasks'),
    modifiedTasks: average('modifiedTasks'),
    addedDependencies: average('addedDependencies'),
    removedDependencies: average('removedDependencies'),
    modifiedDependencies: average('modifiedDependencies'),
    total: Object.values(counts).reduce((sum, count) => sum + count, 0) / edits,
  };
}

/** The heaviest chain. Neither end of it weighs 0: such a task makes no chain longer. */
function longestPath(
  successors: Successors,
  weights: readonly number[],
): { readonly length: number; readonly positions: number[] } {
  const ending = [...weights];
  const before = new Map<number, number>();
  let last = -1;
  for (const position of topologicalOrder(successors)) {
    const length = ending[position] ?? 0;
    if (length > (ending[last] ?? 0)) last = position;
    for (const next of successors[position] ?? []) {
      const longer = length + (weights[next] ?? 0);
      if (longer <= (ending[next] ?? 0)) continue;
      ending[next] = longer;
      before.set(next, position);
    }
  }
  const positions: number[] = [];
  for (let at: number | undefined = last; at !== undefined && at !== -1; at = before.get(at)) positions.push(at);
  return { length: ending[last] ?? 0, positions: positions.toReversed() };
}

function between(from: Instant, until: Instant): number {
  return Math.max(0, Date.parse(until) - Date.parse(from));
}
