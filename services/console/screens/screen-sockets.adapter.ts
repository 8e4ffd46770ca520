import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { INestApplication } from '@nestjs/common';
import { WebSocketServer } from 'ws';
import { DeviceId } from '#proto';
import { Places, RefusedError, refuseUpgrade, type CalledRequest, type Door, type PlaceLimits } from '../http/index.js';
import type { ScreenDesk } from './screen-desk.adapter.js';

const PATH = /^\/v1\/devices\/([^/]+)\/screen$/u;
/** A picture that waits for its viewer takes a megabyte. */
const VIEWS: PlaceLimits = { eachMax: 4, allMax: 32 };
/** Longest piece of what a viewer says. */
const SAID_BYTES_MAX = 128 * 1024;

/** Whether an upgrade is to one of the sockets here. */
export const isScreenPath = (path: string): boolean => PATH.test(path);

/** The sockets through which screens are seen: who is let in before the upgrade, as for the live stream. */
export class ScreenSockets {
  readonly #door: Door;
  readonly #desk: ScreenDesk;
  readonly #places = new Places(VIEWS);
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: SAID_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has('binary') ? 'binary' : false),
  });

  constructor(door: Door, desk: ScreenDesk) {
    this.#door = door;
    this.#desk = desk;
  }

  attach(http: Server): void {
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const [, device] = PATH.exec((request.url ?? '').split('?', 1)[0] ?? '') ?? [];
      if (device !== undefined) void this.#upgrade(device, request, { socket, head });
    });
  }

  async #upgrade(
    device: string,
    request: CalledRequest,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  ): Promise<void> {
    socket.on('error', () => socket.destroy());
    const caller = await this.#door.knock(request);
    if (caller instanceof RefusedError) return refuseUpgrade(socket, caller);
    const { id } = caller.actor;
    if (this.#places.take(id) !== undefined) {
      return refuseUpgrade(
        socket,
        new RefusedError({ code: 'LIMIT_REACHED', message: 'Too many screens are open: close one.' }),
      );
    }
    socket.once('close', () => this.#places.giveBack(id));
    try {
      const show = await this.#desk.admit(DeviceId.safeParse(device).data ?? '', caller, request);
      this.#sockets.handleUpgrade(request, socket, head, show);
    } catch (error) {
      refuseUpgrade(socket, error instanceof RefusedError ? error : NOT_NOW);
    }
  }
}

const NOT_NOW = new RefusedError({ code: 'TRY_AGAIN', message: 'The screen cannot be shown now.' });

/** Takes these upgrades of an application that is about to begin. */
export function openScreens(app: INestApplication): void {
  app.get(ScreenSockets).attach(app.getHttpServer() as Server);
}
