import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS, type CommandOutcome, type Json } from '#proto';
import { fitJson, fitOutcome } from './fit.js';

const outcome = (result: Json): CommandOutcome => ({
  state: 'COMPLETED',
  result,
  error: null,
  startedAt: null,
  durationMs: 1,
});
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const nested = (depth: number): Json => (depth === 0 ? 'deep' : { a: nested(depth - 1) });

describe('an outcome on its way into a frame', () => {
  it('stays as it is when it fits', () => {
    const fits = outcome({ stdout: 'x'.repeat(900_000), list: [1, 'a', null, { b: true }] });
    expect(fitOutcome(fits)).toEqual(fits);
  });

  it.each([
    ['one long string', { stdout: `first${'x'.repeat(2_000_000)}last`, exit_code: 0 }],
    ['two of them', { stdout: `first${'x'.repeat(900_000)}last`, stderr: 'y'.repeat(900_000), exit_code: 0 }],
    ['characters that need six bytes each', { stdout: `first${'\u0001'.repeat(900_000)}last`, exit_code: 0 }],
    ['characters of three bytes', { stdout: `first${'€'.repeat(900_000)}last`, exit_code: 0 }],
  ])('keeps head and tail of %s', (_, result) => {
    const cut = fitOutcome(outcome(result));
    expect(bytesOf(cut)).toBeLessThan(AIP_LIMITS.frameBytesMax);
    expect(cut.result).toMatchObject({
      exit_code: 0,
      stdout: expect.stringMatching(/^first.*\n\[\.\.\. \d+ characters omitted \.\.\.\]\n.*last$/s),
    });
  });

  it('becomes text when there are too many values', () => {
    const cut = fitOutcome(outcome(Array.from({ length: 300_000 }, (_, n) => n)));
    expect(bytesOf(cut)).toBeLessThan(AIP_LIMITS.frameBytesMax);
    expect(cut.result).toMatch(/^\[0,1,2,.*299999\]$/s);
  });

  it('becomes text when it has more objects than a frame may have', () => {
    const cut = fitOutcome(outcome(Array.from({ length: AIP_LIMITS.jsonValuesMax }, () => ({}))));
    expect(cut.result).toMatch(/^\[\{\},\{\}.*\{\}\]$/s);
  });

  it.each([1_024, 100_000])('takes what it may take and no more: %i bytes', (bytesMax) => {
    const fitting = { a: 'x'.repeat(bytesMax - 10) };
    expect(fitJson(fitting, bytesMax)).toEqual(fitting);
    for (const large of [{ a: 'x'.repeat(bytesMax) }, 'é'.repeat(bytesMax), Array(bytesMax).fill(0) as Json]) {
      expect(bytesOf(fitJson(large, bytesMax))).toBeLessThanOrEqual(bytesMax);
    }
  });

  it('names what was cut, and nothing when it is whole', () => {
    const parts = [{ text: 'short' }, { text: 'x'.repeat(2_000_000) }];
    expect(fitOutcome(outcome({ parts })).incomplete).toEqual(['parts[1].text']);
    expect(fitOutcome(outcome('x'.repeat(2_000_000))).incomplete).toEqual(['']);
    expect(fitOutcome(outcome(Array.from({ length: 300_000 }, (_, n) => n))).incomplete).toEqual(['']);
    // More names than anybody reads: none of it counts as whole.
    expect(fitOutcome(outcome(Array.from({ length: 200 }, () => 'x'.repeat(9_000)))).incomplete).toEqual(['']);
    expect(fitOutcome(outcome('x'))).not.toHaveProperty('incomplete');
  });

  it('leaves room for a long error beside it', () => {
    const error = { code: 'X', message: '\u0001'.repeat(4_000), outcome: 'failed' } as const;
    const cut = fitOutcome({ ...outcome('x'.repeat(2_000_000)), state: 'FAILED', error });
    expect(bytesOf(cut)).toBeLessThan(AIP_LIMITS.frameBytesMax - 30 * 1024);
  });

  it('is never nested deeper than a frame may be', () => {
    const text = JSON.stringify(fitOutcome(outcome(nested(500))));
    expect(text.split('"a\\').length).toBeGreaterThan(1);
    expect(text.slice(0, text.indexOf('\\')).split('{').length).toBeLessThan(AIP_LIMITS.jsonDepthMax - 4);
  });
});
