import type { Closed, Transport, TransportHandlers } from '#libs/aip';
import { Violation } from './subject.js';

/** What a close frame has room for (RFC 6455 5.5). */
const REASON_BYTES_MAX = 123;
const RESERVED = new Set([1004, 1005, 1006]);

/**
 * The transport of an endpoint under test, as strict as a real WebSocket: it throws where that would, and the peer's answer to
 * a close frame comes later, with whatever the peer had sent before.
 */
export class Wire implements Transport {
  readonly sent: string[] = [];
  congested = false;
  #handlers: TransportHandlers | undefined;
  #closing: Closed | undefined;
  #ended = false;

  handle(handlers: TransportHandlers): void {
    if (this.#handlers !== undefined) throw new Violation('the transport was given handlers twice');
    this.#handlers = handlers;
  }

  send(text: string): boolean {
    if (this.isOver) throw new Violation(`sent after the end: ${text.slice(0, 100)}`);
    this.sent.push(text);
    return true;
  }

  close(code: number, reason: string): void {
    const isValid = (code >= 1000 && code <= 1014 && !RESERVED.has(code)) || (code >= 3000 && code <= 4999);
    if (!isValid) throw new Violation(`closed with ${code}, which no close frame may carry`);
    if (Buffer.byteLength(reason) > REASON_BYTES_MAX)
      throw new Violation(`closed with a reason that is too long: ${reason}`);
    this.#closing ??= { code, reason };
  }

  terminate(): void {
    this.#closing ??= { code: 1006, reason: '' };
  }

  pause(): void {
    // Frames are given one by one here: nothing comes by itself that could be held back.
  }

  resume(): void {
    // As above.
  }

  /** The endpoint has said goodbye, or its peer has. */
  get isOver(): boolean {
    return this.#closing !== undefined || this.#ended;
  }

  /** With which code the endpoint has closed; undefined while it has not. */
  get closeCode(): number | undefined {
    return this.#closing?.code;
  }

  /** `bytes`: of a binary frame, which has no text. */
  receive(text: string | null, bytes?: Uint8Array): void {
    if (!this.#ended) this.#handlers?.frame(text, bytes);
  }

  drain(): void {
    this.congested = false;
    if (!this.#ended) this.#handlers?.drained?.();
  }

  /** The socket is gone, after a goodbye or without one. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#handlers?.closed(this.#closing ?? { code: 1006, reason: '' });
  }
}
