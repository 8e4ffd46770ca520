import { describe, expect, it } from '@jest/globals';
import { likeness, LIKENESS_MIN } from './likeness.js';

const request = 'Report the hosts with little free disk space';

describe('likeness', () => {
  it('is 1 for the same words in any order and case', () => {
    expect(likeness('SPACE disk free little with hosts the report', { request, tips: [] })).toBeCloseTo(1);
  });

  it('is 0 for no word in common, and for texts without words', () => {
    for (const goal of ['kernel', '', '?!', ' ']) expect(likeness(goal, { request, tips: [] })).toBe(0);
    expect(likeness('kernel', { request: '...', tips: ['kernel'] })).toBe(0);
  });

  it('counts a word once, however often it is said', () => {
    expect(likeness('disk', { request, tips: [] })).toBe(likeness('disk disk disk', { request, tips: [] }));
  });

  it('is more for a long word than for a short one', () => {
    expect(likeness('report', { request, tips: [] })).toBeGreaterThan(likeness('the', { request, tips: [] }));
  });

  it('does not reach the least by the little words that every text has', () => {
    expect(likeness('Buy the milk with a spoon of sugar', { request, tips: [] })).toBeLessThan(LIKENESS_MIN);
  });
});
