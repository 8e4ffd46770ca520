/**
 * What devices, requests and models say ends up on somebody's terminal: without escape sequences, which could rewrite
 * the screen or the window title, and without direction marks, which could make text read as something else.
 */
const CONTROL = new RegExp(
  [
    String.raw`\u001B\][\s\S]*?(?:\u0007|\u001B\\|$)`, // OSC: titles, links, clipboard
    String.raw`\u001B\[[0-?]*[ -/]*[@-~]`, // CSI: colours, cursor
    String.raw`\u001B[PX^_][\s\S]*?(?:\u001B\\|$)`, // DCS, SOS, PM, APC
    String.raw`[\u0000-\u0008\u000B-\u001F\u007F-\u009F]`,
    String.raw`[\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]`,
    String.raw`[\u{E0000}-\u{E007F}]`, // tags: text that nobody sees
  ].join('|'),
  'gu',
);

/** Text of several lines, safe to print: line breaks and tabs stay. */
export function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL, '');
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
