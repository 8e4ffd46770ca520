import { describe, expect, it } from '@jest/globals';
import { shellWord, typedLine } from './typed-again.js';

describe('a word for a shell', () => {
  it.each([
    ['wss://orrery.example.org:5000/ws', 'wss://orrery.example.org:5000/ws'],
    ['my token.txt', `'my token.txt'`],
    [`it's; rm -rf $HOME`, String.raw`'it'\''s; rm -rf $HOME'`],
    ['', `''`],
  ])('%s', (text, word) => expect(shellWord(text)).toBe(word));
});

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
