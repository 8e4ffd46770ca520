import fc from 'fast-check';
import { type AgentProfile, type Edit, NO_USAGE, type RunOptions, type TaskConstellation } from '#proto';
import { batchOf, plans, resultOf } from './arbitrary.js';
import type { Input } from '../decide/input.js';
import { applyEdits } from '../edits/edit.js';
import type { Circuit, FleetView } from '../edits/fleet-view.js';
import {
  ALICE,
  ask,
  completed,
  device,
  fleet,
  giveUp,
  HASH,
  insert,
  instant,
  propose,
  Story,
  submit,
  T0,
  verb,
  WAKE,
  withAgents,
} from './given.js';
import { isTerminal, type Run, hasPlan } from '../state/run.js';
import { IMAGINED, REQUESTED } from './trust.js';

/** Wild steps, and those after which a run must have ended when nobody disturbs it any more. */
const WILD = 30;
const STEPS_MAX = 300;
const ROUND_MS = 30_000;

export interface Chaos {
  readonly plan: TaskConstellation;
  /** The plan is what the planner answers to a goal. */
  readonly goal: boolean;
  readonly options: RunOptions;
  /** When the run must have ended, in milliseconds from its beginning. */
  readonly deadlineMs: number;
  readonly slots: number;
  /** Every other task is left to an agent. */
  readonly agents: boolean;
  /** Who plans: what a model proposes is not believed. */
  readonly source: 'model' | 'runbook';
  /** Whether proposals heed what is allowed. */
  readonly hostile: boolean;
  readonly seeds: readonly number[];
  /** Who asks, and edits, is no operator. */
  readonly requester: boolean;
}

export const chaos: fc.Arbitrary<Chaos> = fc.record({
  plan: plans,
  goal: fc.boolean(),
  options: fc.record({
    editPolicy: fc.constantFrom('every-result', 'when-needed', 'never'),
    lockPolicy: fc.constantFrom('strict', 'scoped'),
    editDeadlineMs: fc.constant(ROUND_MS),
    concurrency: fc.constantFrom(2, 100),
    plan: fc.constantFrom('start', 'start', 'approve'),
    budget: fc.constantFrom({}, {}, { llmCalls: 40 }, { llmCalls: 6, costUsd: 0.5 }, { llmCalls: 0 }),
  }),
  deadlineMs: fc.constantFrom(40_000, 24 * 3_600_000, 24 * 3_600_000),
  slots: fc.integer({ min: 1, max: 3 }),
  agents: fc.boolean(),
  source: fc.constantFrom('model', 'runbook'),
  hostile: fc.boolean(),
  seeds: fc.array(fc.nat(1_000_000), { minLength: WILD, maxLength: WILD }),
  requester: fc.boolean(),
});

/**
 * Drives a run through results, duplicates, stale attempts, silence, time, good and hostile proposals, verbs, and devices
 * that are held, lost and given up; then an operator resumes it, the planner has nothing to add, and it goes on until it is
 * over or the steps are used up. `each` sees every commit.
 */
export function playChaos(drawn: Chaos, each: (story: Story, before: Run, now: number) => void): Story {
  const given = drawn.agents ? { ...drawn, plan: withAgentTasks(drawn.plan) } : drawn;
  const story = new Story().on(fleetOf(given, 0));
  const whose = given.requester ? { requestedBy: ALICE, judgeCommands: true as const } : {};
  const options = { options: given.options, deadlineAt: instant(given.deadlineMs), ...whose };
  let [before, now] = [story.run, 0];
  const step = (...inputs: readonly Input[]) => {
    before = story.run;
    story.at(now).when(...inputs);
    each(story, before, now);
  };
  step(given.goal ? ask(options) : submit(given.plan, options));
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const seed = given.seeds[steps];
    if (seed === undefined && isTerminal(story.run)) break;
    now += seed === undefined ? 10_000 : ((seed % 5) + 1) * 400 * (seed % 11 === 0 ? 40 : 1);
    story.on(fleetOf(given, seed ?? 0));
    step(WAKE, ...(seed === undefined ? calm(story.run, given) : wild(story.run, seed, given)));
  }
  return story;
}

/** Two devices; a seed may hold one, lose it, take it away for good, open its circuit, or fill the fleet. */
function fleetOf({ slots }: Chaos, seed: number): FleetView {
  const mood = Math.floor(seed / 13) % 12;
  const held = { by: ALICE, reason: 'test', heldAt: instant(0) };
  const [lost, withHold]: Partial<AgentProfile>[] = [{ status: 'lost' }, { held }];
  const web = mood === 1 ? withHold : mood === 2 ? lost : {};
  const view = withAgents(fleet([device('web-1', { tasksMax: slots, ...web }), device('db-1', { tasksMax: slots })]));
  const circuit: Circuit = mood === 3 ? { state: 'open', until: T0 + 10_000_000 } : { state: 'half-open' };
  return {
    ...view,
    ...(mood === 3 || mood === 4 ? { circuit: () => circuit } : {}),
    ...(mood === 5 ? { slotsLeft: 0 } : {}),
    ...(mood === 6 ? { complete: false, devices: new Map() } : {}),
    ...(mood === 7 && seed % 3 === 0 ? { devices: fleet([device('db-1', { tasksMax: slots })]).devices } : {}),
  };
}

function withAgentTasks(plan: TaskConstellation): TaskConstellation {
  const tasks = plan.tasks.map((task, index) => {
    if (index % 2 === 0) return task;
    const { command: _, ...agent } = task;
    return agent;
  });
  return { ...plan, tasks };
}

function calm(run: Run, given: Chaos): Input[] {
  const running = [...run.running].map((index) => run.tasks.at(index));
  const { editing } = run;
  return [
    verb({ verb: 'RESUME' }, `calm-${run.rounds}-${run.counts.PENDING}`),
    ...running.map(({ star, attempt }) => completed(star.id, attempt)),
    ...(editing === null
      ? []
      : [byPlanner(given, editing.editId, creationOf(run, given.plan), { try: editing.tries + 1 })]),
  ];
}

/** Every proposal of the planner costs a call. */
const ONE_CALL = { llmCalls: 1, tokens: 100, commands: 0, costUsd: 0.01 };

function byPlanner(
  { source }: Chaos,
  editId: string | null,
  edits: readonly unknown[],
  said: Parameters<typeof propose>[2] = {},
): Input {
  const trace = source === 'model' ? { trace: { ...said.trace, ...IMAGINED } } : {};
  return propose(editId, edits, { ...said, ...trace }, { source, used: ONE_CALL });
}

const EVALUATED: Input = {
  kind: 'evaluated',
  evaluation: { reason: 'as asked', sub_scores: [{ name: 'all', evaluation: 'yes' }], complete: 'yes' },
  used: ONE_CALL,
  planHash: HASH,
};

const creationOf = (run: Run, plan: TaskConstellation) =>
  !hasPlan(run) ? [{ tool: 'build_constellation', constellation: plan }] : [];

function wild(run: Run, seed: number, given: Chaos): Input[] {
  const running = [...run.running].map((index) => run.tasks.at(index));
  const results = running.flatMap((task, index): Input[] => {
    if ((seed >> index) % 2 === 1) return [];
    const result = resultOf(task, Math.floor(seed / 7) + index);
    if (result === null) return [];
    if ((seed + index) % 5 === 0) return [result, result];
    if ((seed + index) % 5 === 1 && task.attempt > 1) return [completed(task.star.id, task.attempt - 1), result];
    return [result];
  });
  const inputs = [...results, ...proposals(run, seed, given), ...verbs(run, seed, given)];
  return seed % 2 === 0 ? inputs : inputs.toReversed();
}

function proposals(run: Run, seed: number, given: Chaos): Input[] {
  const { plan, hostile } = given;
  const { editing } = run;
  const propose = (editId: string | null, edits: readonly unknown[], said = {}) =>
    byPlanner(given, editId, edits, said);
  const answer = { text: 'as it is', evidence: ['a', 'b', 'nobody'] };
  const number = (editing?.tries ?? 0) + 1;
  const editId = editing?.editId ?? 'e1';
  const edits = (): unknown[] => {
    const batch = batchOf(run, [seed, seed * 3 + 1, seed * 7 + 5], hostile);
    return !hasPlan(run) ? creationOf(run, plan) : hostile ? batch : validOf(run, batch);
  };
  switch (Math.floor(seed / 17) % 16) {
    case 0:
    case 1:
    case 2:
      return []; // silence, up to the deadline of the round
    case 3:
    case 4:
    case 5:
    case 6:
      return [propose(editId, edits(), { try: number })];
    case 7:
      return [propose(editId, edits(), { try: number }), propose(editId, edits(), { try: number })];
    case 8:
      return [propose(editId, [{ tool: 'remove_task', taskId: 'nobody' }], { try: number })];
    case 9:
      return [propose(editId, edits(), { try: number, baseRevision: Math.max(0, run.revision - (seed % 2)) })];
    case 10:
      return [propose(`e${run.rounds + (seed % 3)}`, [], { try: number })];
    case 11:
      return [propose(null, edits())];
    case 12:
      return seed % 5 === 0 ? [propose(editId, edits(), { try: number, state: 'FINISH', answer })] : [];
    case 13:
      return [comesToNothing(editId, number, seed)];
    case 14:
      return [EVALUATED, EVALUATED];
    default:
      return seed % 7 === 0
        ? [propose(editId, [], { try: number, state: 'FAIL', answer, trace: { result: 'no' } })]
        : [];
  }
}

const REASONS = ['MODEL_AWAY', 'MODEL_AWAY', 'TOO_MANY_ROUNDS', 'BUDGET_EXHAUSTED'] as const;

function comesToNothing(editId: string, number: number, seed: number): Input {
  const code = REASONS[seed % REASONS.length] ?? 'MODEL_AWAY';
  const used = code === 'MODEL_AWAY' ? ONE_CALL : NO_USAGE;
  return giveUp(editId, 'the model is away', { try: number, used, error: { code, message: 'the model is away' } });
}

/** An edit of who asked for the run. */
function byRequester(run: Run, batch: readonly Edit[], id: string): Input {
  const { proposal } = propose(null, validOf(run, batch), { trace: REQUESTED });
  const action = { verb: 'PROPOSE', proposal, delegated: false } as const;
  return { kind: 'verb', id, by: ALICE, action, roles: ['requester'] };
}

/** An edit that a program makes in the name of a person. */
function delegated(run: Run, batch: readonly Edit[], id: string): Input {
  const { proposal } = propose(null, validOf(run, batch), { trace: IMAGINED });
  return { kind: 'verb', id, by: ALICE, action: { verb: 'PROPOSE', proposal, delegated: true } };
}

function validOf(run: Run, batch: readonly Edit[]): Edit[] {
  return batch.reduce<Edit[]>((kept, edit) => (applyEdits(run, [...kept, edit], T0).ok ? [...kept, edit] : kept), []);
}

function verbs(run: Run, seed: number, { plan, requester }: Chaos): Input[] {
  const ids = [...run.tasks].map(({ star }) => star.id);
  const taskId = ids[seed % Math.max(1, ids.length)] ?? plan.tasks[0]?.id ?? 'a';
  const id = `v${seed % 500}`;
  switch (Math.floor(seed / 19) % 16) {
    case 0:
    case 1:
      return [verb({ verb: 'PAUSE' }, id)];
    case 2:
    case 3:
    case 4:
      return [verb({ verb: 'RESUME' }, id)];
    case 5:
    case 6:
    case 7:
      return [verb({ verb: 'RETRY', taskId }, id)];
    case 8:
      return seed % 4 === 0 ? [verb({ verb: 'CANCEL' }, id), verb({ verb: 'CANCEL' }, id)] : [];
    case 9:
      return [verb({ verb: 'PAUSE' }, id), verb({ verb: 'RESUME' }, `${id}r`)];
    case 10:
      return [{ kind: 'pause', reason: 'poison' }];
    case 11:
      return [{ kind: 'late-result', taskId, attempt: 1, text: 'late', attemptHash: 'a'.repeat(64) }];
    case 12:
      return [delegated(run, batchOf(run, [seed, seed * 5 + 2]), id)];
    case 13:
      return [insert(validOf(run, batchOf(run, [seed, seed * 5 + 2])), { id })];
    case 14:
      return requester ? [byRequester(run, batchOf(run, [seed, seed * 5 + 2]), id)] : [];
    default:
      return [];
  }
}
