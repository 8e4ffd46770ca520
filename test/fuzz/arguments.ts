import { parseArgs } from 'node:util';
import { FRAMES_DEFAULT, SEED_DEFAULT, TARGETS } from './targets.js';

/** Bad input of a person: one clear sentence, exit code 3. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface FuzzArguments {
  readonly seed: number;
  readonly frames: number;
  /** One case only. */
  readonly number: number | undefined;
  readonly targets: typeof TARGETS;
  /** The largest frames that cost the most, instead of random ones. */
  readonly worst: boolean;
  /** The first failure is enough. */
  readonly first: boolean;
  readonly json: boolean;
}

const NAMES = TARGETS.map(({ target }) => target.name).join(', ');

export const USAGE = `usage: npm run fuzz -- [--seed S] [--frames N] [--target T] [--case N] [--first] [--json]
       npm run fuzz -- --worst [--first] [--json]

Gives the endpoints of AIP hostile frames in every state of a session. The exit code is 1 when a promise was broken;
the frames that break it are then printed, as few as were found.

  --seed S     another seed gives other frames, default ${SEED_DEFAULT}
  --frames N   so many frames, default ${FRAMES_DEFAULT}
  --target T   ${NAMES}; default: all
  --case N     one case of a target, as a failure names it
  --first      stops at the first failure; of --worst: at the first time that is short enough, not at the best of three
  --worst      the largest frames, made to cost as much as they can, and how long each holds up everybody else
  --json       the figures as JSON on standard output, the words on standard error

Examples:
  npm run fuzz -- --seed 7 --frames 1000000
  npm run fuzz -- --seed 7 --target device-server --case 4711`;

export function parseArguments(argv: readonly string[]): FuzzArguments {
  const { seed, frames, target, case: number, worst = false, first = false, json = false } = parsed(argv);
  const targets = target === undefined ? TARGETS : TARGETS.filter((known) => known.target.name === target);
  if (targets.length === 0) throw new UsageError(`there is no target "${target ?? ''}"; targets are ${NAMES}`);
  if (number !== undefined && targets.length > 1) throw new UsageError('--case needs its --target');
  return {
    seed: seed === undefined ? SEED_DEFAULT : whole('--seed', seed),
    frames: frames === undefined ? FRAMES_DEFAULT : whole('--frames', frames),
    number: number === undefined ? undefined : whole('--case', number),
    targets,
    worst,
    first,
    json,
  };
}

function parsed(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = { seed: text, frames: text, target: text, case: text, worst: flag, first: flag, json: flag } as const;
  try {
    return parseArgs({ args: [...argv], options }).values;
  } catch (cause) {
    throw new UsageError(USAGE, { cause });
  }
}

export function whole(name: string, text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new UsageError(`${name} must be a whole number, not "${text}"`);
}
