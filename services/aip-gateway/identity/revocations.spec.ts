import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { AIP_LIMITS } from '#proto';
import type { Revocations } from './registry.client.js';
import { RevocationWatch } from './revocations.client.js';

const EVERY_MS = AIP_LIMITS.revocationsEveryMs;
let watch: RevocationWatch;
let asked: number[];
let revoked: string[];
/** What the registry answers; without one it is away. */
let answer: ((after: number) => Revocations) | undefined;

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
  [asked, revoked, answer] = [[], [], undefined];
  watch = new RevocationWatch({
    registry: {
      revocations: async (after) => {
        asked.push(after);
        if (answer === undefined) throw new Error('no responders');
        return answer(after);
      },
    },
    clock: { now: () => Date.now() },
    logger: pino({ level: 'silent' }),
    heard: (id) => revoked.push(id),
  });
});
afterEach(() => {
  watch.end();
  jest.useRealTimers();
});

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('RevocationWatch', () => {
  it('takes from its first answer where to go on, and nothing else', async () => {
    answer = (after) => ({ sequence: 7, revoked: after < 7 ? ['long-ago'] : [] });
    watch.begin();
    await pass(2 * EVERY_MS);
    expect(asked).toEqual([0, 7, 7]);
    expect(revoked).toEqual([]);
  });

  it('hears of who is revoked then, once', async () => {
    answer = (after) => (after < 9 ? { sequence: after + 4, revoked: ['web-1'] } : { sequence: 9, revoked: [] });
    watch.begin();
    await pass(4 * EVERY_MS);
    expect(asked).toEqual([0, 4, 8, 12, 12]);
    expect(revoked).toEqual(['web-1', 'web-1']);
  });

  it('goes on where it was after an outage', async () => {
    answer = () => ({ sequence: 5, revoked: [] });
    watch.begin();
    await pass(EVERY_MS);
    answer = undefined;
    await pass(10 * EVERY_MS);
    expect(asked.slice(-10)).toEqual(Array.from({ length: 10 }, () => 5));
    answer = () => ({ sequence: 6, revoked: ['web-1'] });
    await pass(EVERY_MS);
    expect(revoked).toEqual(['web-1']);
  });

  it('never goes back because another replica of the registry is behind', async () => {
    const sequences = [9, 3, 9];
    answer = () => ({ sequence: sequences.shift() ?? 9, revoked: [] });
    watch.begin();
    await pass(3 * EVERY_MS);
    expect(asked).toEqual([0, 9, 9, 9]);
  });

  it('lets nobody in before it knows where it is, and asks at once for who comes', async () => {
    await expect(watch.positioned()).rejects.toThrow('does not tell');
    answer = () => ({ sequence: 1, revoked: [] });
    await watch.positioned();
    expect(asked).toEqual([0, 0]);
  });

  it('remembers who was heard of while somebody asked who it is', async () => {
    answer = () => ({ sequence: 1, revoked: [] });
    watch.begin();
    await pass(0);
    answer = (after) => ({ sequence: 2, revoked: after < 2 ? ['web-1'] : [] });
    const askedMs = Date.now();
    await pass(EVERY_MS);
    expect(watch.heardSince('web-1', askedMs)).toBe(true);
    expect(watch.heardSince('web-2', askedMs)).toBe(false);
    await pass(1);
    // Who asks now is told about a new enrolment, too.
    expect(watch.heardSince('web-1', Date.now())).toBe(false);
  });

  it('asks no more when it is stopped', async () => {
    answer = () => ({ sequence: 1, revoked: [] });
    watch.begin();
    await pass(0);
    watch.end();
    await pass(10 * EVERY_MS);
    expect(asked).toEqual([0]);
  });
});
