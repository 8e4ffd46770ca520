import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RefusedLogins } from './refused-logins.js';

const limits = { inARowMax: 3, oneEveryMs: 60_000 };

describe('refused logins', () => {
  it('each have a record, some in a row; then one in a while tells how many there were', () => {
    const logins = new RefusedLogins(limits);
    expect([logins.take(0), logins.take(1), logins.take(2)]).toEqual([1, 1, 1]);
    expect([logins.take(3), logins.take(59_999)]).toEqual([0, 0]);
    expect(logins.take(60_000)).toBe(3);
    expect(logins.told(90_000)).toBe(0);
  });

  it('are told when there is room, also when nobody tries any more', () => {
    const logins = new RefusedLogins(limits);
    for (let count = 0; count < 10; count++) logins.take(0);
    expect(logins.told(60_000)).toBe(7);
    expect(logins.told(120_000)).toBe(0);
  });

  it('are all told in the end, in no more records than there is room for', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 200 }), (waits) => {
        const logins = new RefusedLogins(limits);
        let now = 0;
        const told = waits.map((wait) => logins.take((now += wait)));
        told.push(logins.told(now + 60_000));
        expect(told.reduce((sum, count) => sum + count, 0)).toBe(waits.length);
        const room = limits.inARowMax + Math.floor(now / limits.oneEveryMs) + 1;
        expect(told.filter((count) => count > 0).length).toBeLessThanOrEqual(room);
      }),
    );
  });
});
