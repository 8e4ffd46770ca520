import type { Logger } from 'pino';
import { GRANTS_ID } from '#proto';
import { Loop, type Clock } from '#libs/platform';
import { DirtyKeys } from './dirty-keys.runner.js';
import type { FoldedLog } from './profiles.projector.js';
import { type FleetState, standing, type GrantRevocation } from '#libs/fleet';

interface RevokedGrantsOptions {
  readonly store: {
    /** Writes it if it is not there. */
    write(revocation: GrantRevocation): Promise<void>;
    list(): Promise<readonly number[]>;
  };
  readonly state: FleetState;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps REVOKED_GRANTS at what FLEET says: services that let somebody in by a grant read nothing but that. */
export class RevokedGrantsProjector extends Loop {
  readonly #options: RevokedGrantsOptions;
  readonly #grants: DirtyKeys;
  /** What is in the bucket for sure, of what still matters; undefined before the first look. */
  #shown: ReadonlySet<number> | undefined;

  constructor(options: RevokedGrantsOptions) {
    super();
    const { logger } = options;
    this.#options = options;
    this.#grants = new DirtyKeys({
      process: () => this.#project(),
      failed: (error, _, failures) =>
        logger[failures === 1 ? 'warn' : 'debug']({ reason: String(error), failures }, 'revoked grants: late'),
    });
  }

  following(log: FoldedLog): this {
    log.onChange((id) => {
      if (id === GRANTS_ID) this.changed();
    });
    return this;
  }

  changed(): void {
    this.#grants.mark(GRANTS_ID);
  }

  /** Resolves when the bucket says what the log said at this moment, or more; never when it is stopped. */
  shows(): Promise<void> {
    return this.#grants.done(GRANTS_ID);
  }

  /** Begins with everything that matters: the replica that recorded it may have died before it was shown. */
  run(signal: AbortSignal): Promise<void> {
    this.changed();
    return this.#grants.run(signal);
  }

  async #project(): Promise<void> {
    const { state, store, clock } = this.#options;
    const before = this.#shown ?? new Set(await store.list());
    const now = standing(state.grantRevocations(), clock.now());
    for (const revocation of now) if (!before.has(revocation.sequence)) await store.write(revocation);
    this.#shown = new Set(now.map(({ sequence }) => sequence));
  }
}
