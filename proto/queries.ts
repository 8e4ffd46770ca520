import { z } from 'zod';
import { ActorProof } from './actors.js';
import { AdminProfile, AgentProfile, ServiceManifest } from './agent-profile.js';
import { DeviceId, RunId, Sha256 } from './ids.js';
import { Refusal } from './request.js';
import { RunSummary, RunView } from './view.js';

/** Answer of a query that cannot be served as asked. */
export const QueryError = z.strictObject({ error: Refusal });
export type QueryError = z.infer<typeof QueryError>;

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
  'device-agent': { 'dlq-retry': dlqRetry },
  registry: {
    devices: { request: z.strictObject({}), answer: z.strictObject({ devices: z.array(AgentProfile) }) },
    /** The token is in this answer only, once. */
    enroll: {
      request: z.strictObject({
        deviceId: DeviceId.optional(),
        admin: AdminProfile.optional(),
        manifest: ServiceManifest.optional(),
      }),
      answer: z.strictObject({ deviceId: DeviceId, token: z.string() }),
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
    /** Asked by gateways before the upgrade; only the hash of a token ever crosses the bus. */
    authenticate: {
      request: z.strictObject({ tokenHash: Sha256 }),
      answer: z.strictObject({ deviceId: DeviceId.nullable() }),
    },
  },
  logging: {
    runs: {
      request: z.strictObject({ limit: z.int().min(1).max(1_000).optional() }),
      answer: z.strictObject({ runs: z.array(RunSummary) }),
    },
    run: { request: z.strictObject({ runId: RunId }), answer: z.strictObject({ run: RunView }) },
    report: {
      request: z.strictObject({ runId: RunId }),
      answer: z.strictObject({ runId: RunId, markdown: z.string() }),
    },
  },
} as const;
