import { describe, expect, it } from '@jest/globals';
import { DURABLES } from '#proto';
import { consumerSetting } from '../streams/stream-config.js';
import { durableProblem, LOOKS_STILL, standsStill, type DurableStand } from './standing.js';

const spec = DURABLES.plannerRounds;
const LOOK_MS = 3_000;
/** Looks at a durable that has messages and gives none to a service that asks. */
const still = (count: number, change: Partial<DurableStand> = {}): DurableStand[] =>
  Array.from({ length: count }, (_, index) => ({
    at: 10_000 + index * LOOK_MS,
    delivered: 7,
    waiting: 2,
    asksSince: 9_000,
    ...change,
  }));
const found = (change: object = {}) => ({
  config: { ...consumerSetting(spec), ...change },
  delivered: { consumer_seq: 7 },
  num_pending: 2,
});

describe('a durable', () => {
  it('stands still when messages wait, are asked for and do not come', () => {
    expect(standsStill(still(LOOKS_STILL))).toBe(true);
    expect(standsStill([...still(4, { waiting: 0 }), ...still(LOOKS_STILL)])).toBe(true);
  });

  it.each<[string, DurableStand[]]>([
    ['was looked at too seldom', still(LOOKS_STILL - 1)],
    ['has nothing that waits', still(5, { waiting: 0 })],
    ['has a service with enough to do', still(5, { asksSince: undefined })],
    ['was asked only a moment ago', still(5, { asksSince: 18_000 })],
    ['gave one to some replica', [...still(4), ...still(1, { delivered: 8 })]],
    ['had nothing at the look before', [...still(2), ...still(1, { waiting: 0 }), ...still(1)]],
  ])('does not stand still that %s', (_, looks) => {
    expect(standsStill(looks)).toBe(false);
  });
});

describe('what is wrong with a durable', () => {
  it('is nothing, its absence, the field that differs, or that it stands still', () => {
    expect(durableProblem(spec, found())).toBeUndefined();
    expect(durableProblem(spec, undefined)).toBe('the durable planner-rounds of RUNS is not there');
    expect(durableProblem(spec, found({ headers_only: true }))).toBe(
      'the durable planner-rounds of RUNS is not as it has to be: headers_only is true, not absent',
    );
    expect(durableProblem(spec, found(), still(LOOKS_STILL))).toBe(
      'the durable planner-rounds of RUNS stands still: num_pending is 2, and nothing of it is delivered',
    );
  });
});
