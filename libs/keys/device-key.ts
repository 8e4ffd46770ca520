import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { z } from 'zod';
import { DeviceKey } from '#proto';

/** The secret of a device: an Ed25519 key pair as a JWK (RFC 8037). It is made on the device and never leaves it. */
export const DeviceSecret = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  /** The public key. */
  x: DeviceKey,
  /** The private one. */
  d: DeviceKey,
});
export type DeviceSecret = z.infer<typeof DeviceSecret>;

export function makeDeviceSecret(): DeviceSecret {
  return secretOf(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));
}

/** From the JSON that a device keeps; throws when it is none, or when its two halves do not belong together. */
export function parseDeviceSecret(text: string): DeviceSecret {
  const secret = secretOf(JSON.parse(text));
  const { x } = createPrivateKey({ key: secret, format: 'jwk' }).export({ format: 'jwk' });
  if (x !== secret.x) throw new Error('the public key is not that of the private one');
  return secret;
}

export function publicKeyOf({ x }: DeviceSecret): DeviceKey {
  return x;
}

/** A key as the wire has it; undefined for what is none. A key has one spelling, so that two texts are two keys. */
export function deviceKeyOf(x: unknown): DeviceKey | undefined {
  const { success, data } = DeviceKey.safeParse(x);
  return success && Buffer.from(data, 'base64url').toString('base64url') === data ? data : undefined;
}

export function jwkOf(key: DeviceKey): { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: DeviceKey } {
  return { kty: 'OKP', crv: 'Ed25519', x: key };
}

/** RFC 7638, SHA-256: what a credential says of the key that it belongs to. */
export function thumbprintOf(key: DeviceKey): Promise<string> {
  return calculateJwkThumbprint(jwkOf(key), 'sha256');
}

function secretOf(jwk: unknown): DeviceSecret {
  return DeviceSecret.parse(jwk);
}
