import { createPublicKey, type KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { DeviceId, type DeviceKey, type Instant } from '#proto';
import { thumbprintOf } from './device-key.js';
import { ed25519PrivateKeyOf } from './nkey.js';

/*
 * Credentials: JWTs (RFC 7519) that the registry signs with the Ed25519 key of its bus user. A bearer, and so short-lived.
 * `cnf.jkt` (RFC 7800, RFC 7638) names the device's key: a credential ends with that key.
 */

const ISSUER = 'orrery';
const AUDIENCE = 'aip';
const TYPE = 'orrery-credential+jwt';
const ALGORITHM = 'EdDSA';

const Claims = z.object({
  sub: DeviceId,
  exp: z.number(),
  cnf: z.object({ jkt: z.string().min(1) }),
});

export interface IssuedCredential {
  readonly credential: string;
  readonly expiresAt: Instant;
}

/** The assertion that a credential is the answer to. */
export interface AnsweredAssertion {
  /** When it was made, by the clock of the device; milliseconds since the epoch. */
  readonly at: number;
  /** The hash of all of it: another one is answered with another credential. */
  readonly id: string;
}

export interface CredentialClaims {
  readonly deviceId: DeviceId;
  /** RFC 7638 thumbprint of the key that the device had when it was issued. */
  readonly thumbprint: string;
  readonly expiresAt: Instant;
}

/** Makes and knows the credentials of devices. All processes with the same seed know each other's. */
export class CredentialIssuer {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #lifeMs: number;

  /** `seed`: that of an nkey; throws when it is none. */
  constructor({ seed, lifeMs }: { readonly seed: string; readonly lifeMs: number }) {
    this.#privateKey = ed25519PrivateKeyOf(seed);
    this.#publicKey = createPublicKey(this.#privateKey);
    this.#lifeMs = lifeMs;
  }

  /**
   * What answers an assertion, by the time at which it was made: the same one gets the same credential from every process with this
   * seed, for Ed25519 signs the same twice in the same way (RFC 8032).
   */
  async issue(deviceId: DeviceId, key: DeviceKey, { at, id }: AnsweredAssertion): Promise<IssuedCredential> {
    // Times of a JWT are seconds: never later than promised, and never over as soon as it is made.
    const issued = Math.floor(at / 1_000);
    const expires = Math.max(Math.floor((at + this.#lifeMs) / 1_000), issued + 1);
    const credential = await new SignJWT({ cnf: { jkt: await thumbprintOf(key) } })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(deviceId)
      .setIssuedAt(issued)
      .setExpirationTime(expires)
      .setJti(id)
      .sign(this.#privateKey);
    return { credential, expiresAt: new Date(expires * 1_000).toISOString() };
  }

  /** What a credential of ours says; undefined for what is none, or is over. Anything may come in: it never throws. */
  async read(credential: string, now: number): Promise<CredentialClaims | undefined> {
    try {
      const { payload } = await jwtVerify(credential, this.#publicKey, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: ISSUER,
        audience: AUDIENCE,
        requiredClaims: ['exp', 'sub', 'cnf'],
        currentDate: new Date(now),
      });
      const { sub, exp, cnf } = Claims.parse(payload);
      return { deviceId: sub, thumbprint: cnf.jkt, expiresAt: new Date(exp * 1_000).toISOString() };
    } catch {
      return undefined;
    }
  }
}
