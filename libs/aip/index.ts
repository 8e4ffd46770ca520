/**
 * AIP, the protocol between the service, its devices and the constellations that use it: both ends of a connection, commands,
 * files, and the socket under them. Nothing here knows of runs, of the bus or of a database; the shapes of the messages are in
 * `proto`.
 */
export type { FileMessage, OutputPiece } from './session/session-state.js';
export { CommandTable } from './commands/command-table.js';
export type {
  CommandAdmission,
  Answered,
  CommandTableOptions,
  OpenAtDevice,
  TableEffect,
} from './commands/command-effects.js';
export { isOwnWord } from './commands/command-answers.js';
export { commandMessage, LIST_TOOLS_ID, listToolsMessage, type OutgoingCommand } from './commands/command-message.js';
export { commandOutcomeOf, withoutResult } from './commands/outcome.js';
export { clientOf, toolsOf, type RegisteredClient } from './session/telemetry.js';
export { decodeClientMessage, decodeServerMessage, type Decoded } from './frames/decode.js';
export {
  delayMs,
  failuresAfter,
  FIRST_DIAL,
  nextDial,
  RECONNECT,
  type BackoffPolicy,
  type DialEnd,
  type Dialling,
} from './transport/backoff.js';
export {
  alive,
  check,
  heard,
  livenessPolicy,
  trickled,
  type Liveness,
  type LivenessPolicy,
  type LivenessVerdict,
} from './transport/liveness.js';
export { fullRate, takeToken, type Rate, type RatePolicy } from './frames/rate.js';
export { Sequence } from './frames/sequence.js';
export {
  DeviceServerEndpoint,
  type DevicePort,
  type DeviceServerOptions,
  type DeviceWatch,
  type FilePort,
} from './session/device-server.js';
export {
  openConstellationSession,
  type ConstellationEffect,
  type ConstellationIdentity,
  type ConstellationInput,
  type ConstellationSession,
  type TargetState,
} from './session/constellation-state.js';
export { CLIENT_WAITS_MS, constellationStep } from './session/constellation-session.js';
export {
  REQUEST_CHARS_MAX,
  safeTaskName,
  taskEndMessage,
  type ClientTask,
  type ClientTaskEnd,
} from './session/client-task.js';
export {
  ConstellationServerEndpoint,
  type ConstellationPort,
  type ConstellationServerOptions,
  type ConstellationWatch,
} from './session/constellation-server.js';
export type { Closed, LargeFrames, Transport, TransportHandlers } from './transport/transport.js';
export { linkedPair, type LinkedPair } from './transport/linked-pair.js';
export {
  connectWs,
  HandshakeRefused,
  wsTransport,
  type ConnectOptions,
  type WsTransportOptions,
} from './transport/ws-transport.adapter.js';
export { Complaints } from './frames/complaints.js';
export { fitToolInfos, returnsOf, schemaOf } from './session/tool-info.js';
export {
  digestOf,
  CONNECTION_LOST,
  FILE_ABORTS,
  FILE_POLICY,
  fileFailure,
  LOST,
  mayPass,
  type FileAbortCode,
  type FileFailure,
  type FilePolicy,
  abortFrame,
  IncomingFile,
  OutgoingFile,
  type FileFrame,
  type FileSink,
  type FileSource,
  type FileWire,
  type Transfer,
  type TransferFrame,
} from './files/index.js';
export {
  resumeMessages,
  type Holdings,
  type ServerFacts,
  type ServerRequest,
  ServerConnection,
  type ConnectionEnd,
  type ConnectionOptions,
  type LinkedDevice,
  type FrameFact,
  DeviceClientEndpoint,
  Unwelcome,
  type Credentials,
  type DeviceClientEndpointOptions,
  type LinkFact,
  ConstellationEndpoint,
  DeviceInfoUnavailable,
  RegistrationRefused,
  type ConstellationEndpointOptions,
  type ConstellationFact,
  type TaskCall,
  type TaskEnd,
} from './link/index.js';
