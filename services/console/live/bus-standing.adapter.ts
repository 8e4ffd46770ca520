import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConnectionWatch } from '#libs/messaging';
import type { Channel } from './channel.js';

const LOOK_AGAIN_MS = 500;
const AWAY = 'The bus cannot be reached; what is shown may be old.';

/**
 * Tells a channel whether what it shows is how things are: live when it has come as far as the stream was when somebody looked, stale from
 * when the bus is away until it has come that far again.
 */
export class BusStanding {
  readonly #nc: NatsConnection;
  readonly #channel: Channel;
  /** The newest place of what is followed; rejects while nobody can tell. */
  readonly #newest: () => Promise<number>;
  #said: 'nothing' | 'live' | 'stale' = 'nothing';
  #wanted = Number.POSITIVE_INFINITY;
  #reached = 0;
  #looking = false;

  constructor(nc: NatsConnection, channel: Channel, newest: () => Promise<number>) {
    this.#nc = nc;
    this.#channel = channel;
    this.#newest = newest;
    const deafen = ConnectionWatch.of(nc).onBreak(() => void this.interrupted());
    channel.signal.addEventListener('abort', deafen, { once: true });
  }

  /** The first look: from here on this place is what has to be reached. */
  async begin(reached: number): Promise<void> {
    this.#reached = reached;
    await this.#look();
  }

  /** Everything up to this place has been told. */
  async reached(place: number): Promise<void> {
    this.#reached = Math.max(this.#reached, place);
    if (this.#said === 'live' || this.#looking || this.#reached < this.#wanted) return;
    this.#said = 'live';
    await this.#channel.say({ kind: 'live' });
  }

  /** What is followed could not be read, or the connection broke. */
  async interrupted(): Promise<void> {
    if (this.#channel.signal.aborted) return;
    if (this.#said !== 'stale') {
      this.#said = 'stale';
      void this.#channel.say({ kind: 'stale', reason: AWAY });
    }
    await this.#look();
  }

  /** Until somebody can tell how far it is to go. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const { signal } = this.#channel;
    while (!signal.aborted) {
      await ConnectionWatch.of(this.#nc).back(signal);
      try {
        this.#wanted = await this.#newest();
        break;
      } catch {
        if (this.#said !== 'stale') {
          this.#said = 'stale';
          void this.#channel.say({ kind: 'stale', reason: AWAY });
        }
        await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    this.#looking = false;
    await this.reached(this.#reached);
  }
}
