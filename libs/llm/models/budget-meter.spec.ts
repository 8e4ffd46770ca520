import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '#proto';
import { mayCallModel, mayRunCommand } from './budget-meter.js';
import { costOf } from './price.js';

describe('a budget', () => {
  it('without bounds allows everything', () => {
    const used = { llmCalls: 1e6, tokens: 1e9, commands: 1e6, costUsd: 1e6 };
    expect([mayCallModel({}, used), mayRunCommand({}, used)]).toEqual([null, null]);
  });

  it.each([
    ['calls', { llmCalls: 2 }, { llmCalls: 1 }, { llmCalls: 2 }],
    ['tokens', { tokens: 100 }, { tokens: 99 }, { tokens: 100 }],
    ['money', { costUsd: 0.5 }, { costUsd: 0.49 }, { costUsd: 0.5 }],
  ])('of %s ends exactly at its bound', (_, budget, below, at) => {
    expect(mayCallModel(budget, { ...NO_USAGE, ...below })).toBeNull();
    expect(mayCallModel(budget, { ...NO_USAGE, ...at })?.code).toBe('BUDGET_EXHAUSTED');
    expect(mayRunCommand(budget, { ...NO_USAGE, ...at })).toBeNull();
  });

  it('refuses what would exceed it, before it does', () => {
    expect(mayCallModel({ tokens: 100 }, { ...NO_USAGE, tokens: 60 }, { tokens: 40 })).toBeNull();
    expect(mayCallModel({ tokens: 100 }, { ...NO_USAGE, tokens: 60 }, { tokens: 41 })?.message).toBe(
      'The budget of 100 tokens does not allow another one: 60 used.',
    );
    expect(mayCallModel({ costUsd: 0.3 }, { ...NO_USAGE, costUsd: 0.1 }, { costUsd: 0.2 })).toBeNull();
    expect(mayCallModel({ costUsd: 0.3 }, { ...NO_USAGE, costUsd: 0.1 }, { costUsd: 0.21 })).not.toBeNull();
  });

  it('of nothing allows nothing', () => {
    expect(mayCallModel({ llmCalls: 0 }, NO_USAGE)).not.toBeNull();
    expect(mayCallModel({ tokens: 0 }, NO_USAGE)).not.toBeNull();
    expect(mayRunCommand({ commands: 0 }, NO_USAGE)).not.toBeNull();
    expect(mayRunCommand({ commands: 1 }, NO_USAGE)).toBeNull();
    expect(mayRunCommand({ commands: 1 }, { ...NO_USAGE, commands: 1 })).not.toBeNull();
  });
});

describe('a price', () => {
  const prices = { m: { promptPerMillion: 2.5, completionPerMillion: 10 } };

  it('is by the million, prompt and completion apart', () => {
    expect(costOf({ prompt: 1_000, completion: 100 }, 'm', prices)).toBe(0.0035);
    expect(costOf({ prompt: 0, completion: 0 }, 'm', prices)).toBe(0);
  });

  it('of a model that is not in the table is not known', () => {
    expect(costOf({ prompt: 1, completion: 1 }, 'other', prices)).toBeNull();
    expect(costOf({ prompt: 1, completion: 1 }, 'constructor', prices)).toBeNull();
  });
});
