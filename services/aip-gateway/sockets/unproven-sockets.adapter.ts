import type { Socket } from 'node:net';

export interface UnprovenSocketsOptions {
  /** From the TCP connection until it is proven who it is. */
  readonly withinMs: number;
  /** One more, and the oldest has to go: a newcomer needs a moment only, if it is honest. */
  readonly socketsMax: number;
}

interface Unproven {
  readonly peer: string;
  readonly socket: Socket;
  readonly sinceMs: number;
}

/**
 * Sockets of nobody yet, from the first byte of TCP on: their handshakes of TLS and HTTP, their requests, their waiting for
 * the registry. Each has one deadline for all of it, so that a byte a second buys no more than silence does.
 */
export class UnprovenSockets {
  readonly #options: UnprovenSocketsOptions;
  /** By peer: TLS gives a socket that does not know the one below it. In the order of arrival. */
  readonly #sockets = new Map<string, Unproven>();

  constructor(options: UnprovenSocketsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket, nowMs: number): void {
    const peer = peerOf(socket);
    const unproven = { peer, socket, sinceMs: nowMs };
    this.#sockets.set(peer, unproven);
    socket.once('close', () => {
      if (this.#sockets.get(peer) === unproven) this.#sockets.delete(peer);
    });
    const [oldest] = this.#sockets.values();
    if (this.#sockets.size > this.#options.socketsMax && oldest !== undefined) this.#drop(oldest);
  }

  /** `socket`: the one that was added, or the one that TLS made of it. */
  proven(socket: Socket): void {
    this.#sockets.delete(peerOf(socket));
  }

  /** Ends those whose time is over. */
  sweep(nowMs: number): void {
    for (const unproven of this.#sockets.values()) {
      if (nowMs - unproven.sinceMs < this.#options.withinMs) return;
      this.#drop(unproven);
    }
  }

  dropAll(): void {
    for (const unproven of this.#sockets.values()) this.#drop(unproven);
  }

  #drop({ peer, socket }: Unproven): void {
    this.#sockets.delete(peer);
    socket.destroy();
  }
}

const peerOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;
