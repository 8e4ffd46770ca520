// The Constellation MCP server over streamable HTTP (MCP 2025-11-25), one run per path:
//
//   /mcp/<runId>   Host, Origin ──► token ──► run and access ──► body ──► a server for this one request
//
// It keeps no sessions: every request brings its token and is checked anew, so that a token that has ended or a person who
// was taken out of ACTORS is heard no longer, and nothing is left of a client that goes away.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { busPorts, constellationServer, LiveConstellation, LiveRunDesk } from '#libs/constellation-mcp';
import type { Actors } from '#libs/messaging';
import type { Clock, ServicePorts } from '#libs/platform';
import { Slots } from '#libs/slots';
import {
  allowedPlaces,
  isAllowedHost,
  isAllowedOrigin,
  needsMore,
  type EndpointCaller,
  type EndpointPlaces,
} from './access.js';
import { refusals, type HttpRefusal } from './refusals.js';
import { readCaller } from './caller.js';
import { parseJson } from '#proto';

export interface McpEndpointOptions {
  readonly nc: NatsConnection;
  readonly actors: Pick<Actors, 'grantOf'>;
  /** Is told where it listens. */
  readonly ports: Pick<ServicePorts, 'register'>;
  /** 0: any free one. */
  readonly port: number;
  /** Address to listen on; the loopback by default: an operator who opens it to a network puts TLS in front of it. */
  readonly bind?: string | undefined;
  /** Names besides the loopback's by which hosts reach it, `name` or `name:port`. */
  readonly hosts?: readonly string[];
  /** Of the planner's bus key: it sends the edits, in the name of the signer of the token. */
  readonly seed: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const ENDPOINT_LIMITS = {
  bodyBytesMax: 1024 * 1024,
  headerBytesMax: 16 * 1024,
  connectionsMax: 256,
  /** Requests in work, of all and of one key; more are told to come back. */
  requestsMax: 64,
  requestsOfKeyMax: 16,
  headersMs: 10_000,
  /** Until a request must have arrived whole. */
  requestMs: 30_000,
  keepAliveMs: 5_000,
  /** How long an edit is repeated until it has its answer. */
  editMs: 15_000,
  drainMs: 2_000,
} as const;

/** Serves the Constellation MCP server of every run over HTTP. */
export class McpEndpoint {
  readonly #options: McpEndpointOptions;
  readonly #slots = new RequestSlots();
  readonly #server: Server;

  constructor(options: McpEndpointOptions) {
    this.#options = options;
    const server = createServer({ maxHeaderSize: ENDPOINT_LIMITS.headerBytesMax }, (...exchange) =>
      this.#serve(...exchange),
    );
    server.headersTimeout = ENDPOINT_LIMITS.headersMs;
    server.requestTimeout = ENDPOINT_LIMITS.requestMs;
    server.keepAliveTimeout = ENDPOINT_LIMITS.keepAliveMs;
    server.maxConnections = ENDPOINT_LIMITS.connectionsMax;
    this.#server = server;
  }

  /** Where it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when it listens; rejects when the port is not to be had. */
  async begin(): Promise<void> {
    const { port, bind = '127.0.0.1', ports } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(port, bind, resolve);
    await promise;
    this.#server.off('error', reject);
    ports.register('mcp', this.port);
  }

  /** What is in work may end; then everything is cut. */
  async end(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeIdleConnections();
    const cut = setTimeout(() => this.#server.closeAllConnections(), ENDPOINT_LIMITS.drainMs);
    await promise;
    clearTimeout(cut);
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { logger, hosts = [] } = this.#options;
    const places = allowedPlaces(hosts, this.port);
    serve({ ...this.#options, slots: this.#slots, places }, request, response).catch((error: unknown) => {
      if (request.socket.destroyed) return; // a client that goes away in the middle is no fault of ours
      logger.error({ err: error }, 'a request of an MCP host failed');
      if (!response.headersSent) answer(response, refusals.fault());
      else response.destroy();
    });
  }
}

interface Serving extends McpEndpointOptions {
  readonly slots: RequestSlots;
  readonly places: EndpointPlaces;
}

async function serve(parts: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { places, actors, clock, slots } = parts;
  const { host, origin, authorization } = request.headers;
  if (!isAllowedHost(host, places)) return answer(response, refusals.host());
  if (!isAllowedOrigin(origin, places)) return answer(response, refusals.origin());
  const runId = runIdOfPath(request.url ?? '');
  if (runId === undefined) return answer(response, refusals.path());
  const read = readCaller({ authorization, runId }, { actors, now: clock.now() });
  if (!read.ok) return answer(response, read.refusal);
  // Without sessions there is no stream that a host could open, and nothing that it could end.
  if (request.method !== 'POST') return answer(response, refusals.method());
  const { caller } = read;
  const leave = slots.enter(caller.grant.key);
  if (leave === undefined) return answer(response, refusals.busy());
  try {
    const body = await readBody(request);
    if (body === undefined) return answer(response, refusals.tooLarge(ENDPOINT_LIMITS.bodyBytesMax));
    await serveBody(parts, { caller, body }, { request, response });
  } finally {
    leave();
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function serveBody(
  parts: Serving,
  { caller, body }: { readonly caller: EndpointCaller; readonly body: Buffer },
  { request, response }: Exchange,
): Promise<void> {
  const message = parseJson(body);
  if (message === undefined) return answer(response, refusals.json());
  if (Array.isArray(message)) return answer(response, refusals.batch());
  if (needsMore(message, caller.grant.access)) return answer(response, refusals.access());
  const { nc, seed, clock, logger } = parts;
  const { grant, actor } = caller;
  const { runId, access } = grant;
  const ports = busPorts({
    nc,
    runId,
    seed,
    grant: () => grant,
    now: () => clock.now(),
    deadlineMs: ENDPOINT_LIMITS.editMs,
  });
  const constellation = new LiveConstellation({
    loadRun: () => ports.loadRun(),
    propose: async (edits) => {
      const outcome = await ports.propose(edits);
      const tools = edits.map(({ tool }) => tool);
      logger.info({ runId, tools, actor: actor.id, answer: outcome.answer }, 'an edit of an MCP host');
      return outcome;
    },
  });
  const run = new LiveRunDesk({
    loadRun: () => ports.loadRun(),
    say: async (words) => {
      const outcome = await ports.say(words);
      logger.info({ runId, verb: words.verb, actor: actor.id, answer: outcome.answer }, 'a word of an MCP host');
      return outcome;
    },
  });
  const onFault = (error: unknown): void => logger.error({ err: error, runId }, 'a tool of an MCP host failed');
  const server = constellationServer({ constellation, run }, { access, runId, onFault });
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  // With it comes what Node fetches with, which no start needs.
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    await Promise.all([transport.handleRequest(request, response, message), gone]);
  } finally {
    await server.close();
  }
}

const PATH = /^\/mcp\/([A-Za-z0-9_-]{1,64})\/?(?:\?.*)?$/u;

function runIdOfPath(url: string): string | undefined {
  return PATH.exec(url)?.[1];
}

/** The body as it came; undefined when it is larger than allowed: what is left of it is not read. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const { bodyBytesMax } = ENDPOINT_LIMITS;
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > bodyBytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function answer(response: ServerResponse, { status, headers, body }: HttpRefusal): void {
  // What is still coming in is not wanted: the connection ends with the answer.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(body);
}

/** Requests in work. One key alone cannot keep the others out. */
class RequestSlots {
  readonly #ofKey = new Map<string, Slots>();
  readonly #all = new Slots(ENDPOINT_LIMITS.requestsMax);

  /** What to call when the request is done; undefined when there are too many. */
  enter(key: string): (() => void) | undefined {
    const own = this.#ofKey.get(key) ?? new Slots(ENDPOINT_LIMITS.requestsOfKeyMax);
    const leaveOwn = own.tryEnter();
    const leaveAll = leaveOwn && this.#all.tryEnter();
    if (leaveAll === undefined) {
      leaveOwn?.();
      return undefined;
    }
    this.#ofKey.set(key, own);
    return () => {
      leaveAll();
      leaveOwn?.();
      if (own.taken === 0) this.#ofKey.delete(key);
    };
  }
}
