import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Refusal } from '#proto';
import { ConfigError } from '../config/index.js';

/** Requests that run when the server closes may end within this; streams are then cut. */
const HTTP_DRAIN_MS_MAX = 2_000;
/** Who has not sent the head of a request, or the whole of it, within this is cut off; looked after that often. */
const RECEIVING = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 };
/** The next ones are closed at once: what connects and says nothing takes no more than this. */
const CONNECTIONS_MAX = 2_048;

/**
 * The HTTP server of a service. It listens before the service is made, because a service is only made when NATS is
 * there: until then it answers that the process lives and is not ready. Afterwards requests go to the service.
 */
export class EarlyHttpAdapter extends ExpressAdapter {
  readonly #server: Server;
  #ready = false;

  constructor() {
    super();
    // What answers is nobody's business outside.
    this.disable('x-powered-by');
    this.#server = createServer(RECEIVING, (request, response) => {
      if (this.#ready) this.getInstance<(request: unknown, response: unknown) => void>()(request, response);
      else answerEarly(request.url ?? '', response);
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** The framework's application takes this server instead of making its own. */
  override initHttpServer(): void {
    this.httpServer = this.#server;
  }

  async listenEarly(port: number, host: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(port, host, resolve);
    await promise.catch((error: NodeJS.ErrnoException) => {
      throw new ConfigError(`Cannot listen on ${host}:${port} (${error.code ?? error.message}).`);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on requests go to the service. */
  serve(): void {
    this.#ready = true;
  }

  override async close(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    const cut = setTimeout(() => this.#server.closeAllConnections(), HTTP_DRAIN_MS_MAX);
    await promise;
    clearTimeout(cut);
  }
}

function answerEarly(url: string, response: ServerResponse): void {
  const [status, body] = earlyAnswer(url);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Probes are answered as they are later; everybody else gets a refusal as from the service. */
function earlyAnswer(url: string): [number, object] {
  if (url === '/healthz') return [200, { status: 'ok' }];
  if (url === '/readyz') {
    const starting = { service: { status: 'down', message: 'starting: waiting for what it needs' } };
    return [503, { status: 'error', info: {}, error: starting, details: starting }];
  }
  const message = 'The service is starting, and waits for what it needs. Send the same again.';
  return [503, { error: { code: 'TRY_AGAIN', message, issues: [] } satisfies Refusal }];
}
