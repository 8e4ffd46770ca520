import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countPromptTokens, countTokens } from './tokens.js';

describe('tokens of a text', () => {
  it.each([
    ['', 0],
    ['hello world', 2],
    ['The quick brown fox jumps over the lazy dog.', 10],
    ['<|endoftext|>', 7],
    ['größer als 😀', 4],
  ])('%j', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens);
  });

  it('are not changed by breaks between pieces of ordinary text', () => {
    const text =
      'Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda1 41152736 38094400 1295936 97% /\n'.repeat(50);
    const one = countTokens(text);
    expect(countTokens(`${text}${text}`)).toBe(2 * one);
  });

  it('are the same line by line as in one', () => {
    const o200k = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as {
      countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
    };
    const pieces = fc.constantFrom(
      'a',
      ' ',
      '\n',
      '\r\n',
      '\t',
      '/',
      '.',
      ').',
      '12',
      'ü',
      '😀',
      "it's",
      'Word',
      '  x',
      '\n\n',
      '<|endoftext|>',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        expect(countTokens(text)).toBe(o200k.countTokens(text, { disallowedSpecial: new Set() }));
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it('of a run without a break come soon, and close to what they are', () => {
    // Each of these takes the encoder seconds when it is given them as they are.
    for (const [run, perChar] of [
      ['a'.repeat(200_000), 1 / 8],
      [' '.repeat(200_000), 1 / 128],
      ['你好'.repeat(100_000), 1 / 2],
    ] as const) {
      const tokens = countTokens(run);
      expect(tokens).toBeGreaterThanOrEqual(run.length * perChar);
      expect(tokens).toBeLessThan(run.length * perChar * 1.3);
    }
  });

  it('of a very long text are estimated from its ends', () => {
    const text = 'all work and no play makes a dull boy. ';
    const exact = countTokens(text.repeat(1_000)) / 1_000;
    const tokens = countTokens(text.repeat(100_000));
    expect(Math.abs(tokens / (exact * 100_000) - 1)).toBeLessThan(0.01);
  });
});

it('tokens of a prompt count each message, and an image as one', () => {
  const text = countPromptTokens([{ role: 'user', content: 'hello world' }]);
  expect(text).toBe(6);
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(100_000)}` } } as const;
  expect(countPromptTokens([{ role: 'user', content: [{ type: 'text', text: 'hello world' }, image] }])).toBe(1_006);
});
