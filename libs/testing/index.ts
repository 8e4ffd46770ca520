export { makeTestAuthority, type TestAuthority, type TestCertificate } from './certificates.js';
export { startTestNats, type TestNats, type TestNatsOptions } from './nats-server.js';
export { introduce, startTestBus, type TestBus } from './test-bus.js';
export { startTestPostgres, type TestPostgres } from './postgres.js';
export { connectDevice, instantDevice, type InstantDeviceOptions } from './instant-device.js';
export {
  ChaosProxy,
  type ChaosProxyOptions,
  type ChaosStats,
  type Cut,
  type Flapping,
  type Shape,
  type Way,
} from './chaos-proxy.js';
export type { CutKind } from './chaos-proxy-pipe.js';
export { FakeDevice, type FakeDeviceOptions } from './fake-device.js';
export { attemptCommitsOf, generateHistory, planCommitsOf, runCommitsOf, type HistoryOptions } from './histories.js';
export { generateAskedHistory } from './asked-history.js';
export { forkHistory, generateEditedHistory, type EditedHistoryOptions, type ForkOptions } from './edited-histories.js';
export { History, type HistoryStep } from './history-writer.js';
export { startModelServer, type ModelServer, type ModelServerOptions, type ModelServerScript } from './model-server.js';
export type { EmbeddingsReply, EmbeddingsRequest, EmbeddingsScript } from './model-server-embeddings.js';
export type {
  ModelServerFault,
  ModelServerReply,
  ModelServerRequest,
  ModelServerSupport,
} from './model-server-script.js';
export { dying, type CallHooks, type Dying } from './dying.js';
