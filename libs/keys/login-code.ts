import { createHash, randomBytes, sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { LIMITS, LoginCode, parseJson, type Instant, type Sha256 } from '#proto';
import type { Verified } from './actor-proof.js';
import { ed25519KeyOf, signerOf } from './nkey.js';

const NONCE_BYTES = 16;
/** Longer than any code that `encodeLoginCode` makes. */
const CODE_CHARS_MAX = 2_048;
/** How far the clock of who signs may be ahead of that of who verifies. */
const AHEAD_MS_MAX = 60_000;

export interface CodeWish {
  /** Of the console, as browsers reach it. */
  readonly origin: string;
  readonly issuedAt: Instant;
  /** See `newLoginNonce`. */
  readonly nonce: string;
}

/** 128 bit. */
export function newLoginNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

/** Lets its holder log in once, in the name of the seed's owner. Throws when the seed is none. */
export function signLoginCode(seed: string, { origin, issuedAt, nonce }: CodeWish): LoginCode {
  const { key, privateKey } = signerOf(seed);
  const said = { kind: 'console-login', origin, nonce, key, issuedAt } as const;
  return { ...said, signature: sign(null, signedBytes(said), privateKey).toString('base64url') };
}

export interface CodeUse {
  /** Names under which the console that it is shown to is reached, e.g. `127.0.0.1:8080`. */
  readonly hosts: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether the holder of the key lets somebody in with it here and now. Anything may come in: it never throws. Whom the key stands for, ACTORS says. */
export function verifyLoginCode(code: LoginCode, { hosts, now }: CodeUse): Verified {
  try {
    const { signature, ...said } = LoginCode.parse(code);
    // First of all: of what nobody has signed nothing is said back.
    if (!verify(null, signedBytes(said), ed25519KeyOf(said.key), Buffer.from(signature, 'base64url'))) return UNFIT;
    const { host } = new URL(said.origin);
    if (!hosts.includes(host)) return refused('The code is for another console.');
    const ageMs = now - Date.parse(said.issuedAt);
    if (ageMs >= LIMITS.loginCodeMs) return refused('The code is too old.');
    if (ageMs < -AHEAD_MS_MAX) return refused('The code is of the future: compare the clocks.');
    return { ok: true, key: said.key };
  } catch {
    return UNFIT;
  }
}

/** Names a code without giving it away: SHA-256 of what is signed, so that no other spelling of it has another id. */
export function loginCodeId(code: LoginCode): Sha256 {
  const { signature: _, ...said } = code;
  return createHash('sha256').update(signedBytes(said)).digest('hex');
}

/** Out of characters that every address takes. */
export function encodeLoginCode(code: LoginCode): string {
  return Buffer.from(JSON.stringify(code)).toString('base64url');
}

/** What a text is as a code; undefined for anything else. It is not verified yet. */
export function decodeLoginCode(text: string): LoginCode | undefined {
  if (text.length > CODE_CHARS_MAX) return undefined;
  return LoginCode.safeParse(parseJson(Buffer.from(text, 'base64url'))).data;
}

const refused = (reason: string): Verified => ({ ok: false, reason });
const UNFIT = refused('This is no code that lets anybody in.');

function signedBytes(said: Omit<LoginCode, 'signature'>): Uint8Array {
  const text = canonicalize(said);
  if (text === undefined) throw new TypeError('A code must be a JSON object.');
  return new TextEncoder().encode(text);
}
