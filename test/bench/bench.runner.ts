import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { EmbeddedServerError } from '#libs/embedded';
import { type BenchArguments, parseArguments, type TableName, UsageError } from './arguments.js';
import { coreFigures, coreTable } from './core-figures.js';
import { editPolicyFigures, editPolicyTable } from './edit-policies.runner.js';
import { ENGINE_AIMS, ENGINE_WORKLOADS } from './engine-workloads.js';
import { EngineTarget } from './engine.target.js';
import { study, studyTable } from './lock-policy.js';
import { PATH_DEVICES, PATH_WORKLOADS } from './path-workloads.js';
import { PathTarget } from './path.target.js';
import { plannerFigures, plannerTable } from './planner-figures.runner.js';
import { policyFigures } from './policy-figures.js';
import { searchFigures } from './search-figures.runner.js';
import { wallFigures } from './wall-figures.js';
import { stepTimes } from './step-times.runner.js';
import { type Output, runTable, type TableOptions } from './table.runner.js';
import type { Workload } from './workload.js';

const BAD_INPUT = 3;
const STUDIED_REQUESTS = 1_000;

/** Exit code 0 also when aims are missed: a bench tells, it does not judge. */
export async function runBench(argv: readonly string[], output: Output): Promise<number> {
  try {
    const known = [...ENGINE_WORKLOADS, ...PATH_WORKLOADS].map(({ name }) => name);
    const options = parseArguments(argv, known);
    const results: object[] = [];
    for (const table of options.tables) results.push(...(await resultOf(table, options, output)));
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof EmbeddedServerError)) throw error;
    output.err(error.message);
    return error instanceof UsageError ? BAD_INPUT : 1;
  }
}

/** Nothing when `--only` leaves nothing of the table. */
async function resultOf(name: TableName, options: BenchArguments, output: Output): Promise<object[]> {
  if (name === 'core' || name === 'policy' || name === 'walls' || name === 'lock-policy')
    return options.only.length > 0 ? [] : [await pureTable(name, output)];
  const parent = options.directory ?? tmpdir();
  if (name === 'planner') return options.only.length > 0 ? [] : [await plannerRounds(parent, options, output)];
  if (name === 'edit-policy') return options.only.length > 0 ? [] : [await editPolicies(parent, output)];
  if (name === 'console') return options.only.length > 0 ? [] : [await watchedConsole(parent, options, output)];
  if (name === 'search') return options.only.length > 0 ? [] : [await searches(parent, output)];
  const profileDirectory = options.profile === undefined ? undefined : resolve(options.profile, name);
  if (profileDirectory !== undefined) await mkdir(profileDirectory, { recursive: true });
  const how: TableOptions = { parent, profileDirectory, output };
  const workloads = selected(name === 'engine' ? ENGINE_WORKLOADS : PATH_WORKLOADS, options);
  if (workloads.length === 0) return [];
  switch (name) {
    case 'engine': {
      const target = new EngineTarget({ parent, profileDirectory });
      return [await runTable({ name, target, workloads, aims: ENGINE_AIMS }, how)];
    }
    case 'path': {
      const target = new PathTarget({ parent, profileDirectory, devices: PATH_DEVICES, logging: options.logging });
      return [await runTable({ name, target, workloads, aims: [], look: stepTimes }, how)];
    }
  }
}

const FIGURES = { core: coreFigures, policy: policyFigures, walls: wallFigures } as const;

/** What needs no service and no bus. */
async function pureTable(name: keyof typeof FIGURES | 'lock-policy', output: Output): Promise<object> {
  if (name !== 'lock-policy') {
    const figures = await FIGURES[name]();
    output.out(`${name}\n\n${coreTable(figures)}\n`);
    return { table: name, figures };
  }
  const results = study(STUDIED_REQUESTS);
  output.out(`${name}: ${STUDIED_REQUESTS} requests for each policy\n\n${studyTable(results)}\n`);
  return { table: name, results };
}

async function plannerRounds(parent: string, { repetitions }: BenchArguments, output: Output): Promise<object> {
  const figures = await plannerFigures({ parent, repetitions });
  output.out(`planner\n\n${plannerTable(figures)}\n`);
  return { table: 'planner', ...figures };
}

async function searches(parent: string, output: Output): Promise<object> {
  const figures = await searchFigures({ parent });
  output.out(`search\n\n${coreTable(figures)}\n`);
  return { table: 'search', figures };
}

async function watchedConsole(parent: string, { minutes, runs }: BenchArguments, output: Output): Promise<object> {
  const { consoleFigures, consoleTable } = await import('./console/console-figures.runner.js');
  const figures = await consoleFigures({ parent, minutes, runs });
  output.out(`console\n\n${consoleTable(figures)}\n`);
  return { table: 'console', figures };
}

async function editPolicies(parent: string, output: Output): Promise<object> {
  const figures = await editPolicyFigures({ parent });
  output.out(`edit-policy\n\n${editPolicyTable(figures)}\n`);
  return { table: 'edit-policy', ...figures };
}

function selected(workloads: readonly Workload[], { only, repetitions }: BenchArguments): Workload[] {
  return workloads
    .filter(({ name }) => only.length === 0 || only.includes(name))
    .map((workload) => ({ ...workload, repetitions: repetitions ?? workload.repetitions }));
}
