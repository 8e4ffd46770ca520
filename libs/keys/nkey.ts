import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { fromPublic, fromSeed } from '@nats-io/nkeys';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const KEY_BYTES = 32;
/** What stands before the 32 bytes in the PKCS #8 form of an Ed25519 key (RFC 8410, 7), in hexadecimal. */
const PKCS8_PREFIX = '302e020100300506032b657004220420';

/** What a public nkey wraps: base32 of a byte for its kind, the Ed25519 key, and a checksum. Throws when it is no nkey. */
export function ed25519KeyOf(nkey: string): KeyObject {
  fromPublic(nkey);
  const x = base64urlOf(bytesOf(nkey).subarray(1, 1 + KEY_BYTES));
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** What the seed of an nkey wraps: base32 of two bytes for its kinds, the Ed25519 seed, and a checksum. Throws when it is none. */
export function ed25519PrivateKeyOf(seed: string): KeyObject {
  fromSeed(new TextEncoder().encode(seed));
  const raw = bytesOf(seed).subarray(2, 2 + KEY_BYTES);
  return createPrivateKey({
    key: Buffer.concat([Buffer.from(PKCS8_PREFIX, 'hex'), raw]),
    format: 'der',
    type: 'pkcs8',
  });
}

/** Who signs with the seed of a bus key. */
export interface Signer {
  readonly seed: string;
  /** The public nkey. */
  readonly key: string;
  readonly privateKey: KeyObject;
}

/** The public nkey of a seed. Throws when it is none. */
export const busKeyOfSeed = (seed: string): string => signerOf(seed).key;

/** A process has one seed: what is made of it is made once. The runtime makes keys and signs four hundred times faster than nkeys does, and needs no warming up. */
let last: Signer | undefined;

/** Throws when the seed is none. */
export function signerOf(seed: string): Signer {
  if (last?.seed === seed) return last;
  const privateKey = ed25519PrivateKeyOf(seed);
  last = { seed, key: nkeyOf(kindOf(seed), privateKey), privateKey };
  return last;
}

/** Two bytes of a seed hold two kinds of five bits: that it is a seed, and of what. Bits are left where each is one letter in base32. */
function kindOf(seed: string): number {
  const [first = 0, second = 0] = bytesOf(seed);
  return ((first & 0b111) << 5) | (second >> 3);
}

/** The nkey of the public half. */
function nkeyOf(kind: number, privateKey: KeyObject): string {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const wrapped = Buffer.concat([Buffer.of(kind), Buffer.from(x, 'base64url')]);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16LE(crc16Of(wrapped));
  return base32Of(Buffer.concat([wrapped, checksum]));
}

/** CRC-16/XMODEM: polynomial 0x1021, nothing before and nothing after. */
function crc16Of(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc;
}

/** Of a multiple of five bytes, so that nothing is padded. */
function base32Of(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replaceAll(/.{5}/gu, (five) => BASE32.charAt(Number.parseInt(five, 2)));
}

/** Without the Buffer of the runtime, which browsers that verify do not have. */
function bytesOf(base32: string): Uint8Array {
  const bits = Array.from(base32, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from((bits.match(/.{8}/gu) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

function base64urlOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Throws when it is none. */
export function bytesOfBase64url(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
}
