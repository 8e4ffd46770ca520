import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Clock } from '#libs/platform';
import type { Identity } from '#proto';
import type { PresenceBook } from '../devices/index.js';
import {
  networkOf,
  readHandshake,
  type Handshake,
  type RegistryPort,
  type RevocationWatch,
} from '../identity/index.js';
import type { Connections } from './connections.js';
import type { Contention } from './contention.js';
import { Turnstile } from './turnstile.js';

/** Who was let in, and as what. */
export interface Admitted {
  readonly identity: Identity;
  readonly bearer: string;
  /** A client of another system. */
  readonly foreign: boolean;
}

export interface AdmissionParts {
  readonly origins: readonly string[];
  readonly connectionsMax: number;
  readonly registry: RegistryPort;
  readonly revocations: RevocationWatch;
  readonly connections: Connections;
  readonly contention: Contention;
  readonly book: PresenceBook;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sockets of nobody yet. */
export const UNPROVEN_MAX = 16_384;
/** Handshakes that wait for the registry at the same time; the others wait for their turn. */
const HANDSHAKES_MAX = 500;
/** Sockets of one identity that have not registered: a reconnecting client needs two, a broken one gets no more. */
const UNREGISTERED_MAX = 4;
/** A client that sends tasks has a connection for each of its devices, and may open them all at once. */
const UNREGISTERED_CLIENTS_MAX = 64;
/** Connections of one constellation client, one per device it works with: it leaves room for the devices. */
const CLIENT_CONNECTIONS_MAX = 1_024;
/** Credentials that change while it is asked whose they are. */
const IDENTIFY_TRIES_MAX = 3;

/** Decides who gets a WebSocket. */
export class Admission {
  readonly #parts: AdmissionParts;
  readonly #turnstile = new Turnstile({ atOnce: HANDSHAKES_MAX, waitingMax: UNPROVEN_MAX });

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** Who comes, or the HTTP status that says why he does not come in. */
  async admit(request: IncomingMessage): Promise<Admitted | number> {
    if (this.#isFull) return 503;
    const handshake = readHandshake(request, this.#parts.origins);
    if (handshake.kind === 'refused') return handshake.status;
    if (!(await this.#turnstile.enter(networkOf(request.socket.remoteAddress ?? '')))) return 503;
    try {
      // He may have left while he waited.
      return request.socket.destroyed ? 503 : await this.#identify(handshake);
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'nobody could say whose token this is');
      return 503;
    } finally {
      this.#turnstile.leave();
    }
  }

  /** The status for who is known and yet not let in. */
  noRoomFor({ id, role }: Identity): number | undefined {
    if (this.#isFull) return 503;
    const siblings = this.#parts.connections.of(id);
    if (role === 'constellation' && siblings.length >= CLIENT_CONNECTIONS_MAX) return 429;
    const most = role === 'device' ? UNREGISTERED_MAX : UNREGISTERED_CLIENTS_MAX;
    return siblings.filter(({ isRegistered }) => !isRegistered).length >= most ? 429 : undefined;
  }

  /** Who it is now: what was said before somebody lost credentials may be about those. */
  async holderOf(bearer: string): Promise<Identity | null> {
    const { registry, revocations, clock } = this.#parts;
    for (let tries = 1; tries <= IDENTIFY_TRIES_MAX; tries++) {
      const askedMs = clock.now();
      const identity = await registry.identify(bearer);
      if (identity === null || !revocations.heardSince(identity.id, askedMs)) return identity;
    }
    return null;
  }

  async #identify({ bearer, foreign }: Extract<Handshake, { kind: 'bearer' }>): Promise<Admitted | number> {
    await this.#parts.revocations.positioned();
    const identity = await this.holderOf(bearer);
    if (identity === null) return 401;
    return (await this.#isContended(identity)) ? 429 : { identity, bearer, foreign };
  }

  /** Of several clients that take a device from each other the one that has it keeps it; when it leaves, anybody may come. */
  async #isContended({ id, role }: Identity): Promise<boolean> {
    const { clock, book, connections, contention } = this.#parts;
    if (role !== 'device' || !contention.isRefused(id, clock.now())) return false;
    return connections.of(id).some(({ isRegistered }) => isRegistered) || (await book.isHeld(id));
  }

  get #isFull(): boolean {
    return this.#parts.connections.size >= this.#parts.connectionsMax;
  }
}
