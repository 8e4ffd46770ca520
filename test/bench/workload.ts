import { loadAverage } from './processes.adapter.js';
import { medianOf, spreadOf, type Spread } from './statistics.js';
import type { BenchTarget, Ended, Execution, Floor, Plan } from './target.js';

/** One repetition, as its measure sees it. Times are of `performance.now()`. */
export interface Repetition {
  readonly beganAt: number;
  /** When the last of the runs had ended. */
  readonly endedAt: number;
  /** When the scheduler was killed; where it was not, when the repetition began. */
  readonly killedAt: number;
  readonly executions: readonly (readonly Execution[])[];
}

export interface Aim {
  readonly what: string;
  readonly limit: number;
  readonly unit: string;
  /** True when more is better. */
  readonly atLeast?: boolean;
  readonly value: (measured: Measured) => number;
}

/** An aim that needs more than one workload. */
export interface TableAim extends Omit<Aim, 'value'> {
  readonly value: (table: readonly Measured[]) => number | undefined;
}

export interface Workload {
  readonly name: string;
  /** What one value stands for. */
  readonly measure: string;
  /** Submitted together. */
  readonly plans: readonly Plan[];
  readonly repetitions: number;
  /** Tasks that pass before anything counts; enough for the compiler to have seen what is hot when absent. */
  readonly warmUpTasks?: number;
  /** The scheduler is killed once that many tasks have been handed to a device. */
  readonly killAfter?: number;
  /** Milliseconds; several per repetition where a repetition holds many steps. */
  readonly values: (repetition: Repetition) => number[];
  /** The part of the raw appends that one value has to be compared with; absent when there is none. */
  readonly floor?: (floor: Floor) => number;
  readonly aims: readonly Aim[];
}

export interface Measured {
  readonly workload: string;
  readonly measure: string;
  readonly tasks: number;
  readonly spread: Spread;
  readonly tasksPerSecond: number;
  /** Median of the raw appends beside it. */
  readonly floorMs: number | null;
  readonly ratio: number | null;
  /** Messages stored per task, by stream. */
  readonly appendsPerTask: Readonly<Record<string, number>>;
  /** Processor seconds per 1,000 tasks, by process. */
  readonly cpuPerThousand: Readonly<Record<string, number>>;
  readonly cpuPerThousandInAll: number;
  /** The largest process of each role. */
  readonly rssBytes: Readonly<Record<string, number>>;
  /** Median time from the last end until everything behind it was done; null when nothing is. */
  readonly settledMs: number | null;
  readonly executedTwice: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
  /** Microseconds of the monotonic clock, for whoever looks into a profile of that time. */
  readonly window: readonly [from: number, to: number];
}

const WARM_UP_TASKS = 1_000;

interface Once {
  readonly repetition: Repetition;
  readonly runIds: readonly string[];
  readonly cpu: Readonly<Record<string, number>>;
  readonly appended: Readonly<Record<string, number>>;
  readonly settledMs: number | null;
}

/** First what does not count, until code is compiled and files are there, then the repetitions that do. */
export async function measure(target: BenchTarget, workload: Workload): Promise<Measured> {
  const { plans, repetitions, values, floor: floorOf, warmUpTasks = WARM_UP_TASKS } = workload;
  const tasks = plans.reduce((sum, plan) => sum + executionsOf(plan), 0);
  for (let warm = 0; warm < warmUpTasks; warm += tasks) await once(target, { ...workload, killAfter: undefined });
  const loadBefore = loadAverage();
  const from = monotonicMicros();
  const all: Once[] = [];
  const floors: number[] = [];
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const one = await once(target, workload);
    all.push(one);
    const floor = floorOf === undefined ? undefined : await target.floor?.(one.runIds);
    if (floorOf !== undefined && floor !== undefined) floors.push(floorOf(floor));
  }
  const spread = spreadOf(all.flatMap(({ repetition }) => values(repetition)));
  const floorMs = floors.length === 0 ? null : medianOf(floors);
  const per = (part: (one: Once) => Readonly<Record<string, number>>, unit: number) =>
    averageOf(all.map(part), unit / tasks);
  const cpuPerThousand = per(({ cpu }) => cpu, 1_000);
  const settled = all.flatMap(({ settledMs }) => settledMs ?? []);
  const elapsed = all.map(({ repetition: { beganAt, endedAt } }) => endedAt - beganAt);
  return {
    workload: workload.name,
    measure: workload.measure,
    tasks,
    spread,
    tasksPerSecond: (tasks * 1_000) / medianOf(elapsed),
    floorMs,
    ratio: floorMs === null ? null : spread.median / floorMs,
    appendsPerTask: per(({ appended }) => appended, 1),
    cpuPerThousand,
    cpuPerThousandInAll: Object.values(cpuPerThousand).reduce((sum, seconds) => sum + seconds, 0),
    rssBytes: target.rssBytes(),
    settledMs: settled.length === 0 ? null : medianOf(settled),
    executedTwice: all.reduce((sum, { repetition }) => sum + twice(repetition), 0),
    loadBefore,
    loadAfter: loadAverage(),
    window: [from, monotonicMicros()],
  };
}

async function once(
  target: BenchTarget,
  { plans, killAfter }: Omit<Workload, 'killAfter'> & { readonly killAfter?: number | undefined },
): Promise<Once> {
  const stored = await target.appended();
  const cpu = target.cpuSeconds();
  const beganAt = performance.now();
  const runIds = await Promise.all(plans.map((plan) => target.submit(plan)));
  const [first] = runIds;
  let killedAt = beganAt;
  if (killAfter !== undefined && first !== undefined) {
    await target.untilExecuted(first, killAfter);
    killedAt = performance.now();
    target.killScheduler();
  }
  const ends = await Promise.all(runIds.map((runId) => target.untilEnd(runId)));
  const executions = runIds.map((runId) => target.executions(runId));
  check(plans, ends, executions);
  const endedAt = Math.max(...ends.map(({ at }) => at));
  await target.settled?.(runIds);
  const settledMs = target.settled === undefined ? null : performance.now() - endedAt;
  const cpuAfter = target.cpuSeconds();
  return {
    repetition: { beganAt, endedAt, killedAt, executions },
    runIds,
    cpu: difference(cpuAfter, cpu),
    appended: difference(await target.appended(), stored),
    settledMs,
  };
}

/** What a device is told to carry out of it. */
function executionsOf({ tasks, waves }: Plan): number {
  return waves?.devices ?? tasks.length;
}

/** A figure of a run that went wrong is no figure. */
function check(plans: readonly Plan[], ends: readonly Ended[], executions: readonly (readonly Execution[])[]): void {
  for (const [index, plan] of plans.entries()) {
    const [{ name }, wanted] = [plan, executionsOf(plan)];
    if (ends[index]?.succeeded !== true) throw new Error(`a run of ${name} failed`);
    const executed = new Set(executions[index]?.map(({ task }) => task));
    if (executed.size !== wanted) throw new Error(`${executed.size} of ${wanted} tasks of ${name} were executed`);
  }
}

function twice({ executions }: Repetition): number {
  return executions.reduce((sum, of) => sum + of.length - new Set(of.map(({ task }) => task)).size, 0);
}

function difference(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(after).map(([key, value]) => [key, value - (before[key] ?? 0)]));
}

function averageOf(records: readonly Readonly<Record<string, number>>[], factor: number): Record<string, number> {
  const keys = Object.keys(records[0] ?? {});
  const average = (key: string) => records.reduce((sum, record) => sum + (record[key] ?? 0), 0) / records.length;
  return Object.fromEntries(keys.map((key) => [key, average(key) * factor]));
}

function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
