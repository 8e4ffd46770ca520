import { parseArgs } from 'node:util';

/** Bad input of a person: one clear sentence, exit code 3. */
export class UsageError extends Error {}

export type TableName =
  'core' | 'policy' | 'walls' | 'lock-policy' | 'planner' | 'edit-policy' | 'search' | 'console' | 'engine' | 'path';

export interface BenchArguments {
  readonly tables: readonly TableName[];
  /** Names of workloads; empty for all. */
  readonly only: readonly string[];
  readonly repetitions: number | undefined;
  readonly json: string | undefined;
  readonly profile: string | undefined;
  readonly directory: string | undefined;
  /** False: the whole path without the projection for people. */
  readonly logging: boolean;
  /** How long the console is watched. */
  readonly minutes: number;
  /** How many runs it lists. */
  readonly runs: number;
}

export const USAGE = `usage: bench [core|policy|walls|lock-policy|planner|edit-policy|search|console|engine|path|all] [--only chain,fan,...] [--repetitions n] [--json file]
             [--profile directory] [--dir directory] [--without-logging] [--minutes n] [--runs n]

  core           the pure core alone: decisions, folds, edits
  policy         judging command lines
  walls          what a wall adds to a command; needs Linux and bubblewrap, not part of all
  lock-policy    what the planner holds up under each policy, on a clock of its own
  planner        what a plan takes besides the model; not part of all
  edit-policy    the same goal under both edit policies, with a model of ten seconds; not part of all
  search         looking for commands among a million of them; not part of all
  console        the console with a browser and 20 clients, and long lists; not part of all
  engine         the orchestrator and the log, tasks answered inside the bench
  path           every service, real devices, real programs

  --only             these workloads only
  --repetitions      repetitions of each workload that count
  --json             also writes everything that was measured into a file
  --profile          writes CPU profiles of the services into a directory and says where the time went
  --dir              everything is stored in here (default: the directory for temporary files); its disk is what is measured
  --without-logging  the whole path without the service that projects runs into PostgreSQL
  --minutes          how long the console is watched (default: one run of 1,000 tasks)
  --runs             how many runs the console lists (default: 10,000)`;

const RUNS_LISTED = 10_000;

const TABLES: Readonly<Record<string, readonly TableName[]>> = {
  core: ['core'],
  policy: ['policy'],
  walls: ['walls'],
  'lock-policy': ['lock-policy'],
  planner: ['planner'],
  'edit-policy': ['edit-policy'],
  search: ['search'],
  console: ['console'],
  engine: ['engine'],
  path: ['path'],
  all: ['core', 'policy', 'lock-policy', 'engine', 'path'],
};

export function parseArguments(argv: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parsed(argv);
  const tables = TABLES[positionals[0] ?? 'all'];
  if (tables === undefined || positionals.length > 1) throw new UsageError(USAGE);
  const only = values.only?.split(',') ?? [];
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`there is no workload "${unknown}"; workloads are ${known.join(', ')}`);
  const repetitions = countIn('repetitions', values.repetitions);
  const minutes = countIn('minutes', values.minutes) ?? 0;
  const runs = countIn('runs', values.runs) ?? RUNS_LISTED;
  const { json, profile, dir: directory } = values;
  const logging = values['without-logging'] !== true;
  return { tables, only, repetitions, json, profile, directory, logging, minutes, runs };
}

function countIn(name: string, text: string | undefined): number | undefined {
  const count = text === undefined ? undefined : Number(text);
  if (count === undefined || (Number.isInteger(count) && count > 0)) return count;
  throw new UsageError(`--${name} must be a whole number above 0, not "${text}"`);
}

function parsed(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        only: text,
        repetitions: text,
        json: text,
        profile: text,
        dir: text,
        minutes: text,
        runs: text,
        'without-logging': { type: 'boolean' },
      },
    });
  } catch (cause) {
    throw new UsageError(USAGE, { cause });
  }
}
