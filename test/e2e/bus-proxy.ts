import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { HEADER_COMMIT, type RunId, subjects } from '#proto';

/** A commit that its author has sent and that the server has not been given. */
export interface HeldCommit {
  readonly commit: string;
  readonly runId: RunId;
}

const COMMIT = new RegExp(
  `HPUB ${subjects.run('([^ .]+)')} [^\\r]*\\r\\nNATS[^]*?${HEADER_COMMIT}: ?([^\\r]+)\\r\\n`,
  'gu',
);

/** Stands between one client and the server, and can keep for itself what the client says. */
export class BusProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  #holding = false;
  #held: (() => void)[] = [];
  #text = '';

  private constructor(server: Server, target: URL) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    this.url = `nats://127.0.0.1:${port}`;
    server.on('connection', (client) => this.#join(client, connect(Number(target.port), target.hostname)));
  }

  static async start(target: string): Promise<BusProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new BusProxy(server, new URL(target));
  }

  /** From now on the server hears nothing from the client; the client hears everything. */
  hold(): void {
    this.#holding = true;
  }

  /** What the client has written into the log of runs since `hold`. */
  heldCommits(): HeldCommit[] {
    return [...this.#text.matchAll(COMMIT)].map(([, runId = '', commit = '']) => ({ runId, commit }));
  }

  /** The server hears all of it, in order. */
  release(): void {
    this.#holding = false;
    for (const send of this.#held.splice(0)) send();
    this.#text = '';
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #join(client: Socket, server: Socket): void {
    this.#sockets.push(client, server);
    server.pipe(client);
    client.on('data', (bytes: Buffer) => {
      if (!this.#holding) return void server.write(bytes);
      this.#held.push(() => server.write(bytes));
      this.#text += bytes.toString('latin1');
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('close', () => other.destroy());
      one.on('error', () => other.destroy());
    }
  }
}
