import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { PhoneStream, StandInPhone } from './stand-in-phone.js';

const HEAD_BYTES = 24;
const VERSION = 0x01000001;
const PAYLOAD_BYTES_MAX = 256 * 1024;
const BANNER =
  'device::ro.product.name=standin;ro.product.model=Stand_in;ro.product.device=standin;features=shell_v2,cmd';

interface Stream {
  readonly theirs: number;
  readonly phone: PhoneStream;
  /** Called when what was written has been taken. */
  taken: () => void;
}

/** The device's end of the ADB transport (CNXN, OPEN, OKAY, WRTE, CLSE) for one phone: what a real adb server connects to. */
export class StandInAdbd {
  readonly #server: Server;
  readonly #phone: StandInPhone;
  readonly #sockets = new Set<Socket>();

  private constructor(phone: StandInPhone) {
    this.#phone = phone;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
      if (!phone.isThere) return void socket.destroy();
      void this.#serve(socket).finally(() => socket.destroy());
    });
  }

  static async start(phone: StandInPhone): Promise<StandInAdbd> {
    const adbd = new StandInAdbd(phone);
    adbd.#server.listen(0, '127.0.0.1');
    await once(adbd.#server, 'listening');
    return adbd;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(socket: Socket): Promise<void> {
    const streams = new Map<number, Stream>();
    let next = 1;
    for await (const { command, first, second, payload } of messagesOf(socket)) {
      if (command === 'CNXN') send(socket, 'CNXN', VERSION, PAYLOAD_BYTES_MAX, Buffer.from(BANNER));
      if (command === 'OPEN') {
        const phone = this.#phone.open(payload.toString('utf8').replace(/\0$/u, ''));
        if (!this.#phone.isThere) return;
        if (phone === undefined) {
          send(socket, 'CLSE', 0, first);
          continue;
        }
        const ours = next++;
        const stream: Stream = { theirs: first, phone, taken: () => undefined };
        streams.set(ours, stream);
        send(socket, 'OKAY', ours, first);
        void this.#feed(socket, ours, stream);
      }
      if (command === 'OKAY') streams.get(second)?.taken();
      if (command === 'WRTE') send(socket, 'OKAY', second, first);
      if (command === 'CLSE') {
        streams.get(second)?.phone.end();
        streams.get(second)?.taken();
        streams.delete(second);
      }
    }
    for (const { phone, taken } of streams.values()) {
      phone.end();
      taken();
    }
  }

  /** One message at a time: the next one goes when the last was taken. */
  async #feed(socket: Socket, ours: number, stream: Stream): Promise<void> {
    for await (const chunk of stream.phone.output) {
      for (let at = 0; at < chunk.length; at += PAYLOAD_BYTES_MAX) {
        const { promise, resolve } = Promise.withResolvers<void>();
        stream.taken = resolve;
        send(socket, 'WRTE', ours, stream.theirs, chunk.subarray(at, at + PAYLOAD_BYTES_MAX));
        await promise;
      }
    }
    if (!this.#phone.isThere) socket.destroy();
    else send(socket, 'CLSE', ours, stream.theirs);
  }
}

interface Message {
  readonly command: string;
  readonly first: number;
  readonly second: number;
  readonly payload: Buffer;
}

async function* messagesOf(socket: Socket): AsyncGenerator<Message> {
  let pending = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + pending.readUInt32LE(12);
      if (pending.length < end) break;
      yield {
        command: pending.toString('latin1', 0, 4),
        first: pending.readUInt32LE(4),
        second: pending.readUInt32LE(8),
        payload: pending.subarray(HEAD_BYTES, end),
      };
      pending = pending.subarray(end);
    }
  }
}

function send(socket: Socket, command: string, first: number, second: number, payload: Buffer = Buffer.alloc(0)): void {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(command, 0, 'latin1');
  head.writeUInt32LE(first, 4);
  head.writeUInt32LE(second, 8);
  head.writeUInt32LE(payload.length, 12);
  head.writeUInt32LE(
    payload.reduce((sum, byte) => (sum + byte) >>> 0, 0),
    16,
  );
  head.writeUInt32LE((head.readUInt32LE(0) ^ 0xffffffff) >>> 0, 20);
  if (!socket.destroyed) socket.write(Buffer.concat([head, payload]));
}
