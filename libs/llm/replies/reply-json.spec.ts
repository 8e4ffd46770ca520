import { describe, expect, it } from '@jest/globals';
import { readReplyJson } from './reply-json.js';

const value = (text: string) => {
  const read = readReplyJson(text);
  return read.kind === 'json' ? read.value : undefined;
};
const problem = (text: string) => {
  const read = readReplyJson(text);
  return read.kind === 'problem' ? read.problem : undefined;
};

describe('a reply is read', () => {
  it.each([
    ['as it is', '{"a": 1}'],
    ['with space around it', '\n\t {"a": 1}\r\n '],
    ['in a fence', '```json\n{"a": 1}\n```'],
    ['in a fence without a language', '```\n{"a": 1}\n```'],
    ['in a fence with CRLF', '```json\r\n{"a": 1}\r\n```'],
    ['in a fence with space around it', '\n```json  \n\n{"a": 1}\n\n```\n'],
  ])('%s', (_, text) => {
    expect(value(text)).toEqual({ a: 1 });
  });

  it('with a fence inside of a string left alone', () => {
    const text = JSON.stringify({ a: '```json\n{"b": 2}\n```' });
    expect(value(text)).toEqual({ a: '```json\n{"b": 2}\n```' });
  });

  it('with the same name in different objects, in strings, and after brackets in strings', () => {
    expect(value('{"a": {"a": [{"a": "{\\"a\\": [,"}]}, "b": "\\\\"}')).toEqual({
      a: { a: [{ a: '{"a": [,' }] },
      b: '\\',
    });
  });

  it('with half characters made whole, in names too', () => {
    expect(value('{"a": "x\\ud83d", "\\udc00": 1}')).toEqual({ a: 'x\ufffd', '\ufffd': 1 });
  });
});

describe('a reply is refused', () => {
  it.each([
    ['empty', '', 'the reply is empty'],
    ['nothing but space', ' \n', 'the reply is empty'],
    ['an empty fence', '```json\n\n```', 'the reply is empty'],
  ])('%s', (_, text, expected) => {
    expect(problem(text)).toBe(expected);
  });

  it.each([
    ['text before', 'Sure! {"a": 1}'],
    ['text after', '{"a": 1} I hope this helps'],
    ['text around a fence', 'Here:\n```json\n{"a": 1}\n```'],
    ['two values', '{"a": 1}{"a": 2}'],
    ['two fences', '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```'],
    ['cut off', '{"a": "b'],
    ['single quotes', "{'a': 1}"],
    ['a trailing comma', '{"a": 1,}'],
    ['a comment', '{"a": 1 /* x */}'],
    ['NaN', '{"a": NaN}'],
  ])('with %s', (_, text) => {
    expect(problem(text)).toMatch(/^the reply is not one JSON value: ./u);
  });

  it.each([
    ['a name twice', '{"a": 1, "b": {"a": 2}, "a": 3}', 'the reply has the field "a" twice in one object'],
    ['a name twice, once escaped', '{"a": 1, "\\u0061": 3}', 'the reply has the field "a" twice in one object'],
    ['a name twice deep inside', '[[{"x": {"y": 1, "y": 1}}]]', 'the reply has the field "y" twice in one object'],
    [
      'a name twice after an escaped quote',
      '{"a": "\\"", "c": 1, "c": 2}',
      'the reply has the field "c" twice in one object',
    ],
    [
      'a name twice with a quote in it',
      '{"a\\"b": 1, "a\\"b": 2}',
      'the reply has the field "a\\"b" twice in one object',
    ],
    ['a prototype', '{"a": {"__proto__": {"b": 1}}}', 'the reply has a field named __proto__, which is not allowed'],
    ['an escaped prototype', '{"\\u005f_proto__": 1}', 'the reply has a field named __proto__, which is not allowed'],
  ])('with %s', (_, text, expected) => {
    expect(problem(text)).toBe(expected);
  });

  it('nested deeper than anything needs, however deep', () => {
    for (const depth of [65, 100_000]) {
      const text = '['.repeat(depth) + ']'.repeat(depth);
      expect(problem(text)).toBe('the reply is nested deeper than 64 levels');
    }
    expect(value('['.repeat(64) + ']'.repeat(64))).toBeDefined();
  });
});
