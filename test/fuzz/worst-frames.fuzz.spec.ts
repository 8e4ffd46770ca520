import { expect, it } from '@jest/globals';
import { fuzzProgram } from './child.js';
import { FRAME_MS_MAX } from './targets.js';
import { SIZES, worstFrames, type WorstCost } from './worst-frames.js';

it('the largest frames, made to cost as much as they can, hold nobody up for long', async () => {
  const [costs = []] = await fuzzProgram<WorstCost[]>(['--worst', '--first']);
  expect(costs).toHaveLength(Object.values(SIZES).flatMap(worstFrames).length);
  expect(costs.filter(({ ms }) => ms >= FRAME_MS_MAX)).toEqual([]);
});
