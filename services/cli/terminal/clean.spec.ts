import { describe, expect, it } from '@jest/globals';
import { cleanLine, cleanText, clipToWidth } from './clean.js';

describe('cleanText', () => {
  it('takes colours and cursor movements out', () => {
    expect(cleanText('\u001B[31mred\u001B[0m\u001B[2J\u001B[1;1Hhome')).toBe('redhome');
  });

  it('takes a window title, a hyperlink and a clipboard write out with their content', () => {
    expect(cleanText('a\u001B]0;evil title\u0007b')).toBe('ab');
    expect(cleanText('a\u001B]8;;http://evil\u001B\\link\u001B]8;;\u001B\\b')).toBe('alinkb');
    expect(cleanText('a\u001B]52;c;ZXZpbA==\u0007b')).toBe('ab');
  });

  it('takes a sequence out that never ends', () => {
    expect(cleanText('a\u001B]0;never closed')).toBe('a');
    expect(cleanText('a\u001BPnever closed')).toBe('a');
  });

  it('takes single control characters out, the 8-bit ones too', () => {
    expect(cleanText('a\u0000b\u0008c\u009B31md\rE\u007F')).toBe('abc31mdE');
  });

  it('takes direction marks and invisible characters out', () => {
    expect(cleanText('safe\u202Eexe.txt\u200B\uFEFF')).toBe('safeexe.txt');
    expect(cleanText('a\u{E0041}b\u061Cc\u00ADd\u206Ae')).toBe('abcde');
  });

  it('keeps line breaks, tabs and the letters of every language', () => {
    expect(cleanText('Größe\t1\r\n温度 2\n')).toBe('Größe\t1\n温度 2\n');
  });
});

describe('cleanLine', () => {
  it('makes one line of many', () => expect(cleanLine(' a\n b\tc ')).toBe('a b c'));
});

describe('clip', () => {
  it('keeps what fits', () => expect(clipToWidth('abc', 3)).toBe('abc'));
  it('says that something is missing', () => expect(clipToWidth('abcd', 3)).toBe('ab…'));
  it('does not cut a character in two', () => expect(clipToWidth('😀😀😀', 2)).toBe('😀…'));
});
