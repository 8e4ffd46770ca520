import { instantOf, type AgentProfile, type RunCommit, type RunEvent, type TaskStar, type TaskStarLine } from '#proto';
import {
  type Answer,
  type Circumstances,
  decide,
  type RunDecision,
  editPolicyOf,
  emptyRun,
  evolveCommit,
  type FleetView,
  type Input,
  lockPolicyOf,
  type Run,
} from '#libs/constellation';
import { fleet, HASH, instant, requested, T0, withAgents } from '../../libs/constellation/testing/given.js';
import type { Configuration, Limits } from './configuration.js';
import { definition, EMPTY, type Ledger, triggerName } from './ledger.js';
import type { Occasion, Violation } from './occasion.js';
import { record } from './record.js';

/** Everything that decides what may happen next: the run, what the model knows of it, and what is around it. */
export interface World {
  readonly run: Run;
  readonly ledger: Ledger;
  readonly now: number;
  readonly links: readonly Link[];
  readonly left: Left;
  /** The last decision's: whom a device that becomes free or connects wakes. In memory only, so a crash forgets it. */
  readonly starvedOf: ReadonlySet<string>;
  /** Nothing around the run has changed since its last decision. */
  readonly isSettled: boolean;
}

/** A device's connection: a session is never used again. */
export interface Link {
  readonly isUp: boolean;
  readonly session: number;
}

/** What may still happen, of what has a limit. */
export interface Left extends Limits {
  readonly verbs: readonly string[];
}

/** Something that may happen: the surroundings change, then inputs are decided together. */
export interface Step {
  readonly kind: 'request' | 'attempt' | 'proposal' | 'operator' | 'timer' | 'fleet' | 'crash' | 'both';
  readonly label: string;
  /** Null: nobody decides anything. */
  readonly inputs: readonly Input[] | null;
  readonly change?: Partial<Omit<World, 'left'>>;
  /** What it uses up, when it is not ignored. */
  readonly left?: Left;
  /** A result and an edit that are decided together, and after the same two in the other order. */
  readonly swapped?: { readonly result: Step; readonly edit: Step };
}

export interface Taken {
  /** As it was when the inputs were decided. */
  readonly stage: World;
  readonly world: World;
  readonly events: readonly RunEvent[];
  readonly commit: RunCommit | null;
  readonly decision: RunDecision | null;
  readonly violations: readonly Violation[];
}

export const SUBMITTED = 'the request is accepted';

export function begin(configuration: Configuration): { readonly step: Step; readonly world: World } {
  const { plan, options, devices, limits, verbs } = configuration;
  const goal = plan === null ? { goal: 'a goal', constellation: null } : { constellation: plan };
  const data = { ...requested({ name: '', tasks: [], lines: [] }, { options }), ...goal };
  const world: World = {
    run: emptyRun('run-1'),
    ledger: EMPTY,
    now: T0,
    links: devices.map(() => ({ isUp: true, session: 1 })),
    left: { ...limits, verbs: verbs.map(({ name }) => name) },
    starvedOf: new Set(),
    isSettled: true,
  };
  return { world, step: { kind: 'request', label: SUBMITTED, inputs: [{ kind: 'submit', requested: data }] } };
}

const views = new WeakMap<World['links'], FleetView>();

export function fleetOf({ links }: Pick<World, 'links'>, { devices }: Configuration): FleetView {
  const known = views.get(links);
  if (known !== undefined) return known;
  const profiles = devices.map((profile, index): AgentProfile => {
    const { isUp, session } = links[index] ?? { isUp: false, session: 0 };
    const { deviceId } = profile;
    const at = {
      sessionId: `${deviceId}-s${session}`,
      gateway: 'g',
      journalId: `${deviceId}-j`,
      connectedAt: instant(0),
    };
    return { ...profile, status: isUp ? 'connected' : 'suspect', session: at };
  });
  const view = withAgents(fleet(profiles));
  views.set(links, view);
  return view;
}

export function circumstancesOf(world: World, configuration: Configuration): Circumstances {
  return { fleet: fleetOf(world, configuration), now: world.now, planner: true };
}

/** Takes a step with the real functions: decides, writes the commit as it is stored, folds what was stored. */
export function take(
  before: World,
  { inputs, change = {}, left = before.left }: Step,
  configuration: Configuration,
): Taken {
  const stage = { ...before, ...change };
  if (inputs === null)
    return { stage, world: { ...stage, left }, events: [], commit: null, decision: null, violations: [] };
  const circumstances = circumstancesOf(stage, configuration);
  const decision = decide(stage.run, inputs, circumstances);
  const { starvedOf } = decision;
  const isTaken = decision.answers.some((answer, index) => isSpent(answer, inputs[index]));
  const settled = { ...stage, left: isTaken ? left : before.left, starvedOf, isSettled: true };
  if (decision.events.length === 0)
    return { stage, world: settled, events: [], commit: null, decision, violations: [] };
  const commit = stored(stage, inputs, decision);
  const run = evolveCommit(stage.run, commit);
  const { fleet: view, now } = circumstances;
  const { concurrency = Infinity, budget } = configuration.options;
  const callsMax = budget?.llmCalls ?? Infinity;
  const policies = { lockPolicy: lockPolicyOf(run), editPolicy: editPolicyOf(run), concurrency, callsMax };
  const occasion: Occasion = { inputs, fleet: view, now, ...policies };
  const { ledger, violations } = record(stage.ledger, commit.events, occasion);
  return { stage, world: { ...settled, run, ledger }, events: commit.events, commit, decision, violations };
}

/** The same with the run as it is loaded from the stream: what JSON does not keep is lost. */
export function reloaded(taken: Taken): Taken {
  const { stage, world, commit } = taken;
  if (commit === null) return taken;
  return {
    ...taken,
    world: { ...world, run: evolveCommit(stage.run, JSON.parse(JSON.stringify(commit)) as RunCommit) },
  };
}

/** Proposals and verbs are counted when something followed from them. */
function isSpent(answer: Answer, input: Input | undefined): boolean {
  if (input === undefined || input.kind === 'attempt-ended' || input.kind === 'asked') return false;
  return answer.kind === 'accepted' || (answer.kind === 'rejected' && answer.recorded === true);
}

/** The commit that the shell would store. */
function stored({ run, now }: World, inputs: readonly Input[], { events, answers }: RunDecision): RunCommit {
  const recorded = events.map((event, index) => {
    const sequence = run.sequence + index + 1;
    return { id: `${run.runId}-${sequence}`, sequence, schemaVersion: 1, ...event };
  });
  const causes = inputs.flatMap((input, index): RunCommit['causes'] => {
    const answer = answers[index];
    if ((input.kind !== 'verb' && input.kind !== 'fork') || answer === undefined) return [];
    if (answer.kind === 'accepted' && answer.sequence === undefined) return [{ kind: 'verb', id: input.id }];
    if (answer.kind !== 'rejected' || answer.recorded !== true) return [];
    return [{ kind: 'verb', id: input.id, rejected: true }];
  });
  return {
    commit: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    runId: run.runId,
    number: run.number + 1,
    at: instantOf(now),
    by: { service: 'model', instance: 'model' },
    causes,
    events: recorded,
    prevHash: HASH,
    hash: HASH,
  };
}

/**
 * Two worlds with the same key go on in the same way. Instants count from now, and the deadline of the run, which is a day
 * away, is left out: `dueOf` makes sure that it is never near. Ids of rounds are compared with each other only, so they are left out.
 */
export function keyOf({ run, now, links, left, starvedOf, isSettled }: World, { verbs }: Configuration): string {
  const until = (at: string | null | undefined) => (at ? Math.max(instantAt(at) - now, 0) : '');
  const { editing, graph } = run;
  const triggers = (list: Run['queued']) =>
    list.map((one) => (one.kind === 'device' ? `${one.kind} ${one.taskId}` : triggerName(one))).toSorted();
  const tasks = [...run.tasks].map((task) => {
    const { star, status, attempt, deviceId, sessionId, stopping, error, skippedBy } = task;
    const head = `${starNumber(star)}${status.slice(0, 2)}${attempt}${task.judged ? 'J' : ''}`;
    if (status === 'RUNNING') {
      const open = task.asks.map((id) => until(run.approvals.open.get(id)?.ask.expiresAt) || 'o');
      const asks = open.length === 0 ? '' : `?${open.join()}`;
      const stop = stopping === null ? '' : `!${stopping.reason}${until(stopping.graceUntil)}`;
      return `${head}@${sessionId}+${stopping === null ? until(task.timeoutAt) : ''}${stop}^${until(task.deadlineAt)}${task.failedOn.join()}${asks}`;
    }
    if (status !== 'PENDING' && verbs.length === 0) return head + (skippedBy ?? '');
    const lost = error?.outcome === 'device_lost' ? `${deviceId}${sessionId}` : '';
    const more = `+${until(task.notBefore)}^${until(task.deadlineAt)}${lost}${task.failedOn.join()}`;
    return `${head}${skippedBy ?? ''}${task.result === null ? '' : 'R'}${more}`;
  });
  const lines = [...graph.lines].map((line, at) => `${starNumber(line)}${String(run.lines.at(at).satisfied)[0]}`);
  return [
    run.runId,
    run.phase,
    run.ending?.reason,
    `${run.endOfPlanRevision === run.revision}${run.plannerSilent}${run.noMoreRounds !== null}${isSettled}`,
    editing && [editing.mode, editing.rejections, editing.tries, editing.lockPolicy, until(editing.deadlineAt)].join(),
    editing && triggers(editing.triggers).join(),
    triggers(run.queued).join(),
    tasks.join(' '),
    lines.join(''),
    sortedOf(run.usedIds),
    [...run.ready].join(),
    links.map(({ isUp, session }) => `${isUp}${session}`).join(),
    `${left.edits}${left.disconnects}${left.crashes}${left.verbs.join()}`,
    [...starvedOf].toSorted().join(),
    `${run.used.llmCalls}-${run.editing?.budget?.llmCalls ?? ''}`,
    `${run.waitsFor ?? ''}${run.scope?.length ?? ''}`,
  ].join('|');
}

const instants = new Map<string, number>();

function instantAt(text: string): number {
  const known = instants.get(text) ?? Date.parse(text);
  instants.set(text, known);
  return known;
}

const sorted = new WeakMap<Run['usedIds'], string>();

/** Kept: only edits make another set. */
function sortedOf(ids: Run['usedIds']): string {
  const known = sorted.get(ids) ?? [...ids].toSorted().join();
  sorted.set(ids, known);
  return known;
}

const numbers = new WeakMap<object, number>();
const numbered = new Map<string, number>();

/** A small number for a definition; those with the same text have the same. */
function starNumber(star: TaskStar | TaskStarLine): number {
  const known = numbers.get(star);
  if (known !== undefined) return known;
  const text = definition(star);
  const number = numbered.get(text) ?? numbered.size;
  numbered.set(text, number);
  numbers.set(star, number);
  return number;
}
