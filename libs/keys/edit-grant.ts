import { sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { EditGrant, LIMITS, type Instant, type RunId } from '#proto';
import type { Verified } from './actor-proof.js';
import { ed25519KeyOf, signerOf } from './nkey.js';

export interface Granted {
  readonly runId: RunId;
  readonly access: EditGrant['access'];
  readonly expiresAt: Instant;
}

/** Lets whoever holds it see or change the constellation of one run, in the name of the seed's owner. Throws when the seed is none. */
export function signEditGrant(seed: string, { runId, access, expiresAt }: Granted): EditGrant {
  const { key, privateKey } = signerOf(seed);
  const said = { kind: 'constellation-access', runId, access, key, expiresAt } as const;
  return { ...said, signature: sign(null, signedBytes(said), privateKey).toString('base64url') };
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
    const { signature, ...said } = EditGrant.parse(grant);
    // First of all: of what nobody has signed nothing is said back.
    const isSigned = verify(null, signedBytes(said), ed25519KeyOf(said.key), Buffer.from(signature, 'base64url'));
    if (!isSigned) return refused('does not fit its key');
    if (said.runId !== runId) return refused(`is for run ${said.runId}, not for ${runId}`);
    if (access === 'edit' && said.access === 'read') return refused('lets read only; one with access "edit" is needed');
    const leftMs = Date.parse(said.expiresAt) - now;
    if (leftMs <= 0) return refused(`was good until ${said.expiresAt}`);
    if (leftMs > LIMITS.editGrantMsMax) {
      const hours = LIMITS.editGrantMsMax / 3_600_000;
      return refused(`is good until ${said.expiresAt}; none may be for longer than ${hours} h`);
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
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(token, 'base64url'));
    return EditGrant.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const refused = (what: string): Verified => ({ ok: false, reason: `The grant ${what}.` });

function signedBytes(said: Omit<EditGrant, 'signature'>): Uint8Array {
  const text = canonicalize(said);
  if (text === undefined) throw new TypeError('A grant must be a JSON object.');
  return new TextEncoder().encode(text);
}
