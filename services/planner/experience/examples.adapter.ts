import { once } from 'node:events';
import type { Logger } from 'pino';
import { hearingTime } from '#libs/messaging';
import type { Experience } from '#proto';
import type { ExampleEmbeddings } from './example-embeddings.runner.js';
import { EXAMPLES_MAX, RANKED_MAX, type ExperienceStore } from './experience-store.js';
import { Outage } from './outage.js';
import { fused } from './rank-fusion.js';

/** In milliseconds: a plan waits no longer for examples. */
const EXAMPLES_MS_MAX = 2_000;

export interface ExampleStoreOptions {
  /** Null: words alone decide. */
  readonly embeddings?: Pick<ExampleEmbeddings, 'near'> | null;
  readonly limitMs?: number;
}

/**
 * Examples for a prompt that is made now: by the words that they share with the goal, and by embeddings when there are any. Without the
 * store there are none, and planning goes on: that is said once, until the store has answered again.
 */
export function examplesFrom(
  store: Pick<ExperienceStore, 'similar'>,
  logger: Pick<Logger, 'warn'>,
  { embeddings = null, limitMs = EXAMPLES_MS_MAX }: ExampleStoreOptions = {},
): (goal: string) => Promise<readonly Experience[]> {
  const outage = new Outage(logger, 'plans are made without examples: the store does not answer');
  return async (goal) => {
    if (goal.trim() === '') return [];
    const answered = new AbortController();
    const late = (): Promise<never> => tooLate(limitMs, answered.signal);
    const byMeaning = embeddings === null ? [] : Promise.race([embeddings.near(goal), late()]).catch(() => []);
    const byWords = store.similar(goal, embeddings === null ? EXAMPLES_MAX : RANKED_MAX);
    try {
      const alike = await Promise.race([byWords, late()]);
      const near = await byMeaning;
      outage.ended('plan');
      return fused([alike, near], EXAMPLES_MAX);
    } catch (error) {
      outage.began('plan', { err: error });
      return [];
    } finally {
      answered.abort();
    }
  };
}

async function tooLate(limitMs: number, signal: AbortSignal): Promise<never> {
  const time = hearingTime(limitMs);
  await once(time.over, 'abort', { signal }).finally(time.end);
  throw new Error(`no answer in ${limitMs} ms`);
}
