import { describe, expect, it } from '@jest/globals';
import { cleanLine, cleanText, clipToWidth, visibleClip, visibleLines, brokenAtWords } from './clean.js';

describe('cleanText', () => {
  it('takes colours and cursor movements out', () => {
    expect(cleanText('\u001B[31mred\u001B[0m\u001B[2J\u001B[1;1Hhome')).toBe('redhome');
  });

  it('takes a window title, a hyperlink and a clipboard write out with their content', () => {
    expect(cleanText('a\u001B]0;evil title\u0007b')).toBe('ab');
    expect(cleanText('a\u001B]8;;http://evil\u001B\\link\u001B]8;;\u001B\\b')).toBe('alinkb');
    expect(cleanText('a\u001B]52;c;ZXZpbA==\u0007b')).toBe('ab');
  });

  it('hides nothing behind a sequence that never ends', () => {
    expect(cleanText('a\u001B]0;never\nclosed')).toBe('a\\u001b]0;never\nclosed');
    expect(cleanText('a\u001BPnever closed')).toBe(String.raw`a\u001bPnever closed`);
  });

  it('shows what nobody would see, the 8-bit controls too', () => {
    expect(cleanText('a\u0000b\u0008c\u009B31md\rE\u007F')).toBe(String.raw`a\u0000b\u0008cd\rE\u007f`);
    expect(cleanText('safe\u202Eexe.txt\u200B\uFEFF')).toBe(String.raw`safe\u202eexe.txt\u200b\ufeff`);
    expect(cleanText('a\u{E0041}b\u061Cc\u00ADd\u206Ae')).toBe(String.raw`a\udb40\udc41b\u061cc\u00add\u206ae`);
  });

  it('leaves out how an emoji is drawn, and no other selector', () => {
    expect(cleanText('\u26A0\uFE0F low, a\uFE0F')).toBe(String.raw`⚠ low, a\ufe0f`);
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

describe('text that a person decides about', () => {
  it('keeps line breaks where they are wanted, and counts nothing as one line that is several', () => {
    expect(visibleLines('cat <<E\nrm\u200B\nE')).toEqual(['cat <<E', String.raw`rm\u200b`, 'E']);
    expect(visibleClip('a\nbcdef', 5)).toBe(String.raw`a\nb…`);
  });
});

describe('brokenAtWords', () => {
  it('breaks between words only, and loses none', () => {
    const text = 'the disk of nats-server and PostgreSQL: 27 GiB of 101 GiB are used';
    const lines = brokenAtWords(text, 20);
    expect(lines.join(' ')).toBe(text);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(20);
    expect(brokenAtWords(text, 200)).toEqual([text]);
  });

  it('gives a word that is too long a line of its own', () =>
    expect(brokenAtWords(`see ${'x'.repeat(30)} there`, 10)).toEqual(['see', 'x'.repeat(30), 'there']));
});
