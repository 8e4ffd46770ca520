import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { BlockList, isIPv6, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocketAdapter } from '@nestjs/common';
import type { Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '#libs/platform';
import { AIP_LIMITS } from '#proto';
import type { GatewayMetrics } from '../connection/index.js';
import type { IdentityHttp } from '../identity/index.js';
import type { OfferHttp } from '../offer/index.js';
import { UNPROVEN_MAX, type Admission, type Admitted } from './admission.js';
import { TlsCertificate, type TlsFiles } from './tls-files.adapter.js';
import { UnprovenSockets } from './unproven-sockets.adapter.js';

export interface AipSocketsParts {
  readonly port: number;
  readonly bind: string;
  readonly connectionsMax: number;
  /** Undefined: plain TCP, for loopback and for who stands behind a proxy that speaks TLS. */
  readonly tls: TlsFiles | undefined;
  readonly admission: Admission;
  readonly identityHttp: IdentityHttp;
  readonly offerHttp: OfferHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<GatewayMetrics, 'handshakeRefused'>;
}

/** Takes a socket that was let in, and what is below it. */
type Arrival = (webSocket: WebSocket, admitted: Admitted, raw: Socket) => void;

/** Of all headers of a request: a credential has a half of it at most. */
const HEADER_BYTES_MAX = 8 * 1024;
/** Connections that the kernel has made and we have not taken yet: a whole fleet may come back in one moment. */
const BACKLOG = 4_096;
/** To the package `ws`: the reader of its bytes limits them. */
const NO_LIMIT = 0;
const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

/**
 * The sockets of AIP for Nest's gateway: a server of their own, where only those get a WebSocket who are let in before the upgrade.
 * Nest is handed the open socket and nothing of what is said on it: the session that the gateway makes reads its frames in order.
 */
export class AipSockets implements WebSocketAdapter<Server, WebSocket> {
  readonly #parts: AipSocketsParts;
  readonly #http: Server | TlsServer;
  readonly #certificate: TlsCertificate | undefined;
  readonly #sockets = webSockets(AIP_LIMITS.frameBytesMax);
  readonly #foreignSockets = webSockets(AIP_LIMITS.foreignFrameBytesMax);
  /** Theirs have a limit of their own, at the header of a frame: who is beyond it is told so. */
  readonly #foreignDeviceSockets = webSockets(NO_LIMIT);
  readonly #unproven = new UnprovenSockets({ withinMs: AIP_LIMITS.handshakeMs, socketsMax: UNPROVEN_MAX });
  #arrived: Arrival | undefined;
  #isClosed = false;

  constructor(parts: AipSocketsParts) {
    const { tls, clock, logger, connectionsMax } = parts;
    this.#parts = parts;
    this.#certificate = tls && new TlsCertificate(tls, logger);
    this.#http = httpServer(tls, (request, response) => this.#answer(request, response));
    this.#http.maxConnections = connectionsMax + UNPROVEN_MAX;
    this.#http.on('connection', (socket: Socket) => this.#unproven.add(socket, clock.now()));
    this.#http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket, head);
    });
  }

  /** Sockets that have not proven yet who is behind them. */
  get unprovenCount(): number {
    return this.#unproven.size;
  }

  create(): Server {
    return this.#http;
  }

  bindClientConnect(_server: Server, arrived: Arrival): void {
    this.#arrived = arrived;
  }

  /** There are none: a frame is no call of a method. */
  bindMessageHandlers(): void {}

  /** Listens and returns the port that was bound. Throws ConfigError when its certificate cannot be used. */
  async listen(): Promise<number> {
    const { port, bind, tls, logger } = this.#parts;
    if (this.#http instanceof TlsServer) await this.#certificate?.start(this.#http);
    if (tls === undefined && !isLoopback(bind)) {
      logger.warn({ bind }, 'without TLS everybody on the way can read tokens and take devices over');
    }
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
    this.#http.once('error', reject);
    this.#http.listen({ port, host: bind, backlog: BACKLOG }, resolve);
    await listening;
    return (this.#http.address() as AddressInfo).port;
  }

  /** Drops who has not proven in time who he is. */
  sweep(nowMs: number): void {
    this.#unproven.sweep(nowMs);
  }

  /** From now on nobody comes in; who is in stays. */
  shut(): void {
    this.#isClosed = true;
    this.#certificate?.stop();
    this.#http.close();
  }

  close(): void {
    this.shut();
    this.#http.closeAllConnections();
    this.#unproven.dropAll();
  }

  /** Nest says so at the very end, when everything is closed. */
  dispose(): void {}

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { identityHttp, offerHttp } = this.#parts;
    if (!this.#isClosed && identityHttp.handle(request, response)) return;
    // Who fetches an archive over a slow line proves nothing, and is limited by who gives it.
    if (!this.#isClosed && offerHttp.handle(request, response, () => this.#unproven.proven(request.socket))) return;
    response.writeHead(426, { Upgrade: 'websocket', Connection: 'close' }).end();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A peer that leaves during the handshake must not take the process with it.
    socket.on('error', () => socket.destroy());
    const { admission } = this.#parts;
    const admitted = this.#isClosed ? 503 : await admission.admit(request);
    if (socket.destroyed) return;
    if (typeof admitted === 'number') return this.#refuse(socket, admitted);
    // Nothing happens between this look and the connection: who came in the same moment is counted.
    const status = this.#isClosed ? 503 : admission.noRoomFor(admitted.identity);
    if (status !== undefined) return this.#refuse(socket, status);
    this.#unproven.proven(request.socket);
    this.#serverFor(admitted).handleUpgrade(request, socket, head, (webSocket) =>
      this.#arrived?.(webSocket, admitted, request.socket),
    );
  }

  #serverFor({ foreign, identity }: Admitted): WebSocketServer {
    if (!foreign) return this.#sockets;
    return identity.role === 'device' ? this.#foreignDeviceSockets : this.#foreignSockets;
  }

  #refuse(socket: Duplex, status: number): void {
    this.#parts.metrics.handshakeRefused(status);
    socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Slow or silent requests are cut off by the HTTP server itself, and by who holds the sockets of nobody. */
function httpServer(tls: TlsFiles | undefined, answer: Answer): Server | TlsServer {
  const options: ServerOptions = {
    headersTimeout: AIP_LIMITS.handshakeMs,
    requestTimeout: AIP_LIMITS.handshakeMs,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: HEADER_BYTES_MAX,
  };
  if (tls === undefined) return createServer(options, answer);
  const requestCert = tls.clientCaFile !== undefined;
  return createTlsServer({ ...options, handshakeTimeout: AIP_LIMITS.handshakeMs, requestCert }, answer);
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

const isLoopback = (bind: string): boolean =>
  bind === 'localhost' || LOOPBACK.check(bind, isIPv6(bind) ? 'ipv6' : 'ipv4');

function webSockets(maxPayload: number): WebSocketServer {
  return new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: false });
}
