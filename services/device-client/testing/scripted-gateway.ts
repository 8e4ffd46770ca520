import { createServer as createPlain, type RequestListener, type Server } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from '#libs/testing';

export interface Asked {
  readonly path: string;
  readonly body: { readonly token?: string; readonly assertion: string };
}

/** Status and body of an answer; `cut`: the connection ends without one. */
export type Reply = { readonly status: number; readonly body: object; readonly headers?: object } | 'cut';

/** The HTTP side of a gateway that answers as a test says. */
export class ScriptedGateway {
  readonly asked: Asked[] = [];
  reply: (asked: Asked) => Reply | Promise<Reply> = () => ({ status: 500, body: {} });
  readonly #server: Server;
  #port = 0;
  readonly #scheme: 'ws' | 'wss';

  constructor(tls?: TestCertificate) {
    const listener: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => void this.#answer(request.url ?? '', Buffer.concat(chunks).toString(), response));
    };
    this.#scheme = tls === undefined ? 'ws' : 'wss';
    this.#server = tls === undefined ? createPlain(listener) : createTls({ cert: tls.cert, key: tls.key }, listener);
  }

  /** Again on the same port. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.listen(this.#port, '127.0.0.1', resolve);
    await promise;
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.#port}/ws`;
  }

  async #answer(path: string, text: string, response: Parameters<RequestListener>[1]): Promise<void> {
    const asked = { path, body: JSON.parse(text) as Asked['body'] };
    this.asked.push(asked);
    const reply = await this.reply(asked);
    if (reply === 'cut') {
      response.socket?.destroy();
      return;
    }
    const headers = { 'Content-Type': 'application/json', Connection: 'close', ...reply.headers };
    response.writeHead(reply.status, headers).end(JSON.stringify(reply.body));
  }
}
