import { describe, expect, it } from '@jest/globals';
import { stopwatchText } from './duration.js';

describe('the clock of a task', () => {
  it.each([
    [-5_000, '0:00'],
    [999, '0:00'],
    [65_400, '1:05'],
    [3_599_999, '59:59'],
    [3_723_000, '1:02:03'],
    [360_000_000, '100:00:00'],
  ])('of %d ms is %s', (ms, text) => expect(stopwatchText(ms)).toBe(text));
});
