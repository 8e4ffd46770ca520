import { parseArgs } from 'node:util';
import { BUG_NAMES, type BugName } from './bugs.js';

/** Bad input of a person: one clear sentence, exit code 3. */
export class UsageError extends Error {}

export interface SimulateArguments {
  readonly from: number;
  readonly seeds: number;
  readonly bug: BugName | undefined;
  readonly verbose: boolean;
  readonly only: ReadonlySet<string> | undefined;
}

const SEEDS_DEFAULT = 2_000;

export const USAGE = `usage: simulate [--seed S | --from S --seeds N] [--bug name] [--only ids] [--verbose]

  --seed S     one seed; when it fails, its schedule is shrunk to what the failure takes
  --seeds N    so many seeds (default ${SEEDS_DEFAULT}), --from S the first of them (default 1); says how often each fault hit
  --bug name   plants a bug: ${BUG_NAMES.join(', ')}
  --only ids   only these requests and faults of the seed, as a shrunk schedule names them, with commas between
  --verbose    prints every step`;

export function parseArguments(argv: readonly string[]): SimulateArguments {
  const { seed, seeds, from, bug, only, verbose = false } = parsed(argv);
  const known = BUG_NAMES.find((name) => name === bug);
  if (bug !== undefined && known === undefined) {
    throw new UsageError(`there is no bug "${bug}"; bugs are ${BUG_NAMES.join(', ')}`);
  }
  return {
    from: seed === undefined ? whole('--from', from ?? '1') : whole('--seed', seed),
    seeds: seed === undefined ? whole('--seeds', seeds ?? String(SEEDS_DEFAULT)) : 1,
    bug: known,
    verbose,
    only: only === undefined ? undefined : new Set(only.split(',')),
  };
}

function parsed(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { seed: text, seeds: text, from: text, bug: text, only: text, verbose: { type: 'boolean' } } as const;
  try {
    return parseArgs({ args: [...argv], options }).values;
  } catch (cause) {
    throw new UsageError(USAGE, { cause });
  }
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new UsageError(`${name} must be a whole number, not "${text}"`);
}
