import type { Logger } from 'pino';
import type { AttentionAbout, AttentionCommit, AttentionEvent, AttentionId, AttentionWord } from '#proto';
import {
  decideBefore,
  decideWord,
  evolveWords,
  type OrderedWord,
  type WordDecision,
  type WordOrder,
  type WordRefusal,
  type Words,
} from '#libs/attention';
import { Aggregates, unchanged, type AttentionLog } from '#libs/event-log';
import { refused, type Asker } from '#libs/messaging';
import type { Clock } from '#libs/platform';

interface AttentionPorts {
  readonly log: AttentionLog;
  /** The entry as it stands now; undefined when nothing needs anybody under this id. Throws QueryRefusedError while nobody can say. */
  readonly find: (attentionId: AttentionId) => Promise<AttentionAbout | undefined>;
  readonly clock: Clock;
  readonly instance: string;
  readonly logger: Logger;
}

/** Who says it, and under which id. */
export interface SaidAbout extends Pick<Asker, 'actor' | 'proof'> {
  readonly id: string;
  readonly attentionId: AttentionId;
}

/** The only writer of ATTENTION. An entry is a chain of its own, and nothing of it is kept here: every replica reads what was said from the log. */
export class AttentionHandler {
  readonly #ports: AttentionPorts;
  readonly #chains: Aggregates<AttentionId, AttentionCommit, AttentionEvent, Words | undefined>;

  constructor(ports: AttentionPorts) {
    const { log, clock, instance } = ports;
    this.#ports = ports;
    this.#chains = new Aggregates(
      {
        name: (attentionId) => `ATTENTION of ${attentionId}`,
        ownerOf: (attentionId) => ({ attentionId }),
        nothing: (): Words | undefined => undefined,
        follow: (words, stored) =>
          stored.reduce<Words | undefined>((before, { commit }) => evolveWords(before, commit), words),
      },
      { log, clock, by: { service: 'logging', instance } },
    );
  }

  /**
   * Records a word about an entry; the same command again is answered as before, whoever is asked. Throws QueryRefusedError with what is
   * wrong, ContendedError, AppendError, LoadError.
   */
  async say(order: WordOrder, { actor: by, proof, id, attentionId }: SaidAbout): Promise<AttentionWord> {
    const { clock, logger } = this.#ports;
    const causes = [{ kind: 'request' as const, id, proof }];
    const { value, after, stored } = await this.#chains.change<WordDecision>(attentionId, async (words) => {
      const ordered = { id, by, proof, now: clock.now() };
      const decision = await this.#decide(words, order, { ...ordered, attentionId });
      return decision.kind === 'accepted' ? { value: decision, events: decision.events, causes } : unchanged(decision);
    });
    if (value.kind === 'rejected') throw refusalOf(value.reason, attentionId, after.state);
    if (value.kind === 'answered') return value.word;
    if (stored) logger.info({ attentionId, types: value.events.map(({ type }) => type), by: by.id }, 'fact');
    if (after.state === undefined) throw new Error(`nothing is known of ${attentionId} after it was recorded`);
    return after.state.word;
  }

  async #decide(
    words: Words | undefined,
    order: WordOrder,
    { attentionId, ...ordered }: OrderedWord & { readonly attentionId: AttentionId },
  ): Promise<WordDecision> {
    const before = decideBefore(words, order, ordered);
    return before ?? decideWord(await this.#ports.find(attentionId), order, ordered);
  }
}

function refusalOf(reason: WordRefusal, attentionId: AttentionId, words: Words | undefined): Error {
  switch (reason) {
    case 'GONE':
      return refused(
        'NOT_FOUND',
        `Nothing needs anybody under ${attentionId}: it has ended by itself, or never was; "orrery attention" shows what there is.`,
      );
    case 'ID_USED':
      return refused('INVALID_REQUEST', 'The command is not carried out.', [
        { path: 'id', message: 'must be new: another command had this id' },
      ]);
    case 'SETTLED': {
      const { by, at } = words?.word ?? {};
      return refused(
        'INVALID_STATE',
        `${attentionId} was settled by ${by?.id} at ${at}; what happens anew is another entry.`,
      );
    }
    case 'TOO_MANY':
      return refused('INVALID_STATE', `Too much was said about ${attentionId}; it can only be settled.`);
    default:
      return reason satisfies never;
  }
}
