import { Inject } from '@nestjs/common';
import type { QueryAnswer, QueryName, QueryRequest } from '#libs/messaging';
import { Answers, By, TakesMessages, TheQuery } from '#libs/platform';
import type { Asker } from '#libs/messaging';
import { AttentionHandler, AttentionLooks, AttentionReader } from '../attention/index.js';
import { inOneMessage } from './in-one-message.js';

const ENTRIES_DEFAULT = 100;

type Question<N extends QueryName<'logging'>> = QueryRequest<'logging', N>;
type Answer<N extends QueryName<'logging'>> = Promise<QueryAnswer<'logging', N>>;

/** What needs somebody, and the word of a person about it. */
@TakesMessages()
export class AttentionQueries {
  readonly #handler: AttentionHandler;
  readonly #reader: AttentionReader;
  readonly #looks: AttentionLooks;

  constructor(
    @Inject(AttentionHandler) handler: AttentionHandler,
    @Inject(AttentionReader) reader: AttentionReader,
    @Inject(AttentionLooks) looks: AttentionLooks,
  ) {
    this.#handler = handler;
    this.#reader = reader;
    this.#looks = looks;
  }

  @Answers('logging', 'attention')
  async list(@TheQuery() { limit = ENTRIES_DEFAULT, ...wanted }: Question<'attention'>): Answer<'attention'> {
    const unseen = [...(await this.#looks.fresh())];
    const [counts, matching, found] = await Promise.all([
      this.#reader.counts(),
      this.#reader.counts(wanted),
      this.#reader.list({ ...wanted, limit }),
    ]);
    const more = found.length > limit ? { more: true as const } : {};
    return inOneMessage({ ...counts, matching, entries: found.slice(0, limit), ...more, unseen });
  }

  @Answers('logging', 'attention-take')
  take(@TheQuery() { id, attentionId }: Question<'attention-take'>, @By() asker: Asker): Answer<'attention-take'> {
    return this.#handler.say({ kind: 'take' }, { ...asker, id, attentionId });
  }

  @Answers('logging', 'attention-settle')
  settle(
    @TheQuery() { id, attentionId, reason }: Question<'attention-settle'>,
    @By() asker: Asker,
  ): Answer<'attention-settle'> {
    return this.#handler.say({ kind: 'settle', reason }, { ...asker, id, attentionId });
  }
}
