import {
  NO_USAGE,
  unknownFact,
  type Edit,
  type EditTrigger,
  type FinalAnswer,
  type LineResult,
  type RunCommit,
  type RunEvent,
  type RunEventData,
  type TaskId,
  type Usage,
} from '#proto';
import {
  withAuthor,
  withDecided,
  withGiven,
  withoutGrants,
  withRequested,
  withWithdrawn,
  withNotes,
  isAgentTask,
  minus,
  ONE_COMMAND,
  plus,
  within,
  deadlineOf,
  editPolicyOf,
  emptyRun,
  endsTheRun,
  findTask,
  hasPlan,
  hasWords,
  NOTHING_ASKED,
  PLAN_WAITS,
  type Run,
  type RunEnding,
  type TaskState,
  UNDERWAY,
} from '../state/index.js';
import {
  annotate,
  change,
  type Draft,
  draftOf,
  enter,
  failedOnToo,
  forgetWaits,
  hear,
  inherit,
  post,
  recordJudged,
  reopenLines,
  reshape,
  settleOn,
  strand,
} from './draft.js';
import { stageRecorded, scopeOf, widened, shapeOf } from '../edits/index.js';
import { positionOf, targetOf, Judge } from '../plan/index.js';
import { fanOut } from './fan-out.js';
import { restored } from './fork.js';

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
  /** Of the decision: a fold judges nothing, it takes over what is recorded. */
  readonly judge: Judge;
  readonly #draft: Draft;

  constructor(run: Run, judge: Judge = new Judge(undefined)) {
    this.judge = judge;
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

/** A whole run; undefined without commits. */
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
    case 'TASKS_WAITING':
      strand(draft, event.data);
      return;
    case 'FAN_OUT_STARTED':
    case 'WAVE_STARTED':
      return fanOut(draft, event);
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
      change(draft, event.data.taskId, (task) => ({ ...task, asks: [...task.asks, event.data.ask.approvalId] }));
      return;
    case 'APPROVAL_GIVEN':
      draft.approvals = withGiven(draft.approvals, event.data);
      return;
    case 'PLAN_ACCEPTED':
      draft.planWords = [...draft.planWords, { by: event.data.by, revision: event.data.revision }];
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
      pause(draft, event.data);
      return forgetWaits(draft);
    case 'RUN_RESUMED':
      if (draft.waitsFor === 'plan_approval') vouchForPlan(draft);
      draft.planWords = [];
      return enter(draft, { ...UNDERWAY, ending: draft.ending });
    case 'RUN_REOPENED':
      return enter(draft, { ...UNDERWAY, deadlineAt: event.data.deadlineAt });
    case 'WORDS_SAID':
      return hear(draft, event.data);
    case 'BOARD_WRITTEN':
      return post(draft, event.data);
    case 'RUN_ANNOTATED':
      return annotate(draft, event.data);
    case 'WORKSPACE_DISCARDED':
      return; // its device is told; the run stays as it is
    default:
      return unknownFact(event); // an unknown fact stops the replay: upcast it, never skip it
  }
}

function request(draft: Draft, { constellation, deadlineAt, ...asked }: RunEventData<'RUN_REQUESTED'>): void {
  enter(draft, { ...UNDERWAY, request: asked, deadlineAt });
  draft.requested = constellation;
  draft.authors = withAuthor([], asked.requestedBy, 'requested');
  if (constellation === null) draft.queued = [{ kind: 'goal' }];
}

function fork(draft: Draft, data: RunEventData<'RUN_FORKED'>): void {
  const { request: asked, shape } = restored(data);
  enter(draft, { ...UNDERWAY, request: asked, deadlineAt: data.deadlineAt });
  if (data.waitsFor !== undefined) pause(draft, PLAN_PAUSE);
  draft.scope = data.scope ?? null;
  draft.planSource = data.planSource ?? null;
  draft.parent = data.parent;
  draft.authors = (data.authors ?? []).reduce(
    (authors, actor) => withAuthor(authors, actor, 'parent'),
    withAuthor([], data.requestedBy, 'forked'),
  );
  draft.revision = data.revision;
  draft.queued = data.triggers;
  draft.blackboard = data.blackboard ?? [];
  inherit(draft, data);
  draft.endOfPlanRevision = null;
  reshape(draft, shape, null);
}

function modify(draft: Draft, data: RunEventData<'CONSTELLATION_MODIFIED'>): void {
  const { edits, modifiedAt, revision, state } = data;
  if (edits === undefined) {
    if (draft.requested === null) throw new Error(`run ${draft.runId} was created without a constellation`);
    const made = { at: Date.parse(modifiedAt), judged: draft.request?.judgeCommands === true };
    reshape(draft, shapeOf(draft.requested, made), null);
    draft.scope = scopeOf(draft.requested.tasks.map(({ target }) => target));
  } else if (edits.length > 0) applyBatch(draft, edits, data);
  draft.revision = revision;
  if (data.editId === undefined) return;
  endRound(draft, data.used);
  draft.plannerSilent = false;
  if (state === undefined || state === 'CONTINUE') return;
  // Whoever wants to end it has not heard what was said meanwhile: the planner is asked about that first.
  if (hasWords(draft.queued)) return;
  const { proposedBy: by = null, answer = null } = data;
  if (state === 'FINISH') beginEnding(draft, { reason: 'finished', by, note: null }, answer);
  else beginEnding(draft, { reason: 'plan_failed', by, note: answer?.text ?? data.trace?.result ?? null }, answer);
}

function applyBatch(draft: Draft, edits: readonly Edit[], data: RunEventData<'CONSTELLATION_MODIFIED'>): void {
  const { judged = [], modifiedAt, judgeCommands = false, spare = [], proposedBy } = data;
  if (proposedBy !== undefined) draft.authors = withAuthor(draft.authors, proposedBy, 'edited');
  const isPlan = !hasPlan(draft);
  const staging = stageRecorded(draft, edits, { at: Date.parse(modifiedAt), judged: judgeCommands });
  const directed = staging.directed();
  const { shape, moved } = staging.finish();
  reshape(draft, shape, moved);
  judgeEach(draft, judged);
  if (isPlan) {
    draft.scope = scopeOf([...directed, ...spare]);
    draft.planSource = data.source ?? null;
    // A person who has paused it before has not seen it either.
    if (draft.phase === 'PAUSED' && draft.request.options.plan === 'approve') pause(draft, PLAN_PAUSE);
  } else if (!judgeCommands) draft.scope = widened(draft.scope, directed);
}

/** Who accepts a plan has read what stands in for what in it. */
function vouchForPlan(draft: Draft): void {
  for (const { star, vouched } of draft.tasks) {
    if (star.replaces !== undefined && !vouched) change(draft, star.id, (task) => ({ ...task, vouched: true }));
  }
}

const PLAN_PAUSE = { reason: PLAN_WAITS, waitsFor: 'plan_approval' } as const;

function pause(draft: Draft, why: Pick<RunEventData<'RUN_PAUSED'>, 'reason' | 'waitsFor'>): void {
  const { reason, waitsFor = null } = why;
  enter(draft, { ...UNDERWAY, phase: 'PAUSED', reason, waitsFor, ending: draft.ending });
}

/** What was given to the round and not used is there again. */
function endRound(draft: Draft, used: Usage = NO_USAGE): void {
  const { editing } = draft;
  draft.editing = null;
  draft.used = plus(draft.used, used);
  if (editing !== null && editing.budget !== null) draft.granted = minus(draft.granted, editing.budget);
}

type RoundEvent = Extract<RunEvent, { type: 'EDIT_OPENED' | 'EDIT_REJECTED' | 'EDIT_ABANDONED' }>;

function applyRound(draft: Draft, event: RoundEvent): void {
  switch (event.type) {
    case 'EDIT_OPENED': {
      const { budget = null } = event.data;
      draft.editing = { ...event.data, tries: 0, rejections: 0, violations: [], budget };
      draft.granted = plus(draft.granted, budget ?? {});
      draft.queued = [];
      for (const trigger of event.data.triggers) if (trigger.kind === 'device') askedAbout(draft, trigger.taskId);
      draft.rounds++;
      if (draft.counts.PENDING + draft.counts.RUNNING === 0) draft.endOfPlanRevision = draft.revision;
      return;
    }
    case 'EDIT_REJECTED':
      return rejectTry(draft, event.data);
    case 'EDIT_ABANDONED':
      endRound(draft, event.data.used);
      return abandonedFor(draft, event.data.reason);
  }
}

/** The planner is asked once about each wait for a device. */
function askedAbout(draft: Draft, taskId: TaskId): void {
  change(draft, taskId, (task) =>
    task.status === 'PENDING' && task.deviceWait !== null
      ? { ...task, deviceWait: { ...task.deviceWait, asked: true } }
      : task,
  );
}

function abandonedFor(draft: Draft, { code, message }: RunEventData<'EDIT_ABANDONED'>['reason']): void {
  // What was said meanwhile is put to it all the same.
  if (code === 'DEADLINE') draft.plannerSilent = !hasWords(draft.queued);
  if (code === 'PLANNER_FAILED' || code === 'TOO_MANY_ROUNDS') draft.plannerSilent = false;
  if (code === 'TOO_MANY_ROUNDS') draft.noMoreRounds = message;
}

function rejectTry(draft: Draft, data: RunEventData<'EDIT_REJECTED'>): void {
  const { try: tries, violations, lockPolicy, used = NO_USAGE } = data;
  const { editing } = draft;
  if (editing === null) throw new Error(`an edit was rejected outside of a round in run ${draft.runId}`);
  const { budget } = editing;
  const left = budget === null ? null : within(budget, used);
  if (budget !== null && left !== null) draft.granted = plus(minus(draft.granted, budget), left);
  draft.used = plus(draft.used, used);
  draft.editing = {
    ...editing,
    tries,
    rejections: editing.rejections + 1,
    violations,
    lockPolicy,
    budget: left,
  };
  draft.plannerSilent = false;
}

type TaskEvent = Extract<RunEvent, { type: `TASK_${string}` }>;

/** Of a task that neither runs, nor waits for a device, nor was skipped or cancelled. */
const AFRESH = { stopping: null, slice: null, deviceWait: null, reason: null, skippedBy: null } as const;

function applyToTask(draft: Draft, event: TaskEvent): void {
  switch (event.type) {
    case 'TASK_STARTED':
      return startTask(draft, event.data);
    case 'TASK_COMPLETED': {
      const { taskId, attempt, result, lines, completedAt } = event.data;
      endAttempt(draft, event.data);
      const ended = { ...AFRESH, status: 'COMPLETED', result, error: null, endedAt: completedAt } as const;
      const { star } = change(draft, taskId, (task) => ({ ...task, ...ended }));
      if (star.review === true || editPolicyOf(draft) === 'every-result') trigger(draft, taskId, attempt);
      return judgeFrom(draft, taskId, lines);
    }
    case 'TASK_FAILED': {
      const { taskId, attempt, error, lines, failedAt } = event.data;
      endAttempt(draft, event.data);
      const ended = { ...AFRESH, status: 'FAILED', error, result: error.output ?? null, endedAt: failedAt } as const;
      change(draft, taskId, (task) => ({ ...task, ...ended, failedOn: failedOnToo(task) }));
      trigger(draft, taskId, attempt);
      return judgeFrom(draft, taskId, lines);
    }
    case 'TASK_STOP_REQUESTED': {
      const { taskId, reason, graceUntil, by = null, note = null } = event.data;
      beginEnding(draft, { reason, by, note });
      const stopping = { reason, graceUntil, by };
      change(draft, taskId, (task) => (task.status === 'RUNNING' ? { ...task, stopping } : task));
      return;
    }
    case 'TASK_REOPENED':
      return reopenTask(draft, event.data);
    case 'TASK_SKIPPED': {
      const { taskId, by, reason, lines, skippedAt } = event.data;
      const ended = { ...AFRESH, status: 'SKIPPED', skippedBy: by, reason, endedAt: skippedAt } as const;
      change(draft, taskId, (task) => ({ ...task, ...ended }));
      return judgeFrom(draft, taskId, lines);
    }
    case 'TASK_CANCELLED': {
      const { taskId, reason, lines, cancelledAt, by = null, note = null, output } = event.data;
      beginEnding(draft, { reason, by, note });
      endAttempt(draft, event.data);
      const ended = { ...AFRESH, status: 'CANCELLED', reason, endedAt: cancelledAt } as const;
      change(draft, taskId, (task) => ({ ...task, ...ended, result: output ?? task.result }));
      return judgeFrom(draft, taskId, lines);
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
  const task = draft.tasks.at(positionOf(draft.graph.taskIndex, taskId));
  if (task.status !== 'RUNNING') return;
  const { slice, star, deviceId, asks } = task;
  draft.used = plus(draft.used, used ?? (slice !== null && !isAgentTask(star) ? ONE_COMMAND : NO_USAGE));
  if (slice !== null) draft.granted = minus(draft.granted, slice);
  draft.blackboard = withNotes(draft.blackboard, { taskId, deviceId, notes });
  if (asks.length > 0) draft.approvals = withWithdrawn(draft.approvals, asks);
}

function beginEnding(draft: Draft, ending: RunEnding, answer: FinalAnswer | null = null): void {
  if (endsTheRun(ending.reason) && draft.ending === null) Object.assign(draft, { ending: { ...ending, answer } });
}

/** What the planner has to look at; a task that is tried again has nothing to be looked at yet, and one device of several is none of its own. */
function trigger(draft: Draft, taskId: TaskId, attempt: number): void {
  if (draft.ending !== null || editPolicyOf(draft) === 'never' || findTask(draft, taskId)?.part) return;
  const queued: EditTrigger = { kind: 'task', taskId, attempt };
  draft.queued = [...draft.queued, queued];
}

/** What the lines came to that leave a task. One of which nobody can say it makes somebody look at the task, once. */
function judgeFrom(draft: Draft, taskId: TaskId, results: readonly LineResult[]): void {
  recordJudged(draft, results);
  const { graph } = draft;
  const isOpen = ({ id, undecided }: LineResult): boolean =>
    undecided === true && draft.tasks.at(targetOf(graph, positionOf(graph.lineIndex, id))).status === 'PENDING';
  if (!results.some(isOpen)) return;
  const { attempt } = draft.tasks.at(positionOf(graph.taskIndex, taskId));
  const isQueued = draft.queued.some((queued) => queued.kind === 'task' && queued.taskId === taskId);
  if (!isQueued) trigger(draft, taskId, attempt);
}

function reopenTask(draft: Draft, data: RunEventData<'TASK_REOPENED'>): void {
  const { taskId, notBefore, reason, lines = [], judged = [] } = data;
  draft.queued = draft.queued.filter((queued) => queued.kind !== 'task' || queued.taskId !== taskId);
  // What a person has tried again begins afresh: no device is avoided, and its deadline counts from now.
  const afresh = ({ star }: TaskState) => ({ failedOn: [], deadlineAt: deadlineOf(star, Date.parse(notBefore)) });
  change(draft, taskId, (task) => ({
    ...task,
    ...AFRESH,
    status: 'PENDING',
    // RFC 3339 in UTC with milliseconds compares as text; what may start at once waits for no instant.
    notBefore: reason === 'operator' || notBefore <= (task.endedAt ?? '') ? null : notBefore,
    endedAt: null,
    unsent: task.unsent + (reason === 'not_sent' ? 1 : 0),
    ...(reason === 'operator' ? afresh(task) : {}),
  }));
  reopenLines(draft, lines);
  judgeEach(draft, judged);
}

/** Lines of several tasks that have ended before. */
function judgeEach(draft: Draft, results: readonly LineResult[]): void {
  const { lines, lineIndex } = draft.graph;
  for (const result of results) judgeFrom(draft, lines.at(positionOf(lineIndex, result.id)).from, [result]);
}

type RunEnd = Extract<RunEvent, { type: 'RUN_COMPLETED' | 'RUN_FAILED' | 'RUN_CANCELLED' }>;

function endRun(draft: Draft, event: RunEnd): void {
  draft.approvals = withoutGrants(draft.approvals);
  draft.queued = [];
  switch (event.type) {
    case 'RUN_COMPLETED': {
      const { outcome, completedAt: endedAt, answer = null } = event.data;
      return enter(draft, { ...UNDERWAY, phase: 'COMPLETED', outcome, endedAt, answer });
    }
    case 'RUN_FAILED': {
      const { reason, failedAt: endedAt, answer = null } = event.data;
      return enter(draft, { ...UNDERWAY, phase: 'FAILED', reason: reason.message, endedAt, answer });
    }
    case 'RUN_CANCELLED': {
      const { reason, cancelledAt: endedAt } = event.data;
      return enter(draft, { ...UNDERWAY, phase: 'CANCELLED', reason, endedAt });
    }
  }
}

function startTask(draft: Draft, data: RunEventData<'TASK_STARTED'>): void {
  settleOn(draft, data);
  const slice = data.budget ?? (data.command === undefined ? {} : ONE_COMMAND);
  draft.granted = plus(draft.granted, slice);
  change(draft, data.taskId, (task) => ({
    ...task,
    ...AFRESH,
    status: 'RUNNING',
    attempt: data.attempt,
    deviceId: data.deviceId,
    sessionId: data.sessionId,
    startedAt: data.startedAt,
    timeoutAt: data.timeoutAt,
    notBefore: null,
    endedAt: null,
    result: null,
    error: null,
    ranIn: null,
    slice,
    asks: NOTHING_ASKED,
  }));
}
