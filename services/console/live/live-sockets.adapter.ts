import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { INestApplication, WebSocketAdapter } from '@nestjs/common';
import { WebSocketServer, type WebSocket } from 'ws';
import { LIVE_LIMITS } from '#proto';
import type { ConsoleCaller } from '../callers/index.js';
import { Places, RefusedError, refuseUpgrade, type CalledRequest, type Door, type PlaceLimits } from '../http/index.js';
import { isScreenPath } from '../screens/index.js';

const PATH = '/v1/live';
/** Sockets: a browser has one for each of its pages. */
const SOCKETS: PlaceLimits = { eachMax: 32, allMax: 256 };

/** Takes a socket that was let in, with the request that opened it. */
type Arrival = (socket: WebSocket, caller: ConsoleCaller, request: CalledRequest) => void;

/** The sockets of the live stream for Nest's gateway: only those get one who are let in before the upgrade, with an HTTP status for the others. */
export class LiveSockets implements WebSocketAdapter<Server, WebSocket> {
  readonly #door: Door;
  readonly #places: Places;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: LIVE_LIMITS.wordBytesMax,
    // What is compressed for one client costs memory for each.
    perMessageDeflate: false,
  });
  #http: Server | undefined;
  #arrived: Arrival | undefined;
  #isOpen = false;

  constructor(door: Door, limits: PlaceLimits = SOCKETS) {
    this.#door = door;
    this.#places = new Places(limits);
  }

  /** Takes the upgrades of this server; nobody is let in before the service has begun. */
  attach(http: Server): void {
    this.#http = http;
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket, head);
    });
  }

  begin(): void {
    this.#isOpen = true;
  }

  end(): void {
    this.#isOpen = false;
  }

  create(): Server {
    if (this.#http === undefined) throw new Error('the live stream has no server');
    return this.#http;
  }

  bindClientConnect(_server: Server, arrived: Arrival): void {
    this.#arrived = arrived;
  }

  /** There are none: a word is no call of a method. */
  bindMessageHandlers(): void {}

  /** There is nothing else to be let go of. */
  dispose(): void {}

  /** The server is the application's, which closes it. */
  close(): void {
    this.#isOpen = false;
  }

  async #upgrade(request: CalledRequest, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (isScreenPath(path)) return; // that room takes them
    if (path !== PATH)
      return refuseUpgrade(socket, new RefusedError({ code: 'NOT_FOUND', message: 'There is nothing here.' }));
    if (!this.#isOpen)
      return refuseUpgrade(socket, new RefusedError({ code: 'TRY_AGAIN', message: 'The console is starting.' }));
    const caller = await this.#door.knock(request);
    if (caller instanceof RefusedError) return refuseUpgrade(socket, caller);
    if (socket.destroyed) return;
    const { id } = caller.actor;
    if (this.#places.take(id) !== undefined) {
      const message = 'Too many sockets of the live stream are open: close one.';
      return refuseUpgrade(socket, new RefusedError({ code: 'LIMIT_REACHED', message }));
    }
    socket.once('close', () => this.#places.giveBack(id));
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (this.#arrived === undefined) webSocket.terminate();
      else this.#arrived(webSocket, caller, request);
    });
  }
}

/** Takes the upgrades of an application that is about to begin. */
export function openLive(app: INestApplication): void {
  const sockets = app.get(LiveSockets);
  sockets.attach(app.getHttpServer() as Server);
  app.useWebSocketAdapter(sockets);
}
