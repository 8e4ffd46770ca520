import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { StandInPhone } from './stand-in-phone.js';

/** An adb server with phones, as its clients see it: for machines that have no adb. */
export class StandInServer {
  readonly #server: Server;
  readonly #phones: readonly StandInPhone[];
  readonly #sockets = new Set<Socket>();
  features = 'shell_v2,cmd';

  private constructor(phones: readonly StandInPhone[]) {
    this.#phones = phones;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
      void this.#serve(socket).catch(() => socket.destroy());
    });
  }

  static async start(phones: readonly StandInPhone[]): Promise<StandInServer> {
    const server = new StandInServer(phones);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: (this.#server.address() as AddressInfo).port };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(socket: Socket): Promise<void> {
    let phone: StandInPhone | undefined;
    for await (const request of requestsOf(socket)) {
      const [, transport] = /^host:transport:(.*)$/u.exec(request) ?? [];
      const [, asked] = /^host-serial:(.*):features$/u.exec(request) ?? [];
      if (request === 'host:devices') {
        const there = this.#phones.filter(({ isThere }) => isThere).map(({ serial }) => `${serial}\tdevice\n`);
        return answer(socket, there.join(''));
      }
      if (asked !== undefined) {
        if (this.#phone(asked) === undefined) return refuse(socket, `device '${asked}' not found`);
        return answer(socket, this.features);
      }
      if (transport !== undefined) {
        phone = this.#phone(transport);
        if (phone === undefined) return refuse(socket, `device '${transport}' not found`);
        socket.write('OKAY');
        continue;
      }
      const stream = phone?.open(request);
      if (stream === undefined) return refuse(socket, 'closed');
      socket.once('close', stream.end);
      socket.write('OKAY');
      for await (const chunk of stream.output) socket.write(chunk);
      socket.end();
      return;
    }
  }

  #phone(serial: string): StandInPhone | undefined {
    return this.#phones.find((phone) => phone.serial === serial && phone.isThere);
  }
}

async function* requestsOf(socket: Socket): AsyncGenerator<string> {
  let pending = Buffer.alloc(0);
  for (;;) {
    const length = pending.length < 4 ? undefined : Number.parseInt(pending.subarray(0, 4).toString('latin1'), 16);
    if (length !== undefined && pending.length >= 4 + length) {
      const request = pending.subarray(4, 4 + length).toString('utf8');
      pending = pending.subarray(4 + length);
      yield request;
      continue;
    }
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'end').then(() => [])])) as Buffer[];
    if (chunk === undefined) return;
    pending = Buffer.concat([pending, chunk]);
  }
}

const withLength = (text: string): string => `${Buffer.byteLength(text).toString(16).padStart(4, '0')}${text}`;
const answer = (socket: Socket, text: string): void => void socket.end(`OKAY${withLength(text)}`);
const refuse = (socket: Socket, why: string): void => void socket.end(`FAIL${withLength(why)}`);
