import { describe, expect, it } from '@jest/globals';
import { Backoff, doubledMs, spreadMs } from './backoff.js';

const RANGE = { msMin: 100, msMax: 1_000 };

describe('doubledMs', () => {
  it.each([
    [0, 100],
    [1, 100],
    [2, 200],
    [4, 800],
    [5, 1_000],
    [5_000, 1_000],
  ])('after %s failures waits %s ms', (failures, ms) => {
    expect(doubledMs(RANGE, failures)).toBe(ms);
  });

  it('is a number however often something failed', () => {
    expect(doubledMs({ msMin: 1, msMax: Infinity }, 1e6)).toBe(2 ** 30);
  });
});

it('a wait is spread over its upper half', () => {
  expect([0, 0.5, 0.999_999].map((random) => spreadMs(1_000, random))).toEqual([500, 750, 1_000]);
});

it('what has worked begins with the first wait again', () => {
  const backoff = new Backoff(RANGE);
  expect([backoff.next(), backoff.next()]).toEqual([100, 200]);
  backoff.reset();
  expect(backoff.next()).toBe(100);
});
