import { describe, expect, it } from '@jest/globals';
import { LIMITS, type Json } from '#proto';
import { shapeResult } from './shape-result.js';

const bytesOf = (value: Json) => Buffer.byteLength(JSON.stringify(value));
const wholeOf = (shaped: ReturnType<typeof shapeResult>) => Buffer.from(shaped.cutFrom?.json ?? []).toString();

describe('shapeResult', () => {
  it('keeps a small answer as it is', () => {
    const answer = { stdout: 'ok', exit_code: 0, list: [1, null, true] };
    expect(shapeResult(answer)).toEqual({ value: answer, cutFrom: null });
  });

  it('keeps an answer of exactly the limit whole, and cuts one of a byte more', () => {
    const atLimit = 'x'.repeat(LIMITS.resultBytesMax - 2);
    expect(shapeResult(atLimit).cutFrom).toBeNull();
    expect(shapeResult(`${atLimit}x`).cutFrom).not.toBeNull();
  });

  it('cuts a long output to head and tail, names its path and leaves the rest alone', () => {
    const stdout = `first line\n${'x'.repeat(1_000_000)}\nlast line`;
    const shaped = shapeResult({ stdout, exit_code: 3, stderr: 'short' });
    const value = shaped.value as { stdout: string; exit_code: number; stderr: string };
    expect(shaped.cutFrom?.paths).toEqual(['stdout']);
    expect(value.stdout).toMatch(/^first line\n/u);
    expect(value.stdout).toMatch(/characters cut/u);
    expect(value.stdout).toMatch(/last line$/u);
    expect(value).toMatchObject({ exit_code: 3, stderr: 'short' });
    expect(bytesOf(shaped.value)).toBeLessThanOrEqual(LIMITS.resultBytesMax);
    expect(JSON.parse(wholeOf(shaped))).toEqual({ stdout, exit_code: 3, stderr: 'short' });
  });

  it('names the paths inside lists and objects', () => {
    const long = 'y'.repeat(40_000);
    const shaped = shapeResult({ parts: [{ text: 'short' }, { text: long }], other: long });
    expect(shaped.cutFrom?.paths).toEqual(['parts[1].text', 'other']);
    expect(bytesOf(shaped.value)).toBeLessThanOrEqual(LIMITS.resultBytesMax);
  });

  it('counts bytes, not characters: control characters and other alphabets take more room', () => {
    for (const character of ['\u0001', 'ж', '漢', '😀']) {
      const shaped = shapeResult({ stdout: character.repeat(20_000) });
      expect(bytesOf(shaped.value)).toBeLessThanOrEqual(LIMITS.resultBytesMax);
      expect(shaped.cutFrom?.paths).toEqual(['stdout']);
    }
  });

  it('parts no surrogate pair', () => {
    for (const shift of ['', 'a']) {
      const { value } = shapeResult(`${shift}${'😀'.repeat(20_000)}${shift}`);
      expect((value as string).isWellFormed()).toBe(true);
    }
  });

  it('shows the JSON text of an answer that is long without a long string', () => {
    const answer = Array.from({ length: 20_000 }, (_, index) => index);
    const shaped = shapeResult(answer);
    expect(shaped.cutFrom?.paths).toEqual(['']);
    expect(shaped.value).toMatch(/^\[0,1,2,/u);
    expect(bytesOf(shaped.value)).toBeLessThanOrEqual(LIMITS.resultBytesMax);
    expect(JSON.parse(wholeOf(shaped))).toEqual(answer);
  });

  it('repairs lone surrogates in values and keys, which no canonical JSON could carry', () => {
    expect(shapeResult({ 'key\ud800': ['a\udc00b'] }).value).toEqual({ 'key\ufffd': ['a\ufffdb'] });
    expect(shapeResult('a literal \\ud800 in the text').value).toBe('a literal \\ud800 in the text');
  });

  it('keeps a key named __proto__ an ordinary key', () => {
    const answer = JSON.parse(`{"__proto__":{"polluted":true},"x":"${'z'.repeat(20_000)}"}`) as Json;
    const { value } = shapeResult(answer);
    expect(Object.keys(value as object)).toEqual(['__proto__', 'x']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
