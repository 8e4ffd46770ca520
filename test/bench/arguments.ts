import { parseArgs } from 'node:util';

/** Bad input of a person: one clear sentence, exit code 3. */
export class UsageError extends Error {}

export type TableName = 'engine';

export interface BenchArguments {
  readonly tables: readonly TableName[];
  /** Names of workloads; empty for all. */
  readonly only: readonly string[];
  readonly repetitions: number | undefined;
  readonly json: string | undefined;
  readonly profile: string | undefined;
  readonly directory: string | undefined;
}

export const USAGE = `usage: bench [engine|all] [--only chain,fan,...] [--repetitions n] [--json file] [--profile directory] [--dir directory]

  --only         these workloads only
  --repetitions  repetitions of each workload that count
  --json         also writes everything that was measured into a file
  --profile      writes CPU profiles of the services into a directory and says where the time went
  --dir          the log is made in here (default: the directory for temporary files); its disk is what is measured`;

const TABLES: Readonly<Record<string, readonly TableName[]>> = {
  engine: ['engine'],
  all: ['engine'],
};

export function parseArguments(argv: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parsed(argv);
  const tables = TABLES[positionals[0] ?? 'all'];
  if (tables === undefined || positionals.length > 1) throw new UsageError(USAGE);
  const only = values.only?.split(',') ?? [];
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`there is no workload "${unknown}"; workloads are ${known.join(', ')}`);
  const repetitions = values.repetitions === undefined ? undefined : Number(values.repetitions);
  if (repetitions !== undefined && !(Number.isInteger(repetitions) && repetitions > 0)) {
    throw new UsageError(`--repetitions must be a whole number above 0, not "${values.repetitions}"`);
  }
  return { tables, only, repetitions, json: values.json, profile: values.profile, directory: values.dir };
}

function parsed(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { only: text, repetitions: text, json: text, profile: text, dir: text },
    });
  } catch (cause) {
    throw new UsageError(USAGE, { cause });
  }
}
