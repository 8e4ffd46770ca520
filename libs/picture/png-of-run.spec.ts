import { describe, expect, it } from '@jest/globals';
import { pngOf } from './png-writing.js';
import { pngOfRun, runOfPng } from './png-of-run.js';
import { readPng } from './png-reading.js';

const PICTURE = { width: 2, height: 1, rgb: Uint8Array.of(1, 2, 3, 4, 5, 6) };
const RUN = '01JD4Q6Z8W3V5X7Y9A0B1C2D3E';

describe('a picture of a run', () => {
  it('says whose it is at its beginning, and is the same picture', () => {
    const marked = pngOfRun(pngOf(PICTURE), RUN);
    expect(runOfPng(marked.subarray(0, 120))).toBe(RUN);
    expect(readPng(marked)).toEqual(readPng(pngOf(PICTURE)));
  });

  it('has other bytes than that of another run, and the same each time', () => {
    const [one, other] = [pngOfRun(pngOf(PICTURE), RUN), pngOfRun(pngOf(PICTURE), 'another')];
    expect(one.equals(other)).toBe(false);
    expect(pngOfRun(one, RUN).equals(one)).toBe(true);
    // Whoever took it last says whose it is.
    expect(runOfPng(pngOfRun(one, 'another'))).toBe('another');
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('a text that is longer than the head of a picture, and none of it')],
    ['a picture without a name', pngOf(PICTURE)],
    ['a picture that ends in its name', pngOfRun(pngOf(PICTURE), RUN).subarray(0, 60)],
  ])("is nobody's where it is %s", (_, bytes) => {
    expect(runOfPng(bytes)).toBeUndefined();
  });

  it('is left as it is where it is no PNG', () => {
    const text = Buffer.from('no picture');
    expect(pngOfRun(text, RUN).equals(text)).toBe(true);
  });
});
