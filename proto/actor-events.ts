import { z } from 'zod';
import { Actor, ActorId, BusKey, Role } from './actors.js';
import { FeedShare } from './feed.js';
import { commitShape, type EventOf, recordedEvent, recordedEvents } from './commit.js';
import { ContentApprovalId } from './approvals.js';
import { idSchema, Instant, Json, Sha256 } from './ids.js';
import { LIMITS } from './limits.js';

/** Names a token; its secret is known to its holder only. */
export const TokenId = idSchema('the id of a token');
export type TokenId = z.infer<typeof TokenId>;

/** Each role once. */
export const Roles = z
  .array(Role)
  .max(Role.options.length)
  .refine((roles) => new Set(roles).size === roles.length, 'must name each role once');
export type Roles = z.infer<typeof Roles>;

/** Whose the requests of an actor are: with a request id it says which run a request is. */
export const Namespace = z.string().min(1).max(64);

/** A login at an identity provider: issuer and subject as its ID tokens name them (OpenID Connect Core 1.0, section 2). */
export const Login = z.strictObject({
  issuer: z.string().min(1).max(LIMITS.loginCharsMax),
  subject: z.string().min(1).max(LIMITS.loginCharsMax),
});
export type Login = z.infer<typeof Login>;

/** A token as it is known: `tokenHash` is the SHA-256 of its secret; `scopes` may be more than the roles of its actor, and give no more. */
export const NamedToken = z.strictObject({
  tokenId: TokenId,
  tokenHash: Sha256,
  scopes: Roles.min(1),
  /** For people. */
  label: z.string().max(200),
  /** Null: until it is revoked. */
  expiresAt: Instant.nullable(),
});
export type NamedToken = z.infer<typeof NamedToken>;

/** What a standing approval was given for, for people: nothing is decided by it. */
export const ContentAbout = z
  .strictObject({
    /** A runbook, and the SHA-256 of its file. */
    name: z.string().min(1).max(200),
    fileHash: Sha256.optional(),
    parameters: z.record(z.string(), Json).optional(),
  })
  .refine((about) => JSON.stringify(about).length <= LIMITS.contentAboutCharsMax, {
    error: `must be at most ${LIMITS.contentAboutCharsMax} characters as JSON`,
  });
export type ContentAbout = z.infer<typeof ContentAbout>;

/** A person's word for the content of a plan, whenever it comes: every task and every line, to the letter. */
export const ContentApproval = z.strictObject({
  approvalId: ContentApprovalId,
  contentHash: Sha256,
  about: ContentAbout,
  expiresAt: Instant,
});
export type ContentApproval = z.infer<typeof ContentApproval>;

/** What an external system is given beyond, or below, what each has: as much of it as is said. */
export const GivenLimits = z.strictObject({
  /** Requests that are taken in any minute, and their bytes. */
  requestsPerMinute: z.int().min(1).max(LIMITS.givenMax).optional(),
  bytesPerMinute: z.int().min(1).max(LIMITS.givenMax).optional(),
  /** Runs that it asked for and that have not ended. */
  openRuns: z.int().min(1).max(LIMITS.givenMax).optional(),
  /** Connections at a time. */
  connections: z.int().min(1).max(LIMITS.externalConnectionsGivenMax).optional(),
  /** What it follows of FEED: its own runs, or those of everybody. */
  feed: FeedShare.optional(),
});
export type GivenLimits = z.infer<typeof GivenLimits>;

const by = Actor;
const at = Instant;
const reason = z.string().max(1_000);

export const ActorAdded = z.strictObject({
  actor: Actor.extend({ id: ActorId }),
  roles: Roles,
  namespace: Namespace,
  /** It may say in whose name it sends a command; only a service of the installation itself does. */
  mayVouch: z.literal(true).optional(),
  by,
  at,
});
export const RolesChanged = z.strictObject({ given: Roles, taken: Roles, by, at });
/** Of the limits before, those stay that are not named. */
export const LimitsGiven = z.strictObject({ given: GivenLimits, by, at });
export const KeyAdded = z.strictObject({ key: BusKey, by, at });
export const KeyRevoked = z.strictObject({ key: BusKey, by, at, reason });
export const TokenIssued = z.strictObject({ ...NamedToken.shape, by, at });
export const TokenRevoked = z.strictObject({ tokenId: TokenId, by, at });
/** Said at most once in LIMITS.tokenUseMs of a token, however often it is used. */
export const TokenUsed = z.strictObject({ tokenId: TokenId, at });
export const LoginBound = z.strictObject({ ...Login.shape, by, at });
export const LoginUnbound = z.strictObject({ ...Login.shape, by, at });
/** In the log of who approved. */
export const ContentApproved = z.strictObject({ ...ContentApproval.shape, by, at });
/** Counts no more, whoever gave it: a no is everybody's. */
export const ContentRevoked = z.strictObject({ approvalId: ContentApprovalId, by, at, reason });
/** Ends its keys, tokens and logins, for good. */
export const ActorRevoked = z.strictObject({ by, at, reason });

const SCHEMAS = {
  ACTOR_ADDED: ActorAdded,
  ROLES_CHANGED: RolesChanged,
  LIMITS_GIVEN: LimitsGiven,
  KEY_ADDED: KeyAdded,
  KEY_REVOKED: KeyRevoked,
  TOKEN_ISSUED: TokenIssued,
  TOKEN_REVOKED: TokenRevoked,
  TOKEN_USED: TokenUsed,
  LOGIN_BOUND: LoginBound,
  LOGIN_UNBOUND: LoginUnbound,
  CONTENT_APPROVED: ContentApproved,
  CONTENT_REVOKED: ContentRevoked,
  ACTOR_REVOKED: ActorRevoked,
} as const;

export type ActorEventType = keyof typeof SCHEMAS;
export const ACTOR_EVENT_TYPES = Object.keys(SCHEMAS) as ActorEventType[];

export const RecordedActorEvent = recordedEvent(SCHEMAS);
export type RecordedActorEvent = z.infer<typeof RecordedActorEvent>;

export type ActorEvent = EventOf<typeof SCHEMAS>;

/** One message of `orrery.actor.<actorId>`. */
export const ActorCommit = z.strictObject({
  ...commitShape,
  actorId: ActorId,
  events: recordedEvents(RecordedActorEvent),
});
export type ActorCommit = z.infer<typeof ActorCommit>;

/** A key and when it counts: from `from` on, and before `until` when it was revoked. */
export const DatedKey = z.strictObject({ key: BusKey, from: Instant, until: Instant.optional() });
export type DatedKey = z.infer<typeof DatedKey>;

/** Value of the bucket ACTORS, by actor id: an actor as the stream ACTORS has it. Written by the registry only. */
export const ActorEntry = z.strictObject({
  actor: Actor.extend({ id: ActorId }),
  roles: Roles,
  namespace: Namespace,
  mayVouch: z.literal(true).optional(),
  /** What an external system was given; the others are as everybody's. */
  limits: GivenLimits.optional(),
  /** Also those that are revoked: what was signed with one before is still to be checked. */
  keys: z.array(DatedKey),
  /** Those that are not revoked; some may have expired. */
  tokens: z.array(NamedToken),
  logins: z.array(Login),
  /** Standing approvals that are not revoked; some may have expired. */
  approvals: z.array(ContentApproval.omit({ about: true }).extend({ at: Instant })).optional(),
  revokedAt: Instant.optional(),
  /** Sequence of the last event that is in it. */
  revision: z.int().min(1),
});
export type ActorEntry = z.infer<typeof ActorEntry>;
