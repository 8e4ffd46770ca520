import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { FRAME_BYTES_MIN, freshRules, Pipe, reset, type CutKind, type Rules } from './chaos-proxy-pipe.js';
import { randomOf } from '../histories/history-writer.js';

/** `up` is what the client says, `down` what the server says. */
export type Way = 'up' | 'down';
const WAYS: readonly Way[] = ['up', 'down'];

export interface ChaosProxyOptions {
  /** The jitter is the same for the same seed: per connection, in the order in which they were made. */
  readonly seed?: number;
}

/** What is not named stays as it is. */
export interface Shape {
  readonly delayMs?: number;
  /** Up to so much more, another time for each piece; their order stays. */
  readonly jitterMs?: number;
  readonly bytesPerSecond?: number;
}

export interface Cut {
  readonly how?: CutKind;
  readonly way?: Way;
}

export interface Flapping {
  readonly upMs: number;
  readonly downMs: number;
  readonly how?: CutKind;
}

export interface ChaosStats {
  /** Connections that were taken, ever; that were refused; that are open on one of their sides now. */
  readonly taken: number;
  readonly refused: number;
  readonly open: number;
  readonly cuts: number;
  readonly passedBytes: Readonly<Record<Way, number>>;
  readonly lostBytes: Readonly<Record<Way, number>>;
}

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  readonly pipes: readonly [up: Pipe, down: Pipe];
}

/**
 * Stands between TCP clients and a server, and does what networks do: delay, slow down, cut, go silent, refuse, flap. It
 * never makes a hole in a stream: whoever got a byte got all bytes before it.
 */
export class ChaosProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #seed: number;
  readonly #rules: Readonly<Record<Way, Rules>> = { up: freshRules(), down: freshRules() };
  readonly #connections = new Set<Connection>();
  /** Clients that are heard by nobody, because nothing gets through in either direction. */
  readonly #unheard = new Set<Socket>();
  #target: URL;
  #refusing = false;
  #flapping: NodeJS.Timeout | undefined;
  #counts = { taken: 0, refused: 0, cuts: 0 };

  private constructor(server: Server, target: URL, seed: number) {
    this.#server = server;
    this.#target = target;
    this.#seed = seed;
    const url = new URL(target);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.url = url.href;
    server.on('connection', (client) => this.#join(client));
  }

  /** `target` is any URL with a host and a port; `url` of the proxy is the same with its own. */
  static async start(target: string, { seed = 1 }: ChaosProxyOptions = {}): Promise<ChaosProxy> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ChaosProxy(server, new URL(target), seed);
  }

  get stats(): ChaosStats {
    const { up, down } = this.#rules;
    return {
      ...this.#counts,
      open: this.#connections.size + this.#unheard.size,
      passedBytes: { up: up.passedBytes, down: down.passedBytes },
      lostBytes: { up: up.lostBytes, down: down.lostBytes },
    };
  }

  /** New connections go there. */
  aim(target: string): void {
    this.#target = new URL(target);
  }

  shape(shape: Shape, ...ways: Way[]): void {
    this.#change(ways, (rules) => Object.assign(rules, shape));
  }

  /** Keeps what is said, as a network does that sends it again until it arrives. */
  hold(...ways: Way[]): void {
    this.#change(ways, (rules) => (rules.holds = true));
  }

  /** When the client says this, it is passed on, and the client hears nothing from then on, not even that it has arrived; resolves then. */
  deafAfter(said: string): Promise<void> {
    return new Promise((resolve) => {
      let text = '';
      this.#rules.up.heard = (bytes) => {
        text += bytes.toString('latin1');
        if (!text.includes(said)) return void (text = text.slice(-said.length));
        this.#rules.up.heard = undefined;
        this.hold('down');
        resolve();
      };
    });
  }

  /** Passes on what was kept, in order. */
  release(...ways: Way[]): void {
    this.#change(ways, (rules) => (rules.holds = false));
  }

  /** What is kept of that direction now. */
  held(way: Way): Buffer {
    return Buffer.concat([...this.#connections].map(({ pipes }) => pipes[WAYS.indexOf(way)]?.held ?? Buffer.alloc(0)));
  }

  /** Nothing gets through any more, neither bytes nor the end of a connection: for who listens the other just falls silent. */
  goSilent(...ways: Way[]): void {
    this.#change(ways, (rules) => (rules.swallows = true));
  }

  /** New connections work again; one that has lost something is reset, as by a router that does not know it any more. */
  mend(): void {
    this.#change([], (rules) => (rules.swallows = false));
    for (const connection of this.#connections) {
      if (connection.pipes.some(({ hasHole }) => hasHole)) this.#end(connection, 'rst');
    }
    for (const client of this.#unheard) reset(client);
  }

  /** Ends every connection now; gives their number. */
  cut(how: CutKind = 'rst'): number {
    const { size } = this.#connections;
    for (const connection of this.#connections) this.#end(connection, how);
    return size;
  }

  /** Ends one connection when that many more bytes have passed in that direction, of all connections; resolves then. */
  cutAfter(bytes: number, { how = 'rst', way = 'up' }: Cut = {}): Promise<void> {
    return this.#arm(way, { how, at: 'bytes', bytes });
  }

  /** Ends one connection in the middle of the next WebSocket frame with at least so much payload; resolves then. */
  cutInFrame({ how = 'rst', way = 'up', bytesMin = FRAME_BYTES_MIN }: Cut & { bytesMin?: number } = {}): Promise<void> {
    return this.#arm(way, { how, at: 'frame', bytes: bytesMin });
  }

  /** Who dials is reset at once, until `accept`. */
  refuse(): void {
    this.#refusing = true;
  }

  accept(): void {
    this.#refusing = false;
  }

  /** Down at once, then up, and so on, until `calm`. */
  flap({ upMs, downMs, how = 'rst' }: Flapping): void {
    clearTimeout(this.#flapping);
    this.refuse();
    this.cut(how);
    this.#flapping = setTimeout(() => {
      this.accept();
      this.#flapping = setTimeout(() => this.flap({ upMs, downMs, how }), upMs);
    }, downMs);
  }

  /** No flapping any more; it is up. */
  calm(): void {
    clearTimeout(this.#flapping);
    this.accept();
  }

  async close(): Promise<void> {
    this.calm();
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const connection of this.#connections) this.#end(connection, 'rst');
    for (const client of this.#unheard) client.destroy();
    await closed;
  }

  #change(ways: readonly Way[], change: (rules: Rules) => void): void {
    for (const way of ways.length === 0 ? WAYS : ways) change(this.#rules[way]);
    for (const { pipes } of this.#connections) for (const pipe of pipes) pipe.flush();
  }

  #arm(way: Way, scissors: { how: CutKind; at: 'bytes' | 'frame'; bytes: number }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#rules[way].scissors = { ...scissors, happened: resolve };
    return promise;
  }

  #join(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#refusing) {
      this.#counts.refused++;
      reset(client);
      return;
    }
    const { up, down } = this.#rules;
    const number = this.#counts.taken++;
    if (up.swallows && down.swallows) {
      this.#unheard.add(client.resume());
      client.once('close', () => this.#unheard.delete(client));
      return;
    }
    const { hostname, port } = this.#target;
    const server = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const random = (way: Way): (() => number) => randomOf(this.#seed + WAYS.length * number + WAYS.indexOf(way));
    const cut = (how: CutKind): void => this.#end(connection, how);
    const connection: Connection = {
      client,
      server,
      pipes: [
        new Pipe({ from: client, to: server, rules: up, random: random('up'), cut }),
        new Pipe({ from: server, to: client, rules: down, random: random('down'), cut }),
      ],
    };
    this.#connections.add(connection);
    this.#pass(connection, { from: client, to: server, rules: up });
    this.#pass(connection, { from: server, to: client, rules: down });
  }

  /** A reset is passed on like bytes, but it waits for nothing. */
  #pass(connection: Connection, { from, to, rules }: { from: Socket; to: Socket; rules: Rules }): void {
    from.setNoDelay();
    from.on('error', () => {
      if (!rules.swallows) reset(to);
    });
    from.once('close', () => {
      if (!to.destroyed) return;
      this.#connections.delete(connection);
      for (const pipe of connection.pipes) pipe.stop();
    });
  }

  #end({ client, server, pipes }: Connection, how: CutKind): void {
    this.#counts.cuts++;
    for (const pipe of pipes) pipe.stop();
    for (const socket of [client, server]) {
      if (how === 'rst') reset(socket);
      else socket.destroySoon();
    }
  }
}
