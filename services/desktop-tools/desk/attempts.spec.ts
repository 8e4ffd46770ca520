import { describe, expect, it } from '@jest/globals';
import type { AttemptKey } from '#proto';
import { ScreenAttempts } from './attempts.js';

const of = (taskId: string, attempt: number, runId = 'r1'): AttemptKey => ({ runId, taskId, attempt });

/** What each of these calls is told. */
function told(...calls: readonly (AttemptKey | undefined)[]): string[] {
  const attempts = new ScreenAttempts();
  return calls.map((attempt) => attempts.of(attempt));
}

describe('the attempts at a screen', () => {
  it('go on when nobody else has called', () =>
    expect(told(of('t1', 1), of('t1', 1), of('t1', 1))).toEqual(['another', 'same', 'same']));

  it('begin anew when another task, run or attempt has called, and when somebody has who says none', () =>
    expect(
      told(of('t1', 1), of('t2', 1), of('t1', 1), of('t1', 2), of('t1', 2, 'r2'), undefined, undefined, of('t3', 1)),
    ).toEqual(['another', 'another', 'another', 'another', 'another', 'another', 'same', 'another']));

  it('are over once a later one of their task has called, whoever called since', () =>
    expect(told(of('t1', 2), of('t1', 1), of('t2', 1), of('t1', 1), of('t1', 2))).toEqual([
      'another',
      'over',
      'another',
      'over',
      'another',
    ]));

  it('of a task that is over take nothing from who works there', () =>
    expect(told(of('t1', 2), of('t1', 1), of('t1', 2))).toEqual(['another', 'over', 'same']));

  it('are remembered for so many tasks', () => {
    const attempts = new ScreenAttempts();
    attempts.of(of('t1', 2));
    for (let task = 2; task <= 65; task++) attempts.of(of(`t${task}`, 1));
    expect(attempts.of(of('t1', 1))).toBe('another');
  });
});
