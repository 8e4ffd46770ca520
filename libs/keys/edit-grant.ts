import { createHash, sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { EditGrant, LIMITS, parseJson, type Instant, type RunId, type Sha256 } from '#proto';
import { PROOF_MS_MAX, type Verified } from './actor-proof.js';
import { ed25519KeyOf, signerOf } from './nkey.js';

export interface Granted {
  readonly runId: RunId;
  readonly access: EditGrant['access'];
  /** When it is signed: what somebody takes back is told by it from what is given later. */
  readonly issuedAt: Instant;
  readonly expiresAt: Instant;
}

/** Lets its holder see or change the constellation of one run, in the name of the seed's owner. Throws when the seed is none. */
export function signEditGrant(seed: string, { runId, access, issuedAt, expiresAt }: Granted): EditGrant {
  const { key, privateKey } = signerOf(seed);
  const said = { kind: 'constellation-access', runId, access, key, issuedAt, expiresAt } as const;
  return { ...said, signature: sign(null, signedBytes(said), privateKey).toString('base64url') };
}

/**
 * Names a grant without giving it away: SHA-256 of what is signed. The signature is not in it, nor how the token is written, so that
 * no other spelling of the same grant has another id.
 */
export function grantIdOf(grant: EditGrant): Sha256 {
  const { signature: _, ...said } = grant;
  return createHash('sha256').update(signedBytes(said)).digest('hex');
}

/** Whether the holder of `grant.key` has signed it. What it allows, and when, is not asked. */
export function isSignedGrant({ signature, ...said }: EditGrant): boolean {
  try {
    return verify(null, signedBytes(said), ed25519KeyOf(said.key), Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

export interface GrantUse {
  /** The run that is to be seen or changed. */
  readonly runId: RunId;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What it is used for; who may edit may read, too. */
  readonly access: EditGrant['access'];
}

/** Whether the holder of `grant.key` allows this use now. Anything may come in: it never throws. Whom the key stands for, ACTORS says. */
export function verifyEditGrant(grant: EditGrant, { runId, now, access }: GrantUse): Verified {
  try {
    const said = EditGrant.parse(grant);
    // First of all: of what nobody has signed nothing is said back.
    if (!isSignedGrant(said)) return refused('does not fit its key');
    if (said.runId !== runId) return refused(`is for run ${said.runId}, not for ${runId}`);
    if (access === 'edit' && said.access === 'read') return refused('lets read only; one with access "edit" is needed');
    const { issuedAt, expiresAt } = said;
    if (Date.parse(expiresAt) <= now) return refused(`was good until ${expiresAt}`);
    // Only of what says when it was signed can be said whether it was taken back.
    if (issuedAt === undefined) return refused('does not say when it was signed; make another one');
    if (Date.parse(issuedAt) - now > PROOF_MS_MAX) {
      return refused(`was signed at ${issuedAt}, which is in the future: compare the clocks`);
    }
    if (Date.parse(expiresAt) - Date.parse(issuedAt) > LIMITS.editGrantMsMax) {
      const hours = LIMITS.editGrantMsMax / 3_600_000;
      return refused(`is good until ${expiresAt}; none may be for longer than ${hours} h`);
    }
    return { ok: true, key: said.key };
  } catch {
    // No grant, no key, no JSON: all of them allow nothing.
    return refused('does not fit its key');
  }
}

/** As it is sent to an HTTP server: `Authorization: Bearer <token>`. */
export function encodeEditGrant(grant: EditGrant): string {
  return Buffer.from(JSON.stringify(grant)).toString('base64url');
}

/** Longer than any token that `encodeEditGrant` makes. */
const TOKEN_CHARS_MAX = 4_096;

/** The grant that a token is; undefined for anything else. It is not verified yet. */
export function decodeEditGrant(token: string): EditGrant | undefined {
  if (token.length > TOKEN_CHARS_MAX) return undefined;
  return EditGrant.safeParse(parseJson(Buffer.from(token, 'base64url'))).data;
}

const refused = (what: string): Verified => ({ ok: false, reason: `The grant ${what}.` });

function signedBytes(said: Omit<EditGrant, 'signature'>): Uint8Array {
  const text = canonicalize(said);
  if (text === undefined) throw new TypeError('A grant must be a JSON object.');
  return new TextEncoder().encode(text);
}
