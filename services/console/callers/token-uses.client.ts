import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { query } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { LIMITS } from '#proto';
import type { ConsoleCaller } from './caller.js';
import { tokenIdOf } from './known-logins.js';

export interface TokenUsesParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the console's bus key; without it nothing is told. */
  readonly seed: string | undefined;
}

/** Tells the registry which tokens are in use: of each at most so often as it notes it. Nobody waits for it. */
export class TokenUses {
  readonly #parts: TokenUsesParts;
  readonly #toldAt = new Map<string, number>();

  constructor(parts: TokenUsesParts) {
    this.#parts = parts;
  }

  used(caller: ConsoleCaller): void {
    const now = this.#parts.clock.now();
    const tokenId = tokenIdOf(caller);
    const { seed } = this.#parts;
    if (tokenId === undefined || seed === undefined) return;
    if (now - (this.#toldAt.get(tokenId) ?? Number.NEGATIVE_INFINITY) < LIMITS.tokenUseMs) return;
    this.#toldAt.set(tokenId, now);
    const { nc, clock, logger } = this.#parts;
    query(nc, 'registry', 'token-used', { tokenId }, { signer: { seed, now: () => clock.now() } }).catch(
      (err: unknown) => logger.warn({ err, tokenId }, 'the use of a token could not be told'),
    );
  }
}
