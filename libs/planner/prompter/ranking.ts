import type { EditTrigger, TaskStatus } from '#proto';
import { type Run, sourceOf, targetOf } from '#libs/constellation';

/** Positions of tasks by how much the planner has to know of them. Every task stands in one of the three. */
export interface Ranking {
  /** Named by the round: what ended, and what needs judgement. In the order in which they are told. */
  readonly triggers: readonly number[];
  /** At the end of a plan: what failed, and where the plan ends. */
  readonly ends: readonly number[];
  /** One dependency away from those, successors first. */
  readonly neighbours: readonly number[];
  /** What failed, runs, is pending; then what is over, the newest first. */
  readonly others: readonly number[];
}

/** Without a trigger that names a task, the plan as a whole is looked at. */
export function rankingOf(run: Run, triggers: readonly EditTrigger[]): Ranking {
  const { graph } = run;
  const seen = new Set<number>();
  const fresh = (positions: Iterable<number>): number[] =>
    [...positions].filter((position) => !seen.has(position) && seen.add(position) !== undefined);

  const named = triggers.flatMap((trigger) => {
    const position = 'taskId' in trigger ? graph.taskIndex.get(trigger.taskId) : undefined;
    return position === undefined ? [] : [position];
  });
  const isFailure = (position: number): boolean => run.tasks.at(position).status === 'FAILED';
  const byNeed = [...named.filter(isFailure), ...named.filter((position) => !isFailure(position))];
  const first = fresh(byNeed);

  // What one device of several has come to stands in the result of the task; those that failed are looked at one by one.
  const isTold = (position: number): boolean => run.tasks.at(position).part === null || isFailure(position);
  const all = Array.from({ length: run.tasks.length }, (_, position) => position).filter(isTold);
  const wholePlan = triggers.length === 0 || triggers.some(({ kind }) => kind === 'end-of-plan');
  const isSink = (position: number): boolean => graph.linesFrom.at(position).length === 0;
  const ends = wholePlan ? fresh([...all.filter(isFailure), ...all.filter(isSink)]) : [];

  const centre = [...first, ...ends];
  const successors = fresh(centre.flatMap((at) => graph.linesFrom.at(at).map((line) => targetOf(graph, line))));
  const predecessors = fresh(centre.flatMap((at) => graph.linesInto.at(at).map((line) => sourceOf(graph, line))));
  return { triggers: first, ends, neighbours: [...successors, ...predecessors], others: fresh(byUrgency(run, all)) };
}

const URGENCY: Readonly<Record<TaskStatus, number>> = {
  FAILED: 0,
  RUNNING: 1,
  PENDING: 2,
  COMPLETED: 3,
  CANCELLED: 4,
  SKIPPED: 5,
};

function byUrgency(run: Run, positions: readonly number[]): number[] {
  const keyed = positions.map((position) => {
    const { status, endedAt } = run.tasks.at(position);
    return { position, urgency: URGENCY[status], endedAt: endedAt ?? '' };
  });
  keyed.sort(
    (one, other) =>
      one.urgency - other.urgency || compared(other.endedAt, one.endedAt) || one.position - other.position,
  );
  return keyed.map(({ position }) => position);
}

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
