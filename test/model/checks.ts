import {
  checkBudget,
  checkEdit,
  checkInvariants,
  decide,
  evolve,
  type Input,
  isTerminal,
  lockPolicyOf,
  type Run,
  type TaskState,
  viewOf,
  waitingFor,
} from '#libs/constellation';
import { LIMITS, type RunEvent, type TaskStarLine } from '#proto';
import { asked, commandAsk, completed, failed, verb, WAKE } from '../../libs/constellation/testing/given.js';
import { isSameState } from '../../libs/constellation/same-state.testing.js';
import type { Configuration } from './configuration.js';
import { callsLeft, definition, isAsked, isDoomed, isLocked, type Ledger, satisfied, triggerName } from './ledger.js';
import type { Violation } from './occasion.js';
import { askId, dueOf, GO_ON, mayStart, proposalOf, resultSteps, verbOf } from './steps.js';
import { circumstancesOf, fleetOf, type Step, type Taken, type World } from './world.js';

/** What must hold after every step, whatever it was. */
export function* checkStep(step: Step, taken: Taken): Generator<Violation> {
  const { stage, world, events, decision } = taken;
  yield* checkEdits(stage.run, events);
  if (stage.run.request?.options.budget !== undefined) yield* checkSpending(stage.run, events);
  const [input] = step.inputs ?? [];
  if (input !== undefined && step.inputs?.length === 1) yield* checkObeyed(input, taken);
  if (input !== undefined && step.inputs?.length === 1) yield* checkRetried(input, taken);
  yield* checkPriorities(taken);
  if (decision === null) return;
  const { wakeAt, starvedOf } = decision;
  const { now, run } = world;
  if ((wakeAt === null) !== (isTerminal(run) || run.phase === 'NONE')) {
    yield { name: 'I12_WAITING', message: `the run is ${run.phase} and its wake-up is ${wakeAt}` };
  }
  if (wakeAt !== null && wakeAt <= now)
    yield { name: 'I12_WAITING', message: 'it wants to be woken at once, for nothing' };
  const latest = Math.min(dueOf(world), starvedOf.size > 0 ? now + LIMITS.waitingPollMs : Infinity);
  if (wakeAt !== null && wakeAt > latest) {
    yield { name: 'I12_WAITING', message: `the wake-up comes ${wakeAt - latest} ms after something is due` };
  }
}

/** What was asked and could be done is done; what was told is recorded. */
function* checkObeyed(input: Input, { stage, world }: Taken): Generator<Violation> {
  const [before, after] = [stage.ledger, world.ledger];
  const fail = (message: string): Violation => ({ name: 'OBEDIENCE', message });
  const isOver = after.phase === 'ENDED';
  if (input.kind === 'attempt-ended') {
    const { status, attempt } = after.tasks.get(input.taskId) ?? {};
    if (status === 'RUNNING' && attempt === input.attempt) yield fail(`the end of attempt ${attempt} was not recorded`);
  }
  if (input.kind === 'proposal') {
    const { round } = after;
    const isOpen = round?.editId === before.round?.editId && round?.tries === before.round?.tries;
    if (isOpen && before.round !== null) yield fail('a proposal was not judged');
  }
  if (input.kind === 'round-failed' && before.round !== null && after.round?.editId === before.round.editId)
    yield fail('the planner gave the round up, and it goes on');
  if (input.kind === 'asked') {
    const { status, attempt, stopping } = after.tasks.get(input.taskId) ?? {};
    const isHeard = after.asks.has(input.ask.approvalId);
    const mustBe = status === 'RUNNING' && attempt === input.attempt && stopping === null;
    if (mustBe && !isHeard) yield fail(`what attempt ${attempt} asks was not recorded`);
  }
  if (input.kind === 'verb' && (input.action.verb === 'APPROVE' || input.action.verb === 'REJECT')) {
    const { verb: word, approvalId } = input.action;
    const [was, is] = [before.asks.get(approvalId), after.asks.get(approvalId)];
    const isStopping = before.tasks.get(was?.taskId ?? '')?.stopping !== null && word === 'APPROVE';
    const wanted = word === 'APPROVE' ? 'approved' : 'rejected';
    const isOpen = was?.state === 'open' && world.now < was.expiresAt && !isStopping;
    if (isOpen && is?.state !== wanted && is?.state !== 'withdrawn') yield fail(`${approvalId} was not ${wanted}`);
  }
  if (input.kind === 'verb' && input.action.verb === 'SAY' && !stage.run.verbs.has(input.id)) {
    if (before.ending === null && isAsked(before) && after.said === before.said) yield fail('what was said is lost');
  }
  if (input.kind !== 'verb' || before.phase === 'ENDED' || before.ending !== null) return;
  const { action } = input;
  if (action.verb === 'CANCEL' && !isOver && after.ending !== 'cancelled') yield fail('the run was not cancelled');
  if (action.verb === 'PAUSE' && !isOver && after.phase !== 'PAUSED') yield fail('the run was not paused');
  // Nobody accepts a plan while the planner thinks about what was said of it.
  const isThoughtAbout = before.round !== null && before.mustWait;
  if (action.verb === 'RESUME' && !isOver && !isThoughtAbout && after.phase !== 'RUNNING')
    yield fail('the run was not resumed');
}

/** A person's word opens a task again whatever is known of it, unless a line says that it cannot start. */
function* checkRetried(input: Input, { stage, world }: Taken): Generator<Violation> {
  if (input.kind !== 'verb' || input.action.verb !== 'RETRY' || stage.ledger.ending !== null) return;
  const { taskId } = input.action;
  const [before, after] = [stage, world].map(({ ledger }) => ledger.tasks.get(taskId));
  if (before === undefined || after === undefined || before.status === 'COMPLETED' || before.status === 'PENDING')
    return;
  const isRetried =
    before.status === 'RUNNING'
      ? after.stopping?.reason === 'retry'
      : isDoomed(stage.ledger, taskId) || after.status === 'PENDING' || after.attempt > before.attempt;
  if (!isRetried) yield { name: 'OBEDIENCE', message: `${taskId} was ${before.status} and is not tried again` };
}

/** I3 by the core's own audit, over every edit of a commit. */
function* checkEdits(before: Run, events: readonly RunEvent[]): Generator<Violation> {
  const last = events.findLastIndex(({ type }) => type === 'CONSTELLATION_MODIFIED');
  let run = before;
  for (const event of events.slice(0, last + 1)) {
    const after = evolve(run, event);
    for (const { tasks, message } of checkEdit(run, event, after)) {
      yield { name: 'I3_ONLY_PENDING', message: `${tasks.join(', ')}: ${message}` };
    }
    run = after;
  }
}

/** I11 by the core's own audit. */
function* checkSpending(before: Run, events: readonly RunEvent[]): Generator<Violation> {
  let run = before;
  for (const event of events) {
    const after = evolve(run, event);
    for (const { message } of checkBudget(run, event, after)) yield { name: 'I11_BUDGET', message };
    run = after;
  }
}

/** What must hold in every world; looked at once, with the step that led there first. */
export function* checkWorld({ world, decision, commit }: Taken, configuration: Configuration): Generator<Violation> {
  if (decision !== null && commit !== null) {
    const [decided, stored] = [factsOf(decision.run), factsOf(world.run)];
    if (!isSameState(decided, stored) && textOf(decided) !== textOf(stored)) {
      yield {
        name: 'I8_FOLD',
        message: `decided was ${textOf(decided)}, and what is stored folds to ${textOf(stored)}`,
      };
    }
  }
  for (const { invariant, tasks, message } of checkInvariants(world.run)) {
    const name =
      invariant === 'I1_SINGLE_ASSIGNMENT' ? 'I1_SINGLE_ATTEMPT' : invariant === 'INDEX' ? 'I8_FOLD' : invariant;
    yield { name, message: `${tasks.join(', ')} ${message}` };
  }
  yield* checkAgreement(world);
  if (world.ledger.phase === 'RUNNING' && world.isSettled) yield* checkIdle(world, configuration);
  yield* checkStale(world, configuration);
  yield* checkWaiting(world, configuration);
}

/** The run is what the model made of the same events. */
function* checkAgreement({ run, ledger }: World): Generator<Violation> {
  const differ = (name: Violation['name'], what: string, one: readonly unknown[], other: readonly unknown[]) => {
    if (one.length === 0 && other.length === 0) return [];
    const [left = '', right = ''] = [one, other].map((list) => list.map(String).toSorted().join('\n'));
    return left === right ? [] : [{ name, message: `${what}: the run has ${left}, the model ${right}` }];
  };
  const told = ({ star, status, attempt }: Pick<TaskState, 'star' | 'status' | 'attempt'>) =>
    `${definition(star)} ${status} ${attempt}`;
  yield* differ('STRUCTURE', 'tasks', [...run.tasks].map(told), [...ledger.tasks.values()].map(told));
  // A line to what has started stays as it was judged then.
  const isOpen = ({ to }: TaskStarLine) => ledger.tasks.get(to)?.status === 'PENDING';
  const judged = (line: TaskStarLine, is: boolean | 'undecided' | null) => `${definition(line)} ${isOpen(line) && is}`;
  const theirs = [...run.graph.lines].map((line, index) => {
    const { satisfied: is, undecided } = run.lines.at(index);
    return judged(line, undecided === true ? 'undecided' : is);
  });
  const ours = [...ledger.lines.values()].map((line) => judged(line, satisfied(line, ledger.tasks)));
  yield* differ('STRUCTURE', 'lines', theirs, ours);
  const { editing, queued, plannerSilent, noMoreRounds, phase, sequence } = run;
  yield* differ('ROUNDS', 'the open round', [editing?.editId], [ledger.round?.editId]);
  yield* differ('TRIGGERS', 'asked about', (editing?.triggers ?? []).map(triggerName), ledger.round?.triggers ?? []);
  yield* differ('TRIGGERS', 'to be asked about', queued.map(triggerName), ledger.queued);
  const asking = [...ledger.asks].flatMap(([id, { state }]) => (state === 'open' ? [id] : []));
  yield* differ('I6_APPROVAL', 'asked a person', [...run.approvals.open.keys()], asking);
  yield* differ('I11_BUDGET', 'calls made', [run.used.llmCalls], [ledger.calls]);
  yield* differ('ROUNDS', 'a silent planner', [plannerSilent], [ledger.silent]);
  yield* differ('ROUNDS', 'a planner that is not asked any more', [noMoreRounds !== null], [ledger.enough]);
  yield* differ('I5_TRANSITIONS', 'the run', [isTerminal(run) ? 'ENDED' : phase], [ledger.phase]);
  yield* differ('STRUCTURE', 'the revision', [run.revision], [ledger.revision]);
  const end = run.outcome === null ? `RUN_${phase}` : `RUN_${phase} ${run.outcome}`;
  yield* differ(
    'OUTCOME',
    'the end',
    isTerminal(run) ? [end] : [],
    ledger.end === null ? [] : [withoutCode(ledger.end)],
  );
  yield* differ('I4_SEQUENCE', 'the last event', [sequence], [ledger.sequence]);
}

/** Of two tasks that could start where one did, the one with the higher priority did. */
function* checkPriorities({ world, events }: Taken): Generator<Violation> {
  const { ledger, now, run } = world;
  const priority = (taskId: string) => ledger.tasks.get(taskId)?.star.priority ?? 0;
  for (const event of events) {
    if (event.type !== 'TASK_STARTED') continue;
    const { taskId: started, deviceId, sessionId } = event.data;
    for (const [taskId, { status, star, notBefore, lostSession, failedOn }] of ledger.tasks) {
      const isFit = 'device' in star.target ? star.target.device === deviceId : lostSession !== sessionId;
      const isWaiting = status === 'PENDING' && mayStart(ledger, taskId) && now >= notBefore && failedOn.length === 0;
      const isHeld = isLocked(ledger, taskId, lockPolicyOf(run));
      if (isWaiting && isFit && !isHeld && priority(taskId) > priority(started)) {
        yield { name: 'IDLE', message: `${started} was started before ${taskId}, which has a higher priority` };
      }
    }
  }
}

/** A run does not say with which code it failed. */
const withoutCode = (end: string) => (end.startsWith('RUN_FAILED') ? 'RUN_FAILED' : end);

/** A commit is closed: nothing that could start, be skipped, be asked or end is left lying. */
function* checkIdle(world: World, configuration: Configuration): Generator<Violation> {
  const { ledger, now, run } = world;
  const { devices } = fleetOf(world, configuration);
  const { concurrency = Infinity, budget } = configuration.options;
  const callsMax = budget?.llmCalls ?? Infinity;
  const running = [...ledger.tasks.values()].filter(({ status }) => status === 'RUNNING').length;
  for (const [taskId, { status, star, notBefore, lostSession, failedOn }] of ledger.tasks) {
    if (status !== 'PENDING' || isLocked(ledger, taskId, lockPolicyOf(run))) continue;
    if (isDoomed(ledger, taskId)) yield { name: 'IDLE', message: `${taskId} can never start, and was not skipped` };
    if (!mayStart(ledger, taskId) || now < notBefore || running >= concurrency) continue;
    if (star.command === undefined && callsLeft(ledger, callsMax) <= 0) continue;
    const able = [...devices.values()].filter(
      (device) =>
        device.status === 'connected' &&
        device.session?.sessionId !== lostSession &&
        (!('device' in star.target) || star.target.device === device.deviceId),
    );
    const untried = able.filter(({ deviceId }) => !failedOn.includes(deviceId));
    const free = (untried.length > 0 ? untried : able).find(
      ({ deviceId, tasksMax }) => loadOf(ledger, deviceId) < tasksMax,
    );
    if (free !== undefined) yield { name: 'IDLE', message: `${taskId} may start on ${free.deviceId}, and does not` };
  }
  if (ledger.ending !== null) return;
  const mayBeAsked = isAsked(ledger) && (ledger.tasks.size === 0 || callsLeft(ledger, callsMax) > 0);
  if (ledger.round === null && ledger.queued.length > 0 && mayBeAsked) {
    yield { name: 'TRIGGERS', message: `nobody is asked about ${ledger.queued.join(' ')}` };
  }
  for (const [taskId, { status }] of ledger.tasks) {
    if (status === 'SKIPPED' && !isDoomed(ledger, taskId))
      yield { name: 'IDLE', message: `${taskId} stays skipped for nothing` };
  }
  const isMoving = [...ledger.tasks.values()].some((entry) => entry.status === 'RUNNING' || entry.notBefore > now);
  if (!isMoving && ledger.round === null && world.links.every(({ isUp }) => isUp)) {
    yield { name: 'IDLE', message: 'all devices are there, nobody works, nobody is asked, and the run goes on' };
  }
}

const loadOf = (ledger: Ledger, deviceId: string) =>
  [...ledger.tasks.values()].filter((entry) => entry.status === 'RUNNING' && entry.deviceId === deviceId).length;

/**
 * Everything that was delivered before comes again, as after a crash before its acknowledgement, together with results of
 * attempts that never were: nothing follows. So duplicates, however many, need no steps of their own.
 */
function* checkStale(world: World, configuration: Configuration): Generator<Violation> {
  const { run } = world;
  const circumstances = circumstancesOf(world, configuration);
  const inputs = staleInputs(world, configuration);
  const owed = world.isSettled ? [] : decide(run, [WAKE], circumstances).events;
  const { events, answers } = decide(run, [WAKE, ...inputs], circumstances);
  for (const [index, input] of inputs.entries()) {
    const answer = answers[index + 1];
    if (input.kind !== 'verb' || (answer?.kind === 'accepted' && answer.sequence !== undefined)) continue;
    yield { name: 'DUPLICATE', message: `${input.id} was accepted, and asked again it is ${answer?.kind}` };
  }
  if (events.length === owed.length) return;
  const follows = (input: Input) => decide(run, [WAKE, input], circumstances).events.length !== owed.length;
  const found = follows(WAKE) ? undefined : inputs.find(follows);
  if (found === undefined) {
    yield {
      name: 'NOT_CLOSED',
      message: `looked at again, more follows: ${events.map(({ type }) => type).join(', ')}`,
    };
    return;
  }
  const name = found.kind === 'attempt-ended' ? 'FENCING' : 'DUPLICATE';
  yield { name, message: `${JSON.stringify(found)} was judged before or never sent, and something follows from it` };
}

const told = new Map<string, readonly Input[]>();

/** What may be said of the end of an attempt, kept: each world has a few, and they are the same in all. */
function endsOf(taskId: string, attempt: number): readonly Input[] {
  const key = `${taskId} ${attempt}`;
  const known = told.get(key) ?? [completed(taskId, attempt), failed(taskId, attempt)];
  told.set(key, known);
  return known;
}

function staleInputs({ ledger, left, run }: World, { menu, verbs, mayAsk = [] }: Configuration): Input[] {
  const results = [...ledger.tasks].flatMap(([taskId, { attempt: last, status }]) => {
    const attempts = Array.from({ length: last + 1 }, (_, index) => index + 1);
    return attempts
      .filter((attempt) => attempt !== last || status !== 'RUNNING')
      .flatMap((attempt) => endsOf(taskId, attempt));
  });
  const asks = mayAsk.flatMap((taskId) => {
    const { attempt: last = 0, status } = ledger.tasks.get(taskId) ?? {};
    const ids = Array.from({ length: last }, (_, index) => askId(run.runId, taskId, index + 1));
    const isKnown = (id: string) => ledger.asks.has(id) || status !== 'RUNNING' || id !== ids.at(-1);
    return ids.filter(isKnown).map((id) => asked(commandAsk(id)));
  });
  const { round, rounds } = ledger;
  const offer = menu.find(({ state = 'CONTINUE' }) => state === 'CONTINUE') ?? GO_ON;
  const over = Array.from({ length: rounds }, (_, index) => `e${index + 1}`).filter((id) => id !== round?.editId);
  const tries = Array.from({ length: round?.tries ?? 0 }, (_, index) => index + 1);
  return [
    ...results,
    ...asks,
    ...over.slice(-2).map((editId) => proposalOf(offer, editId, 1)),
    ...tries.map((number) => proposalOf(offer, round?.editId ?? '', number)),
    ...verbs.flatMap(({ name, action }) =>
      action.verb === 'FORK' || action.verb === 'OUTAGE' || left.verbs.includes(name) ? [] : [verbOf(name, action)],
    ),
  ];
}

/** I12: a run that goes on says what it waits for, and that changes it; so does the clock at the instant that it names. */
function* checkWaiting(world: World, configuration: Configuration): Generator<Violation> {
  const { run, now } = world;
  const waiting = waitingFor(run, now);
  if ((waiting === null) !== isTerminal(run)) {
    yield { name: 'I12_WAITING', message: `the run is ${run.phase} and waits for ${waiting?.reason ?? 'nothing'}` };
  }
  if (waiting === null || !world.isSettled) return;
  const { reason, wokenBy, wakesAt, detail } = waiting;
  const said = `it says that it waits for ${reason} (${detail})`;
  const changes = ({ inputs, change }: Step) => {
    const stage = { ...world, ...change };
    return decide(stage.run, inputs ?? [], circumstancesOf(stage, configuration)).events.length > 0;
  };
  const at = wakesAt === null ? now : Date.parse(wakesAt);
  // A view knows no fleet: the next try after a pause may find no device, and that is waited for next.
  const links = reason === 'backoff' ? { links: allUp(world) } : {};
  if (at <= now && wakesAt !== null) yield { name: 'I12_WAITING', message: `${said} until an instant that is over` };
  const tick: Step = { kind: 'timer', label: '', inputs: [WAKE], change: { ...links, now: Math.max(at, now) } };
  if (wakesAt !== null && !changes(tick))
    yield { name: 'I12_WAITING', message: `${said} until ${wakesAt}, and then nothing happens` };
  const steps = wakers(world, configuration, wokenBy);
  if (steps.length === 0 || !steps.every(changes)) {
    yield { name: 'I12_WAITING', message: `${said}, woken by ${wokenBy}, and that changes nothing` };
  }
}

const allUp = ({ links }: World) => links.map(({ session }) => ({ isUp: true, session: session + 1 }));

function wakers(world: World, configuration: Configuration, wokenBy: string): Step[] {
  const { ledger } = world;
  const step = (inputs: readonly Input[], change = {}): Step => ({ kind: 'fleet', label: '', inputs, change });
  switch (wokenBy) {
    case 'attempt':
      return resultSteps(world, configuration).map((result) => result.step);
    case 'proposal':
      return ledger.round === null ? [] : [step([proposalOf(GO_ON, ledger.round.editId, ledger.round.tries + 1)])];
    case 'fleet':
      return [step([WAKE], { links: allUp(world) })];
    case 'timer': {
      const { wakesAt = null } = waitingFor(world.run, world.now) ?? {};
      return wakesAt === null ? [] : [step([WAKE], { links: allUp(world), now: Date.parse(wakesAt) })];
    }
    case 'operator': {
      const open = [...ledger.asks].flatMap(([id, { state }]) => (state === 'open' ? [id] : []));
      const words = open.map((approvalId) => step([verb({ verb: 'REJECT', approvalId }, `no to ${approvalId}`)]));
      return words.length > 0 ? words : [step([verb({ verb: 'RESUME' }, 'RESUME at last')])];
    }
    default:
      return [];
  }
}

/**
 * I9: a result and an edit that are both taken lead to the same run in either order; what starts afterwards may differ,
 * where there are fewer slots than tasks.
 * where there are fewer slots than tasks.
 */
export function* checkConfluence(one: Taken, other: Taken): Generator<Violation> {
  if (![one, other].every(({ decision }) => decision?.answers.every(({ kind }) => kind === 'accepted') === true))
    return;
  const [left, right] = [observable(one), observable(other)];
  if (left === right) return;
  yield { name: 'I9_CONFLUENCE', message: `result then edit: ${left}\nedit then result: ${right}` };
}

function observable({ world: { run }, events }: Taken): string {
  const started = new Set(events.flatMap((event) => (event.type === 'TASK_STARTED' ? [event.data.taskId] : [])));
  const { tasks, editing, ...view } = viewOf(run);
  return JSON.stringify({
    ...view,
    sequence: 0,
    status: isTerminal(run) ? run.phase : 'goes on',
    waitingFor: null,
    editing: editing && { ...editing, triggers: editing.triggers.map(triggerName).toSorted() },
    tasks: tasks.map((task) => {
      const attempts = started.has(task.id) ? task.attempts - 1 : task.attempts;
      if (task.status !== 'PENDING' && !started.has(task.id)) return task;
      return { id: task.id, status: 'PENDING', attempts, held: task.held };
    }),
  });
}

/** All of a run but what the shell adds to it. */
function factsOf(run: Run): object {
  const { graph } = run;
  const shape = graph && [graph.name, [...graph.taskIds], [...graph.lines], [...graph.linesFrom], [...graph.linesInto]];
  const added = { verbs: null, sequence: null, number: null, hash: null };
  return { ...run, ...added, graph: shape, tasks: [...run.tasks], lines: [...run.lines] };
}

const textOf = (facts: object): string =>
  JSON.stringify(facts, (_, value: unknown) => (value instanceof Set ? [...(value as Set<unknown>)] : value));
