import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '#proto';
import { limitedFetch } from './limited-fetch.js';
import { MessageBuffer } from './message-buffer.js';
import { drainSlowly } from './stderr.js';
import {
  CALL_META,
  MCP_LIMITS,
  OUTPUT_META,
  SETTLED_METHOD,
  type CallOptions,
  type ListedTool,
  type ResourceAnswer,
  type ToolAnswer,
  type ToolOutput,
  type ToolPart,
  type ToolServerSpec,
} from './tool-server.js';

export interface ToolConnection {
  readonly tools: readonly ListedTool[];
  /** Resolves with the reason when the connection has ended; never rejects. */
  readonly closed: Promise<string>;
  call(tool: string, args: Readonly<Record<string, Json>>, options: CallOptions): Promise<ToolAnswer>;
  read(uri: string, signal: AbortSignal): Promise<ResourceAnswer>;
  close(): Promise<void>;
}

interface Life {
  /** Known before any call that it ends is told: a lost call must not look like an answered one. */
  ended: boolean;
  /** What went wrong on the way last: of a server that sends too long a message, that. */
  why: string;
  readonly closed: Promise<string>;
}

function lifeOf(client: Client, reason: (why: string) => string): Life {
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  const life: Life = { ended: false, why: '', closed };
  const onerror = (error: Error): void => {
    life.why = `: ${error.message.slice(0, MCP_LIMITS.stderrTailBytes)}`;
  };
  const onclose = (): void => {
    life.ended = true;
    resolve(reason(life.why));
  };
  Object.assign(client, { onclose, onerror });
  return life;
}

interface ConnectionEvents {
  readonly onToolsChanged: (tools: readonly ListedTool[]) => void;
  readonly onListFailed: (reason: string) => void;
  /** Gives up connecting; an open connection is closed by its owner. */
  readonly signal: AbortSignal;
}

/** Everything of the SDK is loaded at the first connection: a process that only hosts tools never pays for it. */
async function loadSdk() {
  const [{ Client }, types, { z }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
    import('zod'),
  ]);
  const fields = z.record(z.string(), z.unknown());
  return {
    Client,
    types,
    Settled: z.object({ result: z.unknown().optional() }),
    // Not the SDK's own: it refuses a whole answer for one part that is not as it should be.
    CallResult: z.object({
      content: z.array(z.looseObject({ type: z.string() })).default([]),
      structuredContent: fields.optional(),
      isError: z.boolean().optional(),
      _meta: fields.optional(),
    }),
    ReadResult: z.object({ contents: z.array(fields) }),
  };
}
type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Starts or dials the server, shakes hands and reads its tools; throws when any of it fails or takes too long. */
export async function openConnection(
  name: string,
  spec: ToolServerSpec,
  events: ConnectionEvents,
): Promise<ToolConnection> {
  const sdk = await loadSdk();
  const { transport, lastWords, kill } = await openTransport(spec);
  const client = new sdk.Client({ name: 'orrery-device', version: '1' }, { capabilities: {} });
  const life = lifeOf(client, (why) => `the tool server "${name}" closed the connection${why}${lastWords()}`);
  try {
    await client.connect(transport, { timeout: MCP_LIMITS.connectMs, signal: events.signal });
    const tools = await listTools(sdk, client);
    const connection = new OpenConnection(sdk, client, spec.kind, life, tools);
    client.setNotificationHandler(sdk.types.ToolListChangedNotificationSchema, () => connection.refresh(events));
    // Not the SDK's own: it forgets who listens when the answer arrives, before it has passed on what came just before.
    client.setNotificationHandler(sdk.types.ProgressNotificationSchema, ({ params }) => connection.heard(params));
    return connection;
  } catch (error) {
    const words = lastWords();
    kill();
    await client.close().catch(() => undefined);
    throw new Error(`the tool server "${name}" did not start: ${messageOf(error)}${words}`, { cause: error });
  }
}

interface Opened {
  readonly transport: Transport;
  readonly lastWords: () => string;
  /** Ends a server that could not even shake hands; the SDK closes its input and does not wait for its end. */
  readonly kill: () => void;
}

async function openTransport(spec: ToolServerSpec): Promise<Opened> {
  if (spec.kind === 'http') {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const transport = new StreamableHTTPClientTransport(new URL(spec.url), {
      requestInit: { headers: spec.headers },
      fetch: limitedFetch,
    });
    return { transport, lastWords: () => '', kill: () => undefined };
  }
  const [{ StdioClientTransport }, { deserializeMessage }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/stdio.js'),
    import('@modelcontextprotocol/sdk/shared/stdio.js'),
  ]);
  const transport = new StdioClientTransport({
    command: spec.command,
    args: [...spec.args],
    env: { ...spec.env },
    stderr: 'pipe',
    maxBufferSize: MCP_LIMITS.messageBytesMax,
    ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
  });
  Object.assign(transport, { _readBuffer: new MessageBuffer(deserializeMessage) });
  const tail = drainSlowly(transport.stderr);
  // The pid is asked for now and not at the end: the SDK forgets it as soon as it begins to close.
  const start = transport.start.bind(transport);
  let pid: number | null = null;
  const onclose = (): void => {
    pid = null;
  };
  Object.assign(transport, { onclose });
  transport.start = async () => {
    await start();
    pid = transport.pid;
  };
  return {
    transport,
    lastWords: () => (tail() === '' ? '' : `; its last words: ${tail()}`),
    kill: () => {
      try {
        if (pid !== null) process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    },
  };
}

class OpenConnection implements ToolConnection {
  #calls = 0;
  #refreshing = false;
  #stale = false;
  /** Who hears what a call writes, by its id. */
  readonly #listeners = new Map<string, (piece: ToolOutput) => void>();
  readonly #settles: boolean;
  readonly #tells: boolean;

  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #kind: ToolServerSpec['kind'];
  readonly #life: Life;

  constructor(
    sdk: Sdk,
    client: Client,
    kind: ToolServerSpec['kind'],
    life: Life,
    public tools: readonly ListedTool[],
  ) {
    this.#sdk = sdk;
    this.#client = client;
    this.#kind = kind;
    this.#life = life;

    const offered = client.getServerCapabilities()?.experimental;
    this.#settles = offered?.[SETTLED_METHOD] !== undefined;
    this.#tells = offered?.[OUTPUT_META] !== undefined;
  }

  get closed(): Promise<string> {
    return this.#life.closed;
  }

  async call(tool: string, args: Readonly<Record<string, Json>>, options: CallOptions): Promise<ToolAnswer> {
    const id = String(++this.#calls);
    const stop = new AbortController();
    const onAbort = (): void => stop.abort('cancelled');
    if (options.signal.aborted) return { kind: 'cancelled', value: null };
    options.signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => stop.abort('timed out'), options.timeoutMs);
    const { onOutput } = options;
    if (this.#tells && onOutput !== undefined) this.#listeners.set(id, onOutput);
    const _meta = { ...options.meta, [CALL_META]: id, ...(this.#listeners.has(id) && { progressToken: id }) };
    try {
      const result = await this.#client.request(
        { method: 'tools/call', params: { name: tool, arguments: { ...args }, _meta } },
        this.#sdk.CallResult,
        // The SDK has a timer of its own; it must never be the one that fires.
        { signal: stop.signal, timeout: options.timeoutMs + MCP_LIMITS.connectMs },
      );
      const { isError = false, _meta: meta } = result;
      const parts = result.content.every(isText) ? undefined : result.content;
      const more = { ...(meta !== undefined && { meta }), ...(parts !== undefined && { parts }) };
      return { kind: 'answered', isError, value: valueOf(result), ...more };
    } catch (error) {
      return await this.#explain(error, id, stop.signal, options.signal);
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(id);
      options.signal.removeEventListener('abort', onAbort);
    }
  }

  async read(uri: string, signal: AbortSignal): Promise<ResourceAnswer> {
    if (this.#client.getServerCapabilities()?.resources === undefined) {
      return { kind: 'failed', reason: 'its server has no resources to read' };
    }
    try {
      const request = { method: 'resources/read', params: { uri } };
      const options = { signal, timeout: MCP_LIMITS.readMs };
      return { kind: 'read', contents: (await this.#client.request(request, this.#sdk.ReadResult, options)).contents };
    } catch (error) {
      return { kind: 'failed', reason: signal.aborted ? 'nobody waits for it any more' : messageOf(error) };
    }
  }

  /** A progress notification: of a call that is running and wants to hear of it, or of nobody. */
  heard(params: { readonly progressToken?: unknown }): void {
    const piece = pieceOf(params);
    if (piece !== undefined) this.#listeners.get(String(params.progressToken))?.(piece);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  /** The server says that its tools changed; however often it says so, one list is read at a time. */
  async refresh(events: ConnectionEvents): Promise<void> {
    this.#stale = true;
    if (this.#refreshing) return;
    this.#refreshing = true;
    try {
      while (this.#stale && !this.#life.ended) {
        this.#stale = false;
        this.tools = await listTools(this.#sdk, this.#client);
        events.onToolsChanged(this.tools);
      }
    } catch (error) {
      events.onListFailed(messageOf(error));
    } finally {
      this.#refreshing = false;
    }
  }

  async #explain(error: unknown, id: string, stop: AbortSignal, cancel: AbortSignal): Promise<ToolAnswer> {
    if (stop.aborted) {
      const value = await this.#settled(id);
      return cancel.aborted ? { kind: 'cancelled', value } : { kind: 'timed_out' };
    }
    if (this.#life.ended) return { kind: 'lost', reason: `${messageOf(error)}${this.#life.why}` };
    if (error instanceof this.#sdk.types.McpError || this.#kind === 'stdio') {
      return { kind: 'answered', isError: true, value: messageOf(error) };
    }
    return this.#explainHttp(error);
  }

  /** After a failed POST the session is given up and dialled again; only a refused connection proves that nothing ran. */
  async #explainHttp(failure: unknown): Promise<ToolAnswer> {
    await this.#client.close().catch(() => undefined);
    const status = codeOf(failure);
    const refused = failure instanceof Error && codeOf(failure.cause) === 'ECONNREFUSED';
    const rejected = typeof status === 'number' && status >= 400 && status < 500;
    return { kind: refused || rejected ? 'unavailable' : 'lost', reason: messageOf(failure) };
  }

  /** Waits until the server says that a cancelled call has ended, if it can; what it had produced is kept. */
  async #settled(id: string): Promise<Json> {
    if (!this.#settles || this.#life.ended) return null;
    const request = { method: SETTLED_METHOD, params: { call: id } };
    const answer = await this.#client
      .request(request, this.#sdk.Settled, { timeout: MCP_LIMITS.settleMs })
      .catch(() => undefined);
    const result = this.#sdk.CallResult.safeParse(answer?.result);
    return result.success ? valueOf(result.data) : null;
  }
}

async function listTools(sdk: Sdk, client: Client): Promise<readonly ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MCP_LIMITS.listPagesMax && tools.length < MCP_LIMITS.toolsMax; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, sdk.types.ListToolsResultSchema, {
      timeout: MCP_LIMITS.listMs,
    });
    tools.push(...answer.tools.map(listed));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MCP_LIMITS.toolsMax);
}

function listed(tool: Tool): ListedTool {
  return {
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? '',
    inputSchema: json(tool.inputSchema),
    outputSchema: json(tool.outputSchema),
    annotations: json(tool.annotations),
    readOnly: tool.annotations?.readOnlyHint === true,
  };
}

/** Structured content is the answer; without it text is, and any other content is passed on as it is. */
function valueOf({ structuredContent, content }: CallResult): Json {
  if (structuredContent !== undefined) return json(structuredContent);
  const texts = content.flatMap((part) => (isText(part) ? [part.text] : []));
  return texts.length === content.length ? texts.join('\n') : json(content);
}

interface CallResult {
  readonly content: readonly ToolPart[];
  readonly structuredContent?: Readonly<Record<string, unknown>> | undefined;
}

const isText = (part: ToolPart): part is ToolPart & { readonly text: string } =>
  part.type === 'text' && typeof part['text'] === 'string';

/** Live output in a progress notification; undefined when it is none, or one that no honest server sends. */
function pieceOf(progress: unknown): ToolOutput | undefined {
  const { message, _meta } = fieldsOf(progress);
  const { stream, offset } = fieldsOf(fieldsOf(_meta)[OUTPUT_META]);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) return undefined;
  if (typeof message !== 'string' || message.length > MCP_LIMITS.outputCharsMax) return undefined;
  return { stream, offset, text: message };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** What came out of `JSON.parse` is JSON; only the SDK's types do not know it. */
function json(value: unknown): Json {
  return value === undefined ? null : (value as Json);
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
