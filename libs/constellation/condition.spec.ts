import { describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { checkCondition, evaluateCondition } from './condition.js';

const result = { exit_code: 0, stdout: 'ok\n', load: 0.25, list: [1, 2, 3] };

describe('a condition', () => {
  it.each([
    ['result.exit_code == 0', true],
    ['result.exit_code + 1 == 1', true],
    ['result.load < 0.5 && status == "COMPLETED"', true],
    ['result.list.exists(x, x > 2)', true],
    ['result.stdout.contains("ok")', true],
    ['status == "FAILED"', false],
    ['result.list.size() > 5', false],
  ])('%s is %s', (condition, satisfied) => {
    expect(checkCondition(condition)).toBeUndefined();
    expect(evaluateCondition(condition, { status: 'COMPLETED', result }).satisfied).toBe(satisfied);
  });

  it.each([
    ['result ==', 'is not valid CEL'],
    ['nobody == 1', 'Unknown variable: nobody'],
    ['"text" + status', 'must be true or false'],
    ['result.stdout.matches("(a+)+$")', 'uses matches'],
    ['result.list.all(x, result.list.exists(y, y == x))', 'comprehension'],
    [`status == "${'x'.repeat(500)}"`, 'longer than 500 characters'],
    ['(((((((((((((((((((((((((((((((((((((true)))))))))))))))))))))))))))))))))))))', 'not valid CEL'],
  ])('%s is refused with a sentence', (condition, sentence) => {
    expect(checkCondition(condition)).toContain(sentence);
    expect(evaluateCondition(condition, { status: 'COMPLETED', result })).toMatchObject({ satisfied: false });
  });

  it.each<[string, Json]>([
    ['result.missing == 1', {}],
    ['result.a.b.c', null],
    ['result.exit_code', { exit_code: 0 }],
    ['result.constructor == 1', {}],
    ['result.__proto__ == 1', {}],
  ])('%s over %j is not satisfied, with the reason', (condition, value) => {
    const answer = evaluateCondition(condition, { status: 'COMPLETED', result: value });
    expect(answer).toMatchObject({ satisfied: false, reason: expect.stringContaining('the condition') });
  });
});
