import type { Experience } from '#proto';
import { byAge } from './experience-store.js';

/** How little the first places of a ranking count for more than the next ones: the value of the method's authors. */
const RANK_OFFSET = 60;

type Ranked = Pick<Experience, 'id' | 'learntAt'>;

/**
 * One ranking of several, by reciprocal rank fusion: an example is worth the sum of 1 / (60 + its place) over all rankings that have it.
 * Places are compared, never scores: a weight of words and a cosine have no measure in common. What is worth the same is ordered by age
 * and id, so the same rankings give the same answer.
 */
export function fused<T extends Ranked>(rankings: readonly (readonly T[])[], limit: number): T[] {
  const worth = new Map<string, { readonly example: T; readonly value: number }>();
  for (const ranking of rankings) {
    ranking.forEach((example, at) => {
      const value = (worth.get(example.id)?.value ?? 0) + 1 / (RANK_OFFSET + at + 1);
      worth.set(example.id, { example, value });
    });
  }
  return [...worth.values()]
    .toSorted((one, other) => other.value - one.value || byAge(one.example, other.example))
    .slice(0, limit)
    .map(({ example }) => example);
}
