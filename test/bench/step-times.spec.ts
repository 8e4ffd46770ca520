import { describe, expect, it } from '@jest/globals';
import { isComplete, partsOfStep, type StepMarks, stepTable } from './step-times.js';

const STEP: StepMarks = {
  startStored: 100,
  requested: 101,
  journalStarted: 103,
  journalFinished: 110,
  answered: 114,
  endPublished: 115,
  endStored: 117,
  nextPublished: 118,
  nextStored: 121,
  toolMs: 4,
};

describe('the parts of a step', () => {
  it('add up to the whole', () => {
    const parts = partsOfStep([STEP]).map(({ medianMs }) => medianMs);
    expect(parts).toEqual([1, 2, 3, 4, 4, 1, 2, 1, 3, 21]);
  });

  it('leave a step out that was not seen to its end', () => {
    const { nextStored, ...unfinished } = STEP;
    expect(nextStored).toBe(121);
    expect(isComplete(unfinished)).toBe(false);
    expect(isComplete(STEP)).toBe(true);
  });

  it('stand beside each other, one kind of step per column', () => {
    const later = { ...STEP, nextStored: 131 };
    const [head, , ...rows] = stepTable([
      { name: 'no-op', parts: partsOfStep([STEP]) },
      { name: 'true', parts: partsOfStep([STEP, later, later]) },
    ]).split('\n');
    expect(head).toBe('| part of a step | no-op, median | p99 | true, median | p99 |');
    expect(rows.at(-1)).toBe('| the whole step | 21.00 ms | 21.00 ms | 31.00 ms | 31.00 ms |');
  });
});
