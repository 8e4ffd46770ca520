import { LIMITS } from '../limits.js';

/** Bounds of one AIP connection; both ends keep to them. */
export const AIP_LIMITS = {
  /** From the TCP connection to the end of the upgrade. */
  handshakeMs: 5_000,
  /** From the open socket to REGISTER. */
  registerWithinMs: 5_000,
  pingEveryMs: 20_000,
  /** Without a pong or a frame for this long the socket is given up. */
  deadAfterMs: 45_000,
  /** A peer that does not answer a close frame is cut off after this. */
  closeWithinMs: 2_000,
  frameBytesMax: LIMITS.aipFrameBytesMax,
  /** From clients of other systems, which send screenshots and whole outputs in one frame. */
  foreignFrameBytesMax: 8 * 1024 * 1024,
  /** A command request; its COMMAND frame must fit into `frameBytesMax`. */
  commandBytesMax: LIMITS.aipFrameBytesMax - 4 * 1024,
  /** Nesting of arrays and objects in a frame. */
  jsonDepthMax: 64,
  errorCharsMax: 4_000,
  /** More than this not yet taken by the peer: nothing new is sent until it is. */
  congestedBytes: 1024 * 1024,
  /** More than this not yet taken by the peer: it is cut off. */
  bufferedBytesMax: 16 * 1024 * 1024,
  /** A connection is read no faster than this in the long run; it is slowed down, never dropped. */
  framesPerSecond: 2_000,
  framesBurst: 4_000,
  /** How long a foreign client may take to name its tools before it is used without knowing them. */
  listToolsMs: 10_000,
  /** Commands of one session that are queued, sent or wait for `stored`. */
  commandsMax: 1_024,
  /** Results of one session that wait for `stored`. */
  resultBytesMax: 64 * 1024 * 1024,
  /** Ids a session remembers to have sent, beyond the commands it holds. */
  sentIdsMax: 100_000,
  stoppedAttemptsMax: 10_000,
  presenceRenewMs: 3_000,
} as const;

/** Close codes with a meaning beyond RFC 6455. */
export const AIP_CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  policy: 1008,
  tryAgainLater: 1013,
  /** A newer connection of the same device holds the session. */
  replaced: 4000,
} as const;

/** Codes of `DeviceAnswer` `refused`: by this request nothing was and nothing will be executed. */
export const COMMAND_REFUSALS = {
  /** An earlier request with this id may have been executed by a session or journal that is gone. */
  outcomeUnknown: 'OUTCOME_UNKNOWN',
  expired: 'EXPIRED',
  unknownTool: 'UNKNOWN_TOOL',
  /** The id is known with other content. */
  conflict: 'COMMAND_CONFLICT',
  tooLarge: 'TOO_LARGE',
  invalid: 'INVALID_REQUEST',
  /** The device went away before the command was sent to it. */
  disconnected: 'DEVICE_DISCONNECTED',
} as const;
