import {
  checkEdit,
  checkInvariants,
  decide,
  evolve,
  evolveCommit,
  type Input,
  isTerminal,
  lockPolicyOf,
  type Run,
  viewOf,
  waitingFor,
} from '#libs/constellation';
import { LIMITS, type RunCommit, type RunEvent } from '#proto';
import { completed, failed, verb, WAKE } from '../../libs/constellation/given.js';
import type { Configuration } from './configuration.js';
import { isDoomed, isLocked, isOver, type Ledger, satisfied, triggerName } from './ledger.js';
import type { Violation } from './record.js';
import { dueOf, GO_ON, mayStart, proposalOf, resultSteps, verbOf } from './steps.js';
import { circumstancesOf, fleetOf, type Step, take, type Taken, type World } from './world.js';

/** What must hold after every step, whatever it was. */
export function* checkStep(before: World, { world, events, decision }: Taken): Generator<Violation> {
  yield* checkEdits(before.run, events);
  if (decision === null) return;
  const { wakeAt, starvedOf } = decision;
  const { now, run } = world;
  if ((wakeAt === null) !== (isTerminal(run) || run.phase === 'NONE')) {
    yield { name: 'I12_WAITING', message: `the run is ${run.phase} and its wake-up is ${wakeAt}` };
  }
  const latest = Math.min(dueOf(world), starvedOf.size > 0 ? now + LIMITS.waitingPollMs : Infinity);
  if (wakeAt !== null && wakeAt > latest) {
    yield { name: 'I12_WAITING', message: `the wake-up comes ${wakeAt - latest} ms after something is due` };
  }
}

/** I3 by the core's own audit, over every edit of a commit. */
function* checkEdits(before: Run, events: readonly RunEvent[]): Generator<Violation> {
  if (!events.some(({ type }) => type === 'CONSTELLATION_MODIFIED')) return;
  let run = before;
  for (const event of events) {
    const after = evolve(run, event);
    for (const { tasks, message } of checkEdit(run, event, after)) {
      yield { name: 'I3_ONLY_PENDING', message: `${tasks.join(', ')}: ${message}` };
    }
    run = after;
  }
}

/** What must hold in every world; looked at once, with the step that led there first. */
export function* checkWorld(
  before: World,
  { world, decision, commit }: Taken,
  configuration: Configuration,
): Generator<Violation> {
  if (decision !== null && commit !== null) {
    const read = JSON.parse(JSON.stringify(commit)) as RunCommit;
    const texts = [decision.run, evolveCommit(before.run, read), world.run].map(textOf);
    if (new Set(texts).size > 1) {
      yield { name: 'I8_FOLD', message: `what was decided is not the fold of what is stored: ${texts.join('\n')}` };
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
  const differ = (what: string, one: unknown, other: unknown): Violation[] => {
    const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
    return left === right ? [] : [{ name: 'STRUCTURE', message: `${what}: the run has ${left}, the model ${right}` }];
  };
  const sorted = (items: Iterable<string>) => [...items].toSorted();
  const theirs = [...run.tasks].map(({ star, status, attempt }) => `${JSON.stringify(star)} ${status} ${attempt}`);
  const ours = [...ledger.tasks.values()].map(
    ({ star, status, attempt }) => `${JSON.stringify(star)} ${status} ${attempt}`,
  );
  yield* differ('tasks', sorted(theirs), sorted(ours));
  const judged = [...(run.graph?.lines ?? [])].flatMap((line, index) => {
    if (ledger.tasks.get(line.to)?.status !== 'PENDING') return [JSON.stringify(line)];
    return [`${JSON.stringify(line)} ${run.lines.at(index).satisfied}`];
  });
  const lines = [...ledger.lines.values()].map((line) => {
    if (ledger.tasks.get(line.to)?.status !== 'PENDING') return JSON.stringify(line);
    return `${JSON.stringify(line)} ${satisfied(line, ledger.tasks)}`;
  });
  yield* differ('lines', sorted(judged), sorted(lines));
  yield* differ(
    'open triggers',
    sorted((run.editing?.triggers ?? []).map(triggerName)),
    sorted(ledger.round?.triggers ?? []),
  );
  yield* differ('queued triggers', sorted(run.queued.map(triggerName)), sorted(ledger.queued));
  yield* differ('round', run.editing?.editId ?? null, ledger.round?.editId ?? null);
  yield* differ('phase', isTerminal(run) ? 'ENDED' : run.phase, ledger.phase);
  yield* differ('silence', run.plannerSilent, ledger.silent);
  if (run.sequence !== ledger.sequence) {
    yield { name: 'I4_SEQUENCE', message: `the run is at ${run.sequence} after ${ledger.sequence} events` };
  }
}

/** A commit is closed: nothing that could start, be skipped, be asked or end is left lying. */
function* checkIdle(world: World, configuration: Configuration): Generator<Violation> {
  const { ledger, now, run } = world;
  const { devices } = fleetOf(world, configuration);
  for (const [taskId, { status, star, notBefore, lostSession, failedOn }] of ledger.tasks) {
    if (status !== 'PENDING' || isLocked(ledger, taskId, lockPolicyOf(run))) continue;
    if (isDoomed(ledger, taskId)) yield { name: 'IDLE', message: `${taskId} can never start, and was not skipped` };
    if (!mayStart(ledger, taskId) || now < notBefore) continue;
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
  if (ledger.ending) return;
  if (ledger.round === null && ledger.queued.length > 0) {
    yield { name: 'TRIGGERS', message: `nobody is asked about ${ledger.queued.join(' ')}` };
  }
  const isOpen = [...ledger.tasks.values()].some(({ status }) => !isOver(status));
  if (!isOpen && ledger.round === null) yield { name: 'IDLE', message: 'nothing is left to do, and the run goes on' };
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
  const { events } = decide(run, [WAKE, ...inputs], circumstances);
  if (events.length === owed.length) return;
  const found = inputs.find((input) => decide(run, [WAKE, input], circumstances).events.length !== owed.length);
  if (found === undefined) {
    yield {
      name: 'NOT_CLOSED',
      message: `looked at again, more follows: ${events.map(({ type }) => type).join(', ')}`,
    };
    return;
  }
  yield {
    name: 'DUPLICATE',
    message: `${JSON.stringify(found)} was judged or never sent, and something follows from it`,
  };
}

function staleInputs({ ledger, left }: World, { menu, verbs }: Configuration): Input[] {
  const results = [...ledger.tasks].flatMap(([taskId, { attempt: last, status }]) => {
    const attempts = Array.from({ length: last + 1 }, (_, index) => index + 1);
    return attempts
      .filter((attempt) => attempt !== last || status !== 'RUNNING')
      .flatMap((attempt) => [completed(taskId, attempt), failed(taskId, attempt)]);
  });
  const { round, rounds } = ledger;
  const offer = menu.find(({ state = 'CONTINUE' }) => state === 'CONTINUE') ?? GO_ON;
  const over = Array.from({ length: rounds }, (_, index) => `e${index + 1}`).filter((id) => id !== round?.editId);
  const tries = Array.from({ length: round?.tries ?? 0 }, (_, index) => index + 1);
  return [
    ...results,
    ...over.slice(-2).map((editId) => proposalOf(offer, editId, 1)),
    ...tries.map((number) => proposalOf(offer, round?.editId ?? '', number)),
    ...verbs.flatMap(({ name, action }) =>
      action.verb === 'FORK' || left.verbs.includes(name) ? [] : [verbOf(name, action)],
    ),
  ];
}

/** I12: a run that goes on says what it waits for, and that changes it; so does the clock at the instant that it names. */
function* checkWaiting(world: World, configuration: Configuration): Generator<Violation> {
  const { run, now } = world;
  const waiting = waitingFor(run);
  if ((waiting === null) !== isTerminal(run)) {
    yield { name: 'I12_WAITING', message: `the run is ${run.phase} and waits for ${waiting?.reason ?? 'nothing'}` };
  }
  if (waiting === null || !world.isSettled) return;
  const { reason, wokenBy, wakesAt, detail } = waiting;
  const said = `it says that it waits for ${reason} (${detail})`;
  const changes = (step: Step) => take(world, step, configuration).events.length > 0;
  const at = wakesAt === null ? now : Date.parse(wakesAt);
  if (at <= now && wakesAt !== null) yield { name: 'I12_WAITING', message: `${said} until an instant that is over` };
  const tick: Step = { kind: 'timer', label: '', inputs: [WAKE], change: { now: Math.max(at, now) } };
  if (wakesAt !== null && !changes(tick))
    yield { name: 'I12_WAITING', message: `${said} until ${wakesAt}, and then nothing happens` };
  const steps = wakers(world, configuration, wokenBy);
  if (steps.length === 0 || !steps.every(changes)) {
    yield { name: 'I12_WAITING', message: `${said}, woken by ${wokenBy}, and that changes nothing` };
  }
}

function wakers(world: World, configuration: Configuration, wokenBy: string): Step[] {
  const { links, ledger } = world;
  const step = (inputs: readonly Input[], change = {}): Step => ({ kind: 'fleet', label: '', inputs, change });
  switch (wokenBy) {
    case 'attempt':
      return resultSteps(world, configuration).map((result) => result.step);
    case 'proposal':
      return ledger.round === null ? [] : [step([proposalOf(GO_ON, ledger.round.editId, ledger.round.tries + 1)])];
    case 'fleet':
      return [step([WAKE], { links: links.map(({ session }) => ({ isUp: true, session: session + 1 })) })];
    case 'timer':
      return [step([WAKE], { now: Date.parse(waitingFor(world.run)?.wakesAt ?? '') })];
    case 'operator':
      return [step([verb({ verb: 'RESUME' }, 'RESUME at last')])];
    default:
      return [];
  }
}

/**
 * I9: a result and an edit that are both taken lead to the same run in either order; what starts afterwards may differ,
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
      if (!started.has(task.id)) return task;
      return {
        ...task,
        status: 'PENDING',
        attempts: task.attempts - 1,
        device: null,
        startedAt: null,
        result: null,
        error: null,
      };
    }),
  });
}

/** All of a run but what the shell adds to it, as text. */
function textOf(run: Run): string {
  const { graph, tasks, lines, verbs, sequence, number, hash, ...rest } = run;
  const shape =
    graph === null
      ? null
      : [graph.name, [...graph.taskIds], [...graph.lines], [...graph.linesFrom], [...graph.linesInto]];
  return JSON.stringify([shape, [...tasks], [...lines], rest], (_, value: unknown) =>
    value instanceof Set ? [...(value as Set<unknown>)] : value,
  );
}
