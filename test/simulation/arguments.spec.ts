import { expect, it } from '@jest/globals';
import { parseArguments, UsageError } from './arguments.js';

it('takes one seed, or many', () => {
  expect(parseArguments(['--seed', '42'])).toMatchObject({ from: 42, seeds: 1, verbose: false });
  expect(parseArguments(['--seeds', '10', '--from', '7'])).toMatchObject({ from: 7, seeds: 10 });
  expect(parseArguments([])).toMatchObject({ from: 1, seeds: 2_000, bug: undefined, only: undefined });
});

it('takes the schedule of a failure as it is printed', () => {
  const { only, bug } = parseArguments(['--seed', '1', '--bug', 'lost-ack', '--only', 'request-1,append-lost#3']);
  expect([only, bug]).toEqual([new Set(['request-1', 'append-lost#3']), 'lost-ack']);
});

it.each([[['--seed', 'x']], [['--seeds', '-1']], [['--bug', 'none']], [['--frob']]])(
  'refuses %j with a sentence',
  (argv) => expect(() => parseArguments(argv)).toThrow(UsageError),
);
