import { clipToWidth } from './clean.js';

/** What a terminal might obey, what a person would not see, and half characters: all that could hide what a command does. */
const UNSEEN = new RegExp(
  [
    String.raw`[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Cs}]`,
    String.raw`(?! )\p{Zs}`, // spaces that are no space
  ].join('|'),
  'gu',
);

/**
 * Text on one line of which nothing is left out and nothing is hidden: what cannot be seen is written as an escape. For what a
 * person decides about; where text is only read, `cleanLine` reads better.
 */
export function visibleLine(text: string): string {
  return text.replace(UNSEEN, escapeOf);
}

/** The same, with its line breaks: each line is one of the result. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map(visibleLine);
}

export function visibleClip(text: string, width: number): string {
  return clipToWidth(visibleLine(text), width);
}

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return SHORT[character] ?? (code > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`);
}
