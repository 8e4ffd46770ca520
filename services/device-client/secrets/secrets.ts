import { fieldsOf, type Json } from '#proto';
import { z } from 'zod';

export const SECRET_LIMITS = {
  /** Shorter ones stand in too many texts by chance: what is replaced would say more than what is kept. */
  charsMin: 6,
  bytesMax: 16 * 1024,
  secretsMax: 256,
  /** Values that were replaced in their files and are still kept out of what leaves the device. */
  valuesMax: 1_024,
} as const;

/** The name of a file in the directory for secrets. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'the name of a secret is 1 to 64 letters, digits, _ or -');

/** Stands for the value, which only the device has. */
export const SecretRef = z
  .strictObject({ secret: SecretName })
  .describe('the value of a secret that lies on the device, by its name; the value itself is never shown');
export type SecretRef = z.infer<typeof SecretRef>;

/** The names of all secrets that the arguments of a command refer to, where a command may. */
export function secretsIn(args: Readonly<Record<string, Json>>): string[] {
  const env = fieldsOf(args['env']);
  const named = [...Object.values(env), args['stdin']].flatMap((value) => {
    const { secret } = fieldsOf(value);
    return typeof secret === 'string' ? [secret] : [];
  });
  return [...new Set(named)];
}

/** The value in the bytes of its file, or what is wrong with them. A newline at the end is an editor's. */
export function secretIn(bytes: Buffer): { readonly value: string } | { readonly wrong: string } {
  if (bytes.length > SECRET_LIMITS.bytesMax) return { wrong: `has more than ${SECRET_LIMITS.bytesMax} bytes` };
  const text = bytes.toString('utf8');
  if (text.includes('\0') || !Buffer.from(text).equals(bytes)) return { wrong: 'is not text in UTF-8' };
  const value = text.replace(/\r?\n$/, '');
  if (value.length >= SECRET_LIMITS.charsMin) return { value };
  return { wrong: `has fewer than ${SECRET_LIMITS.charsMin} characters, too few to be told from other text` };
}
