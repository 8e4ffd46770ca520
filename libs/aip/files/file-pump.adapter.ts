import { createHash, type Hash } from 'node:crypto';
import type { ClientMessage, FileAbort, FilePiece, PieceData, ServerMessage, Sha256, TransferId } from '#proto';
import { openReceiver, receive, type Receiver, type ReceiverEffect, type ReceiverInput } from './file-receiver.js';
import {
  offerFile,
  stepSender,
  sendFile,
  type FileSender,
  type SenderEffect,
  type SenderInput,
} from './file-sender.js';
import { FILE_ABORTS, FILE_POLICY, fileFailure, type FileFailure, type FilePolicy } from './file-transfer.js';

/* The shells around the two state machines, the same at both ends: they move the bytes between a connection and a disk or store. */

/** What a transfer says, without what each end puts around its frames. */
export type FileFrame =
  | { readonly type: 'file_chunk'; readonly orrery: FilePiece }
  | { readonly type: 'file_end'; readonly orrery: { readonly transfer_id: TransferId } }
  | { readonly type: 'file_stored'; readonly orrery: { readonly transfer_id: TransferId } }
  | { readonly type: 'file_ack'; readonly orrery: { readonly transfer_id: TransferId; readonly bytes: number } }
  | { readonly type: 'file_abort'; readonly orrery: FileAbort };

/** What a transfer is told by the other end, once it is begun. */
export type TransferFrame = Extract<
  ClientMessage | ServerMessage,
  { type: 'file_ready' | 'file_chunk' | 'file_end' | 'file_ack' | 'file_stored' | 'file_abort' }
>;

export interface FileWire {
  send(frame: FileFrame): void;
  /** The peer takes frames more slowly than they are sent: no piece is read meanwhile. */
  readonly congested: boolean;
}

/** Where a file comes from; read from the beginning to the end. */
export interface FileSource {
  /** At most as many, and none when there are no more. */
  read(offset: number, bytes: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Where a file goes. It says `taken` and `failed` by itself. */
export interface FileSink {
  write(data: Uint8Array): void;
  /** Of everything that was written, from a sink that computes it for itself. */
  readonly sha256?: () => Sha256;
  /** Makes the whole visible; rejects when it cannot. */
  commit(): Promise<void>;
  /** Leaves nothing behind; never rejects, and does not take back what was committed. */
  discard(): Promise<void>;
}

/** One transfer as its owner sees it. */
export interface Transfer {
  frame(frame: TransferFrame): void;
  /** About once a second. */
  tick(): void;
  /** The connection takes frames again. */
  drained(): void;
  /** This side gives up, unless it is too late for that. */
  cancel(failure: FileFailure): void;
  /** The connection is gone; what needs it no more goes on to its end. */
  closed(): void;
}

interface TransferOptions {
  readonly transferId: TransferId;
  readonly bytes: number;
  readonly wire: FileWire;
  /** Milliseconds that never jump. */
  readonly now: () => number;
  /** What to tell the other end about an error of the source or sink. */
  readonly explain: (error: unknown) => FileFailure;
  /** Once; null: the file is at the other end. `settled` when nothing of the transfer is left on this side. */
  readonly onEnded: (failure: FileFailure | null, settled: Promise<void>) => void;
  readonly policy?: FilePolicy;
}

export interface OutgoingOptions extends TransferOptions {
  readonly source: FileSource;
  /** `offered`: announced, FILE_READY is waited for. `requested`: the other end has asked for it. */
  readonly begun: 'offered' | 'requested';
}

/** A file that is sent. */
export class OutgoingFile implements Transfer {
  readonly #options: OutgoingOptions;
  #sender: FileSender;
  /** Asked for while the connection was congested. */
  #postponed: Extract<SenderEffect, { kind: 'read' }> | undefined;

  constructor(options: OutgoingOptions) {
    this.#options = options;
    this.#sender = offerFile(options, options.now());
  }

  /** To be called once, when the announcement is sent. */
  start(): void {
    if (this.#options.begun === 'offered') return;
    const [sender, effects] = sendFile(this.#options, this.#options.now());
    this.#sender = sender;
    for (const effect of effects) this.#perform(effect);
  }

  frame({ type, orrery }: TransferFrame): void {
    if (type === 'file_ready') this.#input({ kind: 'ready', have: orrery.have });
    else if (type === 'file_ack') this.#input({ kind: 'ack', bytes: orrery.bytes });
    else if (type === 'file_stored') this.#input({ kind: 'stored' });
    else if (type === 'file_abort') this.#input({ kind: 'aborted', failure: orrery });
    else this.#input({ kind: 'failed', failure: outOfTurn(type) });
  }

  tick(): void {
    this.drained();
    this.#input({ kind: 'tick' });
  }

  drained(): void {
    const { wire } = this.#options;
    if (this.#postponed === undefined || wire.congested) return;
    const effect = this.#postponed;
    this.#postponed = undefined;
    void this.#read(effect);
  }

  cancel(failure: FileFailure): void {
    this.#input({ kind: 'failed', failure });
  }

  closed(): void {
    this.#input({ kind: 'closed' });
  }

  #input(input: SenderInput): void {
    const [sender, effects] = stepSender(this.#sender, input, this.#options.now());
    this.#sender = sender;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: SenderEffect): void {
    const { transferId: id, wire, source, onEnded } = this.#options;
    switch (effect.kind) {
      case 'read':
        if (wire.congested) this.#postponed = effect;
        else void this.#read(effect);
        return;
      case 'send-piece':
        return wire.send(pieceFrame(id, effect.offset, effect.data));
      case 'send-end':
        return wire.send({ type: 'file_end', orrery: { transfer_id: id } });
      case 'send-abort':
        return wire.send(abortFrame(id, effect.failure));
      case 'ended':
        this.#postponed = undefined;
        return onEnded(
          effect.failure,
          source.close().catch(() => undefined),
        );
    }
  }

  async #read({ offset, bytes }: Extract<SenderEffect, { kind: 'read' }>): Promise<void> {
    const { source, explain } = this.#options;
    try {
      this.#input({ kind: 'piece', data: await source.read(offset, bytes) });
    } catch (error) {
      this.#input({ kind: 'failed', failure: explain(error) });
    }
  }
}

export interface IncomingOptions extends TransferOptions {
  readonly sha256: Sha256;
  readonly sink: FileSink;
  /** Whether the other end waits for FILE_STORED. */
  readonly tellsStored: boolean;
}

/** A file that comes in. */
export class IncomingFile implements Transfer {
  readonly #options: IncomingOptions;
  readonly #room: PieceRoom;
  /** Undefined: the sink does it. */
  readonly #hash: Hash | undefined;
  #receiver: Receiver;

  constructor(options: IncomingOptions) {
    const { policy = FILE_POLICY, bytes } = options;
    this.#options = options;
    this.#hash = options.sink.sha256 === undefined ? createHash('sha256') : undefined;
    this.#room = new PieceRoom(
      Math.min(bytes, policy.windowBytes + policy.chunkBytes),
      Math.min(bytes, policy.chunkBytes),
    );
    this.#receiver = openReceiver(options, options.now());
  }

  frame({ type, orrery }: TransferFrame): void {
    if (type === 'file_chunk') {
      this.#input({ kind: 'piece', offset: orrery.offset, data: this.#room.take(orrery.data) });
    } else if (type === 'file_end') this.#input({ kind: 'end' });
    else if (type === 'file_abort') this.#input({ kind: 'aborted', failure: orrery });
    else this.#input({ kind: 'cancelled', failure: outOfTurn(type) });
  }

  /** The sink has so many bytes for good. */
  taken(bytes: number): void {
    this.#input({ kind: 'taken', bytes });
  }

  /** The sink does not work. */
  failed(error: unknown): void {
    this.#input({ kind: 'failed', failure: this.#options.explain(error) });
  }

  tick(): void {
    this.#input({ kind: 'tick' });
  }

  drained(): void {
    // Nothing waits here for the connection: acknowledgements are small.
  }

  cancel(failure: FileFailure): void {
    this.#input({ kind: 'cancelled', failure });
  }

  closed(): void {
    this.#input({ kind: 'closed' });
  }

  #input(input: ReceiverInput): void {
    const [receiver, effects] = receive(this.#receiver, input, this.#options.now());
    this.#receiver = receiver;
    let settled = Promise.resolve();
    for (const effect of effects) {
      if (effect.kind === 'discard') settled = this.#options.sink.discard();
      else if (effect.kind === 'ended') this.#options.onEnded(effect.failure, settled);
      else this.#perform(effect);
    }
  }

  #perform(effect: Exclude<ReceiverEffect, { kind: 'discard' | 'ended' }>): void {
    const { transferId: id, wire, sink, tellsStored } = this.#options;
    switch (effect.kind) {
      case 'write':
        this.#hash?.update(effect.data);
        return sink.write(effect.data);
      case 'send-ack':
        return wire.send({ type: 'file_ack', orrery: { transfer_id: id, bytes: effect.bytes } });
      case 'check':
        return this.#input({ kind: 'checksum', sha256: sink.sha256?.() ?? this.#hash?.digest('hex') ?? '' });
      case 'commit':
        return void this.#commit();
      case 'send-stored':
        return tellsStored ? wire.send({ type: 'file_stored', orrery: { transfer_id: id } }) : undefined;
      case 'send-abort':
        return wire.send(abortFrame(id, effect.failure));
    }
  }

  async #commit(): Promise<void> {
    try {
      await this.#options.sink.commit();
      this.#input({ kind: 'committed' });
    } catch (error) {
      this.failed(error);
    }
  }
}

/**
 * Memory for the pieces that the sink has not taken yet, used in turn: no more is unacknowledged, or the transfer is over.
 * New memory for every piece would only be garbage.
 */
class PieceRoom {
  readonly #bytes: number;
  readonly #pieceBytesMax: number;
  #memory: Buffer | undefined;
  #at = 0;

  constructor(unackedBytesMax: number, pieceBytesMax: number) {
    this.#pieceBytesMax = pieceBytesMax;
    // A piece is in one part: what is left at the end for a smaller one than the next is not used, nor is the last one's.
    this.#bytes = unackedBytesMax + 2 * pieceBytesMax;
  }

  take(data: PieceData): Uint8Array {
    const bytes = typeof data === 'string' ? Buffer.byteLength(data, 'base64') : data.length;
    // Larger than it may be: it is judged, and goes nowhere.
    if (bytes > this.#pieceBytesMax) return typeof data === 'string' ? Buffer.from(data, 'base64') : data;
    const memory = (this.#memory ??= Buffer.allocUnsafe(this.#bytes));
    if (this.#at + this.#pieceBytesMax > memory.length) this.#at = 0;
    const length = typeof data === 'string' ? memory.write(data, this.#at, 'base64') : bytes;
    if (typeof data !== 'string') memory.set(data, this.#at);
    const piece = memory.subarray(this.#at, this.#at + length);
    this.#at += length;
    return piece;
  }
}

const MESSAGE_CHARS_MAX = 1_000;
const CODE_CHARS_MAX = 64;

export const abortFrame = (transferId: TransferId, { code, message }: FileFailure): FileFrame => ({
  type: 'file_abort',
  orrery: {
    transfer_id: transferId,
    code: code.slice(0, CODE_CHARS_MAX),
    message: message.slice(0, MESSAGE_CHARS_MAX),
  },
});

const pieceFrame = (transferId: TransferId, offset: number, data: Uint8Array): FileFrame => ({
  type: 'file_chunk',
  orrery: { transfer_id: transferId, offset, data },
});

const outOfTurn = (type: string): FileFailure =>
  fileFailure(FILE_ABORTS.wrongTurn, `${type} has no place in this transfer`);
