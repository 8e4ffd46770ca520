import { WebSocket } from 'ws';
import { LiveMessage, type LiveTopic } from '#proto';

type Kind = LiveMessage['kind'];
export type Said<K extends Kind> = Extract<LiveMessage, { readonly kind: K }>;

/** A client of the live stream that keeps what it is told. */
export class LiveClient {
  readonly said: LiveMessage[] = [];
  /** Its code, when it is closed. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  #news = Promise.withResolvers<void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      this.said.push(LiveMessage.parse(JSON.parse(data.toString('utf8'))));
      this.#tell();
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code) => {
        resolve(code);
        this.#tell();
      });
    });
  }

  /** Rejects with the HTTP status of who is not let in. */
  static async open(port: number, headers: Readonly<Record<string, string>>, path = '/v1/live'): Promise<LiveClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    const client = new LiveClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('unexpected-response', (request, response) => {
        reject(new Error(String(response.statusCode)));
        request.destroy();
      });
      socket.on('error', reject);
    });
    return client;
  }

  say(word: unknown): void {
    this.#socket.send(typeof word === 'string' ? word : JSON.stringify(word));
  }

  open(channel: number, topic: LiveTopic): void {
    this.say({ op: 'open', channel, topic });
  }

  of<K extends Kind>(kind: K, channel?: number): Said<K>[] {
    return this.said.filter(
      (message): message is Said<K> => message.kind === kind && (channel === undefined || message.channel === channel),
    );
  }

  /** Resolves when it was told so much of this; rejects when it is closed before. */
  async heard<K extends Kind>(kind: K, count = 1, channel?: number): Promise<Said<K>[]> {
    for (;;) {
      const found = this.of(kind, channel);
      if (found.length >= count) return found;
      if (this.#socket.readyState === this.#socket.CLOSED)
        throw new Error(`closed after ${JSON.stringify(this.said).slice(0, 2_000)}`);
      await this.#news.promise;
    }
  }

  /** Takes nothing more from the network until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.on('error', () => undefined);
    this.#socket.terminate();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
