/**
 * What services do with NATS: connect, take messages from durables and settle them, ask and answer, share out partitions, keep
 * artifacts. What crosses the wire is in `proto`, how commits are appended and read in `libs/event-log`.
 */
export { BusError, connectBus } from './connection/bus.client.js';
export type { BusConfig } from './connection/bus.client.js';
export { ConnectionWatch, DisconnectedError } from './connection/connection-watch.adapter.js';
export { checkServer, UnsafeServerError } from './connection/server-check.adapter.js';
export type { ServerCheckOptions } from './connection/server-check.adapter.js';
export { provision, ProvisionError } from './streams/provision.adapter.js';
export type { Provisioned } from './streams/provision.adapter.js';
export { provisionActors } from './users/provision-actors.adapter.js';
export type { ActorsOptions, ProvisionedActors } from './users/provision-actors.adapter.js';
export { Actors } from './users/actors.adapter.js';
export type { ActorAnswer, SignedCommand } from './users/actors.adapter.js';
export { DONE, retryAfterFailure } from './durables/outcome.js';
export type { Outcome } from './durables/outcome.js';
export type { BusMessage } from './durables/bus-message.js';
export { mayHold, parseCommit } from './durables/run-commit.js';
export { AGENTS_GRACE_MS, KnownAgents } from './members/known-agents.js';
export { consumeBatches, consumeDurable } from './durables/consume.adapter.js';
export type { BatchMessage, ConsumeEvent, ConsumeOptions, Consumption } from './durables/consume.adapter.js';
export { isWrongSequence } from './connection/wrong-sequence.adapter.js';
export { DeviceTimers, RunTimers, TimerBody, TimerConflictError } from './streams/timers.adapter.js';
export { query, QueryRefusedError, QueryUnavailableError, serveQueries } from './verbs/queries.adapter.js';
export type {
  QueryAnswer,
  QueryHandlers,
  QueryName,
  QueryRequest,
  QueryService,
  Served,
  ServeOptions,
} from './verbs/queries.adapter.js';
export { handAgain, type StreamHandlers } from './verbs/hand-again.adapter.js';
export { getArtifact, openArtifact, openUpload, putArtifact, readArtifact } from './artifacts/artifacts.adapter.js';
export type { ArtifactReader } from './artifacts/artifacts.adapter.js';
export { ArtifactError } from './artifacts/artifact-upload.adapter.js';
export { sweepArtifacts, type SweepOptions } from './artifacts/artifact-sweep.adapter.js';
export type { ArtifactUpload, UploadEvents } from './artifacts/artifact-upload.adapter.js';
export { ownersOf, partitionsOf } from './members/assignment.js';
export { Members, readMembers } from './members/members.adapter.js';
export type { MembersOptions } from './members/members.adapter.js';
export { systemClock, type Clock } from './connection/clock.js';
export { parseVerbFields, sendVerb, VERB_DEADLINE_MS } from './verbs/verbs.client.js';
export type { UnknownOutcome, VerbOutcome, VerbRequest } from './verbs/verbs.client.js';
export { actorsOf, natsUsers } from './users/nats-users.js';
export type { NatsUserSpec } from './users/nats-users.js';
