import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from './budget.js';
import type { ModelCall } from './model.js';
import { addUsage, usageOf, usageOfCalls } from './usage.js';

const call = (over: Partial<ModelCall> = {}): ModelCall => ({
  model: 'm',
  endpoint: 'main',
  promptHash: '0'.repeat(64),
  parameters: {},
  reply: '{}',
  problems: [],
  error: null,
  tokens: { prompt: 100, completion: 20 },
  costUsd: 0.1,
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  ...over,
});
const failed = (code: string, prompt = 0) =>
  call({ error: { code, message: 'm' }, tokens: { prompt, completion: 0 }, costUsd: null, reply: null });

describe('usage', () => {
  it('is that of every call, also of one that could not be used', () => {
    expect(usageOfCalls([call(), call({ problems: ['bad'] }), failed('SERVER_ERROR')])).toEqual({
      llmCalls: 3,
      tokens: 240,
      commands: 0,
      costUsd: 0.2,
    });
  });

  it.each(['CIRCUIT_OPEN', 'ABORTED', 'NOT_RECORDED', 'UNREACHABLE'])('is none when nobody was asked: %s', (code) => {
    expect(usageOf(failed(code))).toEqual(NO_USAGE);
    expect(usageOf(failed(code, 10))).toMatchObject({ llmCalls: 1, tokens: 10 });
  });

  it('adds up to the same in any order, without the dust of floating point', () => {
    expect(addUsage(...Array.from({ length: 10 }, () => ({ ...NO_USAGE, costUsd: 0.1 }))).costUsd).toBe(1);
    expect(addUsage()).toEqual(NO_USAGE);
  });
});
