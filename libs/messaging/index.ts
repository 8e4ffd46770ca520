export { BusError, connectBus } from './bus.client.js';
export type { BusConfig } from './bus.client.js';
export { ConnectionWatch, DisconnectedError } from './connection-watch.adapter.js';
export { checkServer, UnsafeServerError } from './server-check.adapter.js';
export type { ServerCheckOptions } from './server-check.adapter.js';
export { provision, ProvisionError } from './provision.adapter.js';
export type { Provisioned } from './provision.adapter.js';
export { provisionActors } from './provision-actors.adapter.js';
export type { ActorsOptions, ProvisionedActors } from './provision-actors.adapter.js';
export { Actors } from './actors.adapter.js';
export type { ActorAnswer, SignedCommand } from './actors.adapter.js';
export { DONE, retryAfterFailure } from './outcome.js';
export type { Outcome } from './outcome.js';
export type { BusMessage } from './bus-message.js';
export { mayHold, parseCommit } from './run-commit.js';
export { AGENTS_GRACE_MS, KnownAgents } from './known-agents.js';
export { consumeBatches, consumeDurable } from './consume-durable.adapter.js';
export type { BatchMessage, ConsumeEvent, ConsumeOptions, Consumption } from './consume-durable.adapter.js';
export { DeviceTimers, RunTimers, TimerBody, TimerConflictError } from './timers.adapter.js';
export { query, QueryRefusedError, QueryUnavailableError, serveQueries } from './queries.adapter.js';
export type {
  QueryAnswer,
  QueryHandlers,
  QueryName,
  QueryRequest,
  QueryService,
  Served,
  ServeOptions,
} from './queries.adapter.js';
export { handAgain, type StreamHandlers } from './hand-again.adapter.js';
export { getArtifact, openArtifact, openUpload, putArtifact, readArtifact } from './artifacts.adapter.js';
export type { ArtifactReader } from './artifacts.adapter.js';
export { ArtifactError } from './artifact-upload.adapter.js';
export { sweepArtifacts, type SweepOptions } from './artifact-sweep.adapter.js';
export type { ArtifactUpload, UploadEvents } from './artifact-upload.adapter.js';
export { ownersOf, partitionsOf } from './assignment.js';
export { Members, readMembers } from './members.adapter.js';
export type { MembersOptions } from './members.adapter.js';
export type { Clock } from './clock.js';
export { parseVerbFields, sendVerb, VERB_DEADLINE_MS, VERB_FIELDS } from './verbs.client.js';
export type { UnknownOutcome, VerbFields, VerbOutcome, VerbRequest } from './verbs.client.js';
export { actorsOf, natsUsers } from './nats-users.js';
export type { NatsUserSpec } from './nats-users.js';
