// What the audit uses of the runtime's cryptography, for a browser: it stands in the place of `node:crypto` where the audit is built for one.
// What a browser has itself answers later, and not at all where the console is reached over plain HTTP.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import nacl from 'tweetnacl';

const encoder = new TextEncoder();

/** The digest of a text in hexadecimal. */
export function hash(algorithm: string, text: string, encoding: string): string {
  if (algorithm !== 'sha256' || encoding !== 'hex') throw new Error(`there is no ${algorithm} in ${encoding} here`);
  return bytesToHex(sha256(encoder.encode(text)));
}

interface Hashing {
  update(text: string): Hashing;
  digest(): Uint8Array;
}

export function createHash(algorithm: string): Hashing {
  if (algorithm !== 'sha256') throw new Error(`there is no ${algorithm} here`);
  const state = sha256.create();
  const hashing: Hashing = {
    update(text) {
      state.update(encoder.encode(text));
      return hashing;
    },
    digest: () => state.digest(),
  };
  return hashing;
}

/** An Ed25519 key as it is given to `verify`. */
interface PublicKey {
  readonly raw: Uint8Array;
}

export function createPublicKey({ key }: { readonly key: { readonly x: string } }): PublicKey {
  const base64 = key.x.replaceAll('-', '+').replaceAll('_', '/');
  return { raw: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) };
}

function isSignedBy(_: null, bytes: Uint8Array, { raw }: PublicKey, signature: Uint8Array): boolean {
  return signature.length === nacl.sign.signatureLength && nacl.sign.detached.verify(bytes, signature, raw);
}

export { isSignedBy as verify };
