import { visibleLine, visibleText, withoutTerminalSequences } from '#libs/visible';

/** How an emoji is drawn: the picture is the same without. */
const PRESENTATION = /(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]/gu;

/**
 * What devices, requests and models say ends up on somebody's terminal: without escape sequences, which could rewrite the screen
 * or the window title, and with everything else that nobody would see as an escape, so that text cannot be read as something else.
 * Of several lines: line breaks and tabs stay.
 */
export function cleanText(text: string): string {
  return visibleText(withoutTerminalSequences(text.replaceAll('\r\n', '\n')).replace(PRESENTATION, ''));
}

/** Text for one cell or one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/gu, ' ').trim();
}

/** Cut to `width` characters; the dots say that something is missing. */
export function clipToWidth(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** One line of text as several of at most `width` characters, between words; a word that is longer has a line of its own. */
export function brokenAtWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && Array.from(longer).length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** Text of several lines that a person decides about: each line is one of the result, with nothing hidden in it. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map(visibleLine);
}

export function visibleClip(text: string, width: number): string {
  return clipToWidth(visibleLine(text), width);
}
