import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foundIn } from './found-text.js';
import { fieldLexeme, queryText, segmentCover, segmentLexemes, SEGMENT_PLACES, vectorText } from './lexemes.js';
import { parseSearchWords, type Alternative } from './search-words.js';
import { searchedTexts } from './texts.js';
import { wordsIn } from './words.js';

/** Made of a number: the package would make a table of all of them first. */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

const read = (text: string): readonly Alternative[] => {
  const parsed = parseSearchWords(text);
  if (!parsed.ok) throw new Error(parsed.issue.message);
  return parsed.alternatives;
};
const words = (text: string): string[] => wordsIn(text).map(({ word }) => word);
const finds = (asked: string, text: string): boolean => foundIn([{ of: 'stdout', text }], read(asked)) !== undefined;

describe('the words of a text', () => {
  it.each([
    ['/etc/nginx/nginx.conf:12', ['etc', 'nginx', 'nginx', 'conf', '12']],
    ['rm -rf --no-preserve-root', ['rm', 'rf', 'no', 'preserve', 'root']],
    ['ÄRGER a\u0308rger', ['ärger', 'ärger']],
    ['Straße STRASSE ς', ['strasse', 'strasse', 'σ']],
    ['10.0.0.1 db-1_x', ['10', '0', '0', '1', 'db', '1', 'x']],
    ['磁盘满 disk', ['磁', '盘', '满', 'disk']],
    ['\u0000\u202e\ud800 \u{f0000}', []],
    ['x'.repeat(70), ['x'.repeat(64)]],
  ])('%j', (text, expected) => expect(words(text)).toEqual(expected));
});

describe('what is typed', () => {
  it.each([
    ['disk full', 'full: the disk', true],
    ['disk full', 'the disk', false],
    ['"disk full"', 'Disk  FULL!', true],
    ['"disk full"', 'disk: full', true],
    ['"disk full"', 'disk is full', false],
    ['nginx.conf', '/etc/nginx/nginx.conf', true],
    ['nginx.conf', 'nginx conf', false],
    ['/etc/nginx/', 'cat /etc/nginx/x', true],
    ['etc/nginx', '/etc/xnginx', false],
    ['oom*', 'the OOMKiller', true],
    ['"out of mem"*', 'Out of memory', true],
    ['oom OR panic', 'kernel panic', true],
    ['disk NOT full', 'disk full', false],
    ['disk NOT full', 'disk', true],
    ['disk NOT "is full"', 'full is disk', true],
    ['NOT disk', 'memory', true],
    ['rm -rf', 'rm -rf /', true],
    ['ps | grep', 'ps aux | grep x', true],
    ['OR OR disk OR', 'disk', true],
    ['"disk', 'disk', true],
    ['or not', 'to do or not', true],
    ['磁盘', '磁盘满', true],
    ['盘磁', '磁盘满', false],
  ])('%s in %j: %s', (asked, text, expected) => expect(finds(asked, text)).toBe(expected));

  it.each([
    ['--', 'must have a letter or a digit: nothing else is looked for'],
    ['OR NOT', 'must have a letter or a digit: nothing else is looked for'],
    ['a*', 'must say at least 2 characters before a *'],
    ['x '.repeat(33), 'must have at most 32 words; it has 33'],
  ])('%j is refused, and it is said why', (asked, message) => {
    expect(parseSearchWords(asked)).toEqual({ ok: false, issue: { path: 'words', message } });
  });

  it('has a meaning or a reason, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        const parsed = parseSearchWords(text);
        if (parsed.ok) queryText(parsed.alternatives, []);
        else expect(parsed.issue.message).not.toBe('');
      }),
    );
  });

  it('finds each word of a text, and every part of it that begins and ends with a word', () => {
    const text = fc.array(fc.constantFrom('disk', '/', ' ', '\n', 'É', '.', '盘', '"', '*', '137'), { minLength: 1 });
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (parts, some, more) => {
        const whole = parts.join('');
        const found = wordsIn(whole);
        const first = found[some % Math.max(1, found.length)];
        const last = found.slice(some % Math.max(1, found.length))[more % 5];
        if (first === undefined || last === undefined) return;
        const part = whole.slice(first.from, last.to);
        if (part.includes('"') || wordsIn(part).length > 32) return;
        expect(finds(`"${part}"`, whole)).toBe(true);
      }),
    );
  });
});

describe('what a tool answers and is told', () => {
  it('has no words made of escapes', () => {
    const value = { path: 'C:\\new', text: 'one\ntwo\ttab "quoted" \u0007bell' };
    const output = JSON.stringify(value);
    const printed = { arguments: value, stdout: null, stderr: null, output, error: null };
    const { texts } = searchedTexts(printed);
    expect(texts.map(({ of }) => of)).toEqual(['output', 'command']);
    for (const { text } of texts) {
      expect(words(text)).toEqual(['path', 'c', 'new', 'text', 'one', 'two', 'tab', 'quoted', 'bell']);
    }
  });
});

describe('what is shown of a text', () => {
  it('has the hits marked, as near to each other as they are', () => {
    const text = `${'disk ok\n'.repeat(60)}/dev/sda1: disk is full\n${'x'.repeat(500)}`;
    const found = foundIn([{ of: 'stdout', text }], read('disk full'));
    expect(found?.text).toMatch(/^\/dev\/sda1: disk is full\n/u);
    expect(found?.marks.map(({ from, to }) => found.text.slice(from, to))).toEqual(['disk', 'full']);
  });

  it('never parts a character, and its marks are always within it', () => {
    const piece = fc.constantFrom('disk', '😀', '\n', ' ', '\ud800', '\u202e', 'é', 'x'.repeat(90));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const found = foundIn([{ of: 'stdout', text: pieces.join('') }], read('disk*'));
        if (found === undefined) return;
        expect(found.text.isWellFormed()).toBe(true);
        expect(found.marks.length).toBeGreaterThan(0);
        for (const { from, to } of found.marks) expect(found.text.slice(from, to)).toMatch(/^disk/u);
      }),
    );
  });
});

describe('what the index is told', () => {
  it('quotes every lexeme', () => {
    expect(vectorText([`it's`, 'a\\b', fieldLexeme('by', `o'neil | x`)])).toBe(`'it''s' 'a\\\\b' '=by:o''neil | x'`);
    expect(queryText(read('disk oom* OR NOT x NOT "a b"'), [['=exit:1', '=exit:2']])).toBe(
      `(('disk' & 'oom':*) | (!'x')) & (('=exit:1') | ('=exit:2'))`,
    );
    expect(queryText(read('disk OR NOT "a b"'), [['#0:1']])).toBe(`(('#0:1'))`);
  });

  it('covers exactly the segments that are asked for', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(1_000), fc.nat(3_500), (from, size, at) => {
        const cover = segmentCover(from, from + size);
        const own = segmentLexemes(at * SEGMENT_PLACES + 17);
        expect(own.filter((lexeme) => cover.includes(lexeme))).toHaveLength(at >= from && at < from + size ? 1 : 0);
      }),
    );
  });
});
