const PLAIN_WORD = /^[\w@%+=:,./-]+$/u;

/** One word of a command line for a POSIX shell. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
