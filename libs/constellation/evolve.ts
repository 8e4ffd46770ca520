import {
  GENESIS_HASH,
  type LineResult,
  type RunCommit,
  type RunEvent,
  type RunEventData,
  type TaskStatus,
} from '#proto';
import { buildGraph, positionOf, targetOf } from './graph.js';
import { PersistentArray } from './persistent-array.js';
import { emptyRun, graphOf, type LineState, type Run, type TaskState } from './run.js';

/** Folds one recorded fact into the state: total over RunEvent, no decision, no mutation, no clock. */
export function evolve(run: Run, event: RunEvent): Run {
  return foldEvents(run, [event]);
}

/** As `evolve` over many events; the sets are copied once for all of them. */
export function foldEvents(run: Run, events: readonly RunEvent[]): Run {
  const draft = new RunDraft(run);
  draft.add(...events);
  return draft.run;
}

/** The events of one decision and the state they have led to so far: private to the decision until it is handed out. */
export class RunDraft {
  readonly events: RunEvent[] = [];
  readonly #draft: Draft;

  constructor(run: Run) {
    this.#draft = { ...run, ready: new Set(run.ready), doomed: new Set(run.doomed), running: new Set(run.running) };
  }

  get run(): Run {
    return this.#draft;
  }

  add(...events: readonly RunEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      apply(this.#draft, event);
    }
  }
}

/** Also folds what the commit is: its number, its hash and how far it goes. */
export function evolveCommit(run: Run | undefined, commit: RunCommit): Run {
  const before = run ?? emptyRun(commit.runId);
  const after = foldEvents(before, commit.events);
  const sequence = commit.events.at(-1)?.sequence ?? before.sequence;
  return { ...after, sequence, number: commit.number, hash: commit.hash };
}

export function foldRun(commits: readonly RunCommit[]): Run | undefined {
  return commits.reduce<Run | undefined>(evolveCommit, undefined);
}

/** Private to a fold: the parts that are replaced, and sets that nobody else sees yet. */
type Draft = { -readonly [K in keyof Run]: Run[K] } & { ready: Set<number>; doomed: Set<number>; running: Set<number> };

function apply(draft: Draft, event: RunEvent): void {
  switch (event.type) {
    case 'RUN_REQUESTED': {
      const { constellation, ...request } = event.data;
      draft.phase = 'RUNNING';
      draft.request = request;
      draft.requested = constellation;
      draft.hash = draft.number === 0 ? GENESIS_HASH : draft.hash;
      return;
    }
    case 'CONSTELLATION_MODIFIED':
      return create(draft, event.data);
    case 'TASK_STARTED':
      return startTask(draft, event.data);
    case 'TASK_COMPLETED': {
      const { taskId, result, lines, completedAt } = event.data;
      change(draft, taskId, () => ({ status: 'COMPLETED', result, error: null, stopping: null, endedAt: completedAt }));
      return judge(draft, lines);
    }
    case 'TASK_FAILED': {
      const { taskId, error, lines, failedAt } = event.data;
      change(draft, taskId, () => ({
        status: 'FAILED',
        error,
        result: error.output ?? null,
        stopping: null,
        endedAt: failedAt,
      }));
      return judge(draft, lines);
    }
    case 'TASK_STOP_REQUESTED': {
      const { taskId, reason, graceUntil } = event.data;
      if (reason !== 'timeout') draft.ending ??= reason;
      return change(draft, taskId, () => ({ stopping: { reason, graceUntil } }));
    }
    case 'TASK_REOPENED': {
      const { taskId, notBefore } = event.data;
      return change(draft, taskId, () => ({ status: 'PENDING', notBefore, endedAt: null }));
    }
    case 'TASK_SKIPPED': {
      const { taskId, by, reason, lines, skippedAt } = event.data;
      change(draft, taskId, () => ({ status: 'SKIPPED', skippedBy: by, reason, endedAt: skippedAt }));
      return judge(draft, lines);
    }
    case 'TASK_CANCELLED': {
      const { taskId, reason, lines, cancelledAt } = event.data;
      draft.ending ??= reason;
      change(draft, taskId, () => ({ status: 'CANCELLED', reason, stopping: null, endedAt: cancelledAt }));
      return judge(draft, lines);
    }
    case 'RUN_COMPLETED':
      draft.phase = 'COMPLETED';
      draft.outcome = event.data.outcome;
      draft.endedAt = event.data.completedAt;
      return;
    case 'RUN_FAILED':
      draft.phase = 'FAILED';
      draft.reason = event.data.reason.message;
      draft.endedAt = event.data.failedAt;
      return;
    case 'RUN_PAUSED':
      draft.phase = 'PAUSED';
      draft.reason = event.data.reason;
      return;
    case 'RUN_ANNOTATED':
      return; // beside the history, never in it: no state depends on an annotation
    default:
      return assertNever(event); // an unknown fact stops the replay: upcast it, never skip it
  }
}

function create(draft: Draft, { revision }: RunEventData<'CONSTELLATION_MODIFIED'>): void {
  if (draft.requested === null) throw new Error(`run ${draft.runId} was created without a constellation`);
  const graph = buildGraph(draft.requested);
  draft.graph = graph;
  draft.revision = revision;
  draft.tasks = PersistentArray.from(
    graph.tasks.map((star, index) => pending(star, graph.linesInto[index]?.length ?? 0)),
  );
  draft.lines = PersistentArray.from<LineState>(graph.lines.map(() => ({ satisfied: null, reason: null })));
  draft.counts = { ...draft.counts, PENDING: graph.tasks.length };
  graph.linesInto.forEach((lines, index) => lines.length === 0 && draft.ready.add(index));
}

function pending(star: TaskState['star'], linesOpen: number): TaskState {
  return {
    star,
    status: 'PENDING',
    attempt: 0,
    deviceId: null,
    sessionId: null,
    startedAt: null,
    timeoutAt: null,
    endedAt: null,
    stopping: null,
    notBefore: null,
    result: null,
    error: null,
    reason: null,
    skippedBy: null,
    linesOpen,
    linesUnsatisfied: 0,
  };
}

function startTask(draft: Draft, data: RunEventData<'TASK_STARTED'>): void {
  change(draft, data.taskId, () => ({
    status: 'RUNNING',
    attempt: data.attempt,
    deviceId: data.deviceId,
    sessionId: data.sessionId,
    startedAt: data.startedAt,
    timeoutAt: data.timeoutAt,
    notBefore: null,
    result: null,
    error: null,
    reason: null,
  }));
}

function change(draft: Draft, taskId: string, to: (task: TaskState) => Partial<TaskState>): void {
  const index = positionOf(graphOf(draft).taskIndex, taskId);
  const before = draft.tasks.at(index);
  const after = { ...before, ...to(before) };
  draft.tasks = draft.tasks.with(index, after);
  reindex(draft, index, before.status, after);
}

/** Keeps the sets and counts in step with one task; every status change and every judged line comes by here. */
function reindex(
  draft: Draft,
  index: number,
  was: TaskStatus,
  { status, linesOpen, linesUnsatisfied }: TaskState,
): void {
  if (was !== status)
    draft.counts = { ...draft.counts, [was]: draft.counts[was] - 1, [status]: draft.counts[status] + 1 };
  member(draft.running, index, status === 'RUNNING');
  member(draft.ready, index, status === 'PENDING' && linesOpen === 0 && linesUnsatisfied === 0);
  member(draft.doomed, index, status === 'PENDING' && linesUnsatisfied > 0);
}

function member(set: Set<number>, index: number, belongs: boolean): void {
  if (belongs) set.add(index);
  else set.delete(index);
}

function judge(draft: Draft, results: readonly LineResult[]): void {
  const graph = graphOf(draft);
  for (const { id, satisfied, reason } of results) {
    const index = positionOf(graph.lineIndex, id);
    if (draft.lines.at(index).satisfied !== null) continue; // judged once: what followed from it has happened
    draft.lines = draft.lines.with(index, { satisfied, reason: reason ?? null });
    const target = targetOf(graph, index);
    const before = draft.tasks.at(target);
    const after = {
      ...before,
      linesOpen: before.linesOpen - 1,
      linesUnsatisfied: before.linesUnsatisfied + (satisfied ? 0 : 1),
    };
    draft.tasks = draft.tasks.with(target, after);
    reindex(draft, target, before.status, after);
  }
}

export function assertNever(value: never): never {
  throw new Error(`unknown fact: ${JSON.stringify(value)}`);
}
