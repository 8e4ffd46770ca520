import { expect, it } from '@jest/globals';
import { IS_DEEP } from '#libs/testing';
import { shrink } from './shrink.js';
import { simulate } from './simulation.js';
import { describeFailure, Tally } from './tally.js';
import { TASKS_MIN } from './workload.js';

/** By default more than any planted bug takes to be found. */
const SEEDS = IS_DEEP ? 2_000 : 200;
const KINDS_MIN = 3;
/** More failures than these teach nothing new. */
const FAILED_MAX = 3;

it(`keeps its promises in ${SEEDS} seeds, each with requests of many tasks and faults of several kinds`, async () => {
  const tally = new Tally();
  for (let seed = 1; seed <= SEEDS && tally.failed.length < FAILED_MAX; seed++) tally.add(await simulate({ seed }));
  process.stdout.write(`${String(tally)}\n`);
  const shrunk = await Promise.all(tally.failed.map((failed) => shrink(failed)));
  expect(shrunk.map((failed) => describeFailure(failed))).toEqual([]);
  expect(tally.tasksMin).toBeGreaterThanOrEqual(TASKS_MIN);
  expect(tally.kindsMin).toBeGreaterThanOrEqual(KINDS_MIN);
  expect(tally.missing).toEqual([]);
});
