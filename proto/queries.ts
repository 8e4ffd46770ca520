import { z } from 'zod';
import { AccessEntry, AccessKind, AccessPlace } from './access.js';
import {
  ApprovalsAnswer,
  ContentApprovalsAnswer,
  ExperiencesAnswer,
  ExplainedAnswer,
  PeopleAnswer,
  RunbookAnswer,
  RunbooksAnswer,
  TokensAnswer,
  WorkspacesAnswer,
} from './answers.js';
import { ContentApproval, GivenLimits, Login, NamedToken, Namespace, Roles, TokenId } from './actor-events.js';
import { Actor, ActorId, BusKey } from './actors.js';
import { AttentionEntry, AttentionId, AttentionKind, AttentionWord, SettleReason, UnseenSource } from './attention.js';
import { ContentApprovalId } from './approvals.js';
import { AdminProfile, AgentProfile, Revocation, ServiceManifest } from './agent-profile.js';
import { ProfileChange } from './device-profile.js';
import { ClientRole } from './aip/frames.js';
import { CommandOutcome } from './commands.js';
import { CommandCall, RunStatus } from './constellation.js';
import { CommandId, DeviceId, idSchema, Instant, Json, RunId, Sha256, TaskId } from './ids.js';
import { GrantSelection, RevokedGrants } from './grants.js';
import { Demonstration, Experience, GoalMatch, RunbookName } from './runbooks.js';
import { LabelSelector } from './labels.js';
import { LIMITS } from './limits.js';
import { Refusal } from './request.js';
import { FiguresAnswer, FiguresRequest } from './figures.js';
import { SearchAnswer, SearchRequest } from './search.js';
import { SettingsInUse } from './settings.js';
import { RunsAnswer, RunView } from './view.js';

/** Answer of a query that cannot be served as asked. */
export const QueryError = z.strictObject({ error: Refusal });
export type QueryError = z.infer<typeof QueryError>;

/** Who stands behind a connection, from its credential. */
export const Identity = z.strictObject({
  /** A device, or a client that is none. */
  id: DeviceId,
  role: ClientRole,
  /** The devices that a constellation client may send tasks to; null: every one. Of a device always null. */
  targets: z.array(DeviceId).nullable(),
  /** When the credential expires; null for a static token. */
  expiresAt: Instant.nullable(),
});
export type Identity = z.infer<typeof Identity>;

/** Why a person orders it, recorded with it. */
const reason = z.string().min(1).max(1_000).optional();

/** The fields of a query and of its answer: nothing else is in either. */
const asks = <Q extends z.ZodRawShape, A extends z.ZodRawShape>(request: Q, answer: A) => ({
  request: z.strictObject(request),
  answer: z.strictObject(answer),
});

/** `changed` is false when it was so already. `devices` show it in their profiles by now. */
const HeldAnswer = z.strictObject({ changed: z.boolean(), devices: z.int().min(0) });

const CommandOfPerson = idSchema('the id of a command');

/** A change that people order: the same id is decided once, however often it is sent, whichever replica is asked. */
const orders = <Q extends z.ZodRawShape>(request: Q) =>
  asks({ id: CommandOfPerson, ...request }, { changed: z.boolean() });

/** What it works by; every replica answers for itself. */
const settings = { request: z.strictObject({}), answer: SettingsInUse };
/** The text of a file of prompts that it has loaded; null: it has none of that hash. Every replica answers for itself. */
const prompt = asks({ sha256: Sha256 }, { text: z.string().nullable() });

/** Takes an input again by its place in its stream, after the cause of its dead letter was mended; nothing is published twice. */
const dlqRetry = asks({ stream: z.string().min(1).max(64), sequence: z.int().min(1) }, { handled: z.literal(true) });

/**
 * Queries on `orrery.v.<service>.<name>`: NATS micro services, plain JSON in both directions, discoverable with `$SRV`. Each is
 * signed like a verb, by a field `actor` (ActorProof) beside those of its request; what services ask each other is not.
 */
export const QUERIES = {
  orchestrator: { 'dlq-retry': dlqRetry },
  'device-agent': {
    'dlq-retry': dlqRetry,
    settings,
    prompt,
    /** What the service's command policy says about a call that an agent would make on a device; nothing is run. */
    explain: {
      request: z.strictObject({ deviceId: DeviceId.optional(), command: CommandCall }),
      answer: ExplainedAnswer,
    },
    /**
     * A result that a device brings and that nobody asked for since: `stored` (the device may forget it), `wanted` (somebody
     * will ask), `unknown` (no such command was ever given to this device: forget it).
     */
    deliver: asks(
      { deviceId: DeviceId, commandId: CommandId, outcome: CommandOutcome },
      { state: z.enum(['stored', 'wanted', 'unknown']) },
    ),
    /** The directories that runs have on a device, as it says now; `more` could not be told. */
    workspaces: { request: z.strictObject({ deviceId: DeviceId }), answer: WorkspacesAnswer },
  },
  registry: {
    devices: asks({}, { devices: z.array(AgentProfile) }),
    /** The token is in this answer only, once. */
    enroll: asks(
      {
        deviceId: DeviceId.optional(),
        admin: AdminProfile.optional(),
        manifest: ServiceManifest.optional(),
        /** What the administrator says of the device, beside what was said before. */
        set: ProfileChange.set,
        /** `token` (without a word): a static one, for foreign clients. `join`: used once, by a client that then has a key of its own. */
        credential: z.enum(['token', 'join']).optional(),
      },
      { deviceId: DeviceId, token: z.string(), expiresAt: Instant.optional() },
    ),
    /**
     * The administrator says what a device is. `revision`: that of the profile as it was looked at (0: nothing was given yet); refused when
     * somebody has changed it since.
     */
    'device-set': {
      request: z.strictObject({
        id: CommandOfPerson,
        deviceId: DeviceId,
        ...ProfileChange,
        revision: z.int().min(0).optional(),
      }),
      answer: z.strictObject({ changed: z.boolean(), revision: z.int().min(0) }),
    },
    /** Lets a foreign constellation client send tasks, to these devices or to all. The token is in this answer only, once. */
    'enroll-client': asks(
      {
        clientId: DeviceId.optional(),
        targets: z.array(DeviceId).min(1).max(1_000).nullable(),
      },
      { clientId: DeviceId, token: z.string() },
    ),
    clients: asks(
      {},
      {
        clients: z.array(
          z.strictObject({
            clientId: DeviceId,
            role: ClientRole,
            targets: z.array(DeviceId).nullable(),
            enrolledAt: Instant,
            revoked: Revocation.nullable(),
          }),
        ),
      },
    ),
    /** Nobody gets in with the credentials of this device or client any more. */
    revoke: asks({ id: DeviceId, reason }, { changed: z.boolean() }),
    /** Access tokens count no more, from when the bucket REVOKED_GRANTS says so: it does when this is answered. */
    'revoke-grants': asks(
      {
        grants: GrantSelection,
        reason,
      },
      { changed: z.boolean() },
    ),
    /** The revocations that still matter, oldest first. */
    'revoked-grants': asks({}, { revoked: z.array(RevokedGrants) }),
    /**
     * Asked by gateways for a client that has a join token: uses it up and binds the key. `assertion`: a JWT (RFC 7519)
     * signed with the new key, which stands in its header (`jwk`), with the token's hash as claim `th`. The same key may ask again.
     */
    join: asks(
      { tokenHash: Sha256, assertion: z.string().max(4_096) },
      { deviceId: DeviceId, credential: z.string(), expiresAt: Instant },
    ),
    /** The next credential of a device. `assertion`: a JWT signed with the device's key (RFC 7523), issuer and subject its id. */
    renew: asks(
      { assertion: z.string().max(4_096) },
      { deviceId: DeviceId, credential: z.string(), expiresAt: Instant },
    ),
    /** Nothing new starts there; without a device, nowhere. */
    hold: {
      request: z.strictObject({
        deviceId: DeviceId.nullable(),
        reason,
        /** Takes the screen of the device over as well: what agents want of it waits. */
        screen: z.literal(true).optional(),
      }),
      answer: HeldAnswer,
    },
    release: {
      /** `screen`: hands the screen of the device back, and nothing else. */
      request: z.strictObject({ deviceId: DeviceId.nullable(), screen: z.literal(true).optional() }),
      answer: HeldAnswer,
    },
    /** Everybody who is known, also who was revoked, by id. What follows about people and tokens is for administrators, or about one's own. */
    people: { request: z.strictObject({}), answer: PeopleAnswer },
    /** `namespace`: the actor's own id, when it is not said. */
    'people-add': orders({
      actorId: ActorId,
      kind: Actor.shape.kind,
      roles: Roles,
      namespace: Namespace.optional(),
    }),
    'people-role': orders({ actorId: ActorId, give: Roles.optional(), take: Roles.optional() }),
    /** What an external system may take more of, or less. */
    'people-limits': orders({ actorId: ActorId, given: GivenLimits }),
    /** Ends the keys, tokens and logins of somebody, for good. */
    'people-revoke': orders({ actorId: ActorId, reason }),
    'people-key': orders({ actorId: ActorId, change: z.enum(['add', 'revoke']), key: BusKey, reason }),
    'people-login': orders({ actorId: ActorId, change: z.enum(['bind', 'unbind']), ...Login.shape }),
    /** The tokens of an actor, or of everybody; who is no administrator sees his own. */
    tokens: { request: z.strictObject({ actorId: ActorId.optional() }), answer: TokensAnswer },
    /** Who asks makes the secret and keeps it: only its SHA-256 is sent. */
    'token-issue': orders({ actorId: ActorId, ...NamedToken.shape }),
    'token-revoke': orders({ tokenId: TokenId }),
    /** Said by who may vouch, when somebody comes in with a token. */
    'token-used': asks({ tokenId: TokenId }, { changed: z.boolean() }),
    /** Approves the content of a plan once, in the name of who signs it; its id is the id of the approval. */
    'content-approve': orders(ContentApproval.omit({ approvalId: true }).shape),
    'content-revoke': orders({ approvalId: ContentApprovalId, reason }),
    /** Standing approvals, newest first, also those that have ended, as far as they are kept. */
    'content-approvals': { request: z.strictObject({}), answer: ContentApprovalsAnswer },
    /**
     * Who read, exported and verified what, who came in, and what was changed about people: in the order in which the bus has stored it, page
     * by page. Signed, like a verb.
     */
    access: asks(
      {
        /** From then on; from the beginning when absent. */
        since: Instant.optional(),
        /** Behind what an answer before this one told. */
        after: AccessPlace.optional(),
        /** By this actor. */
        of: ActorId.optional(),
        runId: RunId.optional(),
        what: AccessKind.optional(),
      },
      {
        entries: z.array(AccessEntry),
        after: AccessPlace,
        /** There is more behind it already. */
        more: z.boolean(),
      },
    ),
    /** Asked by gateways before the upgrade: whose token or credential this is. Of a token only the hash ever crosses the bus. */
    identify: {
      request: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('token'), tokenHash: Sha256 }),
        z.strictObject({ kind: z.literal('credential'), credential: z.string().max(4_096) }),
      ]),
      answer: z.strictObject({ identity: Identity.nullable() }),
    },
    /** Who lost its credentials after that message of FLEET; asked by gateways every second. `sequence`: to be asked for next. */
    revocations: asks({ after: z.int().min(0) }, { sequence: z.int().min(0), revoked: z.array(DeviceId) }),
  },
  planner: {
    'dlq-retry': dlqRetry,
    settings,
    prompt,
    /** How a goal would be planned, without planning it. */
    match: { request: z.strictObject({ goal: z.string().min(1).max(20_000) }), answer: GoalMatch },
    runbooks: { request: z.strictObject({}), answer: RunbooksAnswer },
    /** The plan that a runbook makes of these parameters; or what is wrong with them. */
    runbook: {
      request: z.strictObject({ name: RunbookName, parameters: z.record(z.string(), Json).default({}) }),
      answer: RunbookAnswer,
    },
    experiences: {
      request: z.strictObject({ text: z.string().max(4_000).optional(), limit: z.int().min(1).max(200).optional() }),
      answer: ExperiencesAnswer,
    },
    /** Makes an example of a run that has ended well. Takes as long as a model does. */
    learn: asks({ runId: RunId }, { experience: Experience }),
    demonstrate: asks({ demonstration: Demonstration }, { experience: Experience }),
    forget: asks({ id: z.string().min(1).max(64) }, { changed: z.boolean() }),
    /** Lets the evaluation agent judge a run that has ended; the judgement becomes an event of the run. */
    evaluate: asks({ runId: RunId }, { accepted: z.literal(true) }),
  },
  logging: {
    /** Newest first, of those for which all holds that is said; `more`: there are older ones, `before` the last of these. */
    runs: {
      request: z.strictObject({
        limit: z.int().min(1).max(1_000).optional(),
        status: z.array(RunStatus).min(1).max(RunStatus.options.length).optional(),
        /** By this actor. */
        by: z.string().min(1).max(256).optional(),
        /** At least one attempt of a task was or is on it. */
        device: DeviceId.optional(),
        since: Instant.optional(),
        /** Older than this run. */
        before: RunId.optional(),
        /** How the id begins. */
        id: z
          .string()
          .regex(/^[0-9a-z]{1,26}$/u, 'must be the beginning of the id of a run')
          .optional(),
        /** With all of these. */
        label: z.array(LabelSelector).min(1).max(LIMITS.labelsMax).optional(),
      }),
      answer: RunsAnswer,
    },
    /** Over all runs, newest first. */
    approvals: {
      request: z.strictObject({
        state: z.enum(['open', 'all']).optional(),
        limit: z.int().min(1).max(1_000).optional(),
      }),
      answer: ApprovalsAnswer,
    },
    /** What devices work on now; some of it where there is more. */
    'at-work': asks(
      {},
      {
        tasks: z.array(
          z.strictObject({
            deviceId: DeviceId,
            runId: RunId,
            taskId: TaskId,
            name: z.string(),
            startedAt: Instant.nullable(),
          }),
        ),
      },
    ),
    run: asks({ runId: RunId }, { run: RunView }),
    report: asks({ runId: RunId }, { runId: RunId, markdown: z.string() }),
    /**
     * What needs somebody, newest first: those entries for which all holds that is said; settled ones only where that is wanted. `open` and `taken`
     * count all that are not settled, whatever is asked for; `matching` those of them for which all holds that is said.
     */
    attention: asks(
      {
        kind: z.array(AttentionKind).min(1).max(AttentionKind.options.length).optional(),
        runId: RunId.optional(),
        deviceId: DeviceId.optional(),
        all: z.boolean().optional(),
        /** How the id begins. */
        id: z
          .string()
          .regex(/^[0-9a-z]{1,12}$/u, 'must be the beginning of the id of an entry')
          .optional(),
        /** Older than this entry. */
        before: AttentionId.optional(),
        limit: z.int().min(1).max(1_000).optional(),
      },
      {
        open: z.int().min(0),
        taken: z.int().min(0),
        /** Absent in answers of a service of before. */
        matching: z.strictObject({ open: z.int().min(0), taken: z.int().min(0) }).optional(),
        entries: z.array(AttentionEntry),
        more: z.literal(true).optional(),
        unseen: z.array(UnseenSource),
      },
    ),
    /** Takes an entry on, in the name of who signs it: the same id is decided once, whichever replica is asked. */
    'attention-take': {
      request: z.strictObject({ id: CommandOfPerson, attentionId: AttentionId }),
      answer: AttentionWord,
    },
    'attention-settle': {
      request: z.strictObject({ id: CommandOfPerson, attentionId: AttentionId, reason: SettleReason }),
      answer: AttentionWord,
    },
    /** Commands and what they printed, newest first. */
    search: { request: SearchRequest, answer: SearchAnswer },
    /** What runs came to in numbers, over all that match. */
    metrics: { request: FiguresRequest, answer: FiguresAnswer },
  },
} as const;

/** Questions that every replica answers for itself, as one may work by other things than the next. */
export const ASKED_OF_ALL = [
  'device-agent.settings',
  'device-agent.prompt',
  'planner.settings',
  'planner.prompt',
] as const satisfies readonly `${keyof typeof QUERIES}.${string}`[];
