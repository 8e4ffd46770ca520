import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MCP_LIMITS } from './tool-server.js';

const NEWLINE = 10;

/**
 * What has come of messages that are lines, in place of the SDK's own buffer: that one copies all it has for every piece that comes, which for a
 * message of megabytes takes longer than the message is worth.
 */
export class MessageBuffer {
  readonly #parse: (line: string) => JSONRPCMessage;
  readonly #lines: Buffer[] = [];
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isTooLong = false;

  constructor(parse: (line: string) => JSONRPCMessage) {
    this.#parse = parse;
  }

  /** Throws when a line becomes longer than a message may be; the rest of that line is passed over, and the next ones are read. */
  append(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, end));
      if (!this.#isTooLong) this.#lines.push(Buffer.concat(this.#pieces));
      this.#forget();
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
  }

  /** The next message; null when there is none yet. Throws when it is none. */
  readMessage(): JSONRPCMessage | null {
    const line = this.#lines.shift();
    return line === undefined ? null : this.#parse(line.toString('utf8'));
  }

  clear(): void {
    this.#forget();
    this.#lines.length = 0;
  }

  #take(piece: Buffer): void {
    if (this.#isTooLong) return;
    this.#bytes += piece.length;
    if (this.#bytes > MCP_LIMITS.messageBytesMax) {
      this.clear();
      this.#isTooLong = true;
      throw new Error(`it sent a message of more than ${MCP_LIMITS.messageBytesMax} bytes`);
    }
    if (piece.length > 0) this.#pieces.push(piece);
  }

  #forget(): void {
    this.#pieces = [];
    this.#bytes = 0;
    this.#isTooLong = false;
  }
}
