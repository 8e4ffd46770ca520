import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { takeLongTexts, type TakeLimits } from './long-texts.js';

const LIMITS: TakeLimits = { textBytesMax: 20, shownBytes: 4, textsMax: 4, restBytesMax: 10_000, secrets: [] };

function take(value: unknown, limits: Partial<TakeLimits> = {}, json = JSON.stringify(value)) {
  const frame = Buffer.from(json);
  const taken = takeLongTexts(frame, { ...LIMITS, ...limits });
  if (taken === undefined) return undefined;
  const texts = taken.texts.map(({ path, start, end }) => ({ path, text: frame.toString('utf8', start, end) }));
  return { value: JSON.parse(taken.text) as unknown, texts };
}

describe('a long text', () => {
  it('is taken out whole, wherever it is, and head and tail stay', () => {
    const stdout = 'first line\nsecond "quoted" \\ line\tand an end';
    const taken = take({
      action_results: [{ status: 'success', result: { exit_code: 0, stdout } }],
      short: 'as it is',
    });
    expect(taken?.texts).toEqual([{ path: ['action_results', 0, 'result', 'stdout'], text: stdout }]);
    expect(taken?.value).toEqual({
      action_results: [{ status: 'success', result: { exit_code: 0, stdout: 'firs\n[... 36 bytes cut ...]\n end' } }],
      short: 'as it is',
    });
  });

  it('is the same as JSON would read it, whatever its characters and however they are escaped', () => {
    const escaped = (text: string): string =>
      `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
    const texts = fc.string({ unit: 'grapheme', minLength: 30, maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.boolean(), (text, escapeAll) => {
        const json = `{"a":[1,${escapeAll ? escaped(text) : JSON.stringify(text)}]}`;
        if (Buffer.byteLength(JSON.stringify(text)) - 2 <= LIMITS.textBytesMax) return;
        expect(take(undefined, {}, json)?.texts).toEqual([{ path: ['a', 1], text }]);
      }),
      { seed: 13, numRuns: 300 },
    );
  });

  it('with half a character, which nothing could store, has U+FFFD there', () => {
    const taken = take(undefined, {}, `["${'x'.repeat(30)}\\ud83d","${'y'.repeat(30)}\\ude00z"]`);
    expect(taken?.texts.map(({ text }) => text)).toEqual([`${'x'.repeat(30)}�`, `${'y'.repeat(30)}�z`]);
  });

  it('does not keep what was injected, not in what is left of it either', () => {
    const taken = take([`secret-key ${'x'.repeat(40)} secret-key`], { secrets: ['secret-key'] });
    expect(taken?.texts[0]?.text).toBe(`${'*'.repeat(10)} ${'x'.repeat(40)} ${'*'.repeat(10)}`);
    expect(JSON.stringify(taken?.value)).not.toContain('secr');
  });

  it('is left with head and tail alone when there are too many', () => {
    const taken = take(Array.from({ length: 6 }, (_, index) => `${index}`.repeat(30)));
    expect(taken?.texts).toHaveLength(4);
    expect(taken?.value).toHaveLength(6);
  });
});

describe('a frame', () => {
  it('that is much without long texts is not taken', () => {
    expect(take(Array.from({ length: 5_000 }, (_, index) => index))).toBeUndefined();
    expect(take(undefined, {}, '['.repeat(100))).toBeUndefined();
  });

  it('that is no JSON ends like one', () => {
    for (const json of ['{"a":"never ends', '{"a":"x\\', ']]]', '"\\u12', '']) {
      const frame = Buffer.from(json);
      expect(() => takeLongTexts(frame, { ...LIMITS, textBytesMax: 2 })).not.toThrow();
    }
  });
});
