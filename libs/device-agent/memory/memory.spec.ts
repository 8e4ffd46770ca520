import { describe, expect, it } from '@jest/globals';
import { Blackboard } from './blackboard.js';
import { Memory } from './memory.js';
import { step } from '../prompter/given.testing.js';

describe('Memory', () => {
  it('is not changed by what is added to it', () => {
    const first = Memory.empty.add(step(1));
    const second = first.add(step(2));
    expect([Memory.empty, first, second].map(({ items }) => items.length)).toEqual([0, 1, 2]);
  });

  it('keeps the later item of a step, and the order of the steps', () => {
    const memory = Memory.empty
      .add(step(1))
      .add(step(2))
      .add(step(2, { status: 'FINISH' }));
    expect(memory.items.map(({ status }) => status)).toEqual(['CONTINUE', 'FINISH']);
    expect(() => memory.add(step(1))).toThrow(/in the order of the steps/u);
  });
});

describe('Blackboard', () => {
  it('holds a fact of an agent once, and is not changed by a post', () => {
    const board = Blackboard.of([{ agent: 'A', text: 'x' }]);
    const more = board.post({ agent: 'A', text: 'x' }).post({ agent: 'B', text: 'x' });
    expect(board.entries).toHaveLength(1);
    expect(more.entries).toEqual([
      { agent: 'A', text: 'x' },
      { agent: 'B', text: 'x' },
    ]);
  });
});
