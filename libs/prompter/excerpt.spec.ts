import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { excerpt } from './excerpt.js';
import { anyCharacter, countTokens, listing } from './given.testing.js';
import { outputOf, outputText } from './output-text.js';
import { countPieces } from './tokens.js';

const whole = (head: string) => ({ head, tail: '', gapChars: 0 });

describe('excerpt', () => {
  it('shows a text that fits whole', () => {
    expect(excerpt(whole('a\nb\n'), 100, countTokens)).toEqual({ head: 'a\nb\n', tail: '', omitted: null, tokens: 4 });
  });

  it('shows head and tail of a long one, cut between lines, and says from which line to read on', () => {
    const text = listing(20_000);
    const { head, tail, omitted } = excerpt(whole(text), 500, countTokens);
    expect(text.startsWith(head)).toBe(true);
    expect(text.endsWith(tail)).toBe(true);
    expect(head.endsWith('\n')).toBe(true);
    expect(text.at(-tail.length - 1)).toBe('\n');
    expect(omitted).toEqual({ chars: text.length - head.length - tail.length, fromLine: head.split('\n').length });
    expect(countTokens(head) + countTokens(tail)).toBeGreaterThan(300);
  });

  it('cuts between long lines as well', () => {
    const lines = Array.from({ length: 60 }, (_, line) => `${line} ${'long words in one line '.repeat(15)}\n`);
    for (const tokensMax of [900, 925, 950, 975, 1_000]) {
      const { head, tail } = excerpt(whole(lines.join('')), tokensMax, countTokens);
      expect(head.endsWith('\n')).toBe(true);
      expect(lines).toContain(`${tail.split('\n', 1)[0]}\n`);
    }
  });

  it('cuts a line that is too long between characters, never inside of one', () => {
    const { head, tail } = excerpt(whole(`a${'😀'.repeat(5_000)}`), 400, countTokens);
    expect([head, tail].map((part) => part.isWellFormed() && part.length > 100)).toEqual([true, true]);
  });

  it('keeps to its tokens, loses nothing silently and parts no character, whatever the text', () => {
    const texts = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 3_000 }),
      fc.string({ unit: fc.constantFrom('\n', 'a', ' ', '😀', 'é'), maxLength: 3_000 }),
      fc.integer({ min: 1, max: 9 }).map((seed) => listing(4_000, seed)),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 20, max: 1_000 }), (raw, tokensMax) => {
        const text = raw.toWellFormed();
        const { head, tail, omitted, tokens } = excerpt(whole(text), tokensMax, countTokens);
        expect(tokens).toBeLessThanOrEqual(tokensMax);
        expect(head.length + (omitted?.chars ?? 0) + tail.length).toBe(text.length);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
        expect(countTokens(head) + countTokens(tail)).toBeLessThanOrEqual(tokens);
      }),
      { seed: 11, numRuns: 120 },
    );
  });

  it('does not count what it cannot show', () => {
    let counted = 0;
    const counting = (text: string): number => {
      counted += text.length;
      return countTokens(text);
    };
    excerpt(whole('word '.repeat(2_000_000)), 1_000, counting);
    expect(counted).toBeLessThan(40_000);
  });

  it('reads on behind the head of a result that was cut when it was recorded', () => {
    const cut = {
      value: { stdout: 'a\nb\n\n[... 900 characters cut ...]\ny\nz\n', stderr: '', exit_code: 0 },
      cut: ['stdout'],
    };
    const [stdout] = outputOf(cut).streams;
    expect(stdout).toEqual({ stream: 'stdout', head: 'a\nb\n', tail: 'y\nz\n', gapChars: 900 });
    const shown = excerpt(stdout ?? whole(''), 100, countTokens);
    expect(shown).toMatchObject({ head: 'a\nb\n', tail: 'y\nz\n', omitted: { chars: 900, fromLine: 3 } });
  });
});

describe('outputOf', () => {
  it('takes no mark for a cut that the command may have written itself', () => {
    const stdout = `x\n[... 5 characters cut ...]\n${'y'.repeat(100)}`;
    const shell = { stdout, stderr: 'e', exit_code: 1 };
    const streams = [
      { stream: 'stdout', head: stdout, tail: '', gapChars: 0 },
      { stream: 'stderr', head: 'e', tail: '', gapChars: 0 },
    ];
    expect(outputOf({ value: shell })).toEqual({ exitCode: 1, streams });
    expect(outputOf({ value: shell, cut: ['stdout'] })).toEqual({ exitCode: 1, streams });
  });

  it('shows any other answer as text or as indented JSON', () => {
    expect(outputText('as it is', 'result')).toBe('as it is');
    expect(outputText({ a: [1] }, 'result')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(outputOf({ value: null })).toEqual({
      exitCode: null,
      streams: [{ stream: 'result', head: 'null', tail: '', gapChars: 0 }],
    });
  });
});

describe('countPieces', () => {
  it('counts a long word in pieces', () => {
    const lengths: number[] = [];
    countPieces((text) => lengths.push(text.length), 'a'.repeat(10_000));
    expect(Math.max(...lengths)).toBeLessThanOrEqual(1_000);
  });
});
