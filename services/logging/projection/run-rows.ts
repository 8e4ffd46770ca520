import type { RunSummary, RunView, TaskView } from '#proto';
import { attentionOfRun } from '#libs/attention';
import { strandedOf, viewOf, type Run } from '#libs/constellation';
import {
  attentionRow,
  type AttentionRow,
  type LineRow,
  type RunLabelRow,
  type RunRow,
  type TaskRow,
} from '../entities/index.js';

export interface RunChange {
  readonly run: RunRow;
  /** Of a run that has no rows yet: they never change. */
  readonly labels: readonly RunLabelRow[];
  readonly tasks: readonly TaskRow[];
  readonly lines: readonly LineRow[];
  /** Ids that the constellation no longer has. */
  readonly tasksGone: readonly string[];
  readonly linesGone: readonly string[];
  /** All that needs somebody now, and nothing else. */
  readonly attention: readonly AttentionRow[];
}

/** What has to be written so that the rows of a run say what the fold says. `before` is undefined when there are no rows yet. */
export function changeOf(before: Run | undefined, after: Run, streamSequence: number): RunChange {
  const view = viewOf(after);
  const { tasks, lines, used = null, budget = null, ...head } = view;
  const was = before === undefined ? undefined : viewOf(before);
  const { runId } = head;
  const { number, hash } = after;
  return {
    run: {
      ...head,
      used,
      budget,
      tasks: tasks.length,
      approvalsOpen: openOf(head.approvals),
      number,
      hash,
      streamSequence,
    },
    labels: was === undefined ? Object.entries(head.labels ?? {}).map(([key, value]) => ({ runId, key, value })) : [],
    tasks: changed(runId, was?.tasks ?? [], tasks),
    lines: changed(runId, was?.lines ?? [], lines),
    tasksGone: gone(was?.tasks ?? [], tasks),
    linesGone: gone(was?.lines ?? [], lines),
    attention: attentionOfRun(view, strandedOf(after)).map((entry) => attentionRow(entry)),
  };
}

/** The inverse: rows in order of their position -> what `viewOf` gave. */
export function viewOfRows(run: RunRow, tasks: readonly TaskRow[], lines: readonly LineRow[]): RunView {
  const { tasks: _count, number: _number, hash: _hash, streamSequence: _sequence, ...rest } = run;
  const { approvalsOpen: _open, used, budget, ...head } = rest;
  const view = { ...head, tasks: tasks.map(taskOfRow), lines: lines.map(withoutPlace) };
  return {
    ...view,
    ...(used === null || used === undefined ? {} : { used }),
    ...(budget === null || budget === undefined ? {} : { budget }),
  };
}

export function summaryOfRow(run: RunRow): RunSummary {
  const { runId, requestId, name, status, outcome, sequence, tasks, requestedAt, endedAt, requestedBy, labels, used } =
    run;
  const summary = { runId, requestId, name, status, outcome, sequence, tasks, requestedAt, endedAt, requestedBy };
  return { ...summary, ...(labels && { labels }), ...(used && { used }) };
}

function openOf(approvals: RunView['approvals']): number {
  return approvals.filter(({ state }) => state === 'open').length;
}

function taskOfRow(row: TaskRow): TaskView {
  const { fanOut, part, ...task } = withoutPlace(row);
  return { ...task, ...(fanOut ? { fanOut } : {}), ...(part ? { part } : {}) };
}

function withoutPlace<T extends object>(row: T & { runId: string; position: number }) {
  const { runId: _runId, position: _position, ...view } = row;
  return view;
}

/** Rows that are new or differ in a field. The fold shares what it did not change, so comparing references is enough. */
function changed<T extends { id: string }>(runId: string, before: readonly T[], after: readonly T[]) {
  const was = new Map(before.map((item, position) => [item.id, { item, position }]));
  return after.flatMap((item, position) => {
    const old = was.get(item.id);
    const same = old !== undefined && old.position === position && equal(old.item, item);
    return same ? [] : [{ ...item, runId, position }];
  });
}

function equal<T extends object>(left: T, right: T): boolean {
  return (Object.keys(right) as (keyof T)[]).every((key) => left[key] === right[key]);
}

function gone(before: readonly { id: string }[], after: readonly { id: string }[]): string[] {
  if (before.length === 0) return [];
  const ids = new Set(after.map(({ id }) => id));
  return before.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
}
