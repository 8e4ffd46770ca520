import { AdbFault } from './adb-fault.js';

/** A request has its length in four hexadecimal digits before it; some of it is for the name of the service. */
const LINE_BYTES_MAX = 0xffff - 256;

/**
 * The command line for the device's sh that runs exactly these words. adb hands a command to a shell as one text, so each word stands in
 * single quotes, in which nothing has a meaning but the quote itself.
 */
export function shellLine(words: readonly string[]): string {
  const line = words.map(shellWord).join(' ');
  const bytes = Buffer.byteLength(line);
  if (bytes <= LINE_BYTES_MAX) return line;
  throw new AdbFault('ARGUMENT', `a command for a device has at most ${LINE_BYTES_MAX} bytes; this one has ${bytes}`);
}

/** Words that are letters, digits and what never means anything are left as they are, for the sake of who reads a trace. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_./:,+-]*$/;

function shellWord(word: string): string {
  if (word.includes('\0')) throw new AdbFault('ARGUMENT', 'a command for a device cannot contain the character NUL');
  if (!word.isWellFormed()) throw new AdbFault('ARGUMENT', 'a command for a device cannot contain half a character');
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
