const ESC = String.raw`\u001B`;

/** Whole sequences, each on its line: of one that does not end there only what it begins with is no text, and it hides nothing. */
const SEQUENCES = new RegExp(
  [
    String.raw`(?:${ESC}[\]PX^_]|[\u0090\u0098\u009D-\u009F])\P{Cc}*(?:\u0007|${ESC}\\|\u009C)`, // titles, links, clipboard
    String.raw`(?:${ESC}\[|\u009B)[0-?]*[ -/]*[@-~]`, // colours, cursor
  ].join('|'),
  'gu',
);

/** A text without the sequences that colour a terminal, move its cursor or set its title. What is left of others stays. */
export function withoutTerminalSequences(text: string): string {
  return text.replace(SEQUENCES, '');
}
