import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { hearingTime } from './hearing-time.adapter.js';

const LIMIT_MS = 400;

/** Nothing of this process runs, as on a machine that stands still. */
const standStill = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

it('a time in which nothing could be heard takes little of the limit, which is over all the same', async () => {
  const time = hearingTime(LIMIT_MS);
  standStill(LIMIT_MS + 200);
  await sleep(0);
  expect(time.over.aborted).toBe(false);
  while (!time.over.aborted) await sleep(1);
});

it('a limit that was ended is never over', async () => {
  const time = hearingTime(1);
  time.end();
  await sleep(100);
  expect(time.over.aborted).toBe(false);
});
