import { z } from 'zod';
import { type Json } from './ids.js';
import { fieldsOf } from './json.js';

/** The name of a file in the directory for secrets of a device. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'the name of a secret is 1 to 64 letters, digits, _ or -');

/** Stands for the value, which only the device has. */
export const SecretRef = z
  .strictObject({ secret: SecretName })
  .describe('the value of a secret that lies on the device, by its name; the value itself is never shown');
export type SecretRef = z.infer<typeof SecretRef>;

/** The name of the secret that stands here in the place of a text; undefined: it is something else. */
export function secretNamed(value: Json | undefined): string | undefined {
  const { secret } = fieldsOf(value);
  return typeof secret === 'string' ? secret : undefined;
}
