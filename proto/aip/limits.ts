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
  /** From their devices: of frames above `foreignFrameBytesMax` a gateway takes one at a time. */
  largeFrameBytesMax: 100 * 1024 * 1024,
  /** How long such a frame may be on its way, once it is its turn. */
  largeFrameMs: 2 * 60 * 1_000,
  /** A command request; its COMMAND frame must fit into `frameBytesMax`. */
  commandBytesMax: LIMITS.aipFrameBytesMax - 4 * 1024,
  /** Nesting of arrays and objects in a frame. */
  jsonDepthMax: 64,
  /** Objects, arrays and keys of a frame: to check a million of them takes a second, in which nobody else is served. */
  jsonValuesMax: 100_000,
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
  /** It is asked again no sooner than this after the last time, when a tool is wanted that it has not named. */
  listToolsAgainMs: 10_000,
  /** It is asked again this often as long as it has named none. */
  listToolsMissingMs: 2 * 60 * 1_000,
  /** Commands of one session that are queued, sent or wait for `stored`. */
  commandsMax: 1_024,
  /** Results of one session that wait for `stored`. */
  resultBytesMax: 64 * 1024 * 1024,
  /** How long a gateway still says, after the end of a foreign device's session, what was sent in it. */
  endedSessionMs: 5 * 60 * 1_000,
  /** Ids a session remembers to have sent, beyond the commands it holds. */
  sentIdsMax: 100_000,
  stoppedAttemptsMax: 10_000,
  presenceRenewMs: 3_000,
  /** From the confirmation of REGISTER to the last RESUME of a device of revision 2. */
  resumeWithinMs: 5_000,
  /** Frames that may be taken without saying so, and for how long. */
  ackEveryFrames: 16,
  ackAfterMs: 200,
  /** A peer that acknowledges nothing for this long does not take what it is sent. */
  unackedMsMax: 45_000,
  /** Live output of a device that is sent and not acknowledged; more is left out. */
  outputUnackedBytesMax: 256 * 1024,
  /** One piece of live output, and how often there is one. */
  outputChunkCharsMax: 16 * 1024,
  outputEveryMs: 100,
  /** Bytes of one piece of a file; its frame is a third larger. */
  fileChunkBytes: 256 * 1024,
  /** Bytes of a file that are sent and not taken yet. */
  fileWindowBytes: 1024 * 1024,
  transfersMax: 16,
  /** A transfer without a piece or a word for this long is given up. */
  transferIdleMs: 60_000,
  /** Metrics of a device are taken this often, whatever it sends. */
  metricsEveryMs: 10_000,
  /** A result that nobody asks for within this is handed to the device-agent. */
  unclaimedMs: 5_000,
  /** Open tasks of one constellation client's connection. */
  tasksOpenMax: 256,
  /** Ended tasks it may ask for again. */
  tasksEndedMax: 1_024,
  /** Revocations are asked for this often. */
  revocationsEveryMs: 1_000,
} as const;

/** Close codes with a meaning beyond RFC 6455. */
export const AIP_CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  policy: 1008,
  tooLarge: 1009,
  internalError: 1011,
  tryAgainLater: 1013,
  /** A newer connection of the same device holds the session. */
  replaced: 4000,
  /** The credential of the connection is revoked. */
  revoked: 4001,
  /** The credential of the connection has expired. */
  expired: 4002,
  /** The peer does not acknowledge what it is sent. */
  unacknowledged: 4003,
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
  /** The device cannot be given the whole of what the command reads. */
  inputUnavailable: 'INPUT_UNAVAILABLE',
  /** The command is one of a workspace, and the device keeps none. */
  noWorkspaces: 'NO_WORKSPACES',
  /** The session that it was for is over, and no byte of it was handed to the device. Said by the gateway that held the session. */
  notSent: 'NOT_SENT',
} as const;
