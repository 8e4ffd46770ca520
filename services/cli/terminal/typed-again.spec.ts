import { describe, expect, it } from '@jest/globals';
import { typedLine } from './typed-again.js';

describe('a command line to type next', () => {
  it('has all that was said, about the same system, as one word each', () =>
    expect(
      typedLine({ contextSaid: 'prod' }, 'search', {
        options: [
          ['by', 'an na'],
          ['task', undefined],
          ['limit', 3],
          ['all', true],
        ],
        words: ['disk full', '$HOME'],
      }),
    ).toBe(`orrery --context prod search --by 'an na' --limit 3 --all 'disk full' '$HOME'`));

  it('hides no word that begins with a hyphen', () =>
    expect(typedLine({}, 'search', { options: [['before', '7']], words: ['--no-pager'] })).toBe(
      'orrery search --before 7 -- --no-pager',
    ));
});
