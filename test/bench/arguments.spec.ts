import { describe, expect, it } from '@jest/globals';
import { parseArguments, UsageError } from './arguments.js';

const KNOWN = ['chain', 'fan'];

describe('parseArguments', () => {
  it('takes everything when nothing is said', () => {
    expect(parseArguments([], KNOWN)).toMatchObject({
      tables: ['core', 'policy', 'lock-policy', 'engine', 'path'],
      only: [],
      repetitions: undefined,
      logging: true,
    });
  });

  it('takes workloads, repetitions and a file', () => {
    const argv = ['engine', '--only', 'fan,chain', '--repetitions', '2', '--json', 'x.json'];
    expect(parseArguments(argv, KNOWN)).toMatchObject({ only: ['fan', 'chain'], repetitions: 2, json: 'x.json' });
  });

  it('takes the whole path without the projection', () => {
    expect(parseArguments(['path', '--without-logging'], KNOWN)).toMatchObject({ tables: ['path'], logging: false });
  });

  it.each(['planner', 'edit-policy'])('takes %s only when it is asked for', (table) => {
    expect(parseArguments([table], KNOWN)).toMatchObject({ tables: [table] });
    expect(parseArguments(['all'], KNOWN).tables).not.toContain(table);
  });

  it.each([
    ['a table that is not there', ['everything']],
    ['a workload that is not there', ['--only', 'chain,walk']],
    ['no repetition', ['--repetitions', '0']],
    ['half a repetition', ['--repetitions', '1.5']],
    ['an option that is not there', ['--fast']],
  ])('refuses %s', (_, argv) => {
    expect(() => parseArguments(argv, KNOWN)).toThrow(UsageError);
  });
});
