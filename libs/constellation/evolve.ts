import {
  type Actor,
  type EditTrigger,
  type LineId,
  type LineResult,
  NO_USAGE,
  type RunCommit,
  type RunEvent,
  type RunEventData,
  type StopReason,
  type TaskId,
  type TaskStatus,
  type Usage,
} from '#proto';
import { withDecided, withoutGrants, withRequested, withWithdrawn } from './approval-state.js';
import { withNotes } from './blackboard.js';
import { isAgentTask, minus, ONE_COMMAND, plus } from './budget.js';
import { stageRecorded } from './edit.js';
import { positionOf, targetOf } from './graph.js';
import {
  deadlineOf,
  editPolicyOf,
  emptyRun,
  endsTheRun,
  findTask,
  graphOf,
  NO_COUNTS,
  NOTHING_ASKED,
  type Run,
  type TaskState,
} from './run.js';
import { restored } from './fork.js';
import { type Shape, shapeOf } from './staging.js';

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
    this.#draft = draftOf(run);
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

/** Also folds what the commit is: its number, its hash, how far it goes, and the verbs it decided. */
export function evolveCommit(run: Run | undefined, commit: RunCommit): Run {
  const draft = draftOf(run ?? emptyRun(commit.runId));
  applyCommit(draft, commit);
  return draft;
}

/** A whole run; undefined without commits. The derived sets are copied once for all of them. */
export function foldRun(commits: readonly RunCommit[]): Run | undefined {
  const [first] = commits;
  if (first === undefined) return undefined;
  const draft = draftOf(emptyRun(first.runId));
  for (const commit of commits) applyCommit(draft, commit);
  return draft;
}

function applyCommit(draft: Draft, { events, causes, number, hash }: RunCommit): void {
  for (const event of events) apply(draft, event);
  draft.sequence = events.at(-1)?.sequence ?? draft.sequence;
  draft.verbs = withVerbs(draft.verbs, causes, draft.sequence);
  draft.number = number;
  draft.hash = hash;
}

/** Verbs among the causes of a commit that ends at `sequence`. */
export function withVerbs(verbs: Run['verbs'], causes: RunCommit['causes'], sequence: number): Run['verbs'] {
  const decided = causes.filter(({ kind }) => kind === 'verb');
  if (decided.length === 0) return verbs;
  return new Map([...verbs, ...decided.map(({ id, rejected = false }) => [id, { sequence, rejected }] as const)]);
}

/** Private to a fold: the parts that are replaced, and sets that nobody else sees yet. */
type Draft = { -readonly [K in keyof Run]: Run[K] } & {
  ready: Set<number>;
  doomed: Set<number>;
  running: Set<number>;
  timed: Set<number>;
};

function draftOf(run: Run): Draft {
  const { ready, doomed, running, timed } = run;
  return { ...run, ready: new Set(ready), doomed: new Set(doomed), running: new Set(running), timed: new Set(timed) };
}

function apply(draft: Draft, event: RunEvent): void {
  switch (event.type) {
    case 'RUN_REQUESTED':
      return request(draft, event.data);
    case 'RUN_FORKED':
      return fork(draft, event.data);
    case 'CONSTELLATION_MODIFIED':
      return modify(draft, event.data);
    case 'EDIT_OPENED':
    case 'EDIT_REJECTED':
    case 'EDIT_ABANDONED':
      return applyRound(draft, event);
    case 'TASK_STARTED':
    case 'TASK_COMPLETED':
    case 'TASK_FAILED':
    case 'TASK_STOP_REQUESTED':
    case 'TASK_REOPENED':
    case 'TASK_SKIPPED':
    case 'TASK_CANCELLED':
      return applyToTask(draft, event);
    case 'APPROVAL_REQUESTED':
      draft.approvals = withRequested(draft.approvals, event.data);
      change(draft, event.data.taskId, ({ asks }) => ({ asks: [...asks, event.data.ask.approvalId] }));
      return;
    case 'APPROVAL_DECIDED': {
      const deviceId = findTask(draft, event.data.taskId)?.deviceId ?? null;
      draft.approvals = withDecided(draft.approvals, event.data, deviceId);
      return;
    }
    case 'RUN_COMPLETED':
    case 'RUN_FAILED':
    case 'RUN_CANCELLED':
      return endRun(draft, event);
    case 'RUN_PAUSED':
      draft.phase = 'PAUSED';
      draft.reason = event.data.reason;
      return;
    case 'RUN_RESUMED':
      draft.phase = 'RUNNING';
      draft.reason = null;
      return;
    case 'RUN_REOPENED':
      return reopenRun(draft, event.data);
    case 'RUN_ANNOTATED':
      return; // beside the history, never in it: no state depends on an annotation
    default:
      return assertNever(event); // an unknown fact stops the replay: upcast it, never skip it
  }
}

function request(draft: Draft, { constellation, deadlineAt, ...asked }: RunEventData<'RUN_REQUESTED'>): void {
  draft.phase = 'RUNNING';
  draft.request = asked;
  draft.requested = constellation;
  draft.deadlineAt = deadlineAt;
  if (constellation === null) draft.queued = [{ kind: 'goal' }];
}

function fork(draft: Draft, data: RunEventData<'RUN_FORKED'>): void {
  const { request: asked, shape } = restored(data);
  draft.phase = 'RUNNING';
  draft.request = asked;
  draft.parent = data.parent;
  draft.deadlineAt = data.deadlineAt;
  draft.revision = data.revision;
  draft.queued = data.triggers;
  draft.blackboard = data.blackboard ?? [];
  draft.endOfPlanRevision = -1;
  reshape(draft, shape, null);
}

function modify(draft: Draft, data: RunEventData<'CONSTELLATION_MODIFIED'>): void {
  const { edits, judged = [], modifiedAt, revision, state } = data;
  if (edits === undefined) {
    if (draft.requested === null) throw new Error(`run ${draft.runId} was created without a constellation`);
    reshape(draft, shapeOf(draft.requested, Date.parse(modifiedAt)), null);
  } else if (edits.length > 0) {
    const { shape, moved } = stageRecorded(draft, edits, Date.parse(modifiedAt)).finish();
    reshape(draft, shape, moved);
    judge(draft, judged);
  }
  draft.revision = revision;
  if (data.editId === undefined) return;
  draft.editing = null;
  draft.plannerSilent = false;
  if (state === 'FINISH') draft.ending = { reason: 'finished', by: data.proposedBy ?? null, note: null };
  if (state === 'FAIL') {
    draft.ending = { reason: 'plan_failed', by: data.proposedBy ?? null, note: data.trace?.result ?? null };
  }
}

type RoundEvent = Extract<RunEvent, { type: 'EDIT_OPENED' | 'EDIT_REJECTED' | 'EDIT_ABANDONED' }>;

function applyRound(draft: Draft, event: RoundEvent): void {
  switch (event.type) {
    case 'EDIT_OPENED': {
      draft.editing = { ...event.data, tries: 0, rejections: 0, violations: [] };
      draft.queued = [];
      draft.rounds++;
      if (draft.counts.PENDING + draft.counts.RUNNING === 0) draft.endOfPlanRevision = draft.revision;
      return;
    }
    case 'EDIT_REJECTED': {
      const { try: tries, violations, lockPolicy } = event.data;
      const { editing } = draft;
      if (editing === null) throw new Error(`an edit was rejected outside of a round in run ${draft.runId}`);
      draft.editing = { ...editing, tries, rejections: editing.rejections + 1, violations, lockPolicy };
      draft.plannerSilent = false;
      return;
    }
    case 'EDIT_ABANDONED':
      draft.editing = null;
      if (event.data.reason.code === 'DEADLINE') draft.plannerSilent = true;
  }
}

type TaskEvent = Extract<RunEvent, { type: `TASK_${string}` }>;

/** Of a task whose attempt is over. */
const OVER = { stopping: null, slice: null } as const;

function applyToTask(draft: Draft, event: TaskEvent): void {
  switch (event.type) {
    case 'TASK_STARTED':
      return startTask(draft, event.data);
    case 'TASK_COMPLETED': {
      const { taskId, attempt, result, lines, completedAt } = event.data;
      endAttempt(draft, event.data);
      const ended = { ...OVER, status: 'COMPLETED', result, error: null, endedAt: completedAt } as const;
      const { star } = change(draft, taskId, () => ended);
      if (star.review === true || editPolicyOf(draft) === 'every-result') trigger(draft, taskId, attempt);
      return judge(draft, lines);
    }
    case 'TASK_FAILED': {
      const { taskId, attempt, error, lines, failedAt } = event.data;
      endAttempt(draft, event.data);
      change(draft, taskId, ({ deviceId, failedOn }) => ({
        status: 'FAILED',
        error,
        result: error.output ?? null,
        ...OVER,
        endedAt: failedAt,
        failedOn: deviceId === null || failedOn.includes(deviceId) ? failedOn : [...failedOn, deviceId],
      }));
      trigger(draft, taskId, attempt);
      return judge(draft, lines);
    }
    case 'TASK_STOP_REQUESTED': {
      const { taskId, reason, graceUntil, by = null, note = null } = event.data;
      beginEnding(draft, { reason, by, note });
      change(draft, taskId, () => ({ stopping: { reason, graceUntil, by } }));
      return;
    }
    case 'TASK_REOPENED':
      return reopenTask(draft, event.data);
    case 'TASK_SKIPPED': {
      const { taskId, by, reason, lines, skippedAt } = event.data;
      change(draft, taskId, () => ({ status: 'SKIPPED', skippedBy: by, reason, endedAt: skippedAt }));
      return judge(draft, lines);
    }
    case 'TASK_CANCELLED': {
      const { taskId, reason, lines, cancelledAt, by = null, note = null, output } = event.data;
      beginEnding(draft, { reason, by, note });
      endAttempt(draft, event.data);
      const result = output === undefined ? {} : { result: output };
      change(draft, taskId, () => ({ ...OVER, status: 'CANCELLED', reason, endedAt: cancelledAt, ...result }));
      return judge(draft, lines);
    }
  }
}

interface EndOfAttempt {
  readonly taskId: TaskId;
  readonly used?: Usage | undefined;
  readonly notes?: readonly string[] | undefined;
}

/** What the attempt leaves behind: what it used of the budget, its notes, and questions that nobody answered. */
function endAttempt(draft: Draft, { taskId, used, notes }: EndOfAttempt): void {
  const task = draft.tasks.at(positionOf(graphOf(draft).taskIndex, taskId));
  if (task.status !== 'RUNNING') return;
  const { slice, star, deviceId, asks } = task;
  draft.used = plus(draft.used, used ?? (slice !== null && !isAgentTask(star) ? ONE_COMMAND : NO_USAGE));
  if (slice !== null) draft.granted = minus(draft.granted, slice);
  draft.blackboard = withNotes(draft.blackboard, { taskId, deviceId, notes });
  if (asks.length > 0) draft.approvals = withWithdrawn(draft.approvals, asks);
}

function beginEnding(draft: Draft, ending: { reason: StopReason; by: Actor | null; note: string | null }): void {
  if (endsTheRun(ending.reason)) draft.ending ??= ending;
}

/** What the planner has to look at; a task that is tried again has nothing to be looked at yet. */
function trigger(draft: Draft, taskId: TaskId, attempt: number): void {
  if (draft.ending !== null || editPolicyOf(draft) === 'never') return;
  const queued: EditTrigger = { kind: 'task', taskId, attempt };
  draft.queued = [...draft.queued, queued];
}

function reopenTask(draft: Draft, data: RunEventData<'TASK_REOPENED'>): void {
  const { taskId, notBefore, reason, lines = [] } = data;
  draft.queued = draft.queued.filter((queued) => queued.kind !== 'task' || queued.taskId !== taskId);
  // What a person has tried again begins afresh: no device is avoided, and its deadline counts from now.
  const afresh = ({ star }: TaskState) => ({ failedOn: [], deadlineAt: deadlineOf(star, Date.parse(notBefore)) });
  change(draft, taskId, (task) => ({
    status: 'PENDING',
    // RFC 3339 in UTC with milliseconds compares as text; what may start at once waits for no instant.
    notBefore: reason === 'operator' || notBefore <= (task.endedAt ?? '') ? null : notBefore,
    endedAt: null,
    reason: null,
    skippedBy: null,
    ...(reason === 'operator' ? afresh(task) : {}),
  }));
  reopenLines(draft, lines);
}

type RunEnd = Extract<RunEvent, { type: 'RUN_COMPLETED' | 'RUN_FAILED' | 'RUN_CANCELLED' }>;

function endRun(draft: Draft, event: RunEnd): void {
  draft.approvals = withoutGrants(draft.approvals);
  draft.queued = [];
  draft.ending = null;
  switch (event.type) {
    case 'RUN_COMPLETED':
      draft.phase = 'COMPLETED';
      draft.outcome = event.data.outcome;
      draft.reason = null;
      draft.endedAt = event.data.completedAt;
      return;
    case 'RUN_FAILED':
      draft.phase = 'FAILED';
      draft.reason = event.data.reason.message;
      draft.endedAt = event.data.failedAt;
      return;
    case 'RUN_CANCELLED':
      draft.phase = 'CANCELLED';
      draft.reason = event.data.reason;
      draft.endedAt = event.data.cancelledAt;
  }
}

function reopenRun(draft: Draft, { deadlineAt }: RunEventData<'RUN_REOPENED'>): void {
  draft.phase = 'RUNNING';
  draft.outcome = null;
  draft.reason = null;
  draft.endedAt = null;
  draft.deadlineAt = deadlineAt;
}

/** Takes over another structure; the derived sets keep the order in which tasks became ready. */
function reshape(draft: Draft, shape: Shape, moved: ReadonlyMap<number, number> | null): void {
  const old = draft.tasks;
  const readyBefore = [...draft.ready].flatMap((index) => (moved === null ? index : (moved.get(index) ?? [])));
  draft.graph = shape.graph;
  draft.tasks = shape.tasks;
  draft.lines = shape.lines;
  draft.usedIds = shape.usedIds;
  if (moved !== null || old.length === 0) {
    draft.counts = NO_COUNTS;
    for (const set of [draft.ready, draft.doomed, draft.running, draft.timed]) set.clear();
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

/** 1 for a task of an agent that is still to start. */
export function agentPending({ star, status }: TaskState): number {
  return status === 'PENDING' && isAgentTask(star) ? 1 : 0;
}

function startTask(draft: Draft, data: RunEventData<'TASK_STARTED'>): void {
  const slice = data.budget ?? (data.command === undefined ? {} : ONE_COMMAND);
  draft.granted = plus(draft.granted, slice);
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
    ranIn: null,
    slice,
    asks: NOTHING_ASKED,
  }));
}

function change(draft: Draft, taskId: string, to: (task: TaskState) => Partial<TaskState>): TaskState {
  const index = positionOf(graphOf(draft).taskIndex, taskId);
  const before = draft.tasks.at(index);
  const after = { ...before, ...to(before) };
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
  { star, status, linesOpen, linesUnsatisfied, deadlineAt }: TaskState,
): void {
  member(draft.running, index, status === 'RUNNING');
  member(draft.ready, index, status === 'PENDING' && linesOpen === 0 && linesUnsatisfied === 0);
  member(draft.doomed, index, status === 'PENDING' && linesUnsatisfied > 0);
  member(draft.timed, index, deadlineAt !== null && (status === 'PENDING' || status === 'RUNNING'));
  if ((star.priority ?? 0) !== 0) draft.prioritized = true;
}

function member(set: Set<number>, index: number, belongs: boolean): void {
  if (belongs) set.add(index);
  else set.delete(index);
}

function judge(draft: Draft, results: readonly LineResult[]): void {
  const { lineIndex } = graphOf(draft);
  for (const { id, satisfied, reason } of results) {
    const index = positionOf(lineIndex, id);
    if (draft.lines.at(index).satisfied !== null) continue; // judged once: what followed from it has happened
    setLine(draft, index, { satisfied, reason: reason ?? null });
  }
}

function reopenLines(draft: Draft, lines: readonly LineId[]): void {
  const { lineIndex } = graphOf(draft);
  for (const id of lines) setLine(draft, positionOf(lineIndex, id), { satisfied: null, reason: null });
}

function setLine(draft: Draft, index: number, to: { satisfied: boolean | null; reason: string | null }): void {
  const { satisfied: was } = draft.lines.at(index);
  draft.lines = draft.lines.with(index, to);
  const target = targetOf(graphOf(draft), index);
  const before = draft.tasks.at(target);
  const after = {
    ...before,
    linesOpen: before.linesOpen - Number(was === null) + Number(to.satisfied === null),
    linesUnsatisfied: before.linesUnsatisfied - Number(was === false) + Number(to.satisfied === false),
  };
  draft.tasks = draft.tasks.with(target, after);
  reindex(draft, target, before, after);
}

export function assertNever(value: never): never {
  throw new Error(`unknown fact: ${JSON.stringify(value)}`);
}
