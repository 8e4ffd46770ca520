import { describe, expect, it } from '@jest/globals';
import { delayMs, failuresAfter, type BackoffPolicy } from './backoff.js';

const POLICY: BackoffPolicy = { msMin: 100, msMax: 1_000, uptimeMsMin: 5_000 };

describe('backoff', () => {
  it('doubles up to its maximum', () => {
    const longest = [1, 2, 3, 4, 5, 5_000].map((failures) => delayMs(POLICY, failures, 1));
    expect(longest).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('spreads the tries of many devices over half of the wait', () => {
    expect(delayMs(POLICY, 3, 0)).toBe(200);
    expect(delayMs(POLICY, 3, 0.5)).toBe(300);
  });

  it('keeps growing against a server that accepts and drops at once', () => {
    expect(failuresAfter(POLICY, 3, 0)).toBe(4);
    expect(failuresAfter(POLICY, 4, 4_999)).toBe(5);
  });

  it('starts again after real uptime', () => expect(failuresAfter(POLICY, 7, 5_000)).toBe(1));
});
