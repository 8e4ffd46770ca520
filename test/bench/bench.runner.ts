import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedServerError } from '#libs/embedded';
import { type BenchArguments, parseArguments, UsageError } from './arguments.js';
import { ENGINE_AIMS, ENGINE_WORKLOADS } from './engine-workloads.js';
import { EngineTarget } from './engine.target.js';
import { machine } from './processes.adapter.js';
import { CpuProfile, summarise } from './profile.js';
import { tableOf, type Verdict, verdictOf, verdictsOf } from './report.js';
import { spreadOf } from './statistics.js';
import { measure, type Measured, type Workload } from './workload.js';

const BAD_INPUT = 3;
const SINGLE_APPENDS = 200;
const SINGLE_BYTES = 1_024;
const IDLE_MS = 3_000;
const TOP = 25;

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Exit code 0 also when aims are missed: a bench tells, it does not judge. */
export async function runBench(argv: readonly string[], output: Output): Promise<number> {
  try {
    const options = parseArguments(
      argv,
      ENGINE_WORKLOADS.map(({ name }) => name),
    );
    const results: object[] = [];
    if (options.tables.includes('engine')) results.push(await engineTable(options, output));
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof EmbeddedServerError)) throw error;
    output.err(error.message);
    return error instanceof UsageError ? BAD_INPUT : 1;
  }
}

async function engineTable(options: BenchArguments, output: Output): Promise<object> {
  const parent = options.directory ?? tmpdir();
  const profileDirectory = options.profile === undefined ? undefined : resolve(options.profile);
  if (profileDirectory !== undefined) await mkdir(join(profileDirectory, 'orchestrator'), { recursive: true });
  const target = new EngineTarget({ parent, ...(profileDirectory === undefined ? {} : { profileDirectory }) });
  const table: Measured[] = [];
  let facts: Readonly<Record<string, string>>;
  try {
    await target.start();
    const single = spreadOf(await target.bus.raw.single(SINGLE_BYTES, SINGLE_APPENDS));
    facts = {
      ...machine(parent),
      nats: target.bus.natsVersion,
      'append of 1 KiB': `${single.median.toFixed(2)} ms, p99 ${single.p99.toFixed(2)} ms`,
      'processor time per idle second': await idleCost(target),
    };
    for (const workload of selected(ENGINE_WORKLOADS, options)) {
      output.err(`engine: ${workload.name} ...`);
      table.push(await measure(target, workload));
    }
  } finally {
    await target.stop();
  }
  const verdicts = verdictsOn(table, selected(ENGINE_WORKLOADS, options));
  output.out(
    ['engine', ...Object.entries(facts).map(([key, value]) => `${key}: ${value}`), '', tableOf(table), ''].join('\n'),
  );
  output.out(verdictsOf(verdicts));
  if (profileDirectory !== undefined) {
    for (const line of await whereTimeGoes(join(profileDirectory, 'orchestrator'), table)) output.out(line);
  }
  return { table: 'engine', machine: facts, measured: table, verdicts };
}

/** What the system costs while nothing runs: heartbeats and pulls. */
async function idleCost(target: EngineTarget): Promise<string> {
  const before = target.cpuSeconds();
  await sleep(IDLE_MS);
  const costs = Object.entries(target.cpuSeconds()).map(([name, seconds]) => {
    const share = ((seconds - (before[name] ?? 0)) * 1_000) / IDLE_MS;
    return `${name} ${share.toFixed(3)} s`;
  });
  return costs.join(', ');
}

function selected(workloads: readonly Workload[], { only, repetitions }: BenchArguments): Workload[] {
  return workloads
    .filter(({ name }) => only.length === 0 || only.includes(name))
    .map((workload) => ({ ...workload, repetitions: repetitions ?? workload.repetitions }));
}

function verdictsOn(table: readonly Measured[], workloads: readonly Workload[]): Verdict[] {
  const own = table.flatMap((measured) => {
    const workload = workloads.find(({ name }) => name === measured.workload);
    return (workload?.aims ?? []).map((aim) => verdictOf(measured.workload, aim, aim.value(measured)));
  });
  const common = ENGINE_AIMS.flatMap(({ value, ...aim }) => {
    const found = value(table);
    return found === undefined ? [] : [verdictOf('all', aim, found)];
  });
  return [...own, ...common];
}

/** Each process writes its profile when it ends; what was killed has none. */
async function whereTimeGoes(directory: string, table: readonly Measured[]): Promise<string[]> {
  const lines: string[] = [];
  for (const file of await readdir(directory)) {
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
