import { restoredBoard, withWritten } from '../board/index.js';
import type { BoardWritten, LineId, LineResult, RunEventData, SaidWords, TaskStatus } from '#proto';
import {
  type RequestOfRun,
  type PhaseOfRun,
  isAgentTask,
  type LineState,
  NO_COUNTS,
  type Run,
  type RunBasis,
  type Standing,
  type TaskState,
  withAuthor,
} from '../state/index.js';
import { positionOf, targetOf } from '../plan/index.js';
import type { Shape } from '../edits/index.js';

/** Private to a fold: the parts that are replaced, and sets that nobody else sees yet. */
export type Draft = PhaseOfRun & { -readonly [K in keyof RunBasis]: RunBasis[K] } & {
  ready: Set<number>;
  fanOuts: Set<number>;
  doomed: Set<number>;
  running: Set<number>;
  timed: Set<number>;
  stranded: Set<number>;
};

export function draftOf(run: Run): Draft {
  const { ready, fanOuts, doomed, running, timed, stranded } = run;
  const sets = { ready: new Set(ready), doomed: new Set(doomed), running: new Set(running), timed: new Set(timed) };
  return { ...run, ...sets, stranded: new Set(stranded), fanOuts: new Set(fanOuts) };
}

/** Goes on in another phase, with all that belongs to it. */
export function enter(draft: Draft, to: Standing & Partial<RequestOfRun>): void {
  Object.assign(draft, to);
}

/** Takes over another structure; the derived sets keep the order in which tasks became ready. */
export function reshape(draft: Draft, shape: Shape, moved: ReadonlyMap<number, number> | null): void {
  const old = draft.tasks;
  const readyBefore = [...draft.ready].flatMap((index) => (moved === null ? index : (moved.get(index) ?? [])));
  draft.graph = shape.graph;
  draft.tasks = shape.tasks;
  draft.lines = shape.lines;
  draft.usedIds = shape.usedIds;
  if (moved !== null || old.length === 0) {
    draft.counts = NO_COUNTS;
    const { ready, fanOuts, doomed, running, timed, stranded } = draft;
    for (const set of [ready, fanOuts, doomed, running, timed, stranded]) set.clear();
    for (const index of readyBefore) draft.ready.add(index);
    let index = 0;
    draft.agentsPending = 0;
    const counts = { ...NO_COUNTS } as Record<TaskStatus, number>;
    for (const task of shape.tasks) {
      counts[task.status]++;
      draft.agentsPending += agentPending(task);
      place(draft, index++, task);
    }
    draft.counts = counts;
    return;
  }
  const added = shape.tasks.length - old.length;
  if (added > 0) draft.counts = { ...draft.counts, PENDING: draft.counts.PENDING + added };
  shape.tasks.forEachChanged(old, (task, index) => {
    draft.agentsPending += agentPending(task) - (index < old.length ? agentPending(old.at(index)) : 0);
    place(draft, index, task);
  });
}

/** Ready tasks that no connected device can take from now on, and those that one can, as soon as it has a free slot. */
export function strand(draft: Draft, { began, over, at, why = [] }: RunEventData<'TASKS_WAITING'>): void {
  const reasons = new Map(why.flatMap(({ tasks, text }) => tasks.map((taskId) => [taskId, text] as const)));
  const wait = (taskId: string, deviceWait: TaskState['deviceWait']): void => {
    change(draft, taskId, (task) => (task.status === 'PENDING' ? { ...task, deviceWait } : task));
  };
  for (const taskId of began) wait(taskId, { since: at, asked: false, why: reasons.get(taskId) ?? null });
  for (const taskId of over) wait(taskId, null);
}

/** A task that waits has not waited so far: what was paused meanwhile is not the fleet's fault. */
export function forgetWaits(draft: Draft): void {
  for (const index of Array.from(draft.stranded))
    change(draft, draft.tasks.at(index).star.id, (task) => ({ ...task, deviceWait: null }));
}

/** The planner has to look at them, and be it one that let a deadline pass: somebody waits for it anew. */
export function hear(draft: Draft, said: SaidWords): void {
  draft.words = [...draft.words, said];
  draft.authors = withAuthor(draft.authors, said.by, 'said');
  draft.queued = [...draft.queued, { kind: 'words', number: said.number }];
  draft.plannerSilent = false;
}

/** What was said to the run that this one was forked from, and what stood on its board. */
export function inherit(draft: Draft, { words = [], board }: RunEventData<'RUN_FORKED'>): void {
  draft.words = words;
  draft.board = restoredBoard(board);
}

/** Whoever writes on the board has a part in what reads it. */
export function post(draft: Draft, written: BoardWritten): void {
  draft.board = withWritten(draft.board, written);
  draft.authors = withAuthor(draft.authors, written.by, 'wrote');
}

/** Beside the history, never in it: nothing that is done depends on an annotation. */
export function annotate(draft: Draft, data: RunEventData<'RUN_ANNOTATED'>): void {
  if (data.kind === 'evaluation') Object.assign(draft, { evaluation: data.evaluation });
  if (data.kind !== 'note') return;
  const { kind: _kind, ...note } = data;
  draft.notes = [...draft.notes, note];
}

/** The run has a directory on this device from now on. */
export function settleOn(draft: Draft, { deviceId, workspace }: RunEventData<'TASK_STARTED'>): void {
  if (workspace === true && !draft.workspaces.has(deviceId))
    draft.workspaces = new Set([...draft.workspaces, deviceId]);
}

/** 1 for a task of an agent that is still to start. One on several devices does nothing itself. */
export function agentPending({ star, status }: TaskState): number {
  return status === 'PENDING' && star.forEach === undefined && isAgentTask(star) ? 1 : 0;
}

/** Devices on which it has failed, the last one among them. */
export function failedOnToo({ deviceId, failedOn }: TaskState): TaskState['failedOn'] {
  return deviceId === null || failedOn.includes(deviceId) ? failedOn : [...failedOn, deviceId];
}

export function change(draft: Draft, taskId: string, to: (task: TaskState) => TaskState): TaskState {
  const index = positionOf(draft.graph.taskIndex, taskId);
  const before = draft.tasks.at(index);
  const after = to(before);
  draft.tasks = draft.tasks.with(index, after);
  reindex(draft, index, before, after);
  return after;
}

/** Keeps the sets and counts in step with one task; every status change and every judged line comes by here. */
function reindex(draft: Draft, index: number, before: TaskState, task: TaskState): void {
  const { status } = task;
  const { status: was } = before;
  if (was !== status) {
    draft.counts = { ...draft.counts, [was]: draft.counts[was] - 1, [status]: draft.counts[status] + 1 };
    draft.agentsPending += agentPending(task) - agentPending(before);
  }
  place(draft, index, task);
}

function place(
  draft: Draft,
  index: number,
  { star, status, linesOpen, linesUnsatisfied, deadlineAt, deviceWait }: TaskState,
): void {
  member(draft.running, index, status === 'RUNNING');
  const mayBegin = status === 'PENDING' && linesOpen === 0 && linesUnsatisfied === 0;
  member(draft.ready, index, mayBegin && star.forEach === undefined);
  member(draft.fanOuts, index, mayBegin && star.forEach !== undefined);
  member(draft.doomed, index, status === 'PENDING' && linesUnsatisfied > 0);
  member(draft.timed, index, deadlineAt !== null && (status === 'PENDING' || status === 'RUNNING'));
  member(draft.stranded, index, deviceWait !== null && status === 'PENDING');
  if ((star.priority ?? 0) !== 0) draft.prioritized = true;
  if (star.files !== undefined) draft.namesFiles = true;
}

function member(set: Set<number>, index: number, belongs: boolean): void {
  if (belongs) set.add(index);
  else set.delete(index);
}

export function recordJudged(draft: Draft, results: readonly LineResult[]): void {
  const { lineIndex } = draft.graph;
  for (const { id, satisfied, reason, undecided } of results) {
    const index = positionOf(lineIndex, id);
    if (draft.lines.at(index).satisfied !== null) continue; // judged once: what followed from it has happened
    setLine(draft, index, { satisfied, reason: reason ?? null, ...(undecided === true ? { undecided } : {}) });
  }
}

export function reopenLines(draft: Draft, lines: readonly LineId[]): void {
  const { lineIndex } = draft.graph;
  for (const id of lines) setLine(draft, positionOf(lineIndex, id), { satisfied: null, reason: null });
}

function setLine(draft: Draft, index: number, to: LineState): void {
  const { satisfied: was } = draft.lines.at(index);
  draft.lines = draft.lines.with(index, to);
  const target = targetOf(draft.graph, index);
  const before = draft.tasks.at(target);
  const after = {
    ...before,
    linesOpen: before.linesOpen - Number(was === null) + Number(to.satisfied === null),
    linesUnsatisfied: before.linesUnsatisfied - Number(was === false) + Number(to.satisfied === false),
  };
  draft.tasks = draft.tasks.with(target, after);
  reindex(draft, target, before, after);
}
