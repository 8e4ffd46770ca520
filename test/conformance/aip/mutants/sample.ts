import type { Dice } from '../../../simulation/random.js';
import { CATALOGUE } from '../catalogue.js';
import type { Mutant } from './mutant.js';

/** As many as take half a minute together. */
export const SAMPLE_SIZE = 10;

/** Some of the mutants, without those whose checks wait for a limit of the server. */
export function sampleOf(mutants: readonly Mutant[], dice: Dice): Mutant[] {
  const waiting = new Set(CATALOGUE.filter(({ waitsMs = 0 }) => waitsMs > 0).map(({ id }) => id));
  const left = mutants.filter(({ finds }) => !finds.some((id) => waiting.has(id)));
  return Array.from({ length: SAMPLE_SIZE }, () => left.splice(dice.int(0, left.length - 1), 1)).flat();
}
