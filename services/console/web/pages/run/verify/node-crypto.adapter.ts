// What the audit uses of the runtime's cryptography, for a browser: it stands in the place of `node:crypto` where the audit is built for one.
import { fromPublic } from '@nats-io/nkeys';
import { sha256 } from './sha256.js';

const encoder = new TextEncoder();
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Of the kind "user"; any other would verify the same. */
const KIND = 20 << 3;

/** The digest of a text in hexadecimal. */
export function hash(algorithm: string, text: string, encoding: string): string {
  if (algorithm !== 'sha256' || encoding !== 'hex') throw new Error(`there is no ${algorithm} in ${encoding} here`);
  return Array.from(sha256(encoder.encode(text)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface Hashing {
  update(text: string): Hashing;
  digest(): Uint8Array;
}

export function createHash(algorithm: string): Hashing {
  if (algorithm !== 'sha256') throw new Error(`there is no ${algorithm} here`);
  let whole = '';
  const hashing: Hashing = {
    update(text) {
      whole += text;
      return hashing;
    },
    digest: () => sha256(encoder.encode(whole)),
  };
  return hashing;
}

/** An Ed25519 key as it is given to `verify`. */
interface PublicKey {
  readonly nkey: string;
}

export function createPublicKey({ key }: { readonly key: { readonly x: string } }): PublicKey {
  const raw = Uint8Array.from(atob(key.x.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  const kept = [KIND, ...raw];
  const crc = crc16Of(kept);
  return { nkey: base32Of([...kept, crc & 0xff, crc >>> 8]) };
}

function isSignedBy(_: null, bytes: Uint8Array, { nkey }: PublicKey, signature: Uint8Array): boolean {
  return fromPublic(nkey).verify(bytes, signature);
}

export { isSignedBy as verify };

/** CRC-16/XMODEM. */
function crc16Of(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc;
}

function base32Of(bytes: readonly number[]): string {
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replaceAll(/.{5}/gu, (five) => BASE32.charAt(Number.parseInt(five, 2)));
}
