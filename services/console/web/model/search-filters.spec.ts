import { describe, expect, it } from '@jest/globals';
import {
  shownAnswer,
  instantOfField,
  localField,
  markedPieces,
  searchFiltersIn,
  searchSaid,
} from './search-filters.js';

describe('what is searched for', () => {
  it('stands in the address, and comes from it', () => {
    const said = searchSaid(searchFiltersIn(new URLSearchParams('words=no+space&exit=1,2&other=x')));
    expect(said).toBe('words=no+space&exit=1%2C2');
    expect(searchSaid(searchFiltersIn(new URLSearchParams(said)))).toBe(said);
  });

  it('is nothing where nothing is said, also not of what is older', () => {
    expect(searchSaid(searchFiltersIn(new URLSearchParams('words=+')), '17')).toBe('');
    expect(searchSaid(searchFiltersIn(new URLSearchParams('device=db-1')), '17')).toBe('device=db-1&before=17');
  });

  it('has instants that a field of local time shows to the minute', () => {
    expect(instantOfField(localField('2026-11-28T04:05:00.000Z'))).toBe('2026-11-28T04:05:00.000Z');
    expect([localField('soon'), instantOfField('')]).toEqual(['', '']);
  });
});

describe('a text in which something was found', () => {
  it('is in pieces that are the text again', () => {
    const text = 'No space left on device; no space.';
    const marks = [
      { from: 3, to: 8 },
      { from: 28, to: 33 },
    ];
    const pieces = markedPieces({ text, marks });
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
    expect(pieces.filter(({ isHit }) => isHit).map((piece) => piece.text)).toEqual(['space', 'space']);
  });

  it('is short, whatever stands around', () => {
    const text = `${'a'.repeat(9_000)}hit${'b'.repeat(9_000)}`;
    const whole = markedPieces({ text, marks: [{ from: 9_000, to: 9_003 }] })
      .map((piece) => piece.text)
      .join('');
    expect(whole.length).toBeLessThan(400);
    expect(whole).toMatch(/^…a+hitb+…$/u);
  });
});

describe('an answer of a tool', () => {
  it('is names and values, and what was found stays what it is', () => {
    const text = '{"path":"/srv/shop","lines":["ready to sell","sold"],"count":3}';
    const marks = ['/srv/shop', 'sell', 'count'].map((word) => ({
      from: text.indexOf(word),
      to: text.indexOf(word) + word.length,
    }));
    const shown = shownAnswer({ text, marks });
    expect(shown.text).toBe('path: /srv/shop · lines: ready to sell · sold · count: 3');
    expect(shown.marks.map(({ from, to }) => shown.text.slice(from, to))).toEqual(['/srv/shop', 'sell', 'count']);
  });

  it('leaves no quotation mark behind where it was written over lines, or only a part of it is shown', () => {
    const text = '"stdout": "fine\n",\n  "exit_code": 0\n}';
    const from = text.indexOf('fine');
    const shown = shownAnswer({ text, marks: [{ from, to: from + 4 }] });
    expect(shown.text).toBe('stdout: fine · exit_code: 0');
    expect(shown.marks.map((mark) => shown.text.slice(mark.from, mark.to))).toEqual(['fine']);
    expect(shownAnswer({ text: '{\n  "stdout": "fine\n"\n}', marks: [] }).text).toBe('stdout: fine');
  });

  it('that says no names is left as it is', () => {
    expect(shownAnswer({ text: 'a, b (c)', marks: [] }).text).toBe('a, b (c)');
  });
});
