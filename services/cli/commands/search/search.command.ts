// The words of `orrery search`.
import { InvalidArgumentError } from 'commander';
import { FoundState, meantName } from '#proto';
import { commaList, define, spanMs, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { SearchOptions } from './search.runner.js';

const LIMIT_MAX = 200;
const STATES = FoundState.options.map((state) => state.toLowerCase());

export function defineSearch(program: CliCommand): void {
  define(program, 'search', 'find commands of all runs: by what they say and print, where, who, when, how they ended', [
    'orrery search "disk full" --device db-1 --since 7d',
    'orrery search nginx.conf reload   # both, anywhere',
    'orrery search -- --no-pager       # what begins with a minus',
    'orrery search "oom* OR killed" --exit 137',
    'orrery search --by alice --rule program.rm --state denied',
    'orrery search --run 0k3j… --exit 1,2 --json',
  ])
    .argument('[words...]', 'all of them; of several in quotes one behind the other; OR, NOT, a beginning*')
    .option('--device <id>', 'on this device')
    .option('--by <actor>', 'of runs that this person or system asked for')
    .option('--exit <codes>', 'ended with one of these codes: 137, or 1,2', codesFrom)
    .option('--rule <rule>', 'judged by this rule of the policy, or by those whose name begins with it and a dot')
    .option('--state <list>', `one of these: ${STATES.join(', ')}`, statesFrom)
    .option('--run <run>', 'of this run')
    .option('--task <task>', 'of tasks with this id')
    .option('--since <span>', 'within the last minutes, hours or days: 90m, 12h, 7d', spanMs)
    .option('--until <span>', 'longer ago than that', spanMs)
    .option('--before <place>', 'the next page, as the page before it named it')
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 20)
    .does(async (context, words: readonly string[], options: SearchOptions) =>
      (await import('./search.runner.js')).search(context, words, options),
    );
}

function codesFrom(text: string, before: readonly number[] = []): number[] {
  const codes = commaList(text, []).map(Number);
  if (codes.length > 0 && codes.every(Number.isInteger)) return [...before, ...codes];
  throw new InvalidArgumentError('Whole numbers with commas are needed, for example 137 or 1,2.');
}

function statesFrom(text: string, before: readonly FoundState[] = []): FoundState[] {
  return commaList(text, before).map((word) => {
    const state = FoundState.options.find((one) => one === word.toUpperCase());
    if (state !== undefined) return state;
    const meant = meantName(word, STATES);
    throw new InvalidArgumentError(
      `There is ${STATES.join(', ')}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    );
  });
}
