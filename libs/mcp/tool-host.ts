import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import { type ZodObject, z } from 'zod';
import { CALL_META, MCP_LIMITS, OUTPUT_META, SETTLED_METHOD, type ToolMeta, type ToolOutput } from './tool-server.js';

/** A file that a tool answers with, beside its result. */
export interface HostedFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/**
 * Tells the caller what the tool writes; resolves when it is handed to the connection. A tool waits for that before it
 * tells more, and drops what it cannot keep: nothing is queued here.
 */
export type Tell = (piece: ToolOutput) => Promise<void>;

/** Who calls, as far as a tool has to know. */
export interface Caller {
  readonly tell: Tell;
  /** What the caller says beside the arguments: hostile input, unless the host knows who it is. */
  readonly meta: ToolMeta;
}

/** A tool of ours: typed by its schemas, cancelled by its signal. */
export interface HostedTool<Input extends ZodObject = ZodObject, Output extends ZodObject = ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** Running it twice harms nobody. */
  readonly readOnly: boolean;
  run(
    args: z.infer<Input>,
    signal: AbortSignal,
    caller: Caller,
  ): Promise<z.infer<Output> | ToolResult<z.infer<Output>>>;
}

/** A result with something beside it: files, and what is not for the reader of the result (`_meta` of MCP). */
export class ToolResult<T> {
  constructor(
    readonly value: T,
    readonly meta: ToolMeta,
    readonly files: readonly HostedFile[] = [],
  ) {}
}

/** What a tool throws to say "no" to its caller in one sentence; everything else it throws is a bug of ours. */
export class ToolFailure extends Error {}

export interface HostOptions {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly HostedTool[];
  readonly transport?: Transport;
}

export interface ToolHost {
  /** Resolves when the client has closed the connection. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Results of cancelled calls are kept for this many calls, until their client asks for them. */
const SETTLED_KEPT_MAX = 256;

const SettledRequest = z.object({
  method: z.literal(SETTLED_METHOD),
  params: z.object({ call: z.string().max(64) }),
});

/** Serves the tools over the transport, standard streams by default, until the client closes it. */
export async function serveTools(options: HostOptions): Promise<ToolHost> {
  const [{ McpServer }, transport] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/mcp.js'),
    options.transport ?? stdioTransport(),
  ]);
  const server = new McpServer(
    { name: options.name, version: options.version },
    { capabilities: { experimental: { [SETTLED_METHOD]: {}, [OUTPUT_META]: {} } } },
  );
  const calls = new CallBook();
  for (const tool of options.tools) {
    const { title, description, input, output, readOnly } = tool;
    const annotations = { readOnlyHint: readOnly, ...(readOnly ? {} : { destructiveHint: true }) };
    server.registerTool(
      tool.name,
      { title, description, inputSchema: input, outputSchema: output, annotations },
      (args, extra) => calls.follow(extra._meta?.[CALL_META], extra.signal, answer(tool, args, extra)),
    );
  }
  server.server.setRequestHandler(SettledRequest, async ({ params }) => ({ result: await calls.settled(params.call) }));
  const { promise: closed, resolve: onclose } = Promise.withResolvers<void>();
  Object.assign(server.server, { onclose });
  await server.connect(transport);
  return { closed, close: () => server.close() };
}

async function stdioTransport(): Promise<Transport> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  return new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MCP_LIMITS.messageBytesMax });
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

async function answer(tool: HostedTool, args: Record<string, unknown>, extra: Extra): Promise<CallToolResult> {
  try {
    // The result travels once, as structured content: a copy as text would double every output.
    const result = await tool.run(args, extra.signal, { tell: tellerOf(extra), meta: extra._meta ?? {} });
    if (!(result instanceof ToolResult)) return { content: [], structuredContent: { ...result } };
    return { content: result.files.map(partOf), structuredContent: { ...result.value }, _meta: { ...result.meta } };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

const partOf = ({ name, mediaType, bytes }: HostedFile): CallToolResult['content'][number] => ({
  type: 'resource',
  resource: { uri: `file:///${encodeURIComponent(name)}`, mimeType: mediaType, blob: bytes.toString('base64') },
});

/** The client that gave a progress token is told; nobody else is, and the tool need not know. */
function tellerOf({ _meta, sendNotification }: Extra): Tell {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => Promise.resolve();
  let progress = 0;
  return async ({ stream, offset, text: message }) => {
    progress++;
    const params = { progressToken, progress, message, _meta: { [OUTPUT_META]: { stream, offset } } };
    // A caller that is gone is noticed by the connection; its call ends by that and not by this.
    await sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** The calls that are running, and the ends of those that were cancelled, by the ids their client gave them. */
class CallBook {
  readonly #ends = new Map<string, Promise<CallToolResult | undefined>>();

  follow(id: unknown, signal: AbortSignal, result: Promise<CallToolResult>): Promise<CallToolResult> {
    if (typeof id !== 'string') return result;
    this.#ends.set(
      id,
      result.catch(() => undefined),
    );
    const forget = (): void => {
      if (!signal.aborted) this.#ends.delete(id);
      else if (this.#ends.size > SETTLED_KEPT_MAX) this.#forgetOldest();
    };
    result.then(forget, forget);
    return result;
  }

  /** Answers when the call has ended, at once when it is not known: then it has ended before, or never began. */
  async settled(id: string): Promise<CallToolResult | undefined> {
    const result = await this.#ends.get(id);
    this.#ends.delete(id);
    return result;
  }

  #forgetOldest(): void {
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }
}
