import { z } from 'zod';
import type { LinkFact } from '#libs/aip';
import { Instant } from '#proto';

/** How a client is doing, by its own words. */
export const ClientStatus = z.strictObject({
  pid: z.int(),
  release: z.string(),
  /** Null before it has joined. */
  deviceId: z.string().nullable(),
  connected: z.boolean(),
  /** The server it is connected to, or tries. */
  server: z.string().nullable(),
  /** Of the connection, or of the last one's end. */
  since: Instant,
  /** Why there is no connection; null where there is one, or nothing was tried yet. */
  reason: z.string().nullable(),
  wall: z.string(),
  commands: z.array(
    z.strictObject({ id: z.string(), tool: z.string(), run: z.string(), task: z.string(), state: z.string() }),
  ),
});
export type ClientStatus = z.infer<typeof ClientStatus>;

interface About {
  readonly pid: number;
  readonly release: string;
  readonly wall: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Keeps what the client was told about its connection last. */
export class StatusBoard {
  readonly #about: About;
  #link: Pick<ClientStatus, 'connected' | 'server' | 'since' | 'reason'>;
  /** Commands that are not over; set by who has them. */
  commands: () => ClientStatus['commands'] = () => [];

  constructor(about: About) {
    this.#about = about;
    this.#link = { connected: false, server: null, since: this.#now(), reason: null };
  }

  /** Others than these say nothing new of the connection. */
  note(fact: LinkFact): void {
    if (fact.fact === 'registered') {
      this.#link = { connected: true, server: fact.address, since: this.#now(), reason: null };
    } else if (fact.fact === 'not-connected' || fact.fact === 'disconnected') {
      const { address, reason } = fact;
      const since = this.#link.connected ? this.#now() : this.#link.since;
      this.#link = { connected: false, server: address, since, reason };
    }
  }

  status(deviceId: string | null): ClientStatus {
    const { pid, release, wall } = this.#about;
    return { pid, release, deviceId, ...this.#link, wall, commands: this.commands() };
  }

  #now(): string {
    return new Date(this.#about.now()).toISOString();
  }
}
