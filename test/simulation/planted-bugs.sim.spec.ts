import { describe, expect, it } from '@jest/globals';
import type { BugName } from './bugs.js';
import { scheduleOf, shrink } from './shrink.js';
import { simulate, type SimulationResult } from './simulation.js';

/** A bug that needs more luck than this is not found by the default suite with certainty. */
const SEEDS_MAX = 200;

const found = new Map<BugName, Promise<SimulationResult>>();

/** Looked for once, whoever asks. */
function firstFailure(bug: BugName): Promise<SimulationResult> {
  const failure = found.get(bug) ?? lookFor(bug);
  found.set(bug, failure);
  return failure;
}

async function lookFor(bug: BugName): Promise<SimulationResult> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const result = await simulate({ seed, bug });
    if (result.failure !== null) return result;
  }
  throw new Error(`${bug} was not found in ${SEEDS_MAX} seeds`);
}

describe('a planted bug is found, and goes away with it', () => {
  it.each([
    ['lost-ack', ['I4_CHAIN']],
    ['no-fencing', ['FENCING', 'DOUBLE_APPLY']],
    ['double-apply', ['I5_TRANSITIONS']],
    ['stale-timer', ['OVERDUE', 'LOCK']],
    ['leaked-lock', ['LOCK', 'OVERDUE']],
    ['believed-model', ['TRUST']],
    ['asked-again', ['I6_APPROVAL']],
  ] as const)('%s', async (bug, checks) => {
    const { seed, failure } = await firstFailure(bug);
    expect(checks).toContain(failure?.check);
    expect((await simulate({ seed })).failure).toBeNull();
  });
});

it('shrinks the schedule of a failure to a part of it that fails in the same way', async () => {
  const failed = await firstFailure('no-fencing');
  const shrunk = await shrink(failed, 'no-fencing');
  expect(shrunk.failure?.check).toBe(failed.failure?.check);
  // How small the part is depends on the failure that the search meets first.
  expect(scheduleOf(shrunk).length).toBeLessThan(scheduleOf(failed).length);
  const only = new Set(scheduleOf(shrunk));
  const again = await simulate({ seed: failed.seed, bug: 'no-fencing', only });
  expect([again.hash, again.failure]).toEqual([shrunk.hash, shrunk.failure]);
});
