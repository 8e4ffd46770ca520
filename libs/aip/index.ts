export type { FileMessage, OutputPiece } from './session-state.js';
export { CommandTable } from './command-table.js';
export type { Admission, Answered, CommandTableOptions, OpenAtDevice, TableEffect } from './command-effects.js';
export { isOwnWord } from './command-answers.js';
export { commandMessage, LIST_TOOLS_ID, listToolsMessage, type OutgoingCommand } from './command-message.js';
export { outcomeOf, withoutResult } from './outcome.js';
export { clientOf, toolsOf, type RegisteredClient } from './telemetry.js';
export { decodeClientMessage, decodeServerMessage, type Decoded } from './decode.js';
export { instantOf } from './instant.js';
export { digestOf } from './digest.adapter.js';
export {
  delayMs,
  failuresAfter,
  FIRST_DIAL,
  nextDial,
  RECONNECT,
  type BackoffPolicy,
  type DialEnd,
  type Dialling,
} from './backoff.js';
export { resumeMessages, type Holdings, type ServerFacts, type ServerRequest } from './device-link.js';
export {
  DeviceConnection,
  type ConnectionEnd,
  type ConnectionOptions,
  type Device,
  type FrameFact,
} from './endpoints/device-connection.js';
export {
  DeviceClientEndpoint,
  Unwelcome,
  type Credentials,
  type DeviceClientEndpointOptions,
  type LinkFact,
} from './endpoints/device-client.runner.js';
export {
  CONNECTION_LOST,
  FILE_ABORTS,
  FILE_POLICY,
  failureOf,
  LOST,
  mayPass,
  type FileAbortCode,
  type FileFailure,
  type FilePolicy,
} from './file-transfer.js';
export {
  abortFrame,
  IncomingFile,
  OutgoingFile,
  type FileFrame,
  type FileSink,
  type FileSource,
  type FileWire,
  type Transfer,
  type TransferFrame,
} from './file-pump.adapter.js';
export {
  alive,
  check,
  heard,
  livenessPolicy,
  trickled,
  type Liveness,
  type LivenessPolicy,
  type LivenessVerdict,
} from './liveness.js';
export { fullRate, takeToken, type Rate, type RatePolicy } from './rate.js';
export { Sequence } from './sequence.js';
export {
  DeviceServerEndpoint,
  type DevicePort,
  type DeviceServerOptions,
  type DeviceWatch,
  type FileDesk,
} from './endpoints/device-server.js';
export {
  openConstellationSession,
  type ConstellationEffect,
  type ConstellationIdentity,
  type ConstellationInput,
  type ConstellationSession,
  type TargetState,
} from './constellation-state.js';
export { CLIENT_WAITS_MS, constellationStep } from './constellation-session.js';
export { REQUEST_CHARS_MAX, safeTaskName, taskEndMessage, type ClientTask, type ClientTaskEnd } from './client-task.js';
export {
  ConstellationServerEndpoint,
  type ConstellationPort,
  type ConstellationServerOptions,
  type ConstellationWatch,
} from './endpoints/constellation-server.js';
export {
  ConstellationEndpoint,
  DeviceInfoUnavailable,
  RegistrationRefused,
  type ConstellationEndpointOptions,
  type ConstellationFact,
} from './endpoints/constellation-client.runner.js';
export type { TaskCall, TaskEnd } from './constellation-link.js';
export type { Closed, LargeFrames, Transport, TransportHandlers } from './transport.js';
export { linkedPair, type LinkedPair } from './linked-pair.js';
export {
  connectWs,
  HandshakeRefused,
  wsTransport,
  type ConnectOptions,
  type WsTransportOptions,
} from './ws-transport.adapter.js';
export { Complaints } from './complaints.js';
export { fitToolInfos, returnsOf, schemaOf } from './tool-info.js';
