import { readFileSync } from 'node:fs';
import { ConfigError } from './config.js';

/** The SHA-256 of a token in hex, from the file that this variable names. Throws ConfigError, which never shows what was read. */
export function readTokenHash(variable: string, file: string): string {
  let text;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new ConfigError(`${variable} names a file that cannot be read.`, { cause });
  }
  if (/^[0-9a-f]{64}$/iu.test(text)) return text.toLowerCase();
  throw new ConfigError(`The file of ${variable} must hold a SHA-256 in hex and nothing else.`);
}
