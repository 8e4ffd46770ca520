import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { ActorId, BUCKETS, type KnownActor, type Actor, type Instant } from '#proto';
import type { KnownBefore, Roster } from '#libs/actors';
import { builtInActor, readActorsFile, trustedBefore, type Actors, type Trusted } from '#libs/messaging';
import { untilItWorks } from '#libs/platform';
import { KvKnownActors } from './kv-known-actors.adapter.js';
import type { ActorsHandler } from './actors.handler.js';
import type { ActorsProjector } from './actors.projector.js';

const LOOK_MS = 20;

interface FirstActorsPorts {
  readonly nc: NatsConnection;
  /** Public keys and whom they stand for, as whoever made the keys has written it; undefined: nobody has. */
  readonly file: string | undefined;
  readonly roster: Roster;
  readonly handler: Pick<ActorsHandler, 'first'>;
  readonly projector: Pick<ActorsProjector, 'shows'>;
  /** What the bucket says, as queries are answered by it. */
  readonly actors: Pick<Actors, 'directory'>;
  readonly logger: Logger;
}

/**
 * Makes facts of what is known of people and systems before anybody ordered anything: the keys that were made with the installation, and
 * what version 0.1.0 had in the bucket. At each start, as often as you like; the service is ready when everybody is shown.
 */
export class FirstActors {
  readonly #ports: FirstActorsPorts;
  readonly #stopped = new AbortController();

  constructor(ports: FirstActorsPorts) {
    this.#ports = ports;
  }

  async begin(): Promise<void> {
    const { logger } = this.#ports;
    await untilItWorks(() => this.#makeFacts(), { what: BUCKETS.ACTORS.bucket, logger, signal: this.#stopped.signal });
  }

  end(): void {
    this.#stopped.abort();
  }

  async #makeFacts(): Promise<void> {
    const { nc, file, roster, handler, projector, actors, logger } = this.#ports;
    const bucket = new KvKnownActors(nc);
    const before = await bucket.read();
    const given = file === undefined ? new Map<string, Actor>() : await readActorsFile(file);
    for (const known of knownFirst(given, before)) await handler.first(known);
    const ids = roster.all().map(({ actor }) => actor.id);
    await projector.shows(ids);
    // Who is asked next has to know them, too.
    while (ids.some((id) => actors.directory.get(id) === undefined))
      await sleep(LOOK_MS, undefined, { signal: this.#stopped.signal });
    for (const key of before.keys()) {
      if (roster.ownerOfKey(key) === undefined)
        logger.warn({ key }, 'actors: a key whose owner cannot be taken over stays as it is');
      else await bucket.remove(key);
    }
  }
}

/** Those of the file, and since when the bucket has known them; then those that only the bucket knows. */
export function knownFirst(
  file: ReadonlyMap<string, Actor>,
  bucket: ReadonlyMap<string, KnownActor>,
): readonly KnownBefore[] {
  const made = [...file].flatMap(([key, { id }]) => {
    const trusted = builtInActor(id);
    return trusted === undefined ? [] : first(trusted, key, bucket.get(key)?.since);
  });
  const left = [...bucket].flatMap(([key, { actor, since }]) =>
    file.has(key) ? [] : first(builtInActor(actor.id) ?? trustedBefore(actor), key, since),
  );
  return [...made, ...left];
}

/** Nothing for a name that no actor has. */
function first({ actor, ...trusted }: Trusted, key: string, since: Instant | undefined): KnownBefore[] {
  const id = ActorId.safeParse(actor.id);
  if (!id.success) return [];
  return [{ ...trusted, actor, key, ...(since === undefined ? {} : { since }) }];
}
