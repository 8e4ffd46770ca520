import type { Result } from './run-checks.js';

const MARKS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const;

/** The table for people: one line a check, with the reason where there is one, and a line of sums. */
export function tableOf(results: readonly Result[]): string {
  const width = Math.max(0, ...results.map(({ id }) => id.length));
  const lines = results.map(({ id, profile, outcome, what, reason, ms }) => {
    const words = reason === undefined ? what : `${what}\n${' '.repeat(width + 23)}${reason}`;
    return `${MARKS[outcome]} ${id.padEnd(width)} ${profile.padEnd(10)} ${String(ms).padStart(5)}  ${words}`;
  });
  return [...lines, sumsOf(results)].join('\n');
}

export function sumsOf(results: readonly Result[]): string {
  const count = (outcome: Result['outcome']): number => results.filter((result) => result.outcome === outcome).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
}
