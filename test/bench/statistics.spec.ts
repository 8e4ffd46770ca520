import { describe, expect, it } from '@jest/globals';
import { gapsOf, medianOf, percentileOf, spreadOf } from './statistics.js';

describe('statistics', () => {
  it('takes the middle value, or between the two middle ones', () => {
    expect(medianOf([3, 1, 2])).toBe(2);
    expect(medianOf([4, 1, 2, 3])).toBe(2.5);
    expect(medianOf([7])).toBe(7);
  });

  it('takes the largest of few values and the 99th of a hundred as p99', () => {
    expect(spreadOf([5, 9, 1])).toEqual({ median: 5, p99: 9, min: 1, max: 9, count: 3 });
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(spreadOf(hundred)).toMatchObject({ p99: 99, min: 1, max: 100 });
  });

  it('takes the value that a share of all is not above', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentileOf(hundred, 0.9)).toBe(90);
    expect(percentileOf([5, 9, 1], 0.9)).toBe(9);
    expect(percentileOf([5, 9, 1], 0)).toBe(1);
  });

  it('refuses to say anything about nothing', () => {
    expect(() => spreadOf([])).toThrow(RangeError);
    expect(() => percentileOf([], 0.5)).toThrow(RangeError);
  });

  it('gives the time between neighbours', () => {
    expect(gapsOf([1, 4, 9])).toEqual([3, 5]);
    expect(gapsOf([1])).toEqual([]);
  });
});
