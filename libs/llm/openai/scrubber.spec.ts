import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Scrubber } from './scrubber.js';
import { SecretKey } from '../settings/secret-key.js';

const KEY = 'sk-canary/5f1d"0c77a9';
const scrubber = new Scrubber([KEY, 'other-key-1']);

describe('a key', () => {
  it.each([
    ['as it is', KEY],
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['in a URL', encodeURIComponent(KEY)],
    ['in hex', Buffer.from(KEY).toString('hex')],
    ...[0, 1, 2, 3].map((shift): [string, string] => [
      `in base64 of something longer, ${shift} bytes in`,
      Buffer.from(`${'='.repeat(shift)}${KEY}==`).toString('base64'),
    ]),
    ['in base64url', Buffer.from(KEY).toString('base64url')],
  ])('is taken out: %s', (_, form) => {
    const clean = scrubber.scrub(`before ${form} after`);
    expect(clean).toMatch(/^before .{0,4}\[key\].{0,6} after$/u);
  });

  it('is taken out wherever and however often it stands, and nothing else is', () => {
    expect(scrubber.scrub(`${KEY}other-key-1 ${KEY} sk-canary`)).toBe('[key][key] [key] sk-canary');
  });

  it('that is no secret is left alone', () => {
    expect(new Scrubber(['none', '']).scrub('there is none')).toBe('there is none');
  });

  it('never shows itself', () => {
    const key = new SecretKey(KEY);
    for (const shown of [
      String(key),
      JSON.stringify({ key }),
      inspect({ key }, { showHidden: true }),
      Object.keys(key).join(),
    ]) {
      expect(shown).not.toContain(KEY);
    }
    expect(key.reveal()).toBe(KEY);
  });
});

describe('a text that grows', () => {
  it('never shows more than a beginning that nobody can tell from other text, and all in the end', () => {
    const pieces = fc.array(
      fc.constantFrom(KEY, KEY.slice(0, 9), KEY.slice(4), 'sk', 's', 'plain text ', 'other-key-1'),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 7 }), (parts, size) => {
        const text = `${parts.join('')}.`;
        const grow = scrubber.growing();
        let shown = '';
        for (let at = size; at < text.length + size; at += size) {
          shown = grow(text.slice(0, at));
          expect(scrubber.scrub(text).startsWith(shown)).toBe(true);
        }
        expect(shown).toBe(scrubber.scrub(text));
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  it('may begin anew', () => {
    const grow = scrubber.growing();
    expect(grow(`x ${KEY}`)).toBe('x [key]');
    expect(grow('')).toBe('');
    expect(grow('y')).toBe('y');
  });
});
