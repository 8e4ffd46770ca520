// Who had which key, login and token at what time, as the log of the actors says it: what a proof is held against.
import {
  ActorCommit,
  subjects,
  type Actor,
  type ActorEvent,
  type Instant,
  type KeptProof,
  type Role,
  type Vouched,
} from '#proto';
import type { ExportRecord } from './export-file.js';
import { verified } from './findings.js';

/** Something that counts from one fact to another one. */
interface Span {
  readonly name: string;
  readonly from: Instant;
  until?: Instant;
}

export interface DatedActor {
  readonly actor: Actor;
  readonly namespace: string;
  readonly mayVouch: boolean;
  readonly addedAt: Instant;
  readonly keys: Span[];
  /** Logins and tokens, by issuer and subject. */
  readonly logins: Span[];
  /** Its roles, and of each of its tokens what that is good for, by token and role. */
  readonly roles: Span[];
  readonly scopes: Span[];
  /** Its standing approvals, by id and content, with what was signed for them. */
  readonly standing: (Span & { readonly approvalId: string; readonly proof: KeptProof | undefined })[];
  /** Hash of the last commit that is there: without it nobody can tell that later ones are missing. */
  head: string;
}

/**
 * How far the clocks of two services may differ, and how long the word of the registry may take: what was signed within this time of
 * a fact about its key may have been taken before the fact was known.
 */
export const SLACK_MS = 30_000;

/** How long after an actor was first recorded replicas of before may still have written without proofs. */
export const UPGRADE_MS = 15 * 60 * 1_000;

const loginName = (issuer: string, subject: string): string => JSON.stringify([issuer, subject]);
const OWN_ISSUER = 'orrery';
const TOKEN = 'token:';
/** Who let himself in with a key of his own is called by it. */
const KEY = 'key:';
const tokenName = (tokenId: string): string => loginName(OWN_ISSUER, `${TOKEN}${tokenId}`);
/** The first person is logged in by the token of the first start, which is no fact. */
const FIRST = { actor: 'cli', login: loginName(OWN_ISSUER, 'admin-token') };
const APPROVER: Role = 'approver';
const scopeName = (login: string, scope: Role): string => JSON.stringify([login, scope]);
const standingName = (approvalId: string, contentHash: string): string => `${approvalId} for ${contentHash}`;
const AIP = 'aip';
const AIP_GATEWAY = 'aip-gateway';

export interface KnownActors {
  readonly byId: ReadonlyMap<string, DatedActor>;
  /** What is wrong with the log itself. */
  readonly problems: readonly { readonly number: number | null; readonly message: string }[];
}

/** Folds the commits of ACTORS, each chain checked; what cannot be read is a problem. */
export function knownActors(records: readonly ExportRecord[]): KnownActors {
  const problems: { number: number | null; message: string }[] = [];
  const byId = new Map<string, DatedActor>();
  for (const [subject, own] of Map.groupBy(records, (record) => record.subject)) {
    const say = (number: number | null, message: string): void =>
      void problems.push({ number, message: `${subject}: ${message}` });
    for (const { value } of verified(ActorCommit, own, say)) {
      if (subjects.actor(value.actorId) !== subject) say(value.number, `it belongs to the actor ${value.actorId}`);
      const [cause] = value.causes;
      for (const { type, data } of value.events) {
        follow(byId, value.actorId, { type, data } as ActorEvent, cause?.proof);
      }
      const known = byId.get(value.actorId);
      if (known !== undefined) known.head = value.hash;
    }
    const id = subject.split('.').at(-1) ?? '';
    if (!byId.has(id)) say(null, 'its first commit is missing');
  }
  return { byId, problems };
}

function follow(byId: Map<string, DatedActor>, id: string, { type, data }: ActorEvent, proof?: KeptProof): void {
  const known = byId.get(id);
  if (type === 'ACTOR_ADDED') {
    const { actor, namespace, mayVouch = false, roles, at } = data;
    const given = roles.map((name) => ({ name, from: at }));
    const had = { keys: [], logins: [], roles: given, scopes: [], standing: [] };
    byId.set(id, { actor, namespace, mayVouch, addedAt: at, ...had, head: '' });
    return;
  }
  if (known === undefined) return;
  switch (type) {
    case 'KEY_ADDED':
      return void known.keys.push({ name: data.key, from: data.at });
    case 'KEY_REVOKED':
      return end(known.keys, data.key, data.at);
    case 'LOGIN_BOUND':
      return void known.logins.push({ name: loginName(data.issuer, data.subject), from: data.at });
    case 'LOGIN_UNBOUND':
      return end(known.logins, loginName(data.issuer, data.subject), data.at);
    case 'TOKEN_ISSUED': {
      const { tokenId, expiresAt, scopes, at } = data;
      known.scopes.push(...scopes.map((scope) => ({ name: scopeName(tokenName(tokenId), scope), from: at })));
      return void known.logins.push({
        name: tokenName(tokenId),
        from: at,
        ...(expiresAt !== null && { until: expiresAt }),
      });
    }
    case 'TOKEN_REVOKED':
      return end(known.logins, tokenName(data.tokenId), data.at);
    case 'ROLES_CHANGED':
      known.roles.push(...data.given.map((name) => ({ name, from: data.at })));
      for (const role of data.taken) end(known.roles, role, data.at);
      return undefined;
    case 'CONTENT_APPROVED': {
      const { approvalId, contentHash, at: from, expiresAt: until } = data;
      return void known.standing.push({ name: standingName(approvalId, contentHash), from, until, approvalId, proof });
    }
    case 'CONTENT_REVOKED':
      for (const { name, approvalId } of known.standing) {
        if (approvalId === data.approvalId) end(known.standing, name, data.at);
      }
      return undefined;
    case 'ACTOR_REVOKED':
      for (const span of [...known.keys, ...known.logins, ...known.roles, ...known.standing])
        end([span], span.name, data.at);
      return undefined;
    default:
      return undefined;
  }
}

function end(spans: readonly Span[], name: string, at: Instant): void {
  for (const span of spans) if (span.name === name && (span.until === undefined || span.until > at)) span.until = at;
}

/** Why this did not count at that time; undefined when it did. */
function whyNot(spans: readonly Span[], name: string, at: number): string | undefined {
  const own = spans.filter((span) => span.name === name);
  if (
    own.some(
      ({ from, until }) =>
        Date.parse(from) - SLACK_MS <= at && (until === undefined || at < Date.parse(until) + SLACK_MS),
    )
  ) {
    return undefined;
  }
  const [first] = own;
  if (first === undefined) return 'was never given';
  return Date.parse(first.from) > at ? `was given only at ${first.from}` : `counted only until ${own.at(-1)?.until}`;
}

/** What somebody signed for a standing approval that counted at that time for that content; or why it did not. */
export function stood(
  { byId }: KnownActors,
  { by, approvalId, contentHash, at }: { by: Actor; approvalId: string; contentHash: string; at: Instant },
): { readonly proof: KeptProof | undefined; readonly from: Instant } | { readonly problem: string } {
  const known = byId.get(by.id);
  if (known === undefined) return { problem: `there is no log of the actor ${by.id}` };
  const name = standingName(approvalId, contentHash);
  const problem = whyNot(known.standing, name, Date.parse(at));
  if (problem !== undefined) return { problem: `the standing approval ${name} of ${by.id} ${problem}` };
  const barred = whyNot(known.roles, APPROVER, Date.parse(at));
  if (barred !== undefined) return { problem: `the role ${APPROVER} of ${by.id} ${barred}` };
  const { proof, from } = known.standing.find((one) => one.name === name) ?? { proof: undefined, from: at };
  return { proof, from };
}

/** What somebody claims to have been when he spoke. */
export interface ClaimedRole {
  readonly id: string;
  readonly role: Role;
  readonly at: Instant;
  /** How he came in, where somebody else spoke for him. */
  readonly vouched?: Vouched | undefined;
}

/**
 * Why this actor did not have a role at that time, or came in with a token that was not good for it; undefined when it had, and when
 * nobody can tell: its log is not there, or replicas of before may still have written.
 */
export function whyNotRole({ byId }: KnownActors, { id, role, at, vouched }: ClaimedRole): string | undefined {
  // A client of a gateway has no log, and its gateway has one.
  const isClient = id.startsWith(`${AIP}:`);
  const known = byId.get(isClient ? AIP_GATEWAY : id);
  const time = Date.parse(at);
  if (known === undefined || time < Date.parse(known.addedAt) + UPGRADE_MS) return undefined;
  if (isClient) return `${id} is a client of a gateway, which has no roles`;
  const without = whyNot(known.roles, role, time);
  if (without !== undefined) return `the role ${role} of ${id} ${without}`;
  const login = vouched === undefined ? undefined : loginName(vouched.issuer, vouched.subject);
  const isToken = login !== undefined && vouched?.subject.startsWith(TOKEN) === true && vouched.issuer === OWN_ISSUER;
  if (!isToken || known.scopes.some(({ name }) => name === scopeName(login, role))) return undefined;
  return `the ${vouched.subject} of ${id} is not good for the role ${role}`;
}

/** Ids of the persons who could approve at that time, whatever the clocks of services say: it was so before and after it. */
export function approversAt({ byId }: KnownActors, at: Instant): string[] {
  const time = Date.parse(at);
  const isSure = ({ from, until }: Span): boolean =>
    Date.parse(from) + SLACK_MS <= time && (until === undefined || time < Date.parse(until) - SLACK_MS);
  return [...byId.values()].flatMap(({ actor, mayVouch, roles }) =>
    actor.kind === 'person' && !mayVouch && roles.some((span) => span.name === APPROVER && isSure(span))
      ? [actor.id]
      : [],
  );
}

export type Spoken = { readonly actor: Actor; readonly namespace?: string } | { readonly problem: string };

/** Who spoke with this key at that time, for himself or for who is vouched for. */
export function whoSpoke(
  { byId }: KnownActors,
  { key, vouched, at }: { key: string; vouched?: Vouched | undefined; at: Instant },
): Spoken {
  const time = Date.parse(at);
  const signer = [...byId.values()].find(({ keys }) => keys.some(({ name }) => name === key));
  if (signer === undefined) return { problem: `the key ${key} is of nobody whose log is there` };
  const problem = whyNot(signer.keys, key, time);
  if (problem !== undefined) return { problem: `the key ${key} of ${signer.actor.id} ${problem}` };
  if (vouched === undefined) return signer;
  const { actor: id, issuer, subject } = vouched;
  if (issuer === AIP && signer.actor.id === AIP_GATEWAY && id === `${AIP}:${subject}`) {
    return { actor: { kind: 'external', id } };
  }
  if (!signer.mayVouch) return { problem: `${signer.actor.id} may not speak for ${id}` };
  const spoken = byId.get(id);
  if (spoken === undefined) return { problem: `there is no log of the actor ${id}` };
  const name = loginName(issuer, subject);
  if (id === FIRST.actor && name === FIRST.login) return spoken;
  const isByKey = issuer === OWN_ISSUER && subject.startsWith(KEY) && spoken.actor.kind === 'person';
  const without = isByKey ? whyNot(spoken.keys, subject.slice(KEY.length), time) : whyNot(spoken.logins, name, time);
  return without === undefined ? spoken : { problem: `the login ${subject} at ${issuer} of ${id} ${without}` };
}
