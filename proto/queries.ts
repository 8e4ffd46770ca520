import { z } from 'zod';
import { ActorProof } from './actors.js';
import { ApprovalView } from './approvals.js';
import { AdminProfile, AgentProfile, Revocation, ServiceManifest } from './agent-profile.js';
import { ClientRole } from './aip/frames.js';
import { CommandOutcome } from './commands.js';
import { CommandCall, TaskConstellation } from './constellation.js';
import { CommandId, DeviceId, Instant, Json, RunId, Sha256 } from './ids.js';
import { PolicyVerdict } from './policy.js';
import { GrantSelection, RevokedGrants } from './grants.js';
import { Demonstration, Experience, GoalMatch, RunbookInfo, RunbookName } from './runbooks.js';
import { Issue, Refusal } from './request.js';
import { RunSummary, RunView } from './view.js';

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

/** `changed` is false when it was so already. `devices` show it in their profiles by now. */
const HeldAnswer = z.strictObject({ changed: z.boolean(), devices: z.int().min(0) });

/** Takes an input again by its place in its stream, after the cause of its dead letter was mended; nothing is published twice. */
const dlqRetry = {
  request: z.strictObject({ stream: z.string().min(1).max(64), sequence: z.int().min(1) }),
  answer: z.strictObject({ handled: z.literal(true) }),
} as const;

/** Queries on `orrery.v.<service>.<name>`: NATS micro services, plain JSON in both directions, discoverable with `$SRV`. */
export const QUERIES = {
  orchestrator: { 'dlq-retry': dlqRetry },
  'device-agent': {
    'dlq-retry': dlqRetry,
    /** What the service's command policy says about a call that an agent would make on a device; nothing is run. */
    explain: {
      request: z.strictObject({ deviceId: DeviceId.optional(), command: CommandCall }),
      answer: z.strictObject({ verdict: PolicyVerdict, policyHash: Sha256 }),
    },
    /**
     * A result that a device brings and that nobody asked for since: `stored` (the device may forget it), `wanted` (somebody
     * will ask), `unknown` (no such command was ever given to this device: forget it).
     */
    deliver: {
      request: z.strictObject({ deviceId: DeviceId, commandId: CommandId, outcome: CommandOutcome }),
      answer: z.strictObject({ state: z.enum(['stored', 'wanted', 'unknown']) }),
    },
  },
  registry: {
    devices: { request: z.strictObject({}), answer: z.strictObject({ devices: z.array(AgentProfile) }) },
    /** The token is in this answer only, once. */
    enroll: {
      request: z.strictObject({
        deviceId: DeviceId.optional(),
        admin: AdminProfile.optional(),
        manifest: ServiceManifest.optional(),
        /** `token` (without a word): a static one, for foreign clients. `join`: used once, by a client that then has a key of its own. */
        credential: z.enum(['token', 'join']).optional(),
      }),
      answer: z.strictObject({ deviceId: DeviceId, token: z.string(), expiresAt: Instant.optional() }),
    },
    /** Lets a foreign constellation client send tasks, to these devices or to all. The token is in this answer only, once. */
    'enroll-client': {
      request: z.strictObject({
        clientId: DeviceId.optional(),
        targets: z.array(DeviceId).min(1).max(1_000).nullable(),
      }),
      answer: z.strictObject({ clientId: DeviceId, token: z.string() }),
    },
    clients: {
      request: z.strictObject({}),
      answer: z.strictObject({
        clients: z.array(
          z.strictObject({
            clientId: DeviceId,
            role: ClientRole,
            targets: z.array(DeviceId).nullable(),
            enrolledAt: Instant,
            revoked: Revocation.nullable(),
          }),
        ),
      }),
    },
    /** Nobody gets in with the credentials of this device or client any more. Signed, like a verb. */
    revoke: {
      request: z.strictObject({ id: DeviceId, reason: z.string().min(1).max(1_000).optional(), actor: ActorProof }),
      answer: z.strictObject({ changed: z.boolean() }),
    },
    /** Access tokens count no more, from when the bucket REVOKED_GRANTS says so: it does when this is answered. Signed, like a verb. */
    'revoke-grants': {
      request: z.strictObject({
        grants: GrantSelection,
        reason: z.string().min(1).max(1_000).optional(),
        actor: ActorProof,
      }),
      answer: z.strictObject({ changed: z.boolean() }),
    },
    /** The revocations that still matter, oldest first. */
    'revoked-grants': {
      request: z.strictObject({}),
      answer: z.strictObject({ revoked: z.array(RevokedGrants) }),
    },
    /**
     * Asked by gateways for a client that has a join token: uses it up and binds the key. `assertion`: a JWT (RFC 7519)
     * signed with the new key, which stands in its header (`jwk`), with the token's hash as claim `th`. The same key may ask again.
     */
    join: {
      request: z.strictObject({ tokenHash: Sha256, assertion: z.string().max(4_096) }),
      answer: z.strictObject({ deviceId: DeviceId, credential: z.string(), expiresAt: Instant }),
    },
    /** The next credential of a device. `assertion`: a JWT signed with the device's key (RFC 7523), issuer and subject its id. */
    renew: {
      request: z.strictObject({ assertion: z.string().max(4_096) }),
      answer: z.strictObject({ deviceId: DeviceId, credential: z.string(), expiresAt: Instant }),
    },
    /** Nothing new starts there; without a device, nowhere. Signed, like a verb. */
    hold: {
      request: z.strictObject({
        deviceId: DeviceId.nullable(),
        reason: z.string().min(1).max(1_000).optional(),
        actor: ActorProof,
      }),
      answer: HeldAnswer,
    },
    release: {
      request: z.strictObject({ deviceId: DeviceId.nullable(), actor: ActorProof }),
      answer: HeldAnswer,
    },
    /** Asked by gateways before the upgrade: whose token or credential this is. Of a token only the hash ever crosses the bus. */
    identify: {
      request: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('token'), tokenHash: Sha256 }),
        z.strictObject({ kind: z.literal('credential'), credential: z.string().max(4_096) }),
      ]),
      answer: z.strictObject({ identity: Identity.nullable() }),
    },
    /** Who lost its credentials after that message of FLEET; asked by gateways every second. `sequence`: to be asked for next. */
    revocations: {
      request: z.strictObject({ after: z.int().min(0) }),
      answer: z.strictObject({ sequence: z.int().min(0), revoked: z.array(DeviceId) }),
    },
  },
  planner: {
    'dlq-retry': dlqRetry,
    /** How a goal would be planned, without planning it. */
    match: { request: z.strictObject({ goal: z.string().min(1).max(20_000) }), answer: GoalMatch },
    runbooks: {
      request: z.strictObject({}),
      answer: z.strictObject({
        runbooks: z.array(RunbookInfo),
        /** Files that could not be used, and why. */
        problems: z.array(z.string()),
      }),
    },
    /** The plan that a runbook makes of these parameters; or what is wrong with them. */
    runbook: {
      request: z.strictObject({ name: RunbookName, parameters: z.record(z.string(), Json).default({}) }),
      answer: z.strictObject({
        runbook: RunbookInfo,
        constellation: TaskConstellation.nullable(),
        issues: z.array(Issue),
      }),
    },
    experiences: {
      request: z.strictObject({ text: z.string().max(4_000).optional(), limit: z.int().min(1).max(200).optional() }),
      answer: z.strictObject({ enabled: z.boolean(), experiences: z.array(Experience) }),
    },
    /** Makes an example of a run that has ended well. Signed, like a verb; takes as long as a model does. */
    learn: {
      request: z.strictObject({ runId: RunId, actor: ActorProof }),
      answer: z.strictObject({ experience: Experience }),
    },
    demonstrate: {
      request: z.strictObject({ demonstration: Demonstration, actor: ActorProof }),
      answer: z.strictObject({ experience: Experience }),
    },
    forget: {
      request: z.strictObject({ id: z.string().min(1).max(64), actor: ActorProof }),
      answer: z.strictObject({ changed: z.boolean() }),
    },
    /** Lets the evaluation agent judge a run that has ended; the judgement becomes an event of the run. */
    evaluate: {
      request: z.strictObject({ runId: RunId, actor: ActorProof }),
      answer: z.strictObject({ accepted: z.literal(true) }),
    },
  },
  logging: {
    runs: {
      request: z.strictObject({ limit: z.int().min(1).max(1_000).optional() }),
      answer: z.strictObject({ runs: z.array(RunSummary) }),
    },
    /** Over all runs, newest first. */
    approvals: {
      request: z.strictObject({
        state: z.enum(['open', 'all']).optional(),
        limit: z.int().min(1).max(1_000).optional(),
      }),
      answer: z.strictObject({ approvals: z.array(ApprovalView) }),
    },
    run: { request: z.strictObject({ runId: RunId }), answer: z.strictObject({ run: RunView }) },
    report: {
      request: z.strictObject({ runId: RunId }),
      answer: z.strictObject({ runId: RunId, markdown: z.string() }),
    },
  },
} as const;
