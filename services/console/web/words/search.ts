import type { FoundCommand, FoundText } from '#proto';

const STATES: Readonly<Record<FoundCommand['state'], string>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMED_OUT: 'timed out',
  CANCELLED: 'cancelled',
  OUTCOME_UNKNOWN: 'nobody knows whether it ran',
  DENIED: 'denied',
  ASKED: 'a person was asked',
};

const TEXTS: Readonly<Record<FoundText['of'], string>> = {
  command: 'in the command',
  stdout: 'in what it wrote',
  stderr: 'in its error output',
  output: 'in its answer',
  error: 'in its error',
};

/** Of the search over all runs. */
export const SEARCH_WORDS = {
  title: 'Search commands',
  about: 'Commands of all runs and what they wrote. Who looks for what is recorded.',
  words: 'Words: all of them are there; "a phrase", OR, NOT, a beginning*',
  search: 'Search',
  more: 'More filters',
  any: 'any',
  none: 'No command is like that.',
  nothing: 'Say what you look for.',
  field: {
    device: 'On device',
    by: 'Run asked for by',
    state: 'What became of it',
    exit: 'Exit codes, with commas',
    rule: 'Judged by rule',
    run: 'Of run',
    task: 'Of tasks with the id',
    since: 'From',
    until: 'Until',
  },
  state: STATES,
  in: TEXTS,
  exit: (code: number) => `exit ${code}`,
  noDevice: 'no device',
  by: (who: string) => `run of ${who}`,
  judged: (decision: string, rule: string) => `${decision} (${rule})`,
  partly: 'Only a part of its output was looked at.',
  open: 'Open the task',
  openOf: (task: string, run: string) => `Open task ${task} of run ${run}`,
  attempt: (attempt: number, step: number, index: number) => `attempt ${attempt}, step ${step}.${index}`,
  older: 'Older',
  further: 'The time for one search was used up. Look further',
  behind: (count: number) => `${count} of the newest are not looked at yet.`,
} as const;
