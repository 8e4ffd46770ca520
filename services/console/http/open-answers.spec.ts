import { describe, expect, it } from '@jest/globals';
import { OpenAnswers, type OpenAnswer } from './open-answers.js';

class Answer implements OpenAnswer {
  dropped = false;
  readonly writableLength: number;

  constructor(writableLength: number) {
    this.writableLength = writableLength;
  }

  destroy(): void {
    this.dropped = true;
  }
}

function bounded(bytesMax: number, ...waiting: number[]): boolean[] {
  const answers = new OpenAnswers(bytesMax);
  const open = waiting.map((bytes) => new Answer(bytes));
  for (const answer of open) answers.add(answer);
  answers.bound();
  answers.bound();
  return open.map(({ dropped }) => dropped);
}

describe('OpenAnswers', () => {
  it('leaves who takes what is sent alone', () => expect(bounded(10, 5, 0, 5)).toEqual([false, false, false]));

  it('drops those with the most waiting, and no more than it has to', () =>
    expect(bounded(10, 4, 9, 1, 8)).toEqual([false, true, false, true]));

  it('forgets who has everything', () => {
    const answers = new OpenAnswers(10);
    const [gone, left] = [new Answer(20), new Answer(3)];
    answers.add(gone);
    answers.add(left);
    answers.delete(gone);
    answers.bound();
    expect([gone.dropped, left.dropped]).toEqual([false, false]);
  });
});
