/**
 * What nobody sees, what a terminal might obey, and half characters. By class, so that what Unicode adds is in it: controls, formats
 * (directions, joiners, tags), private use, what is not assigned, line and paragraph separators, surrogates without their other
 * half, and what a font leaves out (fillers, variation selectors). No exception for emoji: a joiner or a selector behind a picture
 * can carry a text, too.
 */
const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Cs}`;
const IN_TEXT = new RegExp(String.raw`(?![\n\t])[${UNSEEN}]`, 'gu');
/** And spaces that are no space. */
const IN_LINE = new RegExp(String.raw`[${UNSEEN}]|(?! )\p{Zs}`, 'gu');

/**
 * A text of others in which nothing is hidden: what cannot be seen stands there as an escape of JSON such as `\u202e`. Line ends and
 * tabs stay. A text of JSON stays one, of the same value.
 */
export function visibleText(text: string): string {
  return text.replace(IN_TEXT, (character) => SHORT[character] ?? unitsOf(character));
}

/** How many characters of a text stand as escapes in what `visibleText` makes of it. */
export function unseenIn(text: string): number {
  return text.match(IN_TEXT)?.length ?? 0;
}

/**
 * The same on one line, for what a person decides about: line ends, tabs, and spaces that are no space are escapes, too. No two
 * texts look the same, unless one spells an escape of the other.
 */
export function visibleLine(text: string): string {
  return text.replace(IN_LINE, (character) => SHORT[character] ?? pointOf(character));
}

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

function pointOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unitsOf(character);
}

/** By units of UTF-16, two of them for a character beyond the first plane. */
function unitsOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
