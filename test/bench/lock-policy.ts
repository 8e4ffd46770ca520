import type { Edit, EditPolicy, LockPolicy, RunCommit, TaskConstellation } from '#proto';
import type { Run } from '#libs/constellation';
import { randomOf } from './plans.js';
import { playVirtually } from './virtual-run.js';

/** Averages that the paper reports over its 55 requests, seconds (section 10.7, table 4). */
export const PAPER = { endToEnd: 243.7, totalWork: 289.2, criticalPath: 178.34 } as const;

/** Uniform, seconds (figure 22, right). */
const CREATION = [16, 20] as const;
const EDIT = [8, 12] as const;
/** How far the tasks of one request differ from one another before they are scaled to the paper's W and L. */
const TASK_SPREAD = 0.25;

/** Three branches side by side, then tasks in a row: width 3, as in the paper. */
export interface Shape {
  readonly name: string;
  /** Tasks of each branch. */
  readonly branch: number;
  readonly serial: number;
}

export const SHAPES: readonly Shape[] = [
  // Six tasks of 48 s each on average, which is what the paper reports for one task.
  { name: 'collect three results, then merge, write and send', branch: 1, serial: 3 },
  // Work that does not depend on one another's results, so that there is something that an edit need not stop.
  { name: 'three branches of three tasks, then merge and send', branch: 3, serial: 2 },
];

const BRANCHES = [0, 1, 2];

interface Plan {
  readonly branches: readonly (readonly string[])[];
  readonly serial: readonly string[];
}

function planOf({ branch, serial }: Shape): Plan {
  const count = (length: number) => Array.from({ length }, (_, index) => index);
  return {
    branches: BRANCHES.map((one) => count(branch).map((step) => `branch-${one}-${step}`)),
    serial: count(serial).map((step) => `serial-${step}`),
  };
}

function constellationOf(name: string, { branches, serial }: Plan, review: readonly string[]): TaskConstellation {
  const pairs = (row: readonly string[]) => row.slice(1).map((to, index) => [row[index] ?? '', to] as const);
  const merge = serial[0] ?? '';
  const lines = [...branches.flatMap((row) => [...pairs(row), [row.at(-1) ?? '', merge] as const]), ...pairs(serial)];
  return {
    name,
    tasks: [...branches.flat(), ...serial].map((id) => ({
      id,
      name: id,
      description: '',
      tips: [],
      target: { device: 'any' },
      command: { tool: 'NOOP', arguments: {} },
      ...(review.includes(id) ? { review: true } : {}),
    })),
    lines: lines.map(([from, to]) => ({ id: `${from}-${to}`, from, to, type: 'unconditional' })),
  };
}

export interface Policy {
  readonly name: string;
  readonly editPolicy: EditPolicy;
  readonly lockPolicy: LockPolicy;
  /** Tasks whose results the planner wants to see although nothing went wrong. */
  readonly review?: readonly string[];
}

export const POLICIES: readonly Policy[] = [
  { name: 'strict + every-result (the paper)', editPolicy: 'every-result', lockPolicy: 'strict' },
  { name: 'scoped + every-result', editPolicy: 'every-result', lockPolicy: 'scoped' },
  { name: 'scoped + when-needed, one review', editPolicy: 'when-needed', lockPolicy: 'scoped', review: ['serial-0'] },
  { name: 'scoped + when-needed', editPolicy: 'when-needed', lockPolicy: 'scoped' },
];

/** One request under one policy, seconds. */
export interface Sample {
  readonly endToEnd: number;
  /** Creation and critical path of the same request: no schedule can be faster. */
  readonly bound: number;
  readonly rounds: number;
}

/** The same seed gives the same request, whatever the policy. */
export function sample(shape: Shape, { editPolicy, lockPolicy, review = [] }: Policy, seed: number): Sample {
  const random = randomOf(seed);
  const between = ([least, most]: readonly [number, number]) => least + (most - least) * random();
  const creation = between(CREATION);
  const plan = planOf(shape);
  const tasks = taskSeconds(plan, () => between([1 - TASK_SPREAD, 1 + TASK_SPREAD]));
  const constellation = constellationOf(shape.name, plan, review);
  const commits = playVirtually({
    constellation,
    editPolicy,
    lockPolicy,
    edits: enrichNext,
    durations: {
      creation: creation * 1_000,
      edit: () => between(EDIT) * 1_000,
      task: (id) => (tasks.get(id) ?? 0) * 1_000,
    },
  });
  return { endToEnd: secondsOf(commits), bound: creation + PAPER.criticalPath, rounds: roundsOf(commits) };
}

/** Scaled so that each request has the paper's total work and critical path. */
function taskSeconds({ branches, serial }: Plan, draw: () => number): ReadonlyMap<string, number> {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const drawn = branches.map((row) => row.map(draw));
  const drawnSerial = serial.map(draw);
  const longest = Math.max(...drawn.map(sum));
  const sideBySide = (PAPER.totalWork - PAPER.criticalPath) / (sum(drawn.map(sum)) - longest);
  const inARow = (PAPER.criticalPath - sideBySide * longest) / sum(drawnSerial);
  return new Map([
    ...branches.flatMap((row, one) => row.map((id, step) => [id, (drawn[one]?.[step] ?? 0) * sideBySide] as const)),
    ...serial.map((id, step) => [id, (drawnSerial[step] ?? 0) * inARow] as const),
  ]);
}

/** What the paper's planner does in nearly every round: it writes a result into the task that comes next (table 3: 0.99 per edit). */
function enrichNext(run: Run): Edit[] {
  const next = [...run.tasks].find(({ status }) => status === 'PENDING');
  if (next === undefined) return [];
  return [{ tool: 'update_task', taskId: next.star.id, change: { description: `after ${run.rounds} rounds` } }];
}

function secondsOf(commits: readonly RunCommit[]): number {
  const [first, last] = [commits[0], commits.at(-1)];
  if (first === undefined || last === undefined) throw new Error('nothing was recorded');
  return (Date.parse(last.at) - Date.parse(first.at)) / 1_000;
}

function roundsOf(commits: readonly RunCommit[]): number {
  return commits.flatMap(({ events }) => events).filter(({ type }) => type === 'EDIT_OPENED').length;
}

export interface PolicyResult {
  readonly shape: string;
  readonly policy: string;
  readonly requests: number;
  /** Means, seconds. */
  readonly endToEnd: number;
  readonly bound: number;
  readonly rounds: number;
  /** End to end over the bound. */
  readonly ratio: number;
}

export function study(requests: number): PolicyResult[] {
  return SHAPES.flatMap((shape) =>
    POLICIES.map((policy) => {
      const samples = Array.from({ length: requests }, (_, index) => sample(shape, policy, index + 1));
      const mean = (of: (one: Sample) => number) => samples.reduce((total, one) => total + of(one), 0) / requests;
      const [endToEnd, bound] = [mean((one) => one.endToEnd), mean((one) => one.bound)];
      const rounds = mean((one) => one.rounds);
      return { shape: shape.name, policy: policy.name, requests, endToEnd, bound, rounds, ratio: endToEnd / bound };
    }),
  );
}

export function studyTable(results: readonly PolicyResult[]): string {
  const rows = results.map(({ shape, policy, endToEnd, bound, ratio, rounds }) => [
    shape,
    policy,
    `${endToEnd.toFixed(1)} s`,
    `${bound.toFixed(1)} s`,
    `${((ratio - 1) * 100).toFixed(1)} %`,
    rounds.toFixed(1),
  ]);
  const head = ['constellation', 'policy', 'end to end', 'bound', 'above the bound', 'rounds with the planner'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
