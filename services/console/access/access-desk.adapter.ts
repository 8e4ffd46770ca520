import type { IncomingMessage } from 'node:http';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { AccessNotStoredError, storeAccess } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { ActorId, LIMITS, subjects, type AccessRecord, type Login } from '#proto';
import type { ConsoleCaller } from '../callers/index.js';
import { RefusedError } from '../http/index.js';
import { OnceInAWhile } from './again.js';
import { RefusedLogins } from './refused-logins.js';

/** More than the browsers and programs of an installation read in an hour. */
const READINGS_KNOWN_MAX = 50_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const REFUSED_IN_A_ROW = 20;
const REFUSED_EVERY_MS = 60_000;
const NOBODY = '_';

/** Which part of what is recorded somebody reads. */
export type AccessReading = Pick<AccessRecord, 'what' | 'runId' | 'taskId' | 'artifact' | 'deviceId' | 'asked'>;

export interface AccessDeskParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes down who comes in and what he reads, before he sees it. */
export class AccessDesk {
  readonly #parts: AccessDeskParts;
  readonly #readings = new OnceInAWhile({ whileMs: LIMITS.accessAgainMs, keysMax: READINGS_KNOWN_MAX });
  /** Tokens: each once a day. */
  readonly #logins = new OnceInAWhile({ whileMs: DAY_MS, keysMax: READINGS_KNOWN_MAX });
  readonly #refused = new RefusedLogins({ inARowMax: REFUSED_IN_A_ROW, oneEveryMs: REFUSED_EVERY_MS });
  #telling: NodeJS.Timeout | undefined;

  constructor(parts: AccessDeskParts) {
    this.#parts = parts;
  }

  begin(): void {
    // What was refused last is told when there is room, also when nobody tries any more.
    this.#telling = setInterval(() => this.#tellRefused(this.#refused.told(this.#now), {}), REFUSED_EVERY_MS).unref();
  }

  end(): void {
    clearInterval(this.#telling);
  }

  /** Once an hour for the same login and the same reading. Throws RefusedError when it cannot be stored. */
  async reads(caller: ConsoleCaller, reading: AccessReading, peer: string | undefined): Promise<void> {
    const { what, runId, taskId, artifact, deviceId, asked } = reading;
    const about = [what, runId, taskId, artifact, deviceId, asked];
    const key = JSON.stringify([caller.actor.id, caller.issuer, caller.session, ...about]);
    await shown(this.#readings.do(key, this.#now, () => this.#store(caller, reading, peer)));
  }

  /** The first use of a token in a day. Throws RefusedError when it cannot be stored. */
  async uses(caller: ConsoleCaller, peer: string | undefined): Promise<void> {
    const key = JSON.stringify([caller.actor.id, caller.session]);
    await shown(this.#logins.do(key, this.#now, () => this.#store(caller, { what: 'LOGGED_IN' }, peer)));
  }

  /** A session that begins, or ends. Throws RefusedError when it cannot be stored. */
  async session(what: 'LOGGED_IN' | 'LOGGED_OUT', caller: ConsoleCaller, peer: string | undefined): Promise<void> {
    await shown(this.#store(caller, { what }, peer));
  }

  /** Nobody came in. Not waited for: who has no login must not hold anything up. */
  refused(peer: string | undefined, login?: Login): void {
    this.#tellRefused(this.#refused.take(this.#now), {
      ...(login === undefined ? {} : { login }),
      ...(peer === undefined ? {} : { peer }),
    });
  }

  get #now(): number {
    return this.#parts.clock.now();
  }

  #tellRefused(times: number, about: Pick<AccessRecord, 'login' | 'peer'>): void {
    if (times === 0) return;
    const { nc, logger } = this.#parts;
    const record = { what: 'LOGIN_REFUSED' as const, ...about, ...(times > 1 ? { times } : {}) };
    storeAccess(nc, subjects.accessAt('console', NOBODY), record).catch((err: unknown) =>
      logger.warn({ err, times }, 'refused logins could not be recorded'),
    );
  }

  #store(
    { actor, issuer, subject, session }: ConsoleCaller,
    about: AccessReading,
    peer: string | undefined,
  ): Promise<void> {
    const of = ActorId.safeParse(actor.id).data ?? NOBODY;
    return storeAccess(this.#parts.nc, subjects.accessAt('console', of), {
      actor,
      ...about,
      login: { issuer, subject, session },
      ...(peer === undefined ? {} : { peer }),
    });
  }
}

/** The other end of the connection, not what a header says of it: who asks writes that. */
export function peerOf({ socket }: IncomingMessage): string | undefined {
  return socket.remoteAddress;
}

async function shown(stored: Promise<void>): Promise<void> {
  try {
    await stored;
  } catch (error) {
    if (!(error instanceof AccessNotStoredError)) throw error;
    throw new RefusedError({ code: 'TRY_AGAIN', message: error.message });
  }
}
