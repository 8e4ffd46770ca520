import { Inject } from '@nestjs/common';
import { mayDo, type ActorId } from '#proto';
import { entryOf, Roster, type ActorOrder, type ActorState } from '#libs/actors';
import {
  Actors,
  permittedSender,
  refused,
  type QueryAnswer,
  type QueryName,
  type QueryRequest,
  type Sender,
} from '#libs/messaging';
import { Answers, CLOCK, TakesMessages, type Clock } from '#libs/platform';
import { ActorsConsumer, ActorsHandler, ActorsProjector, FeedDurables, type ActorCommand } from '../actors/index.js';
import { isInTime, SHOWN_MS_MAX } from './in-time.runner.js';

type Request<N extends QueryName<'registry'>> = QueryRequest<'registry', N>;
type Answer<N extends QueryName<'registry'>> = Promise<QueryAnswer<'registry', N>>;
/** The queries that change somebody. */
type Command = Extract<QueryName<'registry'>, `people-${string}` | `token-${string}` | `content-${string}`>;

/** People, systems, their roles, keys, tokens and logins, as an administrator asks for them and orders them. */
@TakesMessages()
export class PeopleQueries {
  readonly #ports: PeoplePorts;
  readonly #feed: FeedDurables;

  constructor(
    @Inject(ActorsHandler) handler: ActorsHandler,
    @Inject(Roster) roster: Roster,
    @Inject(ActorsConsumer) consumer: ActorsConsumer,
    @Inject(ActorsProjector) projector: ActorsProjector,
    @Inject(FeedDurables) feed: FeedDurables,
    @Inject(Actors) actors: Actors,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#ports = { handler, roster, consumer, projector, actors, clock };
    this.#feed = feed;
  }

  @Answers('registry', 'people')
  async people(request: Request<'people'>): Answer<'people'> {
    askerOf('people', request, this.#ports);
    await seen(this.#ports);
    return { people: this.#ports.roster.all().map(listedActor).toSorted(byActorId) };
  }

  @Answers('registry', 'people-add')
  add(request: Request<'people-add'>): Answer<'people-add'> {
    const { actorId, kind: as, roles, namespace = actorId } = request;
    return carriedOut('people-add', { kind: 'add', actorId, as, roles, namespace }, request, this.#ports);
  }

  @Answers('registry', 'people-role')
  role(request: Request<'people-role'>): Answer<'people-role'> {
    const { actorId, give = [], take = [] } = request;
    return carriedOut('people-role', { kind: 'role', actorId, give, take }, request, this.#ports);
  }

  @Answers('registry', 'people-limits')
  limits(request: Request<'people-limits'>): Answer<'people-limits'> {
    const { actorId, given } = request;
    return this.#followed(
      actorId,
      carriedOut('people-limits', { kind: 'limits', actorId, given }, request, this.#ports),
    );
  }

  @Answers('registry', 'people-revoke')
  revoke(request: Request<'people-revoke'>): Answer<'people-revoke'> {
    const { actorId, reason = '' } = request;
    return this.#followed(
      actorId,
      carriedOut('people-revoke', { kind: 'revoke', actorId, reason }, request, this.#ports),
    );
  }

  @Answers('registry', 'people-key')
  key(request: Request<'people-key'>): Answer<'people-key'> {
    const { actorId, change, key, reason = '' } = request;
    const order: ActorOrder =
      change === 'add' ? { kind: 'add-key', actorId, key } : { kind: 'revoke-key', actorId, key, reason };
    return this.#followed(actorId, carriedOut('people-key', order, request, this.#ports));
  }

  @Answers('registry', 'people-login')
  login(request: Request<'people-login'>): Answer<'people-login'> {
    const { actorId, change, issuer, subject } = request;
    const kind = change === 'bind' ? 'bind-login' : 'unbind-login';
    return carriedOut('people-login', { kind, actorId, login: { issuer, subject } }, request, this.#ports);
  }

  /** Who may see those of all gets those he asks for; everybody else his own. */
  @Answers('registry', 'tokens')
  async tokens(request: Request<'tokens'>): Answer<'tokens'> {
    const isOwn = ({ actor }: Sender): boolean => request.actorId === undefined || request.actorId === actor.id;
    const { actor, roles } = askerOf('tokens', request, this.#ports, isOwn);
    await seen(this.#ports);
    const of = mayDo(roles, 'registry.tokens') ? request.actorId : actor.id;
    const owners = this.#ports.roster.all().filter((state) => of === undefined || state.actor.id === of);
    return { tokens: owners.toSorted(byActorId).flatMap(listedTokens) };
  }

  @Answers('registry', 'token-issue')
  issue(request: Request<'token-issue'>): Answer<'token-issue'> {
    const { actorId, tokenId, tokenHash, scopes, label, expiresAt } = request;
    const token = { tokenId, tokenHash, scopes, label, expiresAt };
    return carriedOut('token-issue', { kind: 'issue-token', actorId, token }, request, this.#ports);
  }

  @Answers('registry', 'token-revoke')
  async revokeToken(request: Request<'token-revoke'>): Answer<'token-revoke'> {
    const { tokenId } = request;
    await seen(this.#ports);
    const actorId = this.#holderOf(tokenId);
    return carriedOut('token-revoke', { kind: 'revoke-token', actorId, tokenId }, request, this.#ports);
  }

  /** Only who may say in whose name it sends a command knows who came in with a token. */
  @Answers('registry', 'token-used')
  async tokenUsed(request: Request<'token-used'>): Answer<'token-used'> {
    const { handler, actors, clock } = this.#ports;
    const { tokenId } = request;
    const { actor: by, mayVouch } = permittedSender(actors, {
      service: 'registry',
      name: 'token-used',
      request,
      now: clock.now(),
      own: (sender) => sender.mayVouch,
    });
    if (!mayVouch) throw refused('UNAUTHORIZED', `${by.id} lets nobody in by a token.`);
    await seen(this.#ports);
    const order: ActorOrder = { kind: 'use-token', actorId: this.#holderOf(tokenId), tokenId };
    return { changed: await handler.order(order, { name: 'token-used', body: request, by }) };
  }

  /** Answered when who may follow FEED can, and nobody else. */
  async #followed(actorId: ActorId, changing: Promise<{ changed: boolean }>): Promise<{ changed: boolean }> {
    const answer = await changing;
    if (await isInTime(SHOWN_MS_MAX, this.#feed.follows(actorId))) return answer;
    throw refused('TRY_AGAIN', 'It is recorded, but its share of FEED is not made yet; send the same command again.');
  }

  #holderOf(tokenId: string): ActorId {
    const found = this.#ports.roster.tokenOf(tokenId);
    if (found !== undefined) return found.owner.actor.id;
    const issues = [{ path: 'tokenId', message: 'must be the id of a token; "orrery tokens list" shows them' }];
    throw refused('NOT_FOUND', `There is no token ${tokenId}.`, issues);
  }
}

export interface PeoplePorts {
  readonly handler: ActorsHandler;
  readonly roster: Roster;
  readonly consumer: ActorsConsumer;
  /** The bucket ACTORS. */
  readonly projector: ActorsProjector;
  readonly actors: Actors;
  readonly clock: Clock;
}

/** Who asks, and may. Throws QueryRefusedError. */
export function askerOf(
  name: QueryName<'registry'>,
  request: ActorCommand['body'],
  { actors, clock }: PeoplePorts,
  own: (sender: Sender) => boolean = () => false,
): Sender {
  return permittedSender(actors, { service: 'registry', name, request, now: clock.now(), own });
}

/** Answered when the bucket shows it: who is revoked is nobody for everybody from then on. */
export async function carriedOut(
  name: Command,
  order: ActorOrder,
  body: ActorCommand['body'],
  ports: PeoplePorts,
): Promise<{ changed: boolean }> {
  const { handler, projector } = ports;
  const own = ({ actor }: Sender): boolean => actor.id === order.actorId;
  const { actor: by } = askerOf(name, body, ports, own);
  const changed = await handler.order(order, { name, body, by });
  if (await isInTime(SHOWN_MS_MAX, projector.shows([order.actorId]))) return { changed };
  throw refused('TRY_AGAIN', 'It is recorded, but not everybody can see it yet; send the same command again.');
}

/** What another replica has recorded by now is in a list, too, as a rule. */
export async function seen({ consumer }: PeoplePorts): Promise<void> {
  await consumer.reached(await consumer.newest().catch(() => 0));
}

function listedActor(state: ActorState): QueryAnswer<'registry', 'people'>['people'][number] {
  const { tokens: _, ...entry } = entryOf(state);
  return { ...entry, addedAt: state.addedAt };
}

function listedTokens({ actor, tokens }: ActorState): QueryAnswer<'registry', 'tokens'>['tokens'] {
  return tokens.map((issued) => {
    const { tokenHash: _, ...token } = issued;
    return { ...token, actorId: actor.id };
  });
}

function byActorId(one: { readonly actor: { id: string } }, other: { readonly actor: { id: string } }): number {
  return one.actor.id < other.actor.id ? -1 : 1;
}
