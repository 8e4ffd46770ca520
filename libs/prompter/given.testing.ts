import fc from 'fast-check';
import { countTokens as count } from 'gpt-tokenizer/encoding/o200k_base';

const PLAIN = { disallowedSpecial: new Set<string>() };

/** A real tokenizer, so that budgets mean something. */
export const countTokens = (text: string): number => count(text, PLAIN);

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
export const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

export const BOUNDARY = 'k3J9sQx7PqLm2NvRt4Zw';

/** A text of so many characters that looks like the output of a command. */
export function listing(chars: number, seed = 1): string {
  let text = '';
  for (let line = 0; text.length < chars; line++) {
    text += `-rw-r--r-- 1 root root ${(line * 7919 * seed) % 99_991} Mar ${(line % 28) + 1} 08:${line % 60} file-${seed}-${line}.log\n`;
  }
  return text.slice(0, chars);
}
