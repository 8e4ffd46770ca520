import type { Logger } from 'pino';
import type { Clock } from '#libs/platform';
import { AIP_LIMITS, type DeviceId } from '#proto';
import type { RegistryPort } from './registry.client.js';

export interface RevocationsOptions {
  readonly registry: Pick<RegistryPort, 'revocations'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for each identity that lost credentials; it may have new ones by now. */
  readonly heard: (id: DeviceId) => void;
}

/** Longer than any handshake waits for the registry. */
const REMEMBERED_MS = 10_000;

/**
 * Asks the registry again and again who lost its credentials. Outages only delay it: the position in the log says where to
 * go on. The first answer gives the position and nothing else; nobody is let in before it, so nothing is missed.
 */
export class RevocationWatch {
  readonly #options: RevocationsOptions;
  /** When each was heard of, of those heard of just now; in that order. */
  readonly #recent = new Map<DeviceId, number>();
  #position: number | undefined;
  #asking: Promise<void> | undefined;
  #next: NodeJS.Timeout | undefined;
  #failing = false;
  #stopped = false;

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  begin(): void {
    void this.#ask();
  }

  end(): void {
    this.#stopped = true;
    clearTimeout(this.#next);
  }

  /** Resolves once the position is known. Throws while the registry does not tell it. */
  async positioned(): Promise<void> {
    if (this.#position !== undefined) return;
    await this.#ask();
    if (this.#position === undefined) throw new Error('the registry does not tell the revocations');
  }

  /** Whether `id` was heard of since somebody asked who it is: what he was told may be over. */
  heardSince(id: DeviceId, askedMs: number): boolean {
    const heardMs = this.#recent.get(id);
    return heardMs !== undefined && heardMs >= askedMs;
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = undefined;
      clearTimeout(this.#next);
      if (!this.#stopped) this.#next = setTimeout(() => void this.#ask(), AIP_LIMITS.revocationsEveryMs);
    });
    return this.#asking;
  }

  async #askOnce(): Promise<void> {
    const { registry, logger } = this.#options;
    try {
      const { sequence, revoked } = await registry.revocations(this.#position ?? 0);
      if (this.#stopped) return;
      if (this.#position !== undefined) revoked.forEach((id) => this.#hear(id));
      // Another replica may be a moment behind the one that answered last.
      this.#position = Math.max(this.#position ?? 0, sequence);
      if (this.#failing) logger.info('revocations are known again');
      this.#failing = false;
    } catch (error) {
      // Once for an outage; it is asked every second.
      if (!this.#failing) logger.warn({ err: error }, 'revocations are not known, and are asked for again');
      this.#failing = true;
    }
  }

  #hear(id: DeviceId): void {
    const { clock, logger, heard } = this.#options;
    const nowMs = clock.now();
    this.#recent.delete(id);
    this.#recent.set(id, nowMs);
    for (const [known, heardMs] of this.#recent) if (nowMs - heardMs > REMEMBERED_MS) this.#recent.delete(known);
    logger.info({ id }, 'credentials count no more');
    heard(id);
  }
}
