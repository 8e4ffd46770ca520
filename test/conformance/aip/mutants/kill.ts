import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isChosen } from '../arguments.js';
import { CATALOGUE } from '../catalogue.js';
import { runChecks } from '../run-checks.js';
import { startStand, type Stand } from '../stand/stand.js';
import { BROKEN_AS, makeBrokenGateways } from './broken-gateways.js';
import { MUTANTS } from './catalogue.js';
import type { Mutant } from './mutant.js';

/** What became of a mutant. */
export interface Kill {
  readonly mutant: Mutant;
  /** Checks that should have found it and did not, or why it could not be tried. */
  readonly missed: readonly string[];
  readonly seconds: number;
}

/** Mutants side by side. Each takes a gateway of its own. */
const LANES = 2;
/** Most mutants are found because something does not come. */
const ANSWER_MS = 2_000;
const TASK_MS = 4_000;

/** Makes a gateway with each of the mutants' lines in turn and lets the checks find it. Results come as they are known. */
export async function kill(
  mutants: readonly Mutant[],
  onKill: (kill: Kill) => void = () => undefined,
): Promise<Kill[]> {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-mutants-'));
  const program = join(folder, 'broken-gateways.mjs');
  const waiting = [...mutants.entries()];
  const kills: Kill[] = [];
  try {
    await makeBrokenGateways(mutants, program);
    const stand = await startStand({ executes: true });
    const work = async (index: number): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [number, mutant] = next;
        const env = { [BROKEN_AS]: String(number), NODE_COMPILE_CACHE: join(folder, 'code') };
        const found = await killOne(mutant, { program, env, stand, lane: { index, of: LANES } });
        kills.push(found);
        onKill(found);
      }
    };
    try {
      await Promise.all(Array.from({ length: LANES }, (_, index) => work(index)));
    } finally {
      await stand.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return kills;
}

interface Place {
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stand: Stand;
  readonly lane: { readonly index: number; readonly of: number };
}

async function killOne(mutant: Mutant, { program, env, stand, lane }: Place): Promise<Kill> {
  const began = performance.now();
  const checks = CATALOGUE.filter(({ id }) => mutant.finds.includes(id));
  let missed: string[];
  try {
    const gateway = await stand.gateway({ program, env, answerMs: ANSWER_MS, taskMs: TASK_MS, lane });
    try {
      const results = await runChecks(checks, gateway.options);
      missed = results.flatMap(({ id, outcome }) => (outcome === 'failed' ? [] : [`${id} ${outcome}`]));
    } finally {
      await gateway.stop();
    }
  } catch (error) {
    missed = [`it cannot be tried: ${String(error)}`];
  }
  return { mutant, missed, seconds: (performance.now() - began) / 1_000 };
}

/** For `--mutants`: all that these checks have to find, with the table of who was found. */
export async function killAll(checks: readonly string[], out: (text: string) => void): Promise<number> {
  const chosen = MUTANTS.filter(({ finds }) => finds.some((id) => isChosen(id, checks)));
  const kills = await kill(chosen, (found) => out(lineOf(found)));
  const missed = kills.filter((found) => found.missed.length > 0);
  out(`${kills.length - missed.length} of ${kills.length} mutants were found`);
  return missed.length > 0 ? 1 : 0;
}

export const lineOf = ({ mutant: { name, finds }, missed, seconds }: Kill): string =>
  `${missed.length === 0 ? 'found ' : 'MISSED'} ${seconds.toFixed(1).padStart(5)} s  ${name}: ${(missed.length === 0 ? finds : missed).join(', ')}`;
