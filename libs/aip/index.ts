export { openSession, step, type Session, type SessionEffect, type SessionInput } from './session.js';
export { CommandTable } from './command-table.js';
export type { Admission, Answered, CommandTableOptions, TableEffect } from './command-effects.js';
export { commandMessage, LIST_TOOLS_ID, listToolsMessage, type OutgoingCommand } from './command-message.js';
export { outcomeOf, withoutResult } from './outcome.js';
export { clientOf, toolsOf, type RegisteredClient } from './telemetry.js';
export { decodeClientMessage, decodeServerMessage, type Decoded } from './decode.js';
export { instantOf } from './instant.js';
export { digestOf } from './digest.adapter.js';
export { delayMs, failuresAfter, RECONNECT, type BackoffPolicy } from './backoff.js';
export { alive, check, heard, type Liveness, type LivenessPolicy, type LivenessVerdict } from './liveness.js';
export { fullRate, takeToken, type Rate, type RatePolicy } from './rate.js';
export type { Closed, Transport, TransportHandlers } from './transport.js';
export { linkedPair, type LinkedPair } from './linked-pair.js';
export {
  connectWs,
  HandshakeRefused,
  wsTransport,
  type ConnectOptions,
  type WsTransportOptions,
} from './ws-transport.adapter.js';
