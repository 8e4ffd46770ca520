import {
  type Edit,
  LIMITS,
  type LineId,
  type Proposal,
  type RunEvent,
  type TaskId,
  type TaskStar,
  type TaskStarLine,
} from '#proto';
import type { Input } from '#libs/constellation';
import { applied, isValid } from './judge.js';
import {
  callsLeft,
  cycleIn,
  definition,
  isAsked,
  isOver,
  type Ledger,
  newEntry,
  triggerName,
  isOfWords,
} from './ledger.js';
import type { Data, Draft, Occasion, Report, Violation } from './occasion.js';
import { recordApproval, withdrawAsks } from './record-approvals.js';
import { end, recordTask, start } from './record-tasks.js';

/** Folds the events of one commit into the ledger and reports every event that must not follow from what is known. */
export function record(
  before: Ledger,
  events: readonly RunEvent[],
  occasion: Occasion,
): { readonly ledger: Ledger; readonly violations: readonly Violation[] } {
  const violations: Violation[] = [];
  const draft: Draft = { ...before, tasks: new Map(before.tasks), owed: new Set() };
  const report: Report = (name, message) => void violations.push({ name, message });
  for (const event of events) recordOne(draft, event, occasion, report);
  for (const taskId of draft.owed) report('RETRIES', `${taskId} failed, and its policy allows another try`);
  if (draft.round !== null && draft.round.rejections > LIMITS.repairsMax) {
    report('ROUNDS', `round ${draft.round.editId} goes on after ${draft.round.rejections} refusals`);
  }
  draft.sequence += events.length;
  return { ledger: draft, violations };
}

/** A fork is another run: it may begin where one has ended. */
const AFTER_THE_END: ReadonlySet<string> = new Set(['RUN_ANNOTATED', 'RUN_REOPENED', 'RUN_FORKED']);

function recordOne(draft: Draft, event: RunEvent, occasion: Occasion, report: Report): void {
  if (draft.phase === 'ENDED' && !AFTER_THE_END.has(event.type)) {
    report('I5_TRANSITIONS', `${event.type} after the end of the run`);
  }
  switch (event.type) {
    case 'RUN_REQUESTED':
      draft.phase = 'RUNNING';
      draft.deadlineAt = Date.parse(event.data.deadlineAt);
      draft.callsMax = event.data.options.budget?.llmCalls ?? Infinity;
      draft.mustWait = event.data.goal !== null && event.data.options.plan === 'approve';
      draft.lines = new Map(event.data.constellation?.lines.map((line) => [line.id, line]));
      for (const star of event.data.constellation?.tasks ?? []) {
        draft.tasks.set(star.id, newEntry(star, event.data.requestedAt));
      }
      if (event.data.constellation === null) draft.queued = ['goal'];
      return;
    case 'CONSTELLATION_MODIFIED':
      return modify(draft, event.data, occasion, report);
    case 'EDIT_OPENED':
    case 'EDIT_REJECTED':
    case 'EDIT_ABANDONED':
      return recordRound(draft, event, occasion, report);
    case 'TASKS_WAITING':
    case 'FAN_OUT_STARTED':
    case 'WAVE_STARTED':
    case 'PLAN_ACCEPTED':
    case 'BOARD_WRITTEN':
    case 'WORKSPACE_DISCARDED':
      return;
    case 'WORDS_SAID':
      if (event.data.number !== ++draft.said)
        report('WORDS', `${event.data.number} was said where ${draft.said} is due`);
      draft.queued = [...draft.queued, triggerName({ kind: 'words', number: event.data.number })];
      draft.silent = false;
      return;
    case 'TASK_STARTED':
      return start(draft, event.data, occasion, report);
    case 'TASK_COMPLETED':
    case 'TASK_FAILED':
    case 'TASK_CANCELLED':
      end(draft, event, occasion, report);
      return withdrawAsks(draft, event.data.taskId);
    case 'APPROVAL_REQUESTED':
    case 'APPROVAL_GIVEN':
    case 'APPROVAL_DECIDED':
      return recordApproval(draft, event, occasion, report);
    case 'TASK_STOP_REQUESTED':
    case 'TASK_REOPENED':
    case 'TASK_SKIPPED':
      return recordTask(draft, event, occasion, report);
    default:
      return recordRun(draft, event, occasion, report);
  }
}

type RunWord = Extract<RunEvent, { type: `RUN_${string}` }>;

function recordRun(
  draft: Draft,
  event: Exclude<RunWord, { type: 'RUN_REQUESTED' }>,
  occasion: Occasion,
  report: Report,
): void {
  switch (event.type) {
    case 'RUN_COMPLETED':
    case 'RUN_FAILED':
    case 'RUN_CANCELLED': {
      checkEnd(draft, event, occasion, report);
      Object.assign(draft, { phase: 'ENDED', ending: null, queued: [], end: endName(event) });
      return;
    }
    case 'RUN_PAUSED':
      if (draft.phase !== 'RUNNING') report('I5_TRANSITIONS', 'paused twice');
      if (event.data.waitsFor !== undefined && !draft.mustWait) report('I6_APPROVAL', 'a plan waits for nothing');
      draft.phase = 'PAUSED';
      return;
    case 'RUN_RESUMED':
      if (draft.phase !== 'PAUSED') report('I5_TRANSITIONS', 'resumed without a pause');
      if (draft.tasks.size > 0) draft.mustWait = false;
      draft.phase = 'RUNNING';
      return;
    case 'RUN_REOPENED':
      if (draft.phase !== 'ENDED') report('I5_TRANSITIONS', 'reopened before its end');
      draft.phase = 'RUNNING';
      draft.end = null;
      draft.deadlineAt = Date.parse(event.data.deadlineAt);
      return;
    case 'RUN_FORKED':
      return recordFork(draft, event.data);
    case 'RUN_ANNOTATED':
      return;
  }
}

type RunEnd = Extract<RunEvent, { type: 'RUN_COMPLETED' | 'RUN_FAILED' | 'RUN_CANCELLED' }>;

function checkEnd(draft: Draft, event: RunEnd, { now, inputs, editPolicy }: Occasion, report: Report): void {
  for (const [id, { status }] of draft.tasks) {
    if (!isOver(status)) report('I5_TRANSITIONS', `${event.type} while ${id} is ${status}`);
  }
  if (draft.round !== null) report('ROUNDS', `${event.type} while round ${draft.round.editId} is open`);
  const { ending, queued, silent, deadlineAt } = draft;
  const told = endName(event);
  const byCounts = draft.tasks.size === 0 && ending === null ? withoutPlan(inputs) : endByCounts(draft);
  const isCancelled = inputs.some((input) => input.kind === 'verb' && input.action.verb === 'CANCEL');
  const wanted =
    ending === null && told === 'RUN_CANCELLED' && isCancelled ? told : (ENDS.get(ending ?? '') ?? byCounts);
  if (told !== wanted) report('OUTCOME', `the run ended with ${told} where it should with ${wanted}`);
  if (ending !== null || told !== byCounts || silent || now >= deadlineAt || !isAsked(draft)) return;
  if (editPolicy === 'never' && !queued.some(isOfWords)) return;
  if (queued.length > 0) report('TRIGGERS', `${told} and nobody was asked about ${queued.join(' ')}`);
  if (draft.askedAtEnd !== draft.revision) report('TRIGGERS', `${told} and nobody was asked whether the plan was all`);
}

/** Nobody could make a plan, or nothing was left for making one: that is told apart. */
function withoutPlan(inputs: readonly Input[]): string {
  const isSpent = inputs.some((input) => input.kind === 'round-failed' && input.error.code === 'BUDGET_EXHAUSTED');
  return `RUN_FAILED ${isSpent ? 'BUDGET_EXHAUSTED' : 'PLAN_FAILED'}`;
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ['cancelled', 'RUN_CANCELLED'],
  ['run_deadline', 'RUN_FAILED DEADLINE'],
  ['plan_failed', 'RUN_FAILED PLAN_FAILED'],
  ['budget', 'RUN_FAILED BUDGET_EXHAUSTED'],
]);

function endName(event: RunEnd): string {
  if (event.type === 'RUN_COMPLETED') return `${event.type} ${event.data.outcome}`;
  return event.type === 'RUN_FAILED' ? `${event.type} ${event.data.reason.code}` : event.type;
}

/** What the planner found no longer necessary is no failure; what was skipped because of one is. */
function endByCounts({ tasks, ending }: Draft): string {
  const entries = [...tasks.values()];
  const some = (status: string) => entries.some((entry) => entry.status === status);
  const isFinished = ending === 'finished';
  if (!some('COMPLETED') && !(isFinished && entries.length === 0)) return 'RUN_FAILED NO_TASK_COMPLETED';
  const isFailure =
    some('FAILED') || entries.some(({ status, skippedBy }) => status === 'SKIPPED' && skippedBy === 'failure');
  const isPartial = isFailure || (some('CANCELLED') && !isFinished);
  return `RUN_COMPLETED ${isPartial ? 'partially_failed' : 'succeeded'}`;
}

/** The ledger goes on as that of the fork. What ran in the parent ends here as something of which nothing will be known. */
function recordFork(draft: Draft, { deadlineAt, forkedAt, parent }: Data<'RUN_FORKED'>): void {
  const unknown = { reason: 'fork', graceUntil: -Infinity };
  for (const [id, entry] of draft.tasks) {
    const isPending = entry.status === 'PENDING';
    const due = isPending ? newEntry(entry.star, forkedAt).deadlineAt : entry.deadlineAt;
    const stopping = entry.status === 'RUNNING' ? unknown : null;
    const ranIn = entry.attempt === 0 ? null : (entry.ranIn ?? parent.runId);
    draft.tasks.set(id, { ...entry, failedOn: [], stopping, deadlineAt: due, ranIn });
  }
  const open = [...(draft.round?.triggers ?? []), ...draft.queued].filter((trigger) => trigger.includes('.'));
  const over = {
    round: null,
    queued: open,
    heard: new Set(),
    silent: false,
    enough: false,
    rounds: 0,
    sequence: 0,
    asks: new Map(),
    calls: 0,
    askedAtEnd: -1,
    end: null,
  };
  Object.assign(draft, { phase: 'RUNNING', ending: null, deadlineAt: Date.parse(deadlineAt), ...over });
}

function modify(draft: Draft, data: Data<'CONSTELLATION_MODIFIED'>, { inputs }: Occasion, report: Report): void {
  const { edits, editId, state, try: tries = 0, revision, used } = data;
  checkTrust(draft, data, inputs, report);
  if (edits !== undefined && (draft.ending !== null || draft.phase === 'ENDED')) {
    report('I5_TRANSITIONS', 'an edit was taken of a run that is about to end');
  }
  const isSound = edits === undefined || isValid(draft, { edits, state: state ?? 'CONTINUE' }) !== false;
  const shape = () => [...Array.from(draft.tasks.values(), ({ star }) => star), ...draft.lines.values()];
  const before = shape();
  const proposal = proposed(inputs, editId, tries);
  const { stars, lines } = applied(draft, proposal?.edits ?? []);
  if (edits !== undefined && edits.length > 0) restructure(draft, data, edits, report);
  if (edits !== undefined && !isSameShape(shape(), [...stars.values(), ...lines.values()])) {
    report('STRUCTURE', 'what was recorded of an edit is not what was proposed');
  }
  const changes = edits !== undefined && isSameShape(shape(), before) ? 0 : 1;
  if (revision !== draft.revision + changes) report('STRUCTURE', `revision ${revision} follows ${draft.revision}`);
  draft.revision = revision;
  if (!isSound) report('STRUCTURE', 'an edit was taken that is not valid');
  if (editId === undefined) return;
  if (draft.round?.editId !== editId) report('ROUNDS', `an edit of round ${editId} was taken, which is not open`);
  else if (tries <= draft.round.tries) report('ROUNDS', `try ${tries} of round ${editId} was judged twice`);
  draft.round = null;
  draft.calls += used?.llmCalls ?? 0;
  draft.silent = false;
  if (draft.queued.some(isOfWords)) return; // who has not heard what was said ends nothing
  if (state === 'FINISH') draft.ending = 'finished';
  if (state === 'FAIL') draft.ending = 'plan_failed';
}

type Definitions = readonly (TaskStar | TaskStarLine)[];

const isSameShape = (one: Definitions, other: Definitions): boolean =>
  one.length === other.length &&
  one.every((star, at) => {
    const beside = other[at];
    return beside !== undefined && (star === beside || definition(star) === definition(beside));
  });

/** What a model wrote is marked as such, and goes nowhere but where the plan was made for; what a person adds widens that. */
function checkTrust(
  draft: Draft,
  data: Data<'CONSTELLATION_MODIFIED'>,
  inputs: readonly Input[],
  report: Report,
): void {
  const { edits, editId, try: tries = 0, judgeCommands = false } = data;
  if (judgeCommands !== isImagined(inputs, editId, tries))
    report('TRUST', 'nobody knows whether a model wrote an edit');
  const stars = [...applied(draft, edits ?? []).stars.values()];
  const given = edits === undefined ? [...draft.tasks.values()].map(({ star }) => star) : stars;
  const beyond = beyondScope(draft, given);
  if (judgeCommands && beyond.length > 0) report('TRUST', `a model lets ${beyond.join(', ')} run where it must not`);
  const targets = given.map(({ target }) => JSON.stringify(target));
  if (given.length > 0 && (draft.scope === null || !judgeCommands)) {
    draft.scope = new Set([...(draft.scope ?? []), ...targets]);
  }
}

/** Tasks that are new or elsewhere, and where the plan was not made for. All devices here have the same system. */
function beyondScope({ scope, tasks }: Draft, stars: readonly TaskStar[]): TaskId[] {
  if (scope === null || scope.has(JSON.stringify({ os: 'linux' }))) return [];
  const moved = stars.filter((star) => {
    const before = tasks.get(star.id)?.star;
    return before !== star && JSON.stringify(before?.target) !== JSON.stringify(star.target);
  });
  return moved.filter(({ target }) => !scope.has(JSON.stringify(target))).map(({ id }) => id);
}

function isImagined(inputs: readonly Input[], editId: string | undefined, tries: number): boolean {
  return inputs.some(
    (input) =>
      input.kind === 'proposal' &&
      input.source === 'model' &&
      input.proposal.editId === editId &&
      input.proposal.try === tries,
  );
}

function restructure(draft: Draft, data: Data<'CONSTELLATION_MODIFIED'>, edits: readonly Edit[], report: Report): void {
  const { stars, lines } = applied(draft, edits);
  const same = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);
  const before = draft.tasks;
  const isFrozen = (id: TaskId) => (before.get(id)?.status ?? 'PENDING') !== 'PENDING';
  for (const [id, { star, status }] of before) {
    if (status !== 'PENDING' && !same(stars.get(id), star))
      report('I3_ONLY_PENDING', `${id} is ${status} and was changed`);
  }
  const touched = (one: ReadonlyMap<LineId, TaskStarLine>, other: ReadonlyMap<LineId, TaskStarLine>) =>
    [...one.values()].filter((line) => isFrozen(line.to) && !same(other.get(line.id), line));
  for (const line of [...touched(lines, draft.lines), ...touched(draft.lines, lines)]) {
    report('I3_ONLY_PENDING', `line ${line.id} leads to ${line.to}, which is not PENDING, and was changed`);
  }
  const written = (star: TaskStar | undefined) => [star?.command, star?.verify, star?.target];
  const isByModel = data.judgeCommands === true;
  draft.tasks = new Map(
    [...stars].map(([id, star]) => {
      const entry = before.get(id);
      const anew = newEntry(star, data.modifiedAt);
      if (entry === undefined) return [id, { ...anew, isJudged: isByModel }];
      const isSame = entry.star.deadlineMs === star.deadlineMs;
      const isJudged = entry.isJudged || (isByModel && !same(written(entry.star), written(star)));
      return [id, { ...entry, star, isJudged, deadlineAt: isSame ? entry.deadlineAt : anew.deadlineAt }];
    }),
  );
  if (isByModel) {
    const rewritten = [...before.values()].flatMap(({ star }) => {
      const is = stars.get(star.id);
      return is === undefined || same(written(star), written(is)) ? [] : [star.id];
    });
    for (const id of believedNoMore({ was: draft.lines, is: lines, stars, rewritten })) {
      const entry = draft.tasks.get(id);
      if (entry !== undefined) draft.tasks.set(id, { ...entry, isJudged: true });
    }
  }
  const gone = [...before.keys()].filter((id) => !stars.has(id));
  const goneLines = [...draft.lines.keys()].filter((id) => !lines.has(id)).map((id) => `line ${id}`);
  draft.removed = new Set([...draft.removed, ...gone, ...goneLines]);
  draft.lines = lines;
  const cycle = cycleIn(lines);
  if (cycle.length > 0) report('I2_ACYCLIC', `an edit made the cycle ${cycle.join(' -> ')}`);
}

interface Followed {
  readonly was: ReadonlyMap<LineId, TaskStarLine>;
  readonly is: ReadonlyMap<LineId, TaskStarLine>;
  readonly stars: ReadonlyMap<TaskId, TaskStar>;
  readonly rewritten: readonly TaskId[];
}

/** What has to wait for less than before, and what reads from, or needs, something that a model has changed. */
function believedNoMore({ was, is, stars, rewritten }: Followed): Set<TaskId> {
  const guard = ({ from, to, type, condition = '' }: TaskStarLine) => `${from} ${to} ${type} ${condition}`;
  const guards = new Set([...is.values()].map(guard));
  const less = [...was.values()].filter((line) => !guards.has(guard(line))).map(({ to }) => to);
  const found = new Set(less);
  const open = [...less, ...rewritten];
  for (const id of open) {
    for (const { from, to, type } of is.values()) {
      const stdin = JSON.stringify(stars.get(to)?.command?.arguments['stdin'] ?? null);
      const needs = from === id && (type !== 'unconditional' || stdin.includes(JSON.stringify(id)));
      if (!needs || found.has(to)) continue;
      found.add(to);
      open.push(to);
    }
  }
  return found;
}

type RoundWord = Extract<RunEvent, { type: `EDIT_${string}` }>;

function recordRound(draft: Draft, event: RoundWord, occasion: Occasion, report: Report): void {
  const { editId } = event.data;
  if (event.type !== 'EDIT_OPENED' && draft.round?.editId !== editId) {
    report('ROUNDS', `${event.type} of ${editId}, which is not open`);
  }
  switch (event.type) {
    case 'EDIT_OPENED': {
      const triggers = event.data.triggers.map(triggerName);
      if (draft.round !== null) report('ROUNDS', `round ${editId} was opened while ${draft.round.editId} is open`);
      if (draft.enough) report('ROUNDS', `round ${editId} was opened, and the planner may ask no model any more`);
      const isOfPlan = draft.phase === 'PAUSED' && draft.mustWait && draft.queued.some(isOfWords);
      if ((draft.phase !== 'RUNNING' && !isOfPlan) || draft.ending !== null)
        report('ROUNDS', 'a round was opened and the run does not go on');
      const [asked, wanted] = [triggers.toSorted().join(' '), draft.queued.toSorted().join(' ')];
      if (asked !== (wanted === '' ? 'end-of-plan' : wanted)) {
        report('TRIGGERS', `round ${editId} asks about ${asked} where ${wanted} was to be asked about`);
      }
      if (wanted === '' && [...draft.tasks.values()].some(({ status }) => !isOver(status))) {
        report('TRIGGERS', 'the end of a plan was asked about that has not ended');
      }
      const { lockPolicy, deadlineAt } = event.data;
      if (lockPolicy !== occasion.lockPolicy) report('LOCK', `round ${editId} is ${lockPolicy}`);
      const share = event.data.budget?.llmCalls ?? 0;
      checkShare(draft, share, report);
      const again = triggers.filter((trigger) => draft.heard.has(trigger));
      if (again.length > 0) report('WORDS', `round ${editId} asks once more about ${again.join(' ')}`);
      draft.heard = new Set([...draft.heard, ...triggers.filter(isOfWords)]);
      const opened = { editId, triggers, lockPolicy, tries: 0, rejections: 0, share };
      draft.round = { ...opened, deadlineAt: Date.parse(deadlineAt) };
      draft.queued = [];
      draft.rounds++;
      if ([...draft.tasks.values()].every(({ status }) => isOver(status))) {
        if (draft.askedAtEnd === draft.revision && wanted === '')
          report('TRIGGERS', 'the end of a plan was asked about twice');
        draft.askedAtEnd = draft.revision;
      }
      return;
    }
    case 'EDIT_REJECTED':
      return refuse(draft, event.data, occasion, report);
    case 'EDIT_ABANDONED': {
      const { code } = event.data.reason;
      const { rejections = 0, deadlineAt = 0 } = draft.round ?? {};
      if (code === 'DEADLINE' && occasion.now < deadlineAt)
        report('ROUNDS', `${editId} was abandoned before its deadline`);
      if (code === 'REPAIRS_EXHAUSTED' && rejections <= LIMITS.repairsMax)
        report('ROUNDS', `${editId} had repairs left`);
      if (code === 'DEADLINE') draft.silent = !draft.queued.some(isOfWords);
      if (code === 'PLANNER_FAILED' || code === 'TOO_MANY_ROUNDS') draft.silent = false;
      if (code === 'TOO_MANY_ROUNDS') draft.enough = true;
      draft.calls += event.data.used?.llmCalls ?? 0;
      draft.round = null;
    }
  }
}

/**
 * I11 of a round: some of what is left, and at most half of it, but for a last one, while agents have still to start. A first plan is
 * asked for with nothing, too.
 */
function checkShare(draft: Draft, share: number, report: Report): void {
  const left = callsLeft(draft, draft.callsMax);
  if (left === Infinity) return;
  const isShared = [...draft.tasks.values()].some(
    ({ status, star }) => status === 'PENDING' && star.command === undefined,
  );
  const most = isShared ? Math.max(1, left / 2) : left;
  if (share < (draft.tasks.size === 0 ? 0 : 1) || share > most)
    report('I11_BUDGET', `a round was given ${share} calls of ${left}`);
}

/** The planner's proposal of a round, or a person's without one, among what was decided. */
function proposed(inputs: readonly Input[], editId: string | undefined, tries: number): Proposal | undefined {
  const proposals = inputs.flatMap((input) => {
    if (input.kind === 'proposal') return [input.proposal];
    return input.kind === 'verb' && input.action.verb === 'PROPOSE' ? [input.action.proposal] : [];
  });
  return proposals.find((proposal) =>
    editId === undefined ? proposal.editId === null : proposal.editId === editId && proposal.try === tries,
  );
}

/** A refusal has a reason, and what was started under the planner's eyes stops everything until the round is over. */
function refuse(draft: Draft, data: Data<'EDIT_REJECTED'>, { inputs }: Occasion, report: Report): void {
  const { editId, try: tries, lockPolicy, violations } = data;
  if (draft.round === null) return;
  if (tries <= draft.round.tries) report('ROUNDS', `try ${tries} of ${editId} was refused twice`);
  const proposal = proposed(inputs, editId, tries);
  if (proposal === undefined) report('ROUNDS', `try ${tries} of ${editId} was refused, and nobody made it`);
  else if (violations.some(({ code }) => code === 'OUT_OF_SCOPE')) {
    const beyond = beyondScope(draft, [...applied(draft, proposal.edits).stars.values()]);
    if (!isImagined(inputs, editId, tries) || beyond.length === 0) report('TRUST', 'what may be believed was refused');
  } else if (isValid(draft, proposal) === true) {
    report('STRUCTURE', `a valid edit was refused: ${violations.map(({ message }) => message).join('; ')}`);
  }
  const isRace = violations.some(({ code }) => code === 'I3_ONLY_PENDING');
  if (lockPolicy !== (isRace ? 'strict' : draft.round.lockPolicy))
    report('LOCK', `round ${editId} goes on ${lockPolicy}`);
  const calls = data.used?.llmCalls ?? 0;
  const share = Math.max(0, draft.round.share - calls);
  draft.calls += calls;
  draft.round = { ...draft.round, tries, rejections: draft.round.rejections + 1, lockPolicy, share };
  draft.silent = false;
}
