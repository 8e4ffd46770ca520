import { describe, expect, it } from '@jest/globals';
import { AttemptContext } from './attempt-context.js';
import { sampleTask } from '../testing/samples.js';

const made = () => new AttemptContext<{ colour: string; size: number }>(sampleTask(), []);

describe('the context of an attempt', () => {
  it('keeps what agents share, under its name', () => {
    const context = made();
    context.set('colour', 'red');
    expect([context.get('colour'), context.get('size')]).toEqual(['red', undefined]);
  });

  it('keeps a note once, and lets the newest fifty leave with the end', () => {
    const context = made();
    for (let n = 1; n <= 60; n++) context.note('LampAgent', `note ${n}`);
    context.note('OtherAgent', 'note 60');
    expect(context.notes).toHaveLength(50);
    expect([context.notes.at(0), context.notes.at(-1)]).toEqual(['note 11', 'note 60']);
    expect(context.blackboard.entries).toHaveLength(60);
    expect(context.blackboard.entries.at(-1)).toEqual({ agent: 'LampAgent', text: 'note 60' });
  });

  it('does not change what somebody has already been given', () => {
    const context = made();
    const { blackboard, notes, subtasks } = context;
    context.note('LampAgent', 'new');
    context.endSubtask({ agent: 'LampAgent', subtask: 's', outcome: 'failed', text: '' });
    expect([blackboard.entries, notes, subtasks]).toEqual([[], [], []]);
    expect(context.subtasks).toHaveLength(1);
  });

  it('says who is there when somebody else is meant', () => {
    expect(() => made().agent('AppAgent')).toThrow('there is no agent "AppAgent" in this attempt');
  });
});
