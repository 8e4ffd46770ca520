import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compilePattern } from './pattern.js';

function fits(source: string, text: string): boolean {
  const compiled = compilePattern(source);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.pattern.fits(text);
}

describe('a pattern of a parameter', () => {
  it('says the same as a regular expression that must fit the whole text', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\.', '[a-c0-9_-]', '\\+');
    const counted = fc
      .tuple(atom, fc.constantFrom('', '?', '*', '+', '{2}', '{1,3}', '{2,}'))
      .map((parts) => parts.join(''));
    const sequence = (part: fc.Arbitrary<string>) => fc.array(part, { maxLength: 3 }).map((parts) => parts.join(''));
    const group = (inner: fc.Arbitrary<string>) =>
      fc
        .tuple(inner, inner, fc.constantFrom('', '?', '*', '{2}'))
        .map(([one, other, count]) => `(${one}|${other})${count}`);
    const flat = sequence(counted);
    const nested = sequence(fc.oneof(counted, group(flat)));
    const any = sequence(fc.oneof(counted, group(flat), group(nested)));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '.', '-', 'é', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(any, text, (source, one) => {
        expect(fits(source, one)).toBe(new RegExp(`^(?:${source})$`, 'u').test(one));
      }),
      { seed: 3, numRuns: 1_000 },
    );
  });

  it('takes no longer for a text that makes others go back for ever', () => {
    for (const source of ['(a+)+b', '(a|a)*b', '(a*)*b', 'a*a*a*a*a*a*b', '((a?){15}){15}b']) {
      expect(fits(source, 'a'.repeat(1_000))).toBe(false);
    }
  });

  it('may say with ^ and $ what holds anyway', () => {
    expect(fits('^ab$', 'ab')).toBe(true);
    expect(fits('a\\$', 'a$')).toBe(true);
    expect(fits('^ab$', 'xab')).toBe(false);
  });

  it.each([
    ['(?=a)', /only "\(\?:" is there/u],
    ['(?<n>a)', /only "\(\?:" is there/u],
    ['(a)\\1', /\\1 is not there; allowed are/u],
    ['\\bword', /\\b is not there/u],
    ['a**', /only one of/u],
    ['a+?', /only one of/u],
    ['a{3,2}', /count upwards/u],
    ['a{5000}', /count upwards/u],
    ['((a{100}){100}){100}', /too large/u],
    ['(a', /"\(" without its "\)"/u],
    ['a)', /"\)" without its "\("/u],
    ['[b-a]', /not a class/u],
    ['[a', /a class is written/u],
    ['*a', /"\*" means nothing there; write \\\*/u],
    ['a^b', /"\^" means nothing there/u],
    ['[\\b]', /a class is written/u],
    ['a\\', /\\ is not there/u],
  ])('%s is refused with what would be valid', (source, sentence) => {
    expect(compilePattern(source)).toEqual({ ok: false, message: expect.stringMatching(sentence) });
  });
});
