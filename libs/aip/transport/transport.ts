/** Why a connection is over; 1006 when no close frame came. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface TransportHandlers {
  /** A text frame; null for a binary one, with its content. */
  frame(text: string | null, bytes?: Uint8Array): void;
  /** Once, no matter which side ended it. Nothing else is called afterwards. */
  closed(why: Closed): void;
  /** What made the connection congested has been taken by the peer. */
  drained?(): void;
}

/** Port: one connection that carries frames in order, for either end. */
export interface Transport {
  /** Frames that arrived before are kept until then. To be called once. */
  handle(handlers: TransportHandlers): void;
  /** False, and nothing is done, on a connection that is closing or closed. */
  send(text: string): boolean;
  /** The same for a binary frame; undefined on a connection that carries none. */
  readonly sendBytes?: (bytes: Uint8Array) => boolean;
  /** Says goodbye; a peer that does not answer is cut off. */
  close(code: number, reason: string): void;
  /** Ends it now, without a word. */
  terminate(): void;
  /** Stops reading: the peer's frames pile up at the peer. */
  pause(): void;
  resume(): void;
  /** The peer takes frames more slowly than they are sent. */
  readonly congested: boolean;
}

/** Port: who takes frames that are too large to be parsed like others. */
export interface LargeFrames {
  /** A frame with more bytes is one of these. */
  readonly fromBytes: number;
  readonly bytesMax: number;
  /** How long one may be on its way, once it is its turn. */
  readonly withinMs: number;
  /** Calls `granted`, at once or later, when it is the turn of this frame; what it returns gives the turn back, or up. */
  enter(granted: () => void): () => void;
  /** The frame as it can be parsed, without these texts. Rejects when it cannot be. */
  reduce(frame: Buffer, secrets: readonly string[]): Promise<string>;
}
