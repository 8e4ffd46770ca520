import { bearerToken, isTokenOf } from '#libs/keys';
import { isLoopback } from '../config/index.js';

/** What a request for metrics says, and where it comes from. */
export interface Scrape {
  readonly address: string | undefined;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  /** Somebody passed it on for another one. */
  readonly isForwarded: boolean;
}

export type ScrapeVerdict =
  { readonly ok: true } | { readonly ok: false; readonly status: 401 | 403; readonly message: string };

const NOBODY =
  'Metrics are shown on this machine only, until ORRERY_METRICS_TOKEN_FILE names a file with the SHA-256 of a token.';
const NO_TOKEN = 'Metrics need their token: Authorization: Bearer <token>.';

/**
 * Metrics tell how much is done here, and by what: beyond this machine they need a token. A request through a proxy, or for a name
 * that is not one of this machine for itself (a browser whose name server lies), comes from elsewhere, whatever its address says.
 */
export class MetricsAccess {
  readonly #tokenHash: string | undefined;

  /** The SHA-256 of the token in hex; undefined: there is none. */
  constructor(tokenHash: string | undefined) {
    this.#tokenHash = tokenHash;
  }

  judge(scrape: Scrape): ScrapeVerdict {
    const token = bearerToken(scrape.authorization);
    if (token !== undefined && this.#tokenHash !== undefined && isTokenOf(token, this.#tokenHash)) return { ok: true };
    if (isLocal(scrape)) return { ok: true };
    if (this.#tokenHash === undefined) return { ok: false, status: 403, message: NOBODY };
    return { ok: false, status: 401, message: NO_TOKEN };
  }
}

function isLocal({ address, host = '', isForwarded }: Scrape): boolean {
  if (isForwarded || address === undefined || !isLoopback(address)) return false;
  return isLoopback(host.replace(/:\d{1,5}$/u, ''));
}
