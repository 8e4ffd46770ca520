import type { Logger } from 'pino';
import { ToolClient, type ListedTool, type ToolAnswer, type ToolServerFact, type ToolServerSpec } from '#libs/mcp';
import type { Json, ToolInfo } from '#proto';

export interface ToolboxServer {
  readonly name: string;
  readonly spec: ToolServerSpec;
  readonly timeoutMs: number;
}

export interface ToolboxOptions {
  /** In order of precedence: the device's own server comes first and wins every name. */
  readonly servers: readonly ToolboxServer[];
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  /** The tools are not those of the last time any more. */
  readonly onChange: () => void;
}

interface Entry {
  readonly tool: ListedTool;
  readonly client: ToolClient;
  readonly timeoutMs: number;
}

/** The meta tool of AIP; servers ask it as if it were a tool. */
const LIST_TOOLS = 'list_tools';
const TOOL_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;
const DESCRIPTION_CHARS_MAX = 4_000;
/** All descriptions together, so that REGISTER fits into a frame. */
const DESCRIPTIONS_CHARS_MAX = 400_000;

const OWN_WAIT_MS = 30_000;
const OTHERS_WAIT_MS = 5_000;

/** All tools of the device under one roof: every name belongs to exactly one server. */
export class Toolbox {
  private readonly servers: { readonly client: ToolClient; readonly timeoutMs: number }[];
  private entries = new Map<string, Entry>();
  private readonly complaints = new Set<string>();
  private signature = '';

  constructor(private readonly options: ToolboxOptions) {
    const { monotonicMs } = options;
    this.servers = options.servers.map(({ name, spec, timeoutMs }) => {
      const onFact = (fact: ToolServerFact): void => this.onFact(name, fact);
      return { client: new ToolClient({ name, spec, onFact, monotonicMs }), timeoutMs };
    });
  }

  /** Starts every server and waits for the own one, and for a shorter time for the others: they may join later. */
  async start(): Promise<void> {
    for (const { client } of this.servers) client.start();
    const [own, ...others] = this.servers.map(({ client }) => client);
    await Promise.all([own?.ready(OWN_WAIT_MS), ...others.map((client) => client.tried(OTHERS_WAIT_MS))]);
  }

  has(tool: string): boolean {
    return tool === LIST_TOOLS || this.entries.has(tool);
  }

  async call(tool: string, args: Readonly<Record<string, Json>>, signal: AbortSignal): Promise<ToolAnswer> {
    if (tool === LIST_TOOLS) return { kind: 'answered', isError: false, value: this.list() };
    const entry = this.entries.get(tool);
    if (entry === undefined) return { kind: 'unavailable', reason: `there is no tool ${tool} any more` };
    return entry.client.call(tool, args, { signal, timeoutMs: entry.timeoutMs });
  }

  /** For REGISTER. */
  telemetry(): ToolInfo[] {
    const charsMax = Math.min(
      DESCRIPTION_CHARS_MAX,
      Math.floor(DESCRIPTIONS_CHARS_MAX / Math.max(1, this.entries.size)),
    );
    return [...this.entries.values()].map(({ tool: { name, description, readOnly } }) => ({
      name,
      description: description.slice(0, charsMax).toWellFormed(),
      readOnly,
    }));
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map(({ client }) => client.close()));
  }

  /** The answer to `list_tools`, in the shape that AIP servers know. */
  private list(): Json[] {
    return [...this.entries.values()].map(({ client, tool }) => ({
      tool_key: `action::${tool.name}`,
      tool_name: tool.name,
      title: tool.title,
      namespace: client.name,
      tool_type: 'action',
      description: tool.description,
      input_schema: tool.inputSchema,
      output_schema: tool.outputSchema,
      meta: null,
      annotations: tool.annotations,
    }));
  }

  private onFact(server: string, fact: ToolServerFact): void {
    const { logger } = this.options;
    if (fact.fact === 'disconnected') logger.warn({ server, ...fact }, 'tool server disconnected');
    else if (fact.fact === 'list_failed') logger.warn({ server, ...fact }, 'tools could not be read');
    else {
      logger.info({ server, ...fact }, 'tool server connected');
      this.rebuild();
    }
  }

  private rebuild(): void {
    // Until the own server has named its tools, nobody else may have a name that could be one of them.
    if (this.servers[0]?.client.tools.length === 0) return;
    const entries = new Map<string, Entry>();
    for (const { client, timeoutMs } of this.servers) {
      for (const tool of client.tools) {
        const refusal = refusalOf(tool.name, entries.get(tool.name)?.client.name);
        if (refusal === undefined) entries.set(tool.name, { tool, client, timeoutMs });
        else this.complain(client.name, tool.name, refusal);
      }
    }
    this.entries = entries;
    const signature = JSON.stringify(this.telemetry());
    if (signature === this.signature) return;
    this.signature = signature;
    this.options.onChange();
  }

  /** Once per tool: a server that is started again every few seconds would say it every few seconds. */
  private complain(server: string, tool: string, reason: string): void {
    const key = `${server} ${tool}`;
    if (this.complaints.has(key)) return;
    this.complaints.add(key);
    this.options.logger.warn({ server, tool: tool.slice(0, 128), reason }, 'tool refused');
  }
}

function refusalOf(name: string, owner: string | undefined): string | undefined {
  if (name === LIST_TOOLS) return 'the name is reserved';
  if (!TOOL_NAME.test(name)) return 'a tool name must be 1 to 128 letters, digits or _ . : -';
  return owner === undefined ? undefined : `the name belongs to the server "${owner}"`;
}
