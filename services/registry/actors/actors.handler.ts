import type { Logger } from 'pino';
import type { ActorCommit, ActorEvent, ActorId, Cause } from '#proto';
import {
  decideActor,
  decideFirst,
  type ActorDecision,
  type ActorOrder,
  type KnownBefore,
  type Roster,
} from '#libs/actors';
import {
  Aggregates,
  newCommitId,
  NO_COMMITS,
  unchanged,
  type ActorLog,
  type AggregateChange,
  type Loaded,
} from '#libs/event-log';
import { hashOfBody } from '#libs/keys';
import { QueryRefusedError, type Asker } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { ID_USED, refusalOfActor } from './actor-refusals.js';
import type { ActorsConsumer } from './actors.consumer.js';

interface ActorsPorts {
  readonly log: ActorLog;
  readonly roster: Roster;
  readonly consumer: Pick<ActorsConsumer, 'lastSequence' | 'reached' | 'position'>;
  readonly clock: Clock;
  readonly instance: string;
  readonly logger: Logger;
}

type Change = AggregateChange<ActorEvent, ActorDecision, ActorId>;

/** The only writer of ACTORS. What it decides of one actor depends on all: it has read everything before, and appends only if nothing came since. */
export class ActorsHandler {
  readonly #ports: ActorsPorts;
  readonly #chains: Aggregates<ActorId, ActorCommit, ActorEvent, Roster>;

  constructor(ports: ActorsPorts) {
    const { log, roster, clock, instance } = ports;
    this.#ports = ports;
    this.#chains = new Aggregates(
      {
        name: (actorId) => `ACTORS of ${actorId}`,
        ownerOf: (actorId) => ({ actorId }),
        nothing: () => roster,
        follow: (_, stored) => {
          for (const one of stored) roster.apply(one);
          return roster;
        },
      },
      { log, clock, by: { service: 'registry', instance } },
    );
  }

  /**
   * Carries an order out; the same command again changes nothing and is answered as before; `id` is that of the command, where it has one. True when something was changed, then or now.
   * Throws QueryRefusedError with what is wrong, ContendedError, AppendError.
   */
  async order(order: ActorOrder, { actor: by, proof }: Pick<Asker, 'actor' | 'proof'>, id?: string): Promise<boolean> {
    const { roster, clock } = this.#ports;
    const causes: Cause[] = [{ kind: 'request', id: id ?? newCommitId(clock.now()), proof }];
    const decision = await this.#change(order.actorId, causes, () => {
      const answered = id === undefined ? undefined : roster.answered(id);
      if (answered === undefined) return decideActor(roster, order, { by, now: clock.now() });
      if (hashOfCommand(answered.proof) !== hashOfCommand(proof)) throw new QueryRefusedError(ID_USED);
      return { kind: 'accepted', events: [] };
    });
    if (decision.kind === 'rejected') throw new QueryRefusedError(refusalOfActor(decision.reason, order));
    return decision.kind === 'accepted';
  }

  /** Makes a fact of what is known without an order; nothing when it is one. */
  async first(known: KnownBefore): Promise<void> {
    const { roster, clock } = this.#ports;
    await this.#change(known.actor.id, [], () => ({
      kind: 'accepted',
      events: decideFirst(roster, known, clock.now()),
    }));
  }

  async #change(actorId: ActorId, causes: readonly Cause[], decide: () => ActorDecision): Promise<ActorDecision> {
    const { roster, consumer, logger } = this.#ports;
    const known: Loaded<Roster> = { state: roster, end: roster.endOf(actorId) ?? NO_COMMITS };
    const { value, stored } = await this.#chains.change<ActorDecision>(
      actorId,
      (): Change => {
        const value = decide();
        if (value.kind !== 'accepted' || value.events.length === 0) return unchanged(value);
        return { value, events: value.events, causes, against: consumer.position };
      },
      { known, beside: () => this.#upToDate() },
    );
    if (stored && value.kind === 'accepted')
      logger.info({ actorId, types: value.events.map(({ type }) => type) }, 'fact');
    return value;
  }

  async #upToDate(): Promise<void> {
    const { consumer } = this.#ports;
    if (await consumer.reached(await consumer.lastSequence())) return;
    const message = 'The registry has not read everything yet; ask again.';
    throw new QueryRefusedError({ code: 'TRY_AGAIN', message, issues: [] });
  }
}

function hashOfCommand(proof: Cause['proof']): string | undefined {
  return proof?.body === undefined ? proof?.bodyHash : hashOfBody(proof.body);
}
