import { NO_USAGE, Proposal } from '#proto';
import { ANY_DEVICE, emptyRun, forkedFrom, hasPlan, type Input, isTerminal, lockPolicyOf } from '#libs/constellation';
import {
  ALICE,
  asked,
  commandAsk,
  completed,
  failed,
  giveUp,
  imagine,
  propose,
  verb,
  WAKE,
} from '../../libs/constellation/testing/given.js';
import type { Configuration, FORK, Offer, OUTAGE, VerbOffer } from './configuration.js';
import { isLocked, isReady, type Ledger } from './ledger.js';
import type { Left, Step, World } from './world.js';

/**
 * Everything that may happen in a world. An attempt may end at any instant, so its end is one step from running to
 * recorded: a result that is under way is an attempt that has not ended yet. Two inputs that arrive together are decided
 * together, in both orders (group commit).
 */
export function stepsOf(world: World, configuration: Configuration): Step[] {
  const { run } = world;
  const verbs = verbSteps(world, configuration);
  if (isTerminal(run)) return verbs;
  const results = resultSteps(world, configuration);
  const proposals = proposalSteps(world, configuration);
  const asks = askSteps(world, configuration);
  const due = dueOf(world);
  const inputs = [...proposals, ...asks, ...verbs.filter(({ change }) => change === undefined)];
  return [
    ...results.map(({ step }) => step),
    ...proposals,
    ...asks,
    ...verbs,
    ...timeSteps(world, due),
    ...linkSteps(world, configuration),
    ...crashSteps(world),
    ...results.flatMap(({ taskId, step }) =>
      results.flatMap((other) => (other.taskId === taskId ? [] : [both(step, other.step)])),
    ),
    ...inputs.flatMap((other) =>
      results.flatMap(({ step }) => [
        both(step, other),
        isEdit(other) ? { ...both(other, step), swapped: { result: step, edit: other } } : both(other, step),
      ]),
    ),
    ...lateSteps(world, due, [...results.map(({ step }) => step), ...proposals, ...asks, ...verbs.filter(isWord)]),
  ];
}

function both(one: Step, other: Step): Step {
  const left = one.left ?? other.left;
  return {
    kind: 'both',
    label: `${one.label}, and in the same commit ${other.label}`,
    inputs: [...(one.inputs ?? []), ...(other.inputs ?? [])],
    ...(left === undefined ? {} : { left }),
  };
}

/** About something that an attempt asked. */
function isWord({ inputs }: Step): boolean {
  const [input] = inputs ?? [];
  return input?.kind === 'verb' && (input.action.verb === 'APPROVE' || input.action.verb === 'REJECT');
}

/** A proposal that ends the run is no edit: what runs then is stopped, and a result may come before or after that. */
function isEdit({ inputs }: Step): boolean {
  const [input] = inputs ?? [];
  return input?.kind === 'proposal' && input.proposal.state === 'CONTINUE';
}

interface Result {
  readonly taskId: string;
  readonly step: Step;
}

/** What a running attempt may come to. On a lost session: what the device's journal says, or that nobody knows. */
export function resultSteps({ ledger, links }: World, configuration: Configuration): Result[] {
  const { devices, mayFail, options } = configuration;
  return [...ledger.tasks].flatMap(([taskId, { status, attempt, deviceId, sessionId, stopping }]): Result[] => {
    if (status !== 'RUNNING') return [];
    const index = devices.findIndex((device) => device.deviceId === deviceId);
    const link = links[index];
    const isLost = link?.isUp !== true || sessionId !== `${deviceId}-s${link.session}`;
    const result = (input: Input, word: string): Result => ({
      taskId,
      step: {
        kind: 'attempt',
        label: `attempt ${attempt} of ${taskId} ${word}`,
        inputs: [options.budget === undefined ? input : spending(input)],
      },
    });
    const done = result(completed(taskId, attempt), 'completes');
    if (isLost) return [done, result(failed(taskId, attempt, 'device_lost'), 'is lost with its device')];
    if (stopping !== null) return [done, result(failed(taskId, attempt, 'cancelled'), 'is stopped')];
    return mayFail.includes(taskId) ? [done, result(failed(taskId, attempt), 'fails')] : [done];
  });
}

/** Each attempt makes one call of a model. */
function spending(input: Input): Input {
  if (input.kind !== 'attempt-ended') return input;
  return { ...input, finished: { ...input.finished, used: { ...NO_USAGE, llmCalls: 1 } } };
}

const ASK_MS = 5 * 60_000;

export const askId = (runId: string, taskId: string, attempt: number) => `${runId}.${taskId}.${attempt}.1.0`;

/** The attempt of an agent may wait for a person: once, as long as nobody stops it. */
function askSteps({ ledger, run, now }: World, { mayAsk = [] }: Configuration): Step[] {
  return mayAsk.flatMap((taskId): Step[] => {
    const { status, attempt = 0, stopping, deviceId } = ledger.tasks.get(taskId) ?? {};
    const approvalId = askId(run.runId, taskId, attempt);
    if (status !== 'RUNNING' || stopping !== null || ledger.asks.has(approvalId)) return [];
    const expiresAt = new Date(now + ASK_MS).toISOString();
    const ask = commandAsk(approvalId, { expiresAt, deviceId: deviceId ?? '' });
    return [{ kind: 'attempt', label: `attempt ${attempt} of ${taskId} asks a person`, inputs: [asked(ask)] }];
  });
}

export const GO_ON: Offer = { name: 'nothing is to be changed', edits: [] };

export function proposalSteps({ ledger: { round, ending }, left }: World, { menu }: Configuration): Step[] {
  if (round === null || ending) return [];
  const offers = left.edits > 0 ? [GO_ON, ...menu] : [GO_ON];
  return offers.map((offer): Step => ({
    kind: 'proposal',
    label: `the planner answers ${round.editId} try ${round.tries + 1}: ${offer.name}`,
    inputs: [proposalOf(offer, round.editId, round.tries + 1)],
    ...(offer === GO_ON ? {} : { left: { ...left, edits: left.edits - 1 } }),
  }));
}

const made = new WeakMap<Offer, Map<string, Input>>();

export function proposalOf(offer: Offer, editId: string, tries: number): Input {
  const known = made.get(offer) ?? new Map<string, Input>();
  made.set(offer, known);
  const id = `${editId} ${tries}`;
  const input = known.get(id) ?? answerOf(offer, editId, tries);
  known.set(id, input);
  return input;
}

function answerOf(
  { name, edits, state = 'CONTINUE', isImagined, isFailure }: Offer,
  editId: string,
  tries: number,
): Input {
  const said = { try: tries, state };
  if (isFailure === true) return giveUp(editId, name, { try: tries, used: ONE_CALL });
  if (isFailure !== undefined) return giveUp(editId, name, { try: tries, error: { code: isFailure, message: name } });
  return isImagined === true ? imagine(editId, edits, said, ONE_CALL) : propose(editId, edits, said);
}

const ONE_CALL = { ...NO_USAGE, llmCalls: 1 };

function verbSteps(world: World, { verbs }: Configuration): Step[] {
  const { left, run, ledger } = world;
  return verbs.flatMap(({ name, action }): Step[] => {
    if (!left.verbs.includes(name)) return [];
    const others: Left = { ...left, verbs: left.verbs.filter((other) => other !== name) };
    const step = { kind: 'operator', label: `a person says ${name}`, left: others } as const;
    switch (action.verb) {
      case 'FORK':
        return hasPlan(run) ? [{ ...step, ...forkOf(world) }] : [];
      case 'OUTAGE':
        return ledger.phase === 'ENDED' || ledger.ending ? [] : [{ ...step, ...outageOf(ledger, name) }];
      default:
        return [{ ...step, inputs: [verbOf(name, action)] }];
    }
  });
}

function forkOf({ run, now }: World): Pick<Step, 'inputs' | 'change'> {
  const forked = forkedFrom({ run, by: ALICE, requestId: 'request-2', now });
  return { inputs: [{ kind: 'fork', id: 'FORK', forked }], change: { run: emptyRun('run-2') } };
}

function outageOf({ deadlineAt }: Ledger, name: string): Pick<Step, 'kind' | 'label' | 'inputs' | 'change'> {
  return { kind: 'timer', label: name, inputs: [WAKE], change: { now: deadlineAt } };
}

type Word = Exclude<VerbOffer['action'], typeof FORK | typeof OUTAGE>;

const spoken = new WeakMap<Word, Input>();

/** Kept, as proposals are: each world is asked what a person may say in it. */
export function verbOf(name: string, action: Word): Input {
  const input = spoken.get(action) ?? wordOf(name, action);
  spoken.set(action, input);
  return input;
}

function wordOf(name: string, action: Word): Input {
  if (action.verb !== 'PROPOSE') return verb(action, name);
  const proposal = Proposal.parse({ editId: null, edits: action.edits });
  return { kind: 'verb', id: name, by: ALICE, action: { verb: 'PROPOSE', proposal, delegated: false } };
}

/** The next instant at which something is due, by the model's own reckoning; Infinity when nothing ever is. */
export function dueOf(world: World): number {
  const { ledger, now, run } = world;
  if (ledger.phase === 'ENDED') return Infinity;
  const { ending, round, deadlineAt: runDeadlineAt } = ledger;
  const asks = [...ledger.asks.values()].flatMap(({ state, expiresAt }) => (state === 'open' ? [expiresAt] : []));
  const instants = [...ledger.tasks].flatMap(([taskId, entry]): number[] => {
    const { status, stopping, timeoutAt, deadlineAt, notBefore } = entry;
    if (status === 'RUNNING') return stopping === null ? [timeoutAt, deadlineAt] : [stopping.graceUntil];
    if (status !== 'PENDING') return [];
    const isWaiting = notBefore > now && mayStart(ledger, taskId) && !isLocked(ledger, taskId, lockPolicyOf(run));
    return isWaiting ? [deadlineAt, notBefore] : [deadlineAt];
  });
  const due = Math.min(...instants, ...asks, round?.deadlineAt ?? Infinity, ending ? Infinity : runDeadlineAt);
  if (!ending && due !== runDeadlineAt && due > runDeadlineAt - MARGIN_MS)
    throw new Error('the deadline of the run came near');
  return due;
}

/** No trace may come near the deadline of the run but to pass it: its distance is not part of a world's key. */
const MARGIN_MS = 12 * 60 * 60 * 1000;

export function mayStart(ledger: Ledger, taskId: string): boolean {
  return ledger.phase === 'RUNNING' && !ledger.ending && isReady(ledger, taskId);
}

/** Time passes to the next instant at which something is due. What is polled meanwhile finds nothing new. */
function timeSteps(world: World, due: number): Step[] {
  if (due === Infinity) return [];
  return [
    { kind: 'timer', label: `${Math.round((due - world.now) / 1000)} s pass`, inputs: [WAKE], change: { now: due } },
  ];
}

/** What arrives at the very instant at which something else is due. */
function lateSteps(world: World, due: number, steps: readonly Step[]): Step[] {
  if (due === Infinity) return [];
  const late = `${Math.round((due - world.now) / 1000)} s pass, and then`;
  return steps.map((step) => ({ ...step, kind: 'both', label: `${late} ${step.label}`, change: { now: due } }));
}

/** A device goes away, or comes back with a new session. Who waits for one is woken at once, unless a crash forgot it. */
function linkSteps({ links, left, starvedOf, isSettled }: World, { devices, mayLeave }: Configuration): Step[] {
  const steps = links.flatMap(({ isUp, session }, index): Step[] => {
    const deviceId = devices[index]?.deviceId ?? '?';
    const turned = (link: { isUp: boolean; session: number }) =>
      links.map((other, at) => (at === index ? link : other));
    if (isUp && (left.disconnects === 0 || !mayLeave.includes(deviceId))) return [];
    if (isUp) {
      const change = { links: turned({ isUp: false, session }), isSettled: false };
      const fewer = { ...left, disconnects: left.disconnects - 1 };
      return [{ kind: 'fleet', label: `${deviceId} is gone`, inputs: null, change, left: fewer }];
    }
    const change = { links: turned({ isUp: true, session: session + 1 }), isSettled: false };
    const inputs = starvedOf.has(ANY_DEVICE) ? [WAKE] : null;
    return [{ kind: 'fleet', label: `${deviceId} is back`, inputs, change }];
  });
  return isSettled ? steps : [...steps, { kind: 'fleet', label: 'the run is looked at again', inputs: [WAKE] }];
}

/** The orchestrator dies and what it had in memory is gone: the run is folded again, and nobody is known to wait for a device. */
function crashSteps({ starvedOf, left }: World): Step[] {
  if (starvedOf.size === 0 || left.crashes === 0) return [];
  const change = { starvedOf: new Set<string>() };
  const fewer = { ...left, crashes: left.crashes - 1 };
  return [
    { kind: 'crash', label: 'the orchestrator is killed and loads the run again', inputs: null, change, left: fewer },
  ];
}
