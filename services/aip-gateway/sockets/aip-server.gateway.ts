import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { BlockList, isIPv6, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { wsTransport, type LivenessPolicy, type Transport } from '#libs/aip';
import { AIP_LIMITS } from '#proto';
import type { DeviceId, Identity } from '#proto';
import {
  networkOf,
  readHandshake,
  type Handshake,
  IdentityHttp,
  type RegistryPort,
  RevocationWatch,
} from '../identity/index.js';
import type { Connection } from '../connection/index.js';
import { Contention } from './contention.js';
import { ConstellationConnection } from '../clients/index.js';
import { DeviceConnection, type Surroundings } from '../devices/index.js';
import { TlsCertificate, type TlsFiles } from './tls-files.adapter.js';
import { Turnstile } from './turnstile.js';
import { UnprovenSockets } from './unproven-sockets.adapter.js';

export interface AipServerOptions {
  readonly port: number;
  readonly bind: string;
  readonly origins: readonly string[];
  readonly connectionsMax: number;
  /** Absent: plain TCP, for loopback and for who stands behind a proxy that speaks TLS. */
  readonly tls: TlsFiles | undefined;
  /** When a silent peer is dead; absent: as usual. */
  readonly liveness?: LivenessPolicy;
}

const TICK_MS = 250;
/** Handshakes that wait for the registry at the same time; the others wait for their turn. */
const HANDSHAKES_MAX = 500;
/** Sockets of nobody yet. */
const UNPROVEN_MAX = 16_384;
/** Of all headers of a request: a credential has a half of it at most. */
const HEADER_BYTES_MAX = 8 * 1024;
/** Sockets of one identity that have not registered: a reconnecting client needs two, a broken one gets no more. */
const UNREGISTERED_MAX = 4;
/** A client that sends tasks has a connection for each of its devices, and may open them all at once. */
const UNREGISTERED_CLIENTS_MAX = 64;
/** Connections of one constellation client, one per device it works with: it leaves room for the devices. */
const CLIENT_CONNECTIONS_MAX = 1_024;
/** Credentials that change while it is asked whose they are. */
const IDENTIFY_TRIES_MAX = 3;
/** Connections that the kernel has made and we have not taken yet: a whole fleet may come back in one moment. */
const BACKLOG = 4_096;
/** To the package `ws`: whoever looks at its bytes limits them. */
const NO_LIMIT = 0;
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

type Admitted = { readonly identity: Identity; readonly bearer: string; readonly foreign: boolean };

/** The AIP endpoint: who may not in never gets a WebSocket; who may gets a connection of its own, by its role. */
export class AipServer {
  readonly #options: AipServerOptions;
  readonly #around: Surroundings;
  readonly #registry: RegistryPort;
  readonly #http: Server | TlsServer;
  readonly #certificate: TlsCertificate | undefined;
  readonly #identityHttp: IdentityHttp;
  readonly #revocations: RevocationWatch;
  readonly #sockets = webSockets(AIP_LIMITS.frameBytesMax);
  readonly #foreignSockets = webSockets(AIP_LIMITS.foreignFrameBytesMax);
  /** Theirs have a limit of their own, at the header of a frame: who is beyond it is told so. */
  readonly #foreignDeviceSockets = webSockets(NO_LIMIT);
  readonly #unproven = new UnprovenSockets({ withinMs: AIP_LIMITS.handshakeMs, socketsMax: UNPROVEN_MAX });
  readonly #turnstile = new Turnstile({ atOnce: HANDSHAKES_MAX, waitingMax: UNPROVEN_MAX });
  /** With what each was let in, or what it brought since: only to ask again whether it still counts. */
  readonly #connections = new Map<DeviceId, Map<Connection, string>>();
  readonly #contention = new Contention();
  #count = 0;
  #ticking: NodeJS.Timeout | undefined;
  #watchAgain: NodeJS.Timeout | undefined;
  #watching: { stop(): void } | undefined;
  #stopped = false;

  constructor(options: AipServerOptions, around: Surroundings, registry: RegistryPort) {
    const { clock, logger, metrics } = around;
    const { origins, tls, connectionsMax } = options;
    this.#options = options;
    this.#around = around;
    this.#registry = registry;
    this.#identityHttp = new IdentityHttp({ registry, origins, clock, logger, metrics });
    const heard = (id: DeviceId): void => this.#of(id).forEach((connection) => void this.#checkAgain(connection));
    this.#revocations = new RevocationWatch({ registry, clock, logger, heard });
    this.#certificate = tls && new TlsCertificate(tls, logger);
    this.#http = httpServer(tls, (request, response) => this.#answer(request, response));
    this.#http.maxConnections = connectionsMax + UNPROVEN_MAX;
    this.#http.on('connection', (socket: Socket) => this.#unproven.add(socket, clock.now()));
    this.#http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket, head);
    });
  }

  /** Listens and returns the port that was bound. Throws ConfigError when its certificate cannot be used. */
  async start(): Promise<number> {
    const { port, bind, tls } = this.#options;
    if (this.#http instanceof TlsServer) await this.#certificate?.start(this.#http);
    if (tls === undefined && !isLoopback(bind)) {
      this.#around.logger.warn({ bind }, 'without TLS everybody on the way can read tokens and take devices over');
    }
    this.#revocations.start();
    await this.#watch();
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
    this.#http.once('error', reject);
    this.#http.listen({ port, host: bind, backlog: BACKLOG }, resolve);
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
    this.#revocations.stop();
    this.#certificate?.stop();
    this.#http.close();
    const connections = this.#all();
    for (const connection of connections) connection.shutDown();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_MS);
    await Promise.race([Promise.all(connections.map((connection) => connection.gone())), late]);
    clearTimeout(timer);
    this.#http.closeAllConnections();
    this.#unproven.dropAll();
  }

  /** Sockets that have not proven yet who is behind them. */
  get unprovenCount(): number {
    return this.#unproven.size;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#stopped && this.#identityHttp.handle(request, response)) return;
    response.writeHead(426, { Upgrade: 'websocket', Connection: 'close' }).end();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A peer that leaves during the handshake must not take the process with it.
    socket.on('error', () => socket.destroy());
    const admitted = await this.#admit(request);
    if (socket.destroyed) return;
    if (typeof admitted === 'number') return this.#refuse(socket, admitted);
    // Nothing happens between this look and the connection: who came in the same moment is counted.
    const status = this.#noRoomFor(admitted.identity);
    if (status !== undefined) return this.#refuse(socket, status);
    this.#unproven.proven(request.socket);
    const { foreign, identity } = admitted;
    const takesLarge = identity.role === 'device' && this.#around.largeFrames !== undefined;
    const foreignSockets = takesLarge ? this.#foreignDeviceSockets : this.#foreignSockets;
    const sockets = foreign ? foreignSockets : this.#sockets;
    sockets.handleUpgrade(request, socket, head, (webSocket) => this.#connect(admitted, webSocket, request.socket));
  }

  /** Who comes, or the HTTP status that says why he does not come in. */
  async #admit(request: IncomingMessage): Promise<Admitted | number> {
    if (this.#isFull) return 503;
    const handshake = readHandshake(request, this.#options.origins);
    if (handshake.kind === 'refused') return handshake.status;
    if (!(await this.#turnstile.enter(networkOf(request.socket.remoteAddress ?? '')))) return 503;
    try {
      // He may have left while he waited.
      return request.socket.destroyed ? 503 : await this.#identify(handshake);
    } catch (error) {
      this.#around.logger.warn({ err: error }, 'nobody could say whose token this is');
      return 503;
    } finally {
      this.#turnstile.leave();
    }
  }

  async #identify({ bearer, foreign }: Extract<Handshake, { kind: 'bearer' }>): Promise<Admitted | number> {
    await this.#revocations.positioned();
    const identity = await this.#holderOf(bearer);
    if (identity === null) return 401;
    return (await this.#isContended(identity)) ? 429 : { identity, bearer, foreign };
  }

  /** Of several clients that take a device from each other the one that has it keeps it; when it leaves, anybody may come. */
  async #isContended({ id, role }: Identity): Promise<boolean> {
    const { clock, book } = this.#around;
    if (role !== 'device' || !this.#contention.isRefused(id, clock.now())) return false;
    return this.#of(id).some(({ isRegistered }) => isRegistered) || (await book.isHeld(id));
  }

  /** The status for who is known and yet not let in. */
  #noRoomFor({ id, role }: Identity): number | undefined {
    if (this.#isFull) return 503;
    if (role === 'constellation' && this.#around.clients === undefined) return 403;
    if (role === 'constellation' && (this.#connections.get(id)?.size ?? 0) >= CLIENT_CONNECTIONS_MAX) return 429;
    const most = role === 'device' ? UNREGISTERED_MAX : UNREGISTERED_CLIENTS_MAX;
    return this.#of(id).filter(({ isRegistered }) => !isRegistered).length >= most ? 429 : undefined;
  }

  /** Who it is now: what was said before somebody lost credentials may be about those. */
  async #holderOf(bearer: string): Promise<Identity | null> {
    for (let tries = 1; tries <= IDENTIFY_TRIES_MAX; tries++) {
      const askedMs = this.#around.clock.now();
      const identity = await this.#registry.identify(bearer);
      if (identity === null || !this.#revocations.heardSince(identity.id, askedMs)) return identity;
    }
    return null;
  }

  /** Its identity has lost credentials: this connection stays only if they were others. */
  async #checkAgain(connection: Connection): Promise<void> {
    const { id } = connection.identity;
    const bearer = this.#connections.get(id)?.get(connection);
    if (bearer === undefined) return;
    const identity = await this.#registry.identify(bearer).catch((error: unknown) => {
      this.#around.logger.warn({ err: error, id }, 'nobody could say whether this connection may stay');
      return null;
    });
    if (identity?.id !== id || identity.role !== connection.identity.role) connection.revoke();
  }

  get #isFull(): boolean {
    return this.#stopped || this.#count >= this.#options.connectionsMax;
  }

  #refuse(socket: Duplex, status: number): void {
    this.#around.metrics.handshakeRefused(status);
    socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }

  #connect({ identity, bearer, foreign }: Admitted, webSocket: WebSocket, raw: Socket): void {
    const { liveness } = this.#options;
    const { clock } = this.#around;
    const bytesRead = (): number => raw.bytesRead;
    const { id, role } = identity;
    const frames = foreign && role === 'device' ? this.#around.largeFrames : undefined;
    const secrets = (): readonly string[] => this.#around.injection?.secretsOf(id) ?? [];
    const isWanted = (): boolean => connection.waitsForResult ?? false;
    const refused = (bytes: number): void => connection.refusedFrame?.(bytes);
    const transport = wsTransport(webSocket, {
      clock,
      bytesRead,
      ...(liveness !== undefined && { liveness }),
      ...(frames !== undefined && { large: { frames, raw, secrets, isWanted, refused } }),
    });
    const siblings = this.#connections.get(id) ?? new Map<Connection, string>();
    const connection = this.#connectionOf(identity, transport, siblings);
    this.#connections.set(id, siblings.set(connection, bearer));
    this.#count++;
  }

  #connectionOf(identity: Identity, transport: Transport, siblings: Map<Connection, string>): Connection {
    const { id } = identity;
    const { clients, clock, logger, metrics } = this.#around;
    if (identity.role === 'constellation' && clients !== undefined) {
      const around = { clients, clock, logger, metrics };
      return new ConstellationConnection(identity, transport, around, { ended: (ended) => this.#remove(ended) });
    }
    const connection: Connection = new DeviceConnection(identity, transport, this.#around, {
      identify: async (renewed) => {
        const holder = await this.#holderOf(renewed);
        if (holder?.id === id && siblings.has(connection)) siblings.set(connection, renewed);
        return holder;
      },
      replacing: () => this.#contention.replaced(id, clock.now()),
      claimed: (winner) => this.#of(id).forEach((other) => other !== winner && other.look?.()),
      ended: (ended) => this.#remove(ended),
    });
    return connection;
  }

  #remove(connection: Connection): void {
    const { id } = connection.identity;
    const siblings = this.#connections.get(id);
    if (siblings?.delete(connection) !== true) return;
    this.#count--;
    if (siblings.size === 0) this.#connections.delete(id);
  }

  #of(id: DeviceId): Connection[] {
    return [...(this.#connections.get(id)?.keys() ?? [])];
  }

  #all(): Connection[] {
    return [...this.#connections.values()].flatMap((siblings) => [...siblings.keys()]);
  }

  #tick(): void {
    const nowMs = this.#around.clock.now();
    this.#unproven.sweep(nowMs);
    for (const connection of this.#all()) connection.tick(nowMs);
  }

  /** Another gateway's claim is seen at once; without the watch the next renewal would find it. */
  async #watch(): Promise<void> {
    const { book, logger } = this.#around;
    try {
      const watching = await book.watch((deviceId, revision) => {
        for (const connection of this.#of(deviceId)) connection.look?.(revision);
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
