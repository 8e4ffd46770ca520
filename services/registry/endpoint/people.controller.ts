import { Inject } from '@nestjs/common';
import { mayDo, type ActorId } from '#proto';
import { entryOf, Roster, type ActorOrder, type ActorState } from '#libs/actors';
import { refused, unlessOwn, type Asker, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import { Answers, By, TakesMessages, TheQuery } from '#libs/platform';
import { ActorsConsumer, ActorsHandler, ActorsProjector, FeedDurables } from '../actors/index.js';
import { isInTime, SHOWN_MS_MAX } from './in-time.runner.js';

type Question<N extends QueryName<'registry'>> = QueryRequest<'registry', N>;
type Answer<N extends QueryName<'registry'>> = Promise<QueryAnswer<'registry', N>>;

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
  ) {
    this.#ports = { handler, roster, consumer, projector };
    this.#feed = feed;
  }

  @Answers('registry', 'people')
  async people(): Answer<'people'> {
    await seen(this.#ports);
    return { people: this.#ports.roster.all().map(listedActor).toSorted(byActorId) };
  }

  @Answers('registry', 'people-add')
  add(@TheQuery() request: Question<'people-add'>, @By() asker: Asker): Answer<'people-add'> {
    const { actorId, kind: as, roles, namespace = actorId } = request;
    return carriedOut({ kind: 'add', actorId, as, roles, namespace }, request, { ...this.#ports, asker });
  }

  @Answers('registry', 'people-role')
  role(@TheQuery() request: Question<'people-role'>, @By() asker: Asker): Answer<'people-role'> {
    const { actorId, give = [], take = [] } = request;
    return carriedOut({ kind: 'role', actorId, give, take }, request, { ...this.#ports, asker });
  }

  @Answers('registry', 'people-limits')
  limits(@TheQuery() request: Question<'people-limits'>, @By() asker: Asker): Answer<'people-limits'> {
    const { actorId, given } = request;
    const order: ActorOrder = { kind: 'limits', actorId, given };
    return this.#followed(actorId, carriedOut(order, request, { ...this.#ports, asker }));
  }

  @Answers('registry', 'people-revoke')
  revoke(@TheQuery() request: Question<'people-revoke'>, @By() asker: Asker): Answer<'people-revoke'> {
    const { actorId, reason = '' } = request;
    const order: ActorOrder = { kind: 'revoke', actorId, reason };
    return this.#followed(actorId, carriedOut(order, request, { ...this.#ports, asker }));
  }

  @Answers('registry', 'people-key')
  key(@TheQuery() request: Question<'people-key'>, @By() asker: Asker): Answer<'people-key'> {
    const { actorId, change, key, reason = '' } = request;
    const order: ActorOrder =
      change === 'add' ? { kind: 'add-key', actorId, key } : { kind: 'revoke-key', actorId, key, reason };
    return this.#followed(actorId, carriedOut(order, request, { ...this.#ports, asker }));
  }

  @Answers('registry', 'people-login')
  login(@TheQuery() request: Question<'people-login'>, @By() asker: Asker): Answer<'people-login'> {
    const { actorId, change, issuer, subject } = request;
    const kind = change === 'bind' ? 'bind-login' : 'unbind-login';
    return carriedOut({ kind, actorId, login: { issuer, subject } }, request, { ...this.#ports, asker });
  }

  /** Who may see those of all gets those he asks for; everybody else his own. */
  @Answers('registry', 'tokens')
  async tokens(@TheQuery() { actorId }: Question<'tokens'>, @By() asker: Asker): Answer<'tokens'> {
    const { actor, roles } = asker;
    unlessOwn('registry.tokens', asker, actorId === undefined || actorId === actor.id);
    await seen(this.#ports);
    const of = mayDo(roles, 'registry.tokens') ? actorId : actor.id;
    const owners = this.#ports.roster.all().filter((state) => of === undefined || state.actor.id === of);
    return { tokens: owners.toSorted(byActorId).flatMap(listedTokens) };
  }

  @Answers('registry', 'token-issue')
  issue(@TheQuery() request: Question<'token-issue'>, @By() asker: Asker): Answer<'token-issue'> {
    const { actorId, tokenId, tokenHash, scopes, label, expiresAt } = request;
    const token = { tokenId, tokenHash, scopes, label, expiresAt };
    return carriedOut({ kind: 'issue-token', actorId, token }, request, { ...this.#ports, asker });
  }

  @Answers('registry', 'token-revoke')
  async revokeToken(@TheQuery() request: Question<'token-revoke'>, @By() asker: Asker): Answer<'token-revoke'> {
    const { tokenId } = request;
    await seen(this.#ports);
    const actorId = this.#holderOf(tokenId);
    unlessOwn('registry.token-revoke', asker, actorId === asker.actor.id);
    return carriedOut({ kind: 'revoke-token', actorId, tokenId }, request, { ...this.#ports, asker });
  }

  @Answers('registry', 'token-used')
  async tokenUsed(@TheQuery() { tokenId }: Question<'token-used'>, @By() asker: Asker): Answer<'token-used'> {
    await seen(this.#ports);
    const order: ActorOrder = { kind: 'use-token', actorId: this.#holderOf(tokenId), tokenId };
    return { changed: await this.#ports.handler.order(order, asker) };
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
}

/** Answered when the bucket shows it: who is revoked is nobody for everybody from then on. */
export async function carriedOut(
  order: ActorOrder,
  { id }: { readonly id: string },
  { asker, handler, projector }: PeoplePorts & { readonly asker: Asker },
): Promise<{ changed: boolean }> {
  const changed = await handler.order(order, asker, id);
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
