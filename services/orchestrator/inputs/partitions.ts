import { partitionOf, type RunId } from '#proto';

/** Where what this replica owns comes in. */
interface Inlets {
  serve(partitions: ReadonlySet<number>): Promise<void>;
}

/** The partitions that this replica owns. */
export class Partitions {
  readonly #inlets: Inlets;
  #owned: ReadonlySet<number> = new Set();
  #lost: () => void = () => undefined;

  constructor(inlets: Inlets) {
    this.#inlets = inlets;
  }

  owns(runId: RunId): boolean {
    return this.#owned.has(partitionOf(runId));
  }

  /** Called when some are given up, before anything else. */
  onLoss(listener: () => void): void {
    this.#lost = listener;
  }

  /**
   * Serves these from now on, and gives up all others. The runs of what is given up are forgotten first: should it come back
   * soon, they are loaded as the one in between has left them.
   */
  async serve(partitions: ReadonlySet<number>): Promise<void> {
    const isLoss = [...this.#owned].some((partition) => !partitions.has(partition));
    this.#owned = partitions;
    if (isLoss) this.#lost();
    await this.#inlets.serve(partitions);
  }

  /** Gives up all. */
  end(): Promise<void> {
    return this.serve(new Set());
  }
}
