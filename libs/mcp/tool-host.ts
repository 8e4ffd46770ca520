import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ZodObject } from 'zod';
import { z } from 'zod';
import { CALL_META, MCP_LIMITS, SETTLED_METHOD } from './tool-server.js';

/** A tool of ours: typed by its schemas, cancelled by its signal. */
export interface HostedTool<Input extends ZodObject = ZodObject, Output extends ZodObject = ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** Running it twice harms nobody. */
  readonly readOnly: boolean;
  run(args: z.infer<Input>, signal: AbortSignal): Promise<z.infer<Output>>;
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
    { capabilities: { experimental: { [SETTLED_METHOD]: {} } } },
  );
  const calls = new CallBook();
  for (const tool of options.tools) {
    const { title, description, input, output, readOnly } = tool;
    const annotations = { readOnlyHint: readOnly, ...(readOnly ? {} : { destructiveHint: true }) };
    server.registerTool(
      tool.name,
      { title, description, inputSchema: input, outputSchema: output, annotations },
      (args, { signal, _meta }) => calls.follow(_meta?.[CALL_META], signal, answer(tool, args, signal)),
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

async function answer(tool: HostedTool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
  try {
    // The result travels once, as structured content: a copy as text would double every output.
    return { content: [], structuredContent: { ...(await tool.run(args, signal)) } };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

/** The calls that are running, and the ends of those that were cancelled, by the ids their client gave them. */
class CallBook {
  private readonly ends = new Map<string, Promise<CallToolResult | undefined>>();

  follow(id: unknown, signal: AbortSignal, result: Promise<CallToolResult>): Promise<CallToolResult> {
    if (typeof id !== 'string') return result;
    this.ends.set(
      id,
      result.catch(() => undefined),
    );
    const forget = (): void => {
      if (!signal.aborted) this.ends.delete(id);
      else if (this.ends.size > SETTLED_KEPT_MAX) this.forgetOldest();
    };
    result.then(forget, forget);
    return result;
  }

  /** Answers when the call has ended, at once when it is not known: then it has ended before, or never began. */
  async settled(id: string): Promise<CallToolResult | undefined> {
    const result = await this.ends.get(id);
    this.ends.delete(id);
    return result;
  }

  private forgetOldest(): void {
    const [oldest] = this.ends.keys();
    if (oldest !== undefined) this.ends.delete(oldest);
  }
}
