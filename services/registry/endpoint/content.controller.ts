import { Inject } from '@nestjs/common';
import { isStanding, Roster, type ActorState, type GivenApproval } from '#libs/actors';
import { Actors, refused, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import { Answers, CLOCK, TakesMessages, type Clock } from '#libs/platform';
import { ActorsConsumer, ActorsHandler, ActorsProjector } from '../actors/index.js';
import { carriedOut, seen, askerOf, type PeoplePorts } from './people.controller.js';

type Request<N extends QueryName<'registry'>> = QueryRequest<'registry', N>;
type Answer<N extends QueryName<'registry'>> = Promise<QueryAnswer<'registry', N>>;
type Listed = QueryAnswer<'registry', 'content-approvals'>['approvals'][number];

/** Standing approvals: what persons have approved once, for every run of the same content. */
@TakesMessages()
export class ContentQueries {
  readonly #ports: PeoplePorts;

  constructor(
    @Inject(ActorsHandler) handler: ActorsHandler,
    @Inject(Roster) roster: Roster,
    @Inject(ActorsConsumer) consumer: ActorsConsumer,
    @Inject(ActorsProjector) projector: ActorsProjector,
    @Inject(Actors) actors: Actors,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#ports = { handler, roster, consumer, projector, actors, clock };
  }

  /** Everybody approves for himself: in the log of who signs it. */
  @Answers('registry', 'content-approve')
  approve(request: Request<'content-approve'>): Answer<'content-approve'> {
    const { id: approvalId, contentHash, about, expiresAt } = request;
    const { actor } = askerOf('content-approve', request, this.#ports);
    const approval = { approvalId, contentHash, about, expiresAt };
    return carriedOut(
      'content-approve',
      { kind: 'approve-content', actorId: actor.id, approval },
      request,
      this.#ports,
    );
  }

  @Answers('registry', 'content-revoke')
  async revoke(request: Request<'content-revoke'>): Answer<'content-revoke'> {
    const { approvalId, reason = '' } = request;
    await seen(this.#ports);
    const giver = this.#ports.roster
      .all()
      .find(({ approvals }) => approvals.some((one) => one.approvalId === approvalId));
    if (giver === undefined) {
      const message = 'must be the id of a standing approval; "orrery runbooks approvals" shows them';
      throw refused('NOT_FOUND', `There is no standing approval ${approvalId}.`, [{ path: 'approvalId', message }]);
    }
    const order = { kind: 'revoke-content', actorId: giver.actor.id, approvalId, reason } as const;
    return carriedOut('content-revoke', order, request, this.#ports);
  }

  @Answers('registry', 'content-approvals')
  async approvals(request: Request<'content-approvals'>): Answer<'content-approvals'> {
    askerOf('content-approvals', request, this.#ports);
    await seen(this.#ports);
    const now = this.#ports.clock.now();
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
