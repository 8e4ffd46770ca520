import { connect, type Socket } from 'node:net';
import { AdbFault } from './adb-fault.js';

/** Where an adb server listens: on a port, or on a socket of this machine (`adb -L localfilesystem:PATH`), which has an owner and rights. */
export type AdbAddress = { readonly host: string; readonly port: number } | { readonly path: string };

const STATUS_BYTES = 4;
const LENGTH_DIGITS = 4;
const REASON_CHARS_MAX = 300;

/**
 * One connection to an adb server. Each serves one errand: after a device is chosen on it, what follows goes to that device, and ends
 * with it. `signal` ends it at any time, with its reason.
 */
export class AdbConnection {
  readonly #socket: Socket;
  readonly #address: AdbAddress;
  readonly #signal: AbortSignal;
  readonly #chunks: AsyncIterator<Buffer>;
  #pending: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, address: AdbAddress, signal: AbortSignal) {
    this.#socket = socket;
    this.#address = address;
    this.#signal = signal;
    this.#chunks = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  static async open(address: AdbAddress, signal: AbortSignal): Promise<AdbConnection> {
    if (signal.aborted) throw aborted(signal, 'nothing was asked');
    const socket = connect({ ...address, signal });
    const { promise: connected, resolve, reject } = Promise.withResolvers<void>();
    socket.once('connect', resolve);
    // It stays, so that an error between two readings is nobody's crash: the next reading tells it.
    socket.on('error', reject);
    try {
      await connected;
    } catch (cause) {
      if (signal.aborted) throw aborted(signal, 'the adb server did not answer');
      throw new AdbFault(
        'NO_SERVER',
        `there is no adb server at ${textOf(address)}: start one with "adb start-server"`,
        {
          cause,
        },
      );
    }
    return new AdbConnection(socket, address, signal);
  }

  /** Asks for a service; throws the server's reason with `refused` as its code when it is not given. */
  async ask(service: string, refused: 'NO_DEVICE' | 'NO_SERVER' | 'LOST' = 'NO_DEVICE'): Promise<void> {
    const request = Buffer.from(service, 'utf8');
    const length = request.length.toString(16).padStart(LENGTH_DIGITS, '0');
    this.#socket.write(Buffer.concat([Buffer.from(length, 'ascii'), request]));
    const status = (await this.#bytes(STATUS_BYTES)).toString('latin1');
    if (status === 'OKAY') return;
    if (status === 'FAIL') throw new AdbFault(refused, visible(await this.text()));
    throw this.#foreign();
  }

  /** A text with its length before it. */
  async text(): Promise<string> {
    const digits = (await this.#bytes(LENGTH_DIGITS)).toString('latin1');
    if (!/^[0-9a-f]{4}$/i.test(digits)) throw this.#foreign();
    return (await this.#bytes(Number.parseInt(digits, 16))).toString('utf8');
  }

  /** What has come and what comes; undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    const pending = this.#pending;
    if (pending.length === 0) return this.#read();
    this.#pending = Buffer.alloc(0);
    return pending;
  }

  close(): void {
    this.#socket.destroy();
  }

  async #bytes(count: number): Promise<Buffer> {
    while (this.#pending.length < count) {
      const chunk = await this.#read();
      if (chunk === undefined) throw this.#lost();
      this.#pending = Buffer.concat([this.#pending, chunk]);
    }
    const bytes = this.#pending.subarray(0, count);
    this.#pending = this.#pending.subarray(count);
    return bytes;
  }

  async #read(): Promise<Buffer | undefined> {
    try {
      const { value, done } = await this.#chunks.next();
      return done === true ? undefined : value;
    } catch (cause) {
      if (this.#signal.aborted) throw aborted(this.#signal, 'the device had not answered');
      throw this.#lost(cause);
    }
  }

  #lost(cause?: unknown): AdbFault {
    return new AdbFault('LOST', 'the connection to the device ended before its answer', { cause });
  }

  #foreign(): AdbFault {
    return new AdbFault('NO_SERVER', `what listens at ${textOf(this.#address)} is no adb server`);
  }
}

const textOf = (address: AdbAddress): string =>
  'path' in address
    ? address.path
    : `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;

function aborted({ reason }: AbortSignal, what: string): AdbFault {
  const isLate = reason instanceof Error && reason.name === 'TimeoutError';
  return isLate
    ? new AdbFault('TIMED_OUT', `${what} in time`)
    : new AdbFault('ABORTED', `${what} when it was cancelled`);
}

/** What a server says of a device, without what nobody can see. */
const visible = (text: string): string =>
  text
    .replaceAll(/[^\P{C}]+/gu, ' ')
    .slice(0, REASON_CHARS_MAX)
    .trim();
