import type { NatsConnection } from '@nats-io/transport-node';
import { tokenHash } from '#libs/keys';
import { query, type QueryAnswer } from '#libs/messaging';
import type { Identity } from '#proto';
import { isCredential } from './bearer.js';

const IDENTIFY_MS = 3_000;
/** Of an answer of `join` and `renew`: facts are stored before it. */
const ISSUE_MS = 4_000;
const REVOCATIONS_MS = 2_000;

/**
 * Who comes with this token or credential; null when it is nobody's. Of a token only the hash crosses the bus. Throws when
 * the registry does not answer.
 */
export type Authenticate = (bearer: string) => Promise<Identity | null>;

export type Issued = QueryAnswer<'registry', 'join'>;
export type Revocations = QueryAnswer<'registry', 'revocations'>;

/** What a gateway asks the registry. Throws QueryRefusedError when the answer is no, QueryUnavailableError when there is none. */
export interface RegistryPort {
  readonly identify: Authenticate;
  join(token: string, assertion: string): Promise<Issued>;
  renew(assertion: string): Promise<Issued>;
  revocations(after: number): Promise<Revocations>;
}

export function registryOnBus(nc: NatsConnection): RegistryPort {
  return {
    identify: async (bearer) => {
      const request = isCredential(bearer)
        ? ({ kind: 'credential', credential: bearer } as const)
        : ({ kind: 'token', tokenHash: tokenHash(bearer) } as const);
      return (await query(nc, 'registry', 'identify', request, { timeoutMs: IDENTIFY_MS })).identity;
    },
    join: (token, assertion) =>
      query(nc, 'registry', 'join', { tokenHash: tokenHash(token), assertion }, { timeoutMs: ISSUE_MS }),
    renew: (assertion) => query(nc, 'registry', 'renew', { assertion }, { timeoutMs: ISSUE_MS }),
    revocations: (after) => query(nc, 'registry', 'revocations', { after }, { timeoutMs: REVOCATIONS_MS }),
  };
}
