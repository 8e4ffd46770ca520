import type { Logger } from 'pino';
import { Loop, untilItWorks } from '#libs/platform';

/** A loop that goes on from what is stored, over every outage, and looks again when it has come to an end. */
export abstract class Follower extends Loop {
  readonly #what: string;
  readonly #logger: Logger;
  #failure: string | undefined;

  /** `what`: its name in the log. */
  constructor(what: string, logger: Logger) {
    super();
    this.#what = what;
    this.#logger = logger;
  }

  /** Throws while it cannot go on. */
  async check(): Promise<void> {
    if (this.#failure !== undefined) throw new Error(this.#failure);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await untilItWorks(() => this.#noting(), { what: this.#what, logger: this.#logger, signal });
      if (!signal.aborted) await this.pause(signal);
    }
  }

  /** Returns when there is nothing to do but to look again, or when aborted; throws for what may work later. */
  protected abstract follow(signal: AbortSignal): Promise<void>;

  /** Before it looks again. */
  protected abstract pause(signal: AbortSignal): Promise<void>;

  /** What was wrong is over. */
  protected goesOn(): void {
    this.#failure = undefined;
  }

  async #noting(): Promise<void> {
    try {
      await this.follow(this.signal);
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }
}
