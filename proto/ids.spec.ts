import { describe, expect, it } from '@jest/globals';
import { attemptOfCommand, commandIdOf, Json } from './ids.js';

describe('the id of a command', () => {
  const attempt = { runId: 'r-1', taskId: 'a_b', attempt: 12 };

  it('names its attempt', () => {
    expect(attemptOfCommand(commandIdOf(attempt))).toEqual(attempt);
    expect(attemptOfCommand(commandIdOf(attempt, 3, 10))).toEqual(attempt);
  });

  it.each(['', '..', 'r.a.1', 'r.a.0.0.0', 'r.a.01.0.0', 'r.a.1.0.0.0', 'r.a.1.00.0', 'r a.1.0.0', '.a.1.0.0'])(
    'is nobody’s when nobody gives it: %p',
    (commandId) => expect(attemptOfCommand(commandId)).toBeUndefined(),
  );
});

describe('a JSON value', () => {
  it.each([null, true, 0, -1.5, '', 'a', [], {}, [[1], { a: [null, { b: 'c' }] }]])('is %j, as it is', (value) =>
    expect(Json.parse(value)).toBe(value),
  );

  it.each([undefined, NaN, Infinity, () => 1, new Date(0), new Map(), 1n, [undefined], { a: [NaN] }])(
    'is not %p',
    (value) => expect(Json.safeParse(value).success).toBe(false),
  );

  it('loses a key that would change what it is copied to, wherever it stands', () => {
    const hostile: unknown = JSON.parse('{"a":[1,{"__proto__":{"x":1},"b":2}],"__proto__":3}');
    const value = Json.parse(hostile);
    expect(JSON.stringify(value)).toBe('{"a":[1,{"b":2}]}');
  });

  it('may be nested deeply, and a bottomless one is refused, not thrown at', () => {
    const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(Json.safeParse(nested(1_000)).success).toBe(true);
    expect(Json.safeParse(nested(100_000)).success).toBe(false);
  });
});
