import { AIP_LIMITS } from '#proto';

/*
 * Files in pieces over one connection, the same rules at both ends (docs/aip.md, "Files"). The side that has the file is the
 * sender, the other the receiver; which of them is the device makes no difference to either.
 *
 *   device -> store   file_begin -> file_ready -> file_chunk* (file_ack*) -> file_end -> file_stored
 *   store -> device   file_request -> file_begin -> file_chunk* (file_ack*) -> file_end
 *   either side, at any time: file_abort
 *
 * A transfer ends with its connection: it is begun anew on the next one, under another id.
 */

export interface FilePolicy {
  /** Bytes of the first pieces, and on a slow line of all. */
  readonly pieceBytes: number;
  /** Bytes of one piece, as they are taken. */
  readonly chunkBytes: number;
  /** Bytes that are sent and not acknowledged. */
  readonly windowBytes: number;
  /** An acknowledgement that comes within this lets more be under way. */
  readonly quickMs: number;
  /** Without progress for this long a transfer is given up. */
  readonly idleMs: number;
}

export const FILE_POLICY: FilePolicy = {
  pieceBytes: Math.min(64 * 1024, AIP_LIMITS.fileChunkBytes),
  chunkBytes: AIP_LIMITS.fileChunkBytes,
  windowBytes: AIP_LIMITS.fileWindowBytes,
  quickMs: 2_000,
  idleMs: AIP_LIMITS.transferIdleMs,
};

/** `code` of FILE_ABORT: why there is no file at the other end. */
export const FILE_ABORTS = {
  /** The command is not open in this session (any more). */
  commandNotOpen: 'COMMAND_NOT_OPEN',
  /** It is open, but after a reconnect its arguments are not known again yet. */
  commandNotKnownYet: 'COMMAND_NOT_KNOWN_YET',
  /** The arguments of the command do not name the artifact. */
  notNamed: 'NOT_NAMED',
  tooLarge: 'TOO_LARGE',
  /** The connection, or the whole gateway, has no room for another transfer now. */
  tooMany: 'TOO_MANY_TRANSFERS',
  transferKnown: 'TRANSFER_ID_USED',
  unknownTransfer: 'UNKNOWN_TRANSFER',
  wrongOffset: 'WRONG_OFFSET',
  wrongPiece: 'WRONG_PIECE',
  /** More was sent than was announced. */
  tooMuch: 'TOO_MANY_BYTES',
  /** Less was sent than was announced. */
  tooLittle: 'TOO_FEW_BYTES',
  window: 'WINDOW_EXCEEDED',
  wrongAck: 'WRONG_ACK',
  wrongTurn: 'OUT_OF_TURN',
  wrongChecksum: 'WRONG_CHECKSUM',
  /** The artifact is there and has another size than was announced. */
  wrongSize: 'WRONG_SIZE',
  notStored: 'NOT_STORED',
  damaged: 'DAMAGED',
  /** The store of artifacts cannot be reached. */
  storage: 'STORAGE_FAILED',
  /** The disk of the device does not give or take the bytes. */
  disk: 'DISK_FAILED',
  /** The file is not what it was when it was announced. */
  changed: 'FILE_CHANGED',
  idle: 'IDLE',
  cancelled: 'CANCELLED',
} as const;
export type FileAbortCode = (typeof FILE_ABORTS)[keyof typeof FILE_ABORTS];

/** Never on the wire: the connection ended before the transfer did. */
export const CONNECTION_LOST = 'CONNECTION_LOST';

export interface FileFailure {
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
}

const PASSING: ReadonlySet<string> = new Set([
  CONNECTION_LOST,
  FILE_ABORTS.commandNotKnownYet,
  FILE_ABORTS.tooMany,
  FILE_ABORTS.storage,
  FILE_ABORTS.idle,
]);

/** Whether the same transfer may succeed when it is begun anew a little later. */
export const mayPass = ({ code }: FileFailure): boolean => PASSING.has(code);

export const LOST: FileFailure = { code: CONNECTION_LOST, message: 'the connection ended during the transfer' };

export const idleFor = (ms: number): FileFailure => ({
  code: FILE_ABORTS.idle,
  message: `nothing moved for ${Math.round(ms / 1_000)} s`,
});

export const fileFailure = (code: FileAbortCode, message: string): FileFailure => ({ code, message });

/** Once per transfer, and nothing after it. Null: the file is at the other end, whole and checked. */
export interface TransferEnd {
  readonly kind: 'ended';
  readonly failure: FileFailure | null;
}
export const ended = (failure: FileFailure | null): TransferEnd => ({ kind: 'ended', failure });

/** What the peer is told when this side gives up. */
export interface SendAbort {
  readonly kind: 'send-abort';
  readonly failure: FileFailure;
}
