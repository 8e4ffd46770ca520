import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isChosen } from '../arguments.js';
import { CATALOGUE } from '../catalogue.js';
import { runChecks } from '../run-checks.js';
import { ROOT } from '../stand/root.js';
import { startStand, type Stand } from '../stand/stand.js';
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

const COPIED = ['proto', 'libs', 'tools/specs', 'services/aip-gateway', 'package.json', '.swcrc'];

/** A copy of everything that a gateway is made of: nobody else ever meets a broken line. */
function copyTree(): string {
  const tree = mkdtempSync(join(tmpdir(), 'orrery-mutants-'));
  const filter = (path: string): boolean => basename(path) !== 'fixtures' && !path.endsWith('.spec.ts');
  for (const path of COPIED) cpSync(join(ROOT, path), join(tree, path), { recursive: true, filter });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}

/** Breaks each of the mutants' lines in turn and lets the checks find it. Results come as they are known. */
export async function kill(
  mutants: readonly Mutant[],
  onKill: (kill: Kill) => void = () => undefined,
): Promise<Kill[]> {
  const stand = await startStand({ executes: true });
  const waiting = [...mutants];
  const kills: Kill[] = [];
  const work = async (index: number): Promise<void> => {
    const tree = copyTree();
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const found = await killOne(mutant, tree, { stand, lane: { index, of: LANES } });
        kills.push(found);
        onKill(found);
      }
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
  };
  try {
    await Promise.all(Array.from({ length: LANES }, (_, index) => work(index)));
  } finally {
    await stand.stop();
  }
  return kills;
}

interface Place {
  readonly stand: Stand;
  readonly lane: { readonly index: number; readonly of: number };
}

async function killOne(mutant: Mutant, tree: string, { stand, lane }: Place): Promise<Kill> {
  const began = performance.now();
  const sound = new Map(mutant.edits.map(({ file }) => [file, readFileSync(join(tree, file), 'utf8')]));
  const checks = CATALOGUE.filter(({ id }) => mutant.finds.includes(id));
  let missed: string[];
  try {
    for (const { file, text, becomes } of mutant.edits) {
      const path = join(tree, file);
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replace(text, () => becomes),
      );
    }
    const gateway = await stand.gateway({ root: tree, answerMs: ANSWER_MS, taskMs: TASK_MS, lane });
    try {
      const results = await runChecks(checks, gateway.options);
      missed = results.flatMap(({ id, outcome }) => (outcome === 'failed' ? [] : [`${id} ${outcome}`]));
    } finally {
      await gateway.stop();
    }
  } catch (error) {
    missed = [`it cannot be tried: ${String(error)}`];
  } finally {
    for (const [file, text] of sound) writeFileSync(join(tree, file), text);
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
