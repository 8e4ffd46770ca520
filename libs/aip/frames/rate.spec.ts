import { describe, expect, it } from '@jest/globals';
import { fullFrameRate, fullRate, takeFrame, takeToken } from './rate.js';

const POLICY = { perSecond: 10, burst: 3 };

describe('takeToken', () => {
  it('lets a burst through, then asks for a pause until the debt is paid', () => {
    let rate = fullRate(POLICY, 0);
    const waits = Array.from({ length: 5 }, () => {
      const [next, { waitMs }] = takeToken(rate, POLICY, 0);
      rate = next;
      return waitMs;
    });
    expect(waits).toEqual([0, 0, 0, 100, 200]);
    expect(takeToken(rate, POLICY, 300)[1]).toEqual({ waitMs: 0 });
  });

  it('never saves up more than one burst, and a clock that goes back costs nothing', () => {
    const [rested] = takeToken(fullRate(POLICY, 0), POLICY, 60_000);
    expect(rested.tokens).toBe(2);
    expect(takeToken(rested, POLICY, 0)[0].tokens).toBe(1);
  });
});

describe('takeFrame', () => {
  it('counts a large frame for many: megabytes of them are read no faster than they can be', () => {
    const large = 'x'.repeat(8 * 1024 * 1024);
    let rate = fullFrameRate(0);
    let bytes = 0;
    for (let waitMs = 0; waitMs === 0; bytes += large.length) [rate, { waitMs }] = takeFrame(rate, large, 0);
    expect(bytes).toBe(64 * 1024 * 1024);
    expect(takeFrame(fullFrameRate(0), '{}', 0)[0]).toEqual({ tokens: 3_999, atMs: 0 });
    expect(takeFrame(fullFrameRate(0), null, 0)[0]).toEqual({ tokens: 3_999, atMs: 0 });
  });

  it('counts a binary piece, of which only the head is parsed, as one; a larger one for more', () => {
    expect(takeFrame(fullFrameRate(0), null, 0, 64 * 1024 + 200)[0].tokens).toBe(3_999);
    expect(takeFrame(fullFrameRate(0), null, 0, 8 * 1024 * 1024)[0].tokens).toBe(3_967);
  });
});
