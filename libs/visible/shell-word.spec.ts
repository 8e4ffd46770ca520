import { describe, expect, it } from '@jest/globals';
import { shellWord } from './shell-word.js';

describe('a word for a shell', () => {
  it.each([
    ['wss://orrery.example.org:5000/ws', 'wss://orrery.example.org:5000/ws'],
    ['my token.txt', `'my token.txt'`],
    [`it's; rm -rf $HOME`, String.raw`'it'\''s; rm -rf $HOME'`],
    ['', `''`],
  ])('%s', (text, word) => expect(shellWord(text)).toBe(word));
});
