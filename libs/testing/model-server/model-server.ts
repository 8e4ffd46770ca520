import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { respondEmbeddings, type EmbeddingsRequest, type EmbeddingsScript } from './model-server-embeddings.js';
import { respond } from './model-server-respond.js';
import {
  refusalOf,
  refusalOfKey,
  type ModelServerFault,
  type ModelServerReply,
  type ModelServerRequest,
  type ModelServerSupport,
} from './model-server-script.js';

/** What a scripted reply is made by: from the request, and from how many chat completions came before it. */
export type ModelServerScript = (
  request: ModelServerRequest,
  index: number,
) => ModelServerReply | undefined | Promise<ModelServerReply | undefined>;

export interface ModelServerOptions {
  readonly reply?: ModelServerScript;
  /** Makes embeddings; when absent the endpoint has none. */
  readonly embed?: EmbeddingsScript;
  /** What the endpoint cannot do; everything when absent. */
  readonly support?: ModelServerSupport;
  /** The key it wants; any, and none, when absent. */
  readonly key?: string;
  /** 0, any free one, when absent. */
  readonly port?: number;
}

/** A running scripted endpoint, on loopback only. */
export interface ModelServer {
  /** What a client calls base URL; ends with `/v1`. */
  readonly url: string;
  /** Chat completions that were asked for, refused ones too, in order. */
  readonly requests: readonly ModelServerRequest[];
  /** Embeddings that were asked for, refused ones too, in order. */
  readonly embeddings: readonly EmbeddingsRequest[];
  /** From now on embeddings are made by this. */
  embed(script: EmbeddingsScript): void;
  /** Settles when embeddings have been asked for this many times. */
  embeddingsAsked(count: number): Promise<void>;
  /** From now on replies are made by this. */
  reply(script: ModelServerScript): void;
  /** The next requests get these, in order, before the script is asked. */
  queue(...replies: ModelServerReply[]): void;
  /** The next requests fail like this, in order; the same as `queue`, said differently. */
  fail(...faults: ModelServerFault[]): void;
  /** Settles when this many chat completions have been asked for. */
  asked(count: number): Promise<void>;
  /** Breaks what is open, and ends. */
  stop(): Promise<void>;
}

/** Starts an OpenAI-compatible endpoint that says what it is told to, and fails as it is told to. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const served = new Served(options);
  const server = createServer((request, response) => void served.handle(request, response));
  // Who asks closes first: a question on a connection that is just being closed would fail by chance.
  server.keepAliveTimeout = 0;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: served.requests,
    embeddings: served.embeddings,
    embed: (script) => {
      served.embed = script;
    },
    embeddingsAsked: (count) => served.until(() => served.embeddings.length >= count),
    reply: (script) => {
      served.script = script;
    },
    queue: (...replies) => void served.queued.push(...replies),
    fail: (...faults) => void served.queued.push(...faults),
    asked: (count) => served.until(() => served.requests.length >= count),
    stop: () => stop(server, sockets),
  };
}

function stop(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}

class Served {
  readonly requests: ModelServerRequest[] = [];
  readonly queued: ModelServerReply[] = [];
  readonly embeddings: EmbeddingsRequest[] = [];
  script: ModelServerScript;
  embed: EmbeddingsScript | undefined;
  readonly #options: ModelServerOptions;
  readonly #waiting = new Set<() => void>();

  constructor(options: ModelServerOptions) {
    this.#options = options;
    this.script = options.reply ?? (() => undefined);
    this.embed = options.embed;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away is no mistake of the server.
    response.on('error', () => {});
    try {
      const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
      if (request.method === 'GET' && path === '/v1/models') {
        return json(response, 200, { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'test' }] });
      }
      if (request.method === 'POST' && path === '/v1/embeddings' && this.embed !== undefined) {
        return await this.#embed(this.embed, request, response);
      }
      if (request.method !== 'POST' || path !== '/v1/chat/completions') {
        return json(response, 404, { error: { message: `no such path: ${path}`, type: 'invalid_request_error' } });
      }
      await this.#complete(request, response);
    } catch (error) {
      if (!response.headersSent) json(response, 500, { error: { message: String(error), type: 'script_error' } });
      else response.destroy();
    }
  }

  async #complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = read(await textOf(request), request, response);
    const index = this.requests.push(asked) - 1;
    for (const wake of this.#waiting) wake();
    const refusal = refusalOf(asked, this.#options.support ?? {}, this.#options.key);
    if (refusal !== undefined) return json(response, refusal.status, { error: refusal.error });
    const queued = this.queued.shift();
    const reply = queued ?? (await this.script(asked, index)) ?? nothingScripted(index);
    const plain =
      this.#options.support?.heedsStream === false ? { ...asked, body: { ...asked.body, stream: false } } : asked;
    await respond(response, plain, reply);
  }

  async #embed(script: EmbeddingsScript, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await textOf(request)) as EmbeddingsRequest['body'];
    const asked = { headers: request.headers, body };
    const index = this.embeddings.push(asked) - 1;
    for (const wake of this.#waiting) wake();
    const refusal = refusalOfKey(request.headers, this.#options.key);
    if (refusal !== undefined) return json(response, refusal.status, { error: refusal.error });
    respondEmbeddings(response, asked, script(asked, index));
  }

  /** Settles when this is so; looked at whenever something is asked for. */
  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isSo()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

const nothingScripted = (index: number): ModelServerFault => ({
  fault: 'status',
  status: 400,
  message: `nothing was scripted for request ${index + 1}`,
});

function read(body: string, request: IncomingMessage, response: ServerResponse): ModelServerRequest {
  const parsed = JSON.parse(body) as ModelServerRequest['body'];
  const lastText = parsed.messages.at(-1)?.content;
  return {
    headers: request.headers,
    body: parsed,
    prompt: parsed.messages
      .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
      .join('\n'),
    last: typeof lastText === 'string' ? lastText : JSON.stringify(lastText ?? ''),
    ended: new Promise((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'whole' : 'broken-off'));
    }),
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
