import {
  DEFAULTS,
  type Edit,
  LIMITS,
  type Proposal,
  type TaskStar,
  TaskStar as TaskStarSchema,
  TaskStarLine,
} from '#proto';
import { hasPlan, type Run, type TaskState } from '#libs/constellation';
import type { Dice } from './random.js';
import { lineOf, taskOf } from './workload.js';

/** How a planner answers a round. */
export type Manner =
  | 'good'
  | 'finishes'
  | 'fails'
  /** Ids that nobody knows, ids that were used, targets that nobody satisfies, conditions that are none. */
  | 'garbage'
  | 'touches-running'
  | 'removes-running'
  | 'cycle'
  /** Ten thousand tasks at once. */
  | 'floods';

/** The round as the planner reads it in EDIT_OPENED, and what it knows of the run by then. */
export interface Asked {
  readonly run: Run;
  readonly editId: string;
  readonly try: number;
  readonly devices: readonly string[];
}

const FLOOD_TASKS = 10_000;
/** A planner that goes on for ever would never let a run end. */
const ROUNDS_WITH_WORK_MAX = 5;

/** What a planner of this manner proposes. Pure: the same dice give the same proposal. */
export function proposalOf(manner: Manner, asked: Asked, dice: Dice): Proposal {
  const { run, editId } = asked;
  const proposal: Proposal = { editId, try: asked.try, baseRevision: null, state: 'CONTINUE', edits: [] };
  switch (manner) {
    case 'good': {
      const edits = goodEdits(asked, dice);
      const isStale = dice.chance(0.1);
      return { ...proposal, baseRevision: isStale ? run.revision : null, edits, ...endOf(asked, edits, dice) };
    }
    case 'finishes':
      return { ...proposal, state: 'FINISH' };
    case 'fails':
      return { ...proposal, state: 'FAIL' };
    case 'garbage':
      return { ...proposal, edits: garbage(asked, dice), ...(dice.chance(0.3) && { baseRevision: run.revision + 7 }) };
    case 'touches-running':
      return { ...proposal, edits: [{ tool: 'update_task', taskId: runningOf(run, dice), change: { name: 'mine' } }] };
    case 'removes-running':
      return { ...proposal, edits: [{ tool: 'remove_task', taskId: runningOf(run, dice) }] };
    case 'cycle':
      return { ...proposal, edits: cycle(asked, dice) };
    case 'floods':
      return { ...proposal, edits: flood() };
  }
}

/** After some rounds, and mostly when the plan has ended, a good planner lets the run end. */
function endOf({ run }: Asked, edits: readonly Edit[], dice: Dice): Partial<Proposal> {
  const isEnd = run.counts.PENDING + run.counts.RUNNING === 0;
  if (edits.length > 0 || !hasPlan(run)) return {};
  return isEnd && dice.chance(0.5) ? { state: 'FINISH' } : {};
}

function goodEdits(asked: Asked, dice: Dice): Edit[] {
  const { run } = asked;
  if (!hasPlan(run)) return [creation(asked, dice)];
  if (run.rounds > ROUNDS_WITH_WORK_MAX) return [];
  const chance = dice.next();
  if (chance < 0.35) return [];
  if (chance < 0.7) return addition(asked, dice);
  const pending = [...run.tasks].filter(({ status }) => status === 'PENDING').map(({ star }) => star.id);
  if (pending.length === 0) return [];
  if (chance < 0.8) return [{ tool: 'remove_task', taskId: dice.pick(pending) }];
  if (chance < 0.9) return [{ tool: 'update_task', taskId: dice.pick(pending), change: { priority: dice.int(-3, 3) } }];
  return relined(run, pending, dice);
}

function creation({ editId, devices }: Asked, dice: Dice): Edit {
  const names = Array.from({ length: dice.int(2, 8) }, (_, index) => `${editId}-${index}`);
  const tasks = names.map((name) => star(dice, name, devices));
  const lines = names.slice(1).flatMap((to, before) => (dice.chance(0.7) ? [line(dice, names[before] ?? '', to)] : []));
  return { tool: 'build_constellation', clear: true, constellation: { name: 'planned', tasks, lines } };
}

/** One to three tasks, each after something that is there. */
function addition({ run, editId, try: number, devices }: Asked, dice: Dice): Edit[] {
  const known = [...run.tasks].map(({ star: { id } }) => id.slice(1));
  const added = Array.from({ length: dice.int(1, 3) }, (_, index) => `${editId}-${number}-${index}`);
  return added.flatMap((name, index): Edit[] => {
    const after = dice.pick([...known, ...added.slice(0, index)]);
    const task = { tool: 'add_task', task: star(dice, name, devices) } as const;
    return dice.chance(0.7) ? [task, { tool: 'add_dependency', line: line(dice, after, name) }] : [task];
  });
}

function relined(run: Run, pending: readonly string[], dice: Dice): Edit[] {
  const lines = [...run.graph.lines].filter(({ to }) => pending.includes(to));
  if (lines.length === 0) return [];
  const { id } = dice.pick(lines);
  if (dice.chance(0.5)) return [{ tool: 'remove_dependency', lineId: id }];
  return [{ tool: 'update_dependency', lineId: id, change: { type: 'unconditional' } }];
}

function garbage({ run, devices }: Asked, dice: Dice): Edit[] {
  const known = [...run.tasks].map(({ star: { id } }) => id);
  const one = known[0] ?? 't0';
  const fresh = star(dice, 'garbage', devices);
  const all: readonly Edit[] = [
    { tool: 'remove_task', taskId: 'nobody' },
    { tool: 'update_task', taskId: 'nobody', change: { priority: 1 } },
    { tool: 'remove_dependency', lineId: 'nothing' },
    { tool: 'update_dependency', lineId: 'nothing', change: { description: 'x' } },
    { tool: 'add_task', task: { ...fresh, id: one } },
    { tool: 'add_task', task: { ...fresh, target: { device: 'ghost' } } },
    { tool: 'add_task', task: { ...fresh, command: { tool: 'RUN_AS_ROOT', arguments: {} } } },
    { tool: 'add_task', task: withoutCommand(fresh) },
    { tool: 'add_dependency', line: { id: 'dangling', from: one, to: 'nobody', type: 'unconditional' } },
    { tool: 'add_dependency', line: { id: 'self', from: one, to: one, type: 'unconditional' } },
    {
      tool: 'add_dependency',
      line: { id: 'x', from: one, to: one, type: 'conditional', condition: 'while (true) {}' },
    },
    {
      tool: 'build_constellation',
      clear: true,
      constellation: { name: 'mine', tasks: [{ ...fresh, id: one }], lines: [] },
    },
  ];
  return [dice.pick(all), ...dice.some(all, 0.2)];
}

function withoutCommand(task: TaskStar): TaskStar {
  const { command, ...rest } = task;
  return command === undefined ? task : rest;
}

/** Something that runs, or has run; any name when nothing has. */
function runningOf(run: Run, dice: Dice): string {
  const of = (isMeant: (task: TaskState) => boolean) => [...run.tasks].filter(isMeant).map(({ star: { id } }) => id);
  const running = of(({ status }) => status === 'RUNNING');
  const started = running.length > 0 ? running : of(({ status }) => status !== 'PENDING');
  return started.length > 0 ? dice.pick(started) : 'nobody';
}

/** Turns a line of the plan round, or adds two tasks that wait for each other. */
function cycle({ run, editId, devices }: Asked, dice: Dice): Edit[] {
  const lines = [...run.graph.lines];
  if (lines.length > 0 && dice.chance(0.6)) {
    const { from, to } = dice.pick(lines);
    return [{ tool: 'add_dependency', line: { id: `back-${editId}`, from: to, to: from, type: 'unconditional' } }];
  }
  const [one, other] = [`${editId}-a`, `${editId}-b`];
  return [
    { tool: 'add_task', task: star(dice, one, devices) },
    { tool: 'add_task', task: star(dice, other, devices) },
    { tool: 'add_dependency', line: line(dice, one, other) },
    { tool: 'add_dependency', line: line(dice, other, one) },
  ];
}

let flooded: Edit[] | undefined;

/** Made once: it is the same every time, and large. */
function flood(): Edit[] {
  const target = { os: 'linux' };
  const command = { tool: 'EXEC_CLI', arguments: {} };
  const task = (index: number) => ({ id: `f${index}`, name: 'f', description: '', tips: [], target, command });
  const tasks = Array.from({ length: FLOOD_TASKS }, (_, index) => task(index));
  flooded ??= [{ tool: 'build_constellation', clear: false, constellation: { name: 'flood', tasks, lines: [] } }];
  return flooded;
}

function star(dice: Dice, name: string, devices: readonly string[]): TaskStar {
  return TaskStarSchema.parse(taskOf(dice, name, devices));
}

function line(dice: Dice, from: string, to: string): TaskStarLine {
  return TaskStarLine.parse(lineOf(dice, from, to));
}

/** How long a round of this run may take. */
export function roundMsOf(run: Run): number {
  return run.request?.options.editDeadlineMs ?? DEFAULTS.editDeadlineMs;
}

export const TRIES_MAX = LIMITS.repairsMax + 1;
