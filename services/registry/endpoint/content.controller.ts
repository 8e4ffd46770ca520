import { Inject } from '@nestjs/common';
import { isStanding, Roster, type ActorState, type GivenApproval } from '#libs/actors';
import { refused, unlessOwn, type Asker, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import { Answers, By, CLOCK, TakesMessages, TheQuery, type Clock } from '#libs/platform';
import { ActorsConsumer, ActorsHandler, ActorsProjector } from '../actors/index.js';
import { carriedOut, seen, type PeoplePorts } from './people.controller.js';

type Question<N extends QueryName<'registry'>> = QueryRequest<'registry', N>;
type Answer<N extends QueryName<'registry'>> = Promise<QueryAnswer<'registry', N>>;
type Listed = QueryAnswer<'registry', 'content-approvals'>['approvals'][number];

/** Standing approvals: what persons have approved once, for every run of the same content. */
@TakesMessages()
export class ContentQueries {
  readonly #ports: PeoplePorts;
  readonly #clock: Clock;

  constructor(
    @Inject(ActorsHandler) handler: ActorsHandler,
    @Inject(Roster) roster: Roster,
    @Inject(ActorsConsumer) consumer: ActorsConsumer,
    @Inject(ActorsProjector) projector: ActorsProjector,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#ports = { handler, roster, consumer, projector };
    this.#clock = clock;
  }

  /** Everybody approves for himself: in the log of who signs it. */
  @Answers('registry', 'content-approve')
  approve(@TheQuery() request: Question<'content-approve'>, @By() asker: Asker): Answer<'content-approve'> {
    const { id: approvalId, contentHash, about, expiresAt } = request;
    const approval = { approvalId, contentHash, about, expiresAt };
    const order = { kind: 'approve-content', actorId: asker.actor.id, approval } as const;
    return carriedOut(order, request, { ...this.#ports, asker });
  }

  @Answers('registry', 'content-revoke')
  async revoke(@TheQuery() request: Question<'content-revoke'>, @By() asker: Asker): Answer<'content-revoke'> {
    const { approvalId, reason = '' } = request;
    await seen(this.#ports);
    const giver = this.#ports.roster
      .all()
      .find(({ approvals }) => approvals.some((one) => one.approvalId === approvalId));
    if (giver === undefined) {
      const message = 'must be the id of a standing approval; "orrery runbooks approvals" shows them';
      throw refused('NOT_FOUND', `There is no standing approval ${approvalId}.`, [{ path: 'approvalId', message }]);
    }
    unlessOwn('registry.content-revoke', asker, giver.actor.id === asker.actor.id);
    const order = { kind: 'revoke-content', actorId: giver.actor.id, approvalId, reason } as const;
    return carriedOut(order, request, { ...this.#ports, asker });
  }

  @Answers('registry', 'content-approvals')
  async approvals(): Answer<'content-approvals'> {
    await seen(this.#ports);
    const now = this.#clock.now();
    const all = this.#ports.roster.all().flatMap((giver) => giver.approvals.map((one) => listed(giver, one, now)));
    return { approvals: all.toSorted((one, other) => (one.at < other.at ? 1 : -1)) };
  }
}

function listed(giver: ActorState, approval: GivenApproval, now: number): Listed {
  const { revokedAt, ...given } = approval;
  const mayApprove = giver.revokedAt === null && giver.roles.includes('approver');
  const living = mayApprove ? 'counts' : 'ended';
  const over = revokedAt === null ? 'expired' : 'revoked';
  return { ...given, by: giver.actor, state: isStanding(approval, now) ? living : over };
}
