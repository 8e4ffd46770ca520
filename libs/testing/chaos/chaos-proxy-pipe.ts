import type { Socket } from 'node:net';
import { FrameScan } from './chaos-proxy-frames.js';

/** How the two sides of a connection are told that it is over: `rst` at once, `fin` in order. */
export type CutKind = 'rst' | 'fin';

/** Cuts once: the connection through which the condition comes true. */
export interface Scissors {
  readonly how: CutKind;
  /** After that many more bytes, or in the middle of the payload of a frame that is at least this large. */
  readonly at: 'bytes' | 'frame';
  bytes: number;
  readonly happened: () => void;
}

/** What holds for one direction of all connections, now. */
export interface Rules {
  delayMs: number;
  jitterMs: number;
  bytesPerSecond: number;
  /** What comes is kept, in order, and passed on later. */
  holds: boolean;
  /** What comes is gone, the end of the connection too. */
  swallows: boolean;
  scissors: Scissors | undefined;
  /** Hears what is about to be passed on. */
  heard: ((bytes: Buffer) => void) | undefined;
  passedBytes: number;
  lostBytes: number;
}

export const freshRules = (): Rules => ({
  delayMs: 0,
  jitterMs: 0,
  bytesPerSecond: Infinity,
  holds: false,
  swallows: false,
  scissors: undefined,
  heard: undefined,
  passedBytes: 0,
  lostBytes: 0,
});

/** More than this is not read from the sender until some of it is passed on: a network is no store. */
const QUEUE_BYTES_MAX = 16 * 1024 * 1024;
/** A limited rate is kept in pieces of what may pass in this time. */
const RATE_STEP_MS = 20;
/** A frame of fewer bytes has no middle. */
export const FRAME_BYTES_MIN = 2;

interface Queued {
  /** Null: the sender has ended its side. */
  readonly bytes: Buffer | null;
  readonly dueMs: number;
}

export interface PipeEnds {
  readonly from: Socket;
  readonly to: Socket;
  readonly rules: Rules;
  /** In [0, 1): the jitter. */
  readonly random: () => number;
  readonly cut: (how: CutKind) => void;
}

/**
 * Ends a socket with RST, at once. `resetAndDestroy` sends FIN first and leaves the handle open for ever when an error comes
 * in between, and then the process cannot exit; so only its second half is used. Whose end is on its way gets no RST.
 */
export function reset(socket: Socket): void {
  if (!socket.writableEnded) Object.assign(socket, { resetAndClosing: true });
  socket.destroy();
}

/** One direction of one connection: bytes in order, later, slower, in part or never. */
export class Pipe {
  /** Bytes were lost: nothing that comes later may be passed on, a TCP stream has no holes. */
  hasHole = false;
  readonly #ends: PipeEnds;
  readonly #scan = new FrameScan();
  readonly #queue: Queued[] = [];
  #queuedBytes = 0;
  #lastDueMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #blocked = false;

  constructor(ends: PipeEnds) {
    this.#ends = ends;
    const { from, to } = ends;
    from.on('data', (bytes: Buffer) => this.#take(bytes));
    from.on('end', () => this.#take(null));
    to.on('drain', () => {
      this.#blocked = false;
      this.flush();
    });
  }

  /** What is kept now. */
  get held(): Buffer {
    return Buffer.concat(this.#queue.flatMap(({ bytes }) => bytes ?? []));
  }

  /** Passes on what may pass now; to be called when the rules have changed. */
  flush(): void {
    clearTimeout(this.#timer);
    const { from, rules } = this.#ends;
    if (rules.swallows) this.#lose();
    while (!this.#blocked && !rules.holds) {
      const [head] = this.#queue;
      if (head === undefined) break;
      const waitMs = head.dueMs - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.flush(), waitMs);
        break;
      }
      this.#queue.shift();
      this.#queuedBytes -= head.bytes?.length ?? 0;
      this.#pass(head.bytes);
    }
    if (this.#queuedBytes < QUEUE_BYTES_MAX) from.resume();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#queuedBytes = 0;
  }

  #take(bytes: Buffer | null): void {
    const { delayMs, jitterMs, bytesPerSecond } = this.#ends.rules;
    const arrivesMs = performance.now() + delayMs + jitterMs * this.#ends.random();
    for (const piece of bytes === null ? [null] : pieces(bytes, bytesPerSecond)) {
      const sendingMs = ((piece?.length ?? 0) / bytesPerSecond) * 1_000;
      this.#lastDueMs = Math.max(this.#lastDueMs, arrivesMs) + sendingMs;
      this.#queue.push({ bytes: piece, dueMs: this.#lastDueMs });
    }
    this.#queuedBytes += bytes?.length ?? 0;
    if (this.#queuedBytes >= QUEUE_BYTES_MAX) this.#ends.from.pause();
    this.flush();
  }

  #lose(): void {
    if (this.#queue.length > 0) this.hasHole = true;
    this.#ends.rules.lostBytes += this.#queuedBytes;
    this.stop();
  }

  #pass(bytes: Buffer | null): void {
    const { from, to, rules, cut } = this.#ends;
    if (this.hasHole) {
      rules.lostBytes += bytes?.length ?? 0;
      return;
    }
    if (bytes === null) return void to.end();
    // Who sends to somebody who is gone is told so.
    if (!to.writable) return reset(from);
    rules.heard?.(bytes);
    const { scissors } = rules;
    const at = this.#cutIn(bytes, scissors);
    rules.passedBytes += at ?? bytes.length;
    if (scissors === undefined || at === undefined) {
      this.#blocked = !to.write(bytes);
      return;
    }
    rules.scissors = undefined;
    to.write(bytes.subarray(0, at), () => {
      cut(scissors.how);
      scissors.happened();
    });
    this.hasHole = true;
  }

  #cutIn(bytes: Buffer, scissors: Scissors | undefined): number | undefined {
    const middle = this.#scan.middleIn(bytes, Math.max(FRAME_BYTES_MIN, scissors?.at === 'frame' ? scissors.bytes : 0));
    if (scissors?.at !== 'bytes') return scissors === undefined ? undefined : middle;
    const before = scissors.bytes;
    scissors.bytes -= bytes.length;
    return scissors.bytes <= 0 ? before : undefined;
  }
}

function* pieces(bytes: Buffer, bytesPerSecond: number): Generator<Buffer> {
  const size = Math.min(bytes.length, Math.max(1, Math.ceil((bytesPerSecond * RATE_STEP_MS) / 1_000)));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
