import type { Instant, RecordedRunEvent, RunCommit, RunEventData, RunId, TaskConstellation, TaskId } from '#proto';
import { Plan, type Change, type ConstellationSize } from './metrics-plan.js';
import { orderOf, widthOf, type Successors } from './metrics-width.js';

export type { ConstellationSize } from './metrics-plan.js';

/** What edits changed, by type (paper table 3). A primitive that changes nothing counts nowhere. */
export type ChangeCounts = Readonly<Record<Change | 'total', number>>;

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
  /** L: the longest chain of the constellation, a task weighing what its last attempt took; what did not run in this run weighs 0. */
  readonly criticalPathMs: number;
  /** The tasks of that chain in order; empty when L is 0. */
  readonly criticalPath: readonly TaskId[];
  /** W: all attempts together. */
  readonly totalWorkMs: number;
  /** P = W / L; null when L is 0. */
  readonly parallelismRatio: number | null;
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
}

/** Null for no commits at all; a run that is still open is measured as far as it has come. */
export function metricsOf(commits: readonly RunCommit[]): RunMetrics | null {
  const [first] = commits;
  if (first === undefined) return null;
  const measures = new Measures();
  for (const { events } of commits) for (const event of events) measures.add(event);
  return measures.result(first.runId);
}

interface Interval {
  readonly from: number;
  readonly until: number;
}

/** Private to one walk over the events. */
class Measures {
  readonly #plan = new Plan();
  readonly #running = new Map<TaskId, Instant>();
  /** What the last attempt of a task took. */
  readonly #tookMs = new Map<TaskId, number>();
  readonly #open = new Map<string, RunEventData<'EDIT_OPENED'>>();
  readonly #rounds: (Interval & { readonly creation: boolean })[] = [];
  readonly #changes = { ...NO_CHANGES };
  #peak = 0;
  #workMs = 0;
  #requested: TaskConstellation | null = null;
  #initial: ConstellationSize | null = null;
  #begun: Instant | null = null;
  #ended: Instant | null = null;
  #opened = 0;
  #abandoned = 0;
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
        this.#opened++;
        this.#open.set(event.data.editId, event.data);
        return;
      case 'EDIT_REJECTED':
        this.#rejected++;
        return;
      case 'EDIT_ABANDONED':
        this.#abandoned++;
        return this.#close(event.data.editId, event.data.abandonedAt);
      case 'TASK_STARTED':
        this.#running.set(event.data.taskId, event.data.startedAt);
        this.#peak = Math.max(this.#peak, this.#running.size);
        return this.#plan.settle(event.data.taskId, false);
      case 'TASK_COMPLETED':
        return this.#end(event.data.taskId, event.data.completedAt);
      case 'TASK_FAILED':
        return this.#end(event.data.taskId, event.data.failedAt);
      case 'TASK_SKIPPED':
        return this.#end(event.data.taskId, event.data.skippedAt);
      case 'TASK_CANCELLED':
        return this.#end(event.data.taskId, event.data.cancelledAt);
      case 'TASK_REOPENED':
        return this.#plan.settle(event.data.taskId, true);
      case 'RUN_COMPLETED':
        this.#ended = event.data.completedAt;
        return;
      case 'RUN_FAILED':
        this.#ended = event.data.failedAt;
        return;
      case 'RUN_CANCELLED':
        this.#ended = event.data.cancelledAt;
        return;
      case 'RUN_REOPENED':
        this.#ended = null;
        return;
      case 'TASK_STOP_REQUESTED':
      case 'APPROVAL_REQUESTED':
      case 'APPROVAL_DECIDED':
      case 'RUN_PAUSED':
      case 'RUN_RESUMED':
      case 'RUN_ANNOTATED':
      case 'TASKS_WAITING':
        return;
    }
  }

  result(runId: RunId): RunMetrics {
    const { ids, successors } = this.#plan.structure();
    const path = longestPath(
      successors,
      ids.map((id) => this.#tookMs.get(id) ?? 0),
    );
    const size = this.#plan.size;
    return {
      runId,
      maxWidth: widthOf(successors),
      peakConcurrency: this.#peak,
      criticalPathMs: path.length,
      criticalPath: path.positions.flatMap((position) => ids[position] ?? []),
      totalWorkMs: this.#workMs,
      parallelismRatio: path.length === 0 ? null : this.#workMs / path.length,
      endToEndMs: this.#begun === null || this.#ended === null ? null : between(this.#begun, this.#ended),
      orchestrationMs: covered(this.#rounds),
      creationMs: covered(this.#rounds.filter(({ creation }) => creation)),
      initial: this.#initial ?? size,
      final: size,
      edits: {
        rounds: this.#opened,
        abandoned: this.#abandoned,
        proposals: this.#accepted + this.#rejected,
        rejected: this.#rejected,
        applied: this.#applied,
        changes: withTotal(this.#changes, 1),
        perEdit: this.#applied === 0 ? null : withTotal(this.#changes, this.#applied),
      },
    };
  }

  #fork({ forkedAt, tasks, lines }: RunEventData<'RUN_FORKED'>): void {
    this.#begun = forkedAt;
    for (const { star, status } of tasks) this.#plan.addTask(star, status === 'PENDING');
    for (const { line } of lines) this.#plan.addLine(line);
    if (tasks.length > 0) this.#initial = this.#plan.size;
  }

  /** The first one that leaves tasks behind is the creation. */
  #modify({ origin, edits, editId, modifiedAt }: RunEventData<'CONSTELLATION_MODIFIED'>): void {
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
    if (editId !== undefined) this.#close(editId, modifiedAt);
  }

  #close(editId: string, at: Instant): void {
    const round = this.#open.get(editId);
    if (round === undefined) return;
    this.#open.delete(editId);
    const from = Date.parse(round.openedAt);
    this.#rounds.push({ from, until: Date.parse(at), creation: round.mode === 'creation' });
  }

  #end(taskId: TaskId, at: Instant): void {
    const startedAt = this.#running.get(taskId);
    this.#plan.settle(taskId, false);
    if (startedAt === undefined) return;
    this.#running.delete(taskId);
    const took = between(startedAt, at);
    this.#tookMs.set(taskId, took);
    this.#workMs += took;
  }
}

const NO_CHANGES: Readonly<Record<Change, number>> = {
  addedTasks: 0,
  removedTasks: 0,
  modifiedTasks: 0,
  addedDependencies: 0,
  removedDependencies: 0,
  modifiedDependencies: 0,
};

function withTotal(counts: Readonly<Record<Change, number>>, edits: number): ChangeCounts {
  const average = (change: Change) => counts[change] / edits;
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
  for (const position of orderOf(successors)) {
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

/** How long at least one of the intervals lasted. */
function covered(intervals: readonly Interval[]): number {
  let total = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { from, until } of intervals.toSorted((one, other) => one.from - other.from)) {
    total += Math.max(0, until - Math.max(from, end));
    end = Math.max(end, until);
  }
  return total;
}

function between(from: Instant, until: Instant): number {
  return Math.max(0, Date.parse(until) - Date.parse(from));
}
