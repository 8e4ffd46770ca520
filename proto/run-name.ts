import type { RunId } from './ids.js';

/** Stands for the run that was asked for last, by whomever. */
export const LATEST_RUN = 'latest';
/** Of the beginnings of ids: of fewer characters one is soon ambiguous. A whole id has 26. */
const BEGINNING = /^[0-9a-z]{4,25}$/u;
const CANDIDATES_MAX = 5;

/** Which runs to ask for to learn what a word stands for that names a run; undefined where it can only be the id itself. */
export function runsToFind(word: string): { readonly id?: string; readonly limit: number } | undefined {
  if (word === LATEST_RUN) return { limit: 1 };
  return BEGINNING.test(word) ? { id: word, limit: CANDIDATES_MAX } : undefined;
}

/** The id that a word stands for, of the runs that were found; undefined when it is that of none, or of several. */
export function runMeant(word: string, found: readonly { readonly runId: RunId }[]): RunId | undefined {
  const [run, second] = found;
  // What is a whole id is nobody's beginning.
  return second === undefined ? run?.runId : found.find(({ runId }) => runId === word)?.runId;
}
