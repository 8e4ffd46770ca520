import { expect, it } from '@jest/globals';
import { Dice, throwOf } from './random.js';

it('throws the same for the same seed and names, and other things for others', () => {
  const throws = (...names: string[]) =>
    Array.from(
      { length: 5 },
      (
        (dice) => () =>
          dice.int(0, 1_000)
      )(new Dice(1, ...names)),
    );
  expect(throws('bus')).toEqual(throws('bus'));
  expect(throws('bus')).not.toEqual(throws('log'));
  expect(throwOf(1, 'a', 2)).toBe(throwOf(1, 'a', 2));
  expect(throwOf(1, 'a', 2)).not.toBe(throwOf(2, 'a', 2));
});

it('is even enough', () => {
  const count = 10_000;
  const mean =
    Array.from({ length: count }, (_, index) => throwOf(7, 'kind', index)).reduce((sum, value) => sum + value, 0) /
    count;
  expect(mean).toBeGreaterThan(0.48);
  expect(mean).toBeLessThan(0.52);
});

it('stays within its bounds, small values being more likely when they are spread', () => {
  const dice = new Dice(3);
  const spread = Array.from({ length: 1_000 }, () => dice.spread(1, 100));
  expect(Math.min(...spread)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...spread)).toBeLessThanOrEqual(100);
  expect(spread.filter((value) => value < 10).length).toBeGreaterThan(400);
});
