import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TableName } from './arguments.js';
import type { Bus } from './bus.adapter.js';
import { flushTimes } from './flush.adapter.js';
import { machine } from './processes.adapter.js';
import { CpuProfile, summarise } from './profile.js';
import { tableOf, type Verdict, verdictOf, verdictsOf } from './report.js';
import { spreadOf } from './statistics.js';
import type { BenchTarget } from './target.js';
import { measure, type Measured, type TableAim, type Workload } from './workload.js';

const SINGLE_APPENDS = 200;
const SINGLE_BYTES = 1_024;
const IDLE_MS = 3_000;
const TOP = 25;

/** A target on a bus of its own. */
export type BusTarget = BenchTarget & { readonly bus: Bus };

/** What is measured together, on one target. */
export interface Table<T extends BusTarget> {
  readonly name: TableName;
  readonly target: T;
  readonly workloads: readonly Workload[];
  readonly aims: readonly TableAim[];
  /** A closer look at the target when that workload has been measured: more lines for the report. */
  readonly look?: (target: T, workload: string) => Promise<string[]>;
}

export interface TableOptions {
  readonly parent: string;
  readonly profileDirectory: string | undefined;
  readonly output: Output;
}

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Starts the target, measures, says it and stops the target; what comes back is for a file. */
export async function runTable<T extends BusTarget>(table: Table<T>, options: TableOptions): Promise<object> {
  const { name, target, workloads, look } = table;
  const { profileDirectory, output } = options;
  const all: Measured[] = [];
  let facts: Readonly<Record<string, string>>;
  const more: string[] = [];
  try {
    await target.start();
    facts = await factsOf(target, options.parent);
    for (const workload of workloads) {
      output.err(`${name}: ${workload.name} ...`);
      all.push(await measure(target, workload));
      more.push(...((await look?.(target, workload.name)) ?? []));
    }
  } finally {
    await target.stop();
  }
  const verdicts = verdictsOn(all, table);
  const head = Object.entries(facts).map(([key, value]) => `${key}: ${value}`);
  output.out([name, ...head, '', tableOf(all), '', verdictsOf(verdicts), '', ...more].join('\n'));
  if (profileDirectory !== undefined) for (const line of await whereTimeGoes(profileDirectory, all)) output.out(line);
  return { table: name, machine: facts, measured: all, verdicts, more };
}

async function factsOf(target: BusTarget, parent: string): Promise<Record<string, string>> {
  const { bus } = target;
  const single = spreadOf(await bus.raw.single(SINGLE_BYTES, SINGLE_APPENDS));
  const flush = spreadOf(await flushTimes(bus.directory, { bytes: SINGLE_BYTES, count: SINGLE_APPENDS }));
  return {
    ...machine(parent),
    nats: bus.natsVersion,
    'append of 1 KiB': `${single.median.toFixed(2)} ms, p99 ${single.p99.toFixed(2)} ms`,
    'write and fdatasync of 1 KiB': `${flush.median.toFixed(2)} ms, p99 ${flush.p99.toFixed(2)} ms`,
    'processor time per idle second': await idleCost(target),
  };
}

/** What the system costs while nothing runs: heartbeats and pulls. */
async function idleCost(target: BenchTarget): Promise<string> {
  const before = target.cpuSeconds();
  await sleep(IDLE_MS);
  const costs = Object.entries(target.cpuSeconds()).map(([name, seconds]) => {
    const share = ((seconds - (before[name] ?? 0)) * 1_000) / IDLE_MS;
    return `${name} ${share.toFixed(3)} s`;
  });
  return costs.join(', ');
}

function verdictsOn<T extends BusTarget>(all: readonly Measured[], { workloads, aims }: Table<T>): Verdict[] {
  const own = all.flatMap((measured) => {
    const workload = workloads.find(({ name }) => name === measured.workload);
    return (workload?.aims ?? []).map((aim) => verdictOf(measured.workload, aim, aim.value(measured)));
  });
  const common = aims.flatMap(({ value, ...aim }) => {
    const found = value(all);
    return found === undefined ? [] : [verdictOf('all', aim, found)];
  });
  return [...own, ...common];
}

/** Each process writes its profile when it ends, below a directory for its service; what was killed has none. */
async function whereTimeGoes(directory: string, table: readonly Measured[]): Promise<string[]> {
  const lines: string[] = [];
  const files = (await readdir(directory, { recursive: true })).filter((file) => file.endsWith('.cpuprofile'));
  for (const file of files) {
    const profile = CpuProfile.parse(JSON.parse(await readFile(join(directory, file), 'utf8')));
    for (const { workload, window } of table) {
      const { busyMs, idleMs, functions, packages } = summarise(profile, [window]);
      lines.push('', `${file}, ${workload}: busy ${busyMs.toFixed(0)} ms, idle ${idleMs.toFixed(0)} ms`);
      for (const { name, ms, share } of [...packages.slice(0, TOP), ...functions.slice(0, TOP)])
        lines.push(`${(share * 100).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${name}`);
    }
  }
  return lines;
}
