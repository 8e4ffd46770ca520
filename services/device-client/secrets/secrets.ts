import { fieldsOf, type Json, secretNamed } from '#proto';

export const SECRET_LIMITS = {
  /** Shorter ones stand in too many texts by chance: what is replaced would say more than what is kept. */
  charsMin: 6,
  bytesMax: 16 * 1024,
  secretsMax: 256,
  /** Values that were replaced in their files and are still kept out of what leaves the device. */
  valuesMax: 1_024,
} as const;

/** The names of all secrets that the arguments of a command line refer to, where one may. */
export function secretsIn(args: Readonly<Record<string, Json>>): string[] {
  const env = fieldsOf(args['env']);
  const named = [...Object.values(env), args['stdin']].map((value) => secretNamed(value));
  return [...new Set(named.filter((name) => name !== undefined))];
}

/** The secret that a tool of a screen is to put into a field; only one of them may. */
export const secretForField = (tool: string, args: Readonly<Record<string, Json>>): string | undefined =>
  tool === 'set_edit_text' ? secretNamed(args['text']) : undefined;

/** The value in the bytes of its file, or what is wrong with them. A newline at the end is an editor's. */
export function secretIn(bytes: Buffer): { readonly value: string } | { readonly wrong: string } {
  if (bytes.length > SECRET_LIMITS.bytesMax) return { wrong: `has more than ${SECRET_LIMITS.bytesMax} bytes` };
  const text = bytes.toString('utf8');
  if (text.includes('\0') || !Buffer.from(text).equals(bytes)) return { wrong: 'is not text in UTF-8' };
  const value = text.replace(/\r?\n$/, '');
  if (value.length >= SECRET_LIMITS.charsMin) return { value };
  return { wrong: `has fewer than ${SECRET_LIMITS.charsMin} characters, too few to be told from other text` };
}
