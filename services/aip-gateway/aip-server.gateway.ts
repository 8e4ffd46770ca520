import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { wsTransport } from '#libs/aip';
import { AIP_LIMITS } from '#proto';
import type { DeviceId } from '#proto';
import { DeviceConnection, type Surroundings } from './device-connection.gateway.js';
import { readHandshake } from './handshake.js';
import type { Authenticate } from './registry.client.js';

export interface AipServerOptions {
  readonly port: number;
  readonly bind: string;
  readonly origins: readonly string[];
  readonly connectionsMax: number;
}

const TICK_MS = 250;
/** Handshakes that wait for the registry at the same time. */
const HANDSHAKES_MAX = 1_000;
/** Sockets of one device that have not registered: a reconnecting device needs two, a broken one gets no more. */
const UNREGISTERED_MAX = 4;
const STOP_MS = 3_000;
const WATCH_AGAIN_MS = 1_000;
const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

/** The AIP endpoint: who may not in never gets a WebSocket; who may gets a DeviceConnection of its own. */
export class AipServer {
  readonly #options: AipServerOptions;
  readonly #around: Surroundings;
  readonly #authenticate: Authenticate;
  readonly #http: Server;
  readonly #sockets = webSockets(AIP_LIMITS.frameBytesMax);
  readonly #foreignSockets = webSockets(AIP_LIMITS.foreignFrameBytesMax);
  readonly #connections = new Map<DeviceId, Set<DeviceConnection>>();
  #count = 0;
  #handshakes = 0;
  #ticking: NodeJS.Timeout | undefined;
  #watchAgain: NodeJS.Timeout | undefined;
  #watching: { stop(): void } | undefined;
  #stopped = false;

  constructor(options: AipServerOptions, around: Surroundings, authenticate: Authenticate) {
    this.#options = options;
    this.#around = around;
    this.#authenticate = authenticate;
    // Slow or silent handshakes are cut off by the HTTP server itself.
    const times = { headersTimeout: AIP_LIMITS.handshakeMs, requestTimeout: AIP_LIMITS.handshakeMs };
    this.#http = createServer({ ...times, connectionsCheckingInterval: 1_000 }, (_, response) => {
      response.writeHead(426, { Upgrade: 'websocket', Connection: 'close' }).end();
    });
    this.#http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket, head);
    });
  }

  /** Listens and returns the port that was bound. */
  async start(): Promise<number> {
    await this.#watch();
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
    this.#http.once('error', reject);
    this.#http.listen(this.#options.port, this.#options.bind, resolve);
    await listening;
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    return (this.#http.address() as AddressInfo).port;
  }

  /** Takes nobody new, says goodbye to all and gives their keys back, so that another gateway may have them at once. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    clearInterval(this.#ticking);
    clearTimeout(this.#watchAgain);
    this.#watching?.stop();
    this.#http.close();
    const connections = this.#all();
    for (const connection of connections) connection.shutDown();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_MS);
    await Promise.race([Promise.all(connections.map((connection) => connection.gone())), late]);
    clearTimeout(timer);
    this.#http.closeAllConnections();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A peer that leaves during the handshake must not take the process with it.
    socket.on('error', () => socket.destroy());
    const admitted = await this.#admit(request);
    if (socket.destroyed) return;
    if (typeof admitted === 'number') return this.#refuse(socket, admitted);
    const { identity, foreign } = admitted;
    const sockets = foreign ? this.#foreignSockets : this.#sockets;
    sockets.handleUpgrade(request, socket, head, (webSocket) => this.#connect(identity, webSocket));
  }

  async #admit(request: IncomingMessage): Promise<{ identity: DeviceId; foreign: boolean } | number> {
    if (this.#stopped || this.#count >= this.#options.connectionsMax || this.#handshakes >= HANDSHAKES_MAX) return 503;
    const handshake = readHandshake(request, this.#options.origins);
    if (handshake.kind === 'refused') return handshake.status;
    this.#handshakes++;
    try {
      const identity = await this.#authenticate(handshake.token);
      if (identity === null) return 401;
      if (this.#stopped) return 503;
      const unregistered = this.#of(identity).filter(({ isRegistered }) => !isRegistered);
      return unregistered.length >= UNREGISTERED_MAX ? 429 : { identity, foreign: handshake.foreign };
    } catch (error) {
      this.#around.logger.warn({ err: error }, 'nobody could say whose token this is');
      return 503;
    } finally {
      this.#handshakes--;
    }
  }

  #refuse(socket: Duplex, status: number): void {
    this.#around.metrics.handshakeRefused(status);
    socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }

  #connect(identity: DeviceId, webSocket: WebSocket): void {
    const transport = wsTransport(webSocket, { clock: this.#around.clock });
    const connection = new DeviceConnection(identity, transport, this.#around, {
      claimed: (winner) => this.#of(identity).forEach((other) => other !== winner && other.look()),
      ended: (ended) => this.#remove(ended),
    });
    const siblings = this.#connections.get(identity) ?? new Set();
    this.#connections.set(identity, siblings.add(connection));
    this.#count++;
  }

  #remove(connection: DeviceConnection): void {
    const siblings = this.#connections.get(connection.identity);
    if (siblings?.delete(connection) !== true) return;
    this.#count--;
    if (siblings.size === 0) this.#connections.delete(connection.identity);
  }

  #of(identity: DeviceId): DeviceConnection[] {
    return [...(this.#connections.get(identity) ?? [])];
  }

  #all(): DeviceConnection[] {
    return [...this.#connections.values()].flatMap((siblings) => [...siblings]);
  }

  #tick(): void {
    const nowMs = this.#around.clock.now();
    for (const connection of this.#all()) connection.tick(nowMs);
  }

  /** Another gateway's claim is seen at once; without the watch the next renewal would find it. */
  async #watch(): Promise<void> {
    const { book, logger } = this.#around;
    try {
      const watching = await book.watch((deviceId, revision) => {
        for (const connection of this.#of(deviceId)) connection.look(revision);
      });
      this.#watching = watching;
      watching.ended.then(
        () => this.#watchLater(),
        () => this.#watchLater(),
      );
    } catch (error) {
      logger.warn({ err: error }, 'presence is not watched, only renewed');
      this.#watchLater();
    }
  }

  #watchLater(): void {
    if (!this.#stopped) this.#watchAgain = setTimeout(() => void this.#watch(), WATCH_AGAIN_MS);
  }
}

function webSockets(maxPayload: number): WebSocketServer {
  return new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: false });
}
