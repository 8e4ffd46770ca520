import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LIMITS } from '#proto';
import { Quota, tooManyOpen } from './quota.js';

const T0 = Date.parse('2026-11-20T12:00:00.000Z');
const LIMIT = { requestsPerMinute: 3, bytesPerMinute: 1_000, openRuns: 2 };
const send = (quota: Quota, bytes: number, afterMs: number, who = 'billing') =>
  quota.take(who, LIMIT, { bytes, now: T0 + afterMs });

describe('what is taken of a system in a minute', () => {
  it('are so many requests; the next one hears how many, and when to come again', () => {
    const quota = new Quota();
    for (const afterMs of [0, 1, 59_999]) expect(send(quota, 1, afterMs)).toBeUndefined();
    expect(send(quota, 1, 59_999)).toMatchObject({
      code: 'LIMIT_REACHED',
      message: 'at most 3 requests of billing are taken in a minute; send it again after 2026-11-20T12:01:00.000Z',
    });
    expect(send(quota, 1, 60_000)).toBeUndefined();
  });

  it('are so many bytes, and one request at least', () => {
    const quota = new Quota();
    expect(send(quota, 5_000, 0)).toBeUndefined();
    expect(send(quota, 1, 1)?.message).toContain('at most 1000 bytes of billing');
    expect(send(quota, 1_000, 60_000)).toBeUndefined();
  });

  it('is not taken from another one, and a clock that is put back stops nobody', () => {
    const quota = new Quota();
    for (let index = 0; index < 9; index++) send(quota, 1, 0);
    expect(send(quota, 1, 0, 'crm')).toBeUndefined();
    expect(send(quota, 1, -1)).toBeUndefined();
  });

  it('is never more than twice the limit within any minute, whatever comes when', () => {
    const arrivals = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 700 })), { maxLength: 60 });
    fc.assert(
      fc.property(arrivals, (sent) => {
        const quota = new Quota();
        const taken: { at: number; bytes: number }[] = [];
        let at = 0;
        for (const [gap, bytes] of sent) {
          at += gap;
          if (send(quota, bytes, at) === undefined) taken.push({ at, bytes });
        }
        // Minutes begin where a request comes: of two that touch, both may be full.
        for (const { at: from } of taken) {
          const within = taken.filter((one) => one.at >= from && one.at < from + 60_000);
          expect(within.length).toBeLessThanOrEqual(2 * LIMIT.requestsPerMinute);
          expect(within.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(2 * LIMIT.bytesPerMinute);
        }
      }),
      { seed: 71 },
    );
  });
});

it('of N replicas each counts what it takes: all of them together take N times as much, and never more', () => {
  for (const replicas of [1, 2, 5]) {
    const quotas = Array.from({ length: replicas }, () => new Quota());
    let taken = 0;
    for (let index = 0; index < 100; index++) {
      const quota = quotas[index % replicas];
      if (quota !== undefined && send(quota, 1, index) === undefined) taken += 1;
    }
    expect(taken).toBe(replicas * LIMIT.requestsPerMinute);
  }
});

it.each([
  [1, LIMIT, undefined],
  [2, LIMIT, 'billing may have 2 runs that have not ended; send it again when one of them has'],
  [LIMITS.externalOpenRuns - 1, {}, undefined],
])('with %i open runs and %j a new one is refused with %j', (open, limits, message) => {
  expect(tooManyOpen('billing', limits, open)?.message).toBe(message);
});
