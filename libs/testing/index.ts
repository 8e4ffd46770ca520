/**
 * What tests start and talk to: servers (NATS, Postgres, certificates), a model server, devices that follow a script, a proxy
 * that breaks connections, phones that are none, recorded histories; and whether a run goes as far as it can. Nothing of it is loaded by a service.
 */
export { IS_DEEP } from './deep.js';
export { makeTestAuthority, type TestAuthority, type TestCertificate } from './servers/certificates.js';
export { startTestNats, type TestNats, type TestNatsOptions } from './servers/nats-server.js';
export { introduce, introduceWith, showActors, startTestBus, type TestBus } from './servers/test-bus.js';
export { ANY_PROOF, ANYBODY, askedOnce, asksAs, asksAsAnybody, askRaw } from './servers/askers.js';
export { notAsked } from './servers/not-asked.js';
export { moment } from './servers/moment.js';
export { ownPort } from './servers/own-port.js';
export { requestRun, signedRequest } from './servers/request-run.js';
export { mountSmallDisk, type SmallDisk } from './servers/small-disk.js';
export { startTestPostgres, type TestPostgres } from './servers/postgres.js';
export { connectDevice, instantDevice, type InstantDeviceOptions } from './devices/instant-device.js';
export {
  ChaosProxy,
  type ChaosProxyOptions,
  type ChaosStats,
  type Cut,
  type Flapping,
  type Shape,
  type Way,
} from './chaos/chaos-proxy.js';
export type { CutKind } from './chaos/chaos-proxy-pipe.js';
export { FakeDevice, type FakeDeviceOptions } from './devices/fake-device.js';
export {
  attemptCommitsOf,
  generateHistory,
  planCommitsOf,
  runCommitsOf,
  type HistoryOptions,
} from './histories/histories.js';
export { generateAskedHistory } from './histories/asked-history.js';
export {
  forkHistory,
  generateEditedHistory,
  type EditedHistoryOptions,
  type ForkOptions,
} from './histories/edited-histories.js';
export { pipelines, watchedRun } from './histories/watched-run.js';
export { History, type HistoryStep } from './histories/history-writer.js';
/** What commands of attempts have written. */
export * as attemptOutputs from './histories/attempt-outputs.js';
/** A run that is edited while it runs, to be altered. */
export * as editedRun from './histories/edited-run.js';
/** What an agent asks of a person. */
export * as sampleAsks from './histories/sample-asks.js';
/** A small finished run, and how an altered one is sealed. */
export * as sampleRun from './histories/sample-run.js';
/** Phones without Android, and adb servers that know them. */
export { hasAdb, RealAdb } from './phones/real-adb.js';
export { StandInAdbd } from './phones/stand-in-adbd.js';
export { StandInPhone } from './phones/stand-in-phone.js';
export { StandInServer } from './phones/stand-in-server.js';
export {
  startModelServer,
  type ModelServer,
  type ModelServerOptions,
  type ModelServerScript,
} from './model-server/model-server.js';
export type { EmbeddingsReply, EmbeddingsRequest, EmbeddingsScript } from './model-server/model-server-embeddings.js';
export type {
  ModelServerFault,
  ModelServerReply,
  ModelServerRequest,
  ModelServerSupport,
} from './model-server/model-server-script.js';
export { dying, type CallHooks, type Dying } from './chaos/dying.js';
export { familiesOf, samplesOf, valueOf, type Family, type Sample } from './servers/metrics-text.js';
export { startReplica, type Replica, type ReplicaOptions } from './servers/replica.js';
