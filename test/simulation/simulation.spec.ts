import { describe, expect, it } from '@jest/globals';
import { shrink, scheduleOf } from './shrink.js';
import { simulate } from './simulation.js';
import { describeFailure } from './tally.js';

const SEED = 7;

describe('a simulation', () => {
  it('is the same for the same seed, step by step', async () => {
    const [one, other] = [await simulate({ seed: SEED, verbose: true }), await simulate({ seed: SEED, verbose: true })];
    expect(one.lines.length).toBeGreaterThan(100);
    expect(other).toEqual(one);
    expect((await simulate({ seed: SEED })).hash).toBe(one.hash);
  });

  it('is another one for another seed', async () => {
    const hashes = await Promise.all([1, 2, 3, 4].map(async (seed) => (await simulate({ seed })).hash));
    expect(new Set(hashes).size).toBe(4);
  });

  it('is the same when exactly its own requests and faults are asked for', async () => {
    const whole = await simulate({ seed: SEED });
    expect(await simulate({ seed: SEED, only: new Set(scheduleOf(whole)) })).toEqual(whole);
  });

  it('goes well without faults', async () => {
    const { requests } = await simulate({ seed: SEED });
    const { failure, strikes } = await simulate({ seed: SEED, only: new Set(requests) });
    expect([failure, strikes]).toEqual([null, []]);
  });

  it('says how to see a failure again', async () => {
    const failed = await simulate({ seed: 3, bug: 'double-apply' });
    const text = describeFailure(await shrink(failed, 'double-apply'), 'double-apply');
    expect(text).toMatch(/^seed 3: I5_TRANSITIONS after \d+ ms: run \w+, commit \d+: /u);
    expect(text).toContain('npm run simulate -- --seed 3 --bug double-apply --verbose --only request-');
  });
});
