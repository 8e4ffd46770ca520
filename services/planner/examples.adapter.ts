import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Experience } from '#proto';
import type { ExperienceStore } from './experience-store.js';

/** In milliseconds: a plan waits no longer for examples. */
const EXAMPLES_MS_MAX = 2_000;

/**
 * Examples for a prompt that is made now. Without the store there are none, and planning goes on: that is said once, until the store
 * has answered again.
 */
export function examplesFrom(
  store: Pick<ExperienceStore, 'similar'>,
  logger: Pick<Logger, 'warn'>,
  limitMs = EXAMPLES_MS_MAX,
): (goal: string) => Promise<readonly Experience[]> {
  let isMissing = false;
  return async (goal) => {
    if (goal.trim() === '') return [];
    const answered = new AbortController();
    try {
      const found = await Promise.race([store.similar(goal), late(limitMs, answered.signal)]);
      isMissing = false;
      return found;
    } catch (error) {
      if (!isMissing) logger.warn({ err: error }, 'plans are made without examples: the store does not answer');
      isMissing = true;
      return [];
    } finally {
      answered.abort();
    }
  };
}

async function late(limitMs: number, signal: AbortSignal): Promise<never> {
  await sleep(limitMs, undefined, { signal });
  throw new Error(`no answer in ${limitMs} ms`);
}
