import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readPiece, startReading, thoughtFollower } from './thought-stream.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

const fieldSoFar = (text: string): string => thoughtFollower()(text);

describe('the thought so far', () => {
  it.each([
    ['nothing yet', '', ''],
    ['before the field', '{"observation": "the disk', ''],
    ['the name is not whole', '{"tho', ''],
    ['the value has not begun', '{"thought": ', ''],
    ['in the middle', '{"observation": "x", "thought": "look fi', 'look fi'],
    ['at its end', '{"thought": "look first", "plan": ["thought"]', 'look first'],
    ['in a fence', '```json\n{"thought": "look', 'look'],
    ['with an escape', '{"thought": "a\\n\\"b\\" \\u00fc', 'a\n"b" ü'],
    ['with half an escape', '{"thought": "a\\', 'a'],
    ['with half a code', '{"thought": "a\\u00', 'a'],
    ['with half a character', '{"thought": "a\\ud83d', 'a'],
    ['with a whole character', '{"thought": "a\\ud83d\\ude00', 'a😀'],
    ['with its name escaped', '{"th\\u006fught": "a', 'a'],
    ['only in an inner object', '{"action": {"thought": "no"}, "x": [{"thought": "no"}]', ''],
    ['only as a value', '{"observation": "thought", "result": "no"', ''],
    ['only inside of a text', '{"observation": "\\"thought\\": \\"no\\"", "result": "no"', ''],
    ['not a text', '{"thought": 12, "result": "no"', ''],
    ['an object', '{"thought": {"thought": "no"}, "result": "no"', ''],
  ])('%s', (_, text, expected) => {
    expect(fieldSoFar(text)).toBe(expected);
  });

  it('is the value in the end, and its beginning all the way, however the text is cut', () => {
    const replies = fc.record({
      observation: fc.string({ unit: 'grapheme', maxLength: 20 }),
      thought: fc.string({ unit: anyCharacter, maxLength: 40 }),
      action: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    });
    fc.assert(
      fc.property(replies, fc.array(fc.nat(12), { minLength: 1, maxLength: 8 }), (reply, sizes) => {
        const text = JSON.stringify(reply);
        const follow = thoughtFollower();
        let reading = startReading('thought');
        for (let at = 0, piece = 0; at < text.length; piece++) {
          const next = at + 1 + (sizes[piece % sizes.length] ?? 0);
          reading = readPiece(reading, text.slice(at, next));
          at = next;
          const soFar = follow(text.slice(0, at));
          expect(soFar).toBe(fieldSoFar(text.slice(0, at)));
          expect(reply.thought.toWellFormed().startsWith(soFar)).toBe(true);
        }
        expect(reading).toMatchObject({ value: reply.thought, done: true });
      }),
      { seed: 7, numRuns: 80 },
    );
  });

  it('begins anew when the text does', () => {
    const follow = thoughtFollower();
    expect(follow('{"thought": "one')).toBe('one');
    expect(follow('')).toBe('');
    expect(follow('{"thought": "two')).toBe('two');
    expect(follow('{"x": 1, "thought": "three, and longer than before')).toBe('three, and longer than before');
  });
});
