import { isDeepStrictEqual } from 'node:util';
import {
  type Applied,
  applyRecorded,
  asksPlanner,
  budgetOfRound,
  checkEdit,
  editPolicyOf,
  evolve,
  findTask,
  hasPlan,
  hasWords,
  isPlanJudged,
  outOfScope,
  type Run,
} from '#libs/constellation';
import { LIMITS, type RecordedRunEvent, type Target } from '#proto';

export type RoundEvent = Extract<
  RecordedRunEvent,
  { type: 'CONSTELLATION_MODIFIED' | 'EDIT_OPENED' | 'EDIT_REJECTED' | 'EDIT_ABANDONED' }
>;
type EventOf<T extends RoundEvent['type']> = Extract<RoundEvent, { type: T }>;

/**
 * The safe assignment lock (paper, algorithm 1) and what happens under it: at most one round is open, the events that end
 * or go on with a round name it, and an edit changes the constellation as it stood, all of it, and nothing but PENDING tasks.
 */
export function illegalForRounds(run: Run, event: RoundEvent): string | undefined {
  const problem = problemOf(run, event);
  return problem === undefined ? undefined : `${event.type}: ${problem}`;
}

function problemOf(run: Run, event: RoundEvent): string | undefined {
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED':
      return event.data.edits === undefined ? illegalCreation(run, event) : illegalEdit(run, event);
    case 'EDIT_OPENED':
      return illegalOpening(run, event);
    case 'EDIT_REJECTED':
      return illegalRejection(run, event);
    case 'EDIT_ABANDONED':
      return illegalEndOfRound(run, event);
  }
}

function illegalCreation(run: Run, { data }: EventOf<'CONSTELLATION_MODIFIED'>): string | undefined {
  if (hasPlan(run)) return 'the run has a constellation, and no edits are named';
  if (run.requested === null) return 'the request had no constellation, and no edits are named';
  return otherRevision(run, data.revision, run.revision + 1) ?? miscounted(run.requested, data);
}

function illegalOpening(run: Run, { data }: EventOf<'EDIT_OPENED'>): string | undefined {
  const { editId, mode, triggers, revision } = data;
  if (run.editing !== null) return `the round ${run.editing.editId} is open`;
  const isAboutWords = hasWords(run.queued);
  if (run.phase === 'PAUSED' && (run.waitsFor === null || !isAboutWords)) return 'the run is paused';
  if (run.ending !== null) return 'the run is about to end';
  if (editPolicyOf(run) === 'never' && !isAboutWords) return 'the run takes no edits of a planner';
  if (run.noMoreRounds !== null) return `no round is opened any more: ${run.noMoreRounds}`;
  if (editId !== `e${run.rounds + 1}`) return `it is the round ${editId}, the next one is e${run.rounds + 1}`;
  if ((mode === 'editing') !== hasPlan(run)) {
    return `its mode is ${mode}, and the run has ${hasPlan(run) ? 'a' : 'no'} constellation`;
  }
  if (!isDeepStrictEqual(triggers, run.queued) && !asksAtEndOfPlan(run, triggers) && !asksForDevices(run, data)) {
    return 'its triggers are not what the planner had not looked at yet';
  }
  return otherRevision(run, revision, run.revision);
}

/** Once per revision, when nothing of the plan is left and nothing else is to be looked at. */
function asksAtEndOfPlan(run: Run, triggers: EventOf<'EDIT_OPENED'>['data']['triggers']): boolean {
  const { PENDING, RUNNING } = run.counts;
  const asks = triggers.length === 1 && triggers[0]?.kind === 'end-of-plan';
  return asks && PENDING + RUNNING === 0 && run.queued.length === 0 && run.endOfPlanRevision !== run.revision;
}

/** Once per wait, about tasks that have waited for a device as long as the request says, at least. */
function asksForDevices(run: Run, { triggers, openedAt }: EventOf<'EDIT_OPENED'>['data']): boolean {
  const askMs = run.request?.options.deviceAskMs;
  return triggers.every((trigger) => {
    const wait = trigger.kind === 'device' ? findTask(run, trigger.taskId)?.deviceWait : undefined;
    if (wait === undefined || wait === null || wait.asked || askMs === undefined) return false;
    return Date.parse(openedAt) >= Date.parse(wait.since) + askMs;
  });
}

function illegalRejection(run: Run, { data }: EventOf<'EDIT_REJECTED'>): string | undefined {
  const { editing } = run;
  if (editing === null || editing.editId !== data.editId) return notOpen(run, data.editId);
  if (data.try <= editing.tries) return `try ${data.try} was judged before; the last one is ${editing.tries}`;
  if (editing.rejections > LIMITS.repairsMax)
    return `${editing.rejections} tries were refused; the round should be over`;
  if (editing.lockPolicy === 'strict' && data.lockPolicy !== 'strict') return 'it loosens the lock';
  return otherRevision(run, data.revision, run.revision);
}

function illegalEndOfRound(run: Run, { data }: EventOf<'EDIT_ABANDONED'>): string | undefined {
  const { editing } = run;
  if (editing === null || editing.editId !== data.editId) return notOpen(run, data.editId);
  const { deadlineAt, rejections } = editing;
  switch (data.reason.code) {
    case 'PLANNER_FAILED':
    case 'TOO_MANY_ROUNDS':
      return undefined;
    case 'DEADLINE':
      return data.abandonedAt < deadlineAt ? `its deadline is ${deadlineAt}` : undefined;
    case 'REPAIRS_EXHAUSTED':
      return rejections > LIMITS.repairsMax ? undefined : `only ${rejections} tries were refused`;
    case 'RUN_ENDING':
      return undefined;
  }
}

function illegalEdit(run: Run, event: EventOf<'CONSTELLATION_MODIFIED'>): string | undefined {
  const { data } = event;
  const { edits = [], editId, try: number = 1, origin, proposedBy, revision, modifiedAt, judged = [] } = data;
  const { editing } = run;
  if (run.ending !== null) return 'the run is about to end';
  if (proposedBy === undefined) return 'it does not say who proposed it';
  if (editId !== undefined && editing?.editId !== editId) return notOpen(run, editId);
  if (editId !== undefined && number <= (editing?.tries ?? 0)) return `try ${number} was judged before`;
  if ((origin === 'operator') !== (editId === undefined))
    return `its origin is ${origin}, which does not fit its round`;
  if (!hasPlan(run) && editId === undefined) return 'there is no constellation yet';
  const unmarked = unjudged(run, data);
  if (unmarked !== undefined) return unmarked;
  const applied = applyRecorded(run, edits, Date.parse(modifiedAt), data.judgeCommands === true);
  if (!applied.ok) {
    const [first] = applied.violations;
    return `it cannot be applied: ${first?.code ?? ''} ${first?.path ?? ''}: ${first?.message ?? ''}`;
  }
  const { staging } = applied;
  const beyond = data.judgeCommands === true ? wentBeyond(run, applied) : undefined;
  if (beyond !== undefined) return beyond;
  const wrong =
    otherRevision(run, revision, run.revision + (staging.changed ? 1 : 0)) ??
    (staging.counts.tasks === data.tasks && staging.counts.lines === data.lines ? undefined : MISCOUNTED);
  if (wrong !== undefined) return wrong;
  if (!isDeepStrictEqual(idsOf(judged), idsOf(applied.owed.map(({ line }) => line))))
    return 'it does not judge the lines whose tasks had ended';
  const [violation] = checkEdit(run, event, evolve(run, event));
  return violation && `${violation.invariant}: ${violation.tasks.join(', ')} ${violation.message}`;
}

/** Whose word it is says whether it is judged. What came with a grant is judged, and nobody but who took it knows that it did. */
function unjudged(
  run: Run,
  { source, judgeCommands, proposedBy }: EventOf<'CONSTELLATION_MODIFIED'>['data'],
): string | undefined {
  const isJudged = judgeCommands === true;
  if (source === undefined) {
    const byProgram = proposedBy?.kind === 'system';
    return byProgram && !isJudged ? `${proposedBy.id} is a program, and what it proposed is not judged` : undefined;
  }
  if (isPlanJudged(run, source) === isJudged) return undefined;
  return `it comes from a ${source}, and what it adds is ${isJudged ? '' : 'not '}judged`;
}

const NO_FLEET = { devices: new Map() } as const;

/** As far as it can be told without the fleet of that day: which devices a selector meant then, no log says. */
function wentBeyond(run: Run, applied: Extract<Applied, { ok: true }>): string | undefined {
  const isDevice = (target: Target): boolean => 'device' in target;
  if (run.scope === null) return undefined;
  if (!run.scope.every(isDevice) && applied.staging.directed().some(isDevice)) return undefined;
  const [violation] = outOfScope(applied, run.scope, NO_FLEET);
  return violation && `${violation.code} ${violation.path}: ${violation.message}`;
}

/** A plan that somebody wants to see first waits for that before anything else happens. */
export function unseenPlan(
  before: Run,
  event: RecordedRunEvent,
  next: RecordedRunEvent | undefined,
): string | undefined {
  if (event.type !== 'CONSTELLATION_MODIFIED' || event.data.state !== 'CONTINUE') return undefined;
  const { phase, request } = before;
  if (hasPlan(before) || phase !== 'RUNNING' || request?.options.plan !== 'approve') return undefined;
  if (next?.type === 'RUN_PAUSED' && next.data.waitsFor === 'plan_approval') return undefined;
  return 'the plan was to be accepted by a person, and the run does not wait for one';
}

function idsOf(lines: readonly { readonly id: string }[]): string[] {
  return lines.map(({ id }) => id).sort();
}

const MISCOUNTED = 'its counts are not those of the constellation';

/** What a closed commit may not leave behind: a round that should be over, or one that should have been opened. */
export function owedRound(run: Run): string | undefined {
  const { editing, queued, phase, ending } = run;
  if (editing !== null && editing.rejections > LIMITS.repairsMax) {
    return `${editing.rejections} tries of the round ${editing.editId} were refused, and it is still open`;
  }
  const owed = editing === null && queued.length > 0 && phase === 'RUNNING' && ending === null;
  // A planner for whose model nothing is left, or nothing for now, or that was asked as often as it may be, is not asked.
  const mayAsk = asksPlanner(run) && budgetOfRound(run) !== null;
  return owed && mayAsk ? 'the planner has something to look at, and no round was opened' : undefined;
}

function miscounted(
  { tasks, lines }: { readonly tasks: readonly unknown[]; readonly lines: readonly unknown[] },
  data: { readonly tasks: number; readonly lines: number },
): string | undefined {
  return tasks.length === data.tasks && lines.length === data.lines ? undefined : MISCOUNTED;
}

function otherRevision({ revision: current }: Run, named: number, expected: number): string | undefined {
  return named === expected ? undefined : `revision ${named} after revision ${current}, where ${expected} is due`;
}

function notOpen({ editing }: Run, editId: string): string {
  return `the round ${editId} is not open; ${editing === null ? 'none is' : `${editing.editId} is`}`;
}
