import { Inject } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { Roster } from '#libs/actors';
import { refused, storedPage, type QueryAnswer, type QueryRequest, type StoredPage } from '#libs/messaging';
import { Answers, NATS, TakesMessages } from '#libs/platform';
import { STREAMS, subjects, type AccessEntry, type AccessPlace } from '#proto';
import { ActorsConsumer } from '../actors/index.js';
import { entriesOfActors, entryOfRecord, type OwnerOf } from './access-entries.js';
import { mergedPiles, type Pile } from './merge-pages.js';

type Question = QueryRequest<'registry', 'access'>;

/** Who looked at what, for who may ask that: no key but the registry's reads the records. */
@TakesMessages()
export class AccessQueries {
  readonly #nc: NatsConnection;
  readonly #consumer: ActorsConsumer;
  readonly #ownerOf: OwnerOf;

  constructor(
    @Inject(NATS) nc: NatsConnection,
    @Inject(Roster) roster: Roster,
    @Inject(ActorsConsumer) consumer: ActorsConsumer,
  ) {
    this.#nc = nc;
    this.#consumer = consumer;
    this.#ownerOf = (key) => roster.ownerOfKey(key)?.actor;
  }

  @Answers('registry', 'access')
  async access(request: Question): Promise<QueryAnswer<'registry', 'access'>> {
    // Whose the keys are that another replica was told of.
    await this.#consumer.reached(await this.#consumer.newest().catch(() => 0));
    const { since, after = {} } = request;
    const start = since === undefined ? 0 : new Date(since);
    const records = await this.#pile('ACCESS', subjects.anyAccess, after.access ?? start);
    const changes = await this.#pile('ACTORS', subjects.anyActor, after.actors ?? start);
    const { inOrder, more } = mergedPiles(changes, records);
    const reached: AccessPlace = { ...after };
    const entries = inOrder.flatMap(([from, message]): AccessEntry[] => {
      reached[from === 'one' ? 'actors' : 'access'] = message.seq;
      return from === 'one' ? entriesOfActors(message) : [entryOfRecord(message, this.#ownerOf)];
    });
    return { entries: entries.filter((entry) => isWanted(entry, request)), after: reached, more };
  }

  async #pile(
    stream: 'ACCESS' | 'ACTORS',
    filter: string,
    after: number | Date,
  ): Promise<Pile<StoredPage['messages'][number]>> {
    const page = await storedPage(this.#nc, { stream: STREAMS[stream].name, filter, after });
    if (page.failure !== undefined) throw refused('TRY_AGAIN', `The stream ${stream} cannot be read now.`);
    return { messages: page.messages, more: page.pending > 0 };
  }
}

function isWanted({ actor, runId, what }: AccessEntry, request: Question): boolean {
  return (
    (request.of === undefined || actor?.id === request.of) &&
    (request.runId === undefined || runId === request.runId) &&
    (request.what === undefined || what === request.what)
  );
}
