import type { Logger } from 'pino';
import {
  ToolClient,
  type CallOptions,
  type ListedTool,
  type ToolAnswer,
  type ToolOutput,
  type ToolServerFact,
  type ToolServerSpec,
} from '#libs/mcp';
import {
  ATTEMPT_META,
  type AttemptKey,
  ON_META,
  RUN_DIRECTORY_META,
  SECRET_META,
  type CommandId,
  type CommandWall,
  type Json,
  type SeenOn,
  type ToolInfo,
} from '#proto';
import { AGENT_META, STDIN_FILE_META, WORKSPACE_META } from '../exec/index.js';
import { WALL_META } from '../sandbox/index.js';
import { RedactedOutput, secretForField, withoutSecrets, type Redactor, type SecretStore } from '../secrets/index.js';
import { toolInfos } from './tool-infos.js';

export interface ToolboxServer {
  readonly name: string;
  readonly spec: ToolServerSpec;
  readonly timeoutMs: number;
  /** It is one of ours that uses a screen: it compares what an agent saw there, and only it is told. */
  readonly hasScreen?: true;
  /** Only one attempt is let to it at a time. */
  readonly isExclusive?: true;
}

/** What a call is told of its command. */
export interface ToolCall extends Omit<CallOptions, 'timeoutMs'> {
  /** Null: the command of a foreign server, which gives none. */
  readonly commandId: CommandId | null;
  /** Whose work it is. */
  readonly attempt?: AttemptKey | undefined;
  /** An agent chose it, and not a person. */
  readonly isAgents?: boolean | undefined;
  /** What it is held to. */
  readonly wall?: CommandWall | undefined;
  /** The directory of its run, in which it begins. */
  readonly workspace?: string | undefined;
  /** The name of a file with what the command reads. */
  readonly stdinFile?: string | undefined;
  /** What its agent saw on a desktop: it is done there, and nowhere else. */
  readonly on?: SeenOn | undefined;
}

/** Tools of the client itself, in its own process. */
export interface BuiltInTools {
  /** The server that they seem to be of. */
  readonly name: string;
  readonly tools: readonly ListedTool[];
  /** Never rejects, and keeps to times of its own. */
  call(tool: string, args: Readonly<Record<string, Json>>, call: ToolCall): Promise<ToolAnswer>;
}

export type SettleFiles = (
  answer: ToolAnswer,
  call: ToolCall,
  asked: {
    readonly server: Pick<ToolClient, 'read'>;
    readonly redactor: Redactor | undefined;
    /** It has a screen: the pictures of an answer are of that. */
    readonly hasScreen: boolean;
  },
) => Promise<ToolAnswer>;

export interface ToolboxOptions {
  /** In order of precedence: the device's own server comes first and wins every name. */
  readonly servers: readonly ToolboxServer[];
  /** They come after the device's own server. */
  readonly builtIn?: BuiltInTools | undefined;
  /** What is done to an answer of the device's own server before anybody gets it; never rejects. */
  readonly settle?: ((answer: ToolAnswer, call: ToolCall) => Promise<ToolAnswer>) | undefined;
  /** The same for answers of the other servers, which may have files in them; never rejects. */
  readonly settleFiles?: SettleFiles | undefined;
  /** What must not be in any answer, nor in what is told of a running call. */
  readonly secrets?: Pick<SecretStore, 'refresh' | 'valueOf'> | undefined;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  /** The tools are not those of the last time any more. */
  readonly onChange: () => void;
}

interface Entry {
  readonly tool: ListedTool;
  readonly client: Pick<ToolClient, 'name' | 'call' | 'read'> | BuiltInTools;
  readonly timeoutMs: number;
  readonly hasScreen: boolean;
  readonly isExclusive: boolean;
}

/** The meta tool of AIP; servers ask it as if it were a tool. */
const LIST_TOOLS = 'list_tools';
const ACTION = 'action';
const TOOL_NAME = /^[A-Za-z0-9_.:-]{1,128}$/;
/** Of all servers together: no server takes a REGISTER with more. */
const TOOLS_MAX = 1_000;
const COMPLAINTS_MAX = 1_000;

const OWN_WAIT_MS = 30_000;
/** A server that is there, or not at all, says so sooner: it is for one that starts on a busy machine. */
const OTHERS_WAIT_MS = 15_000;

/** All tools of the device under one roof: every name belongs to exactly one server. */
export class Toolbox {
  readonly #servers: (Pick<Entry, 'timeoutMs' | 'hasScreen' | 'isExclusive'> & { readonly client: ToolClient })[];
  #entries = new Map<string, Entry>();
  readonly #complaints = new Set<string>();
  #signature = '';

  readonly #options: ToolboxOptions;

  constructor(options: ToolboxOptions) {
    this.#options = options;

    const { monotonicMs } = options;
    this.#servers = options.servers.map(({ name, spec, timeoutMs, hasScreen = false, isExclusive = false }) => {
      const onFact = (fact: ToolServerFact): void => this.#onFact(name, fact);
      return { client: new ToolClient({ name, spec, onFact, monotonicMs }), timeoutMs, hasScreen, isExclusive };
    });
  }

  /** Starts every server and waits for the own one, and for a shorter time for the others: they may join later. */
  async start(): Promise<void> {
    for (const { client } of this.#servers) client.start();
    const [own, ...others] = this.#servers.map(({ client }) => client);
    await Promise.all([own?.ready(OWN_WAIT_MS), ...others.map((client) => client.tried(OTHERS_WAIT_MS))]);
  }

  has(tool: string): boolean {
    return tool === LIST_TOOLS || this.#entries.has(tool);
  }

  /** The name of the server that has the tool; null for the meta tool, which is nobody's. */
  serverOf(tool: string): string | null {
    return this.#entries.get(tool)?.client.name ?? null;
  }

  /** How a tool uses what only one attempt has at a time: the screen of a desktop. Undefined: not at all. */
  screenUse(tool: string): 'looks' | 'acts' | undefined {
    const entry = this.#entries.get(tool);
    if (entry?.isExclusive !== true) return undefined;
    return entry.tool.readOnly ? 'looks' : 'acts';
  }

  async call(tool: string, args: Readonly<Record<string, Json>>, options: ToolCall): Promise<ToolAnswer> {
    if (tool === LIST_TOOLS) return { kind: 'answered', isError: false, value: this.#list(args) };
    const entry = this.#entries.get(tool);
    if (entry === undefined) return { kind: 'unavailable', reason: `there is no tool ${tool} any more` };
    const { secrets } = this.#options;
    const isOwn = entry.client === this.#servers[0]?.client;
    const redactor = await secrets?.refresh();
    const output = redactor && options.onOutput && new RedactedOutput(redactor, options.onOutput);
    const onOutput = output === undefined ? options.onOutput : (piece: ToolOutput) => output.push(piece);
    // Only the own server may know who asks, and is believed to do as it is told; who has a screen compares what its agent saw.
    const meta = isOwn ? metaOf(options) : entry.hasScreen ? this.#screenMeta(tool, args, options) : undefined;
    const { timeoutMs } = entry;
    const answer = await entry.client.call(tool, args, { ...options, onOutput, meta, timeoutMs });
    output?.end();
    // Values may have been written anew while the call was running.
    const now = await secrets?.refresh();
    return withoutSecrets(await this.#settled(answer, options, { entry, redactor: now }), now);
  }

  /** What is told to a screen: whose work it is, where it is acted, and the value of a secret whose name alone is among the arguments. Foreign servers get none put in. */
  #screenMeta(
    tool: string,
    args: Readonly<Record<string, Json>>,
    { on, commandId, attempt, workspace }: Pick<ToolCall, 'on' | 'commandId' | 'attempt' | 'workspace'>,
  ): CallOptions['meta'] {
    const secret = commandId === null ? undefined : secretForField(tool, args);
    const value = secret === undefined ? undefined : this.#options.secrets?.valueOf(secret);
    return {
      ...(attempt !== undefined && { [ATTEMPT_META]: attempt }),
      ...(workspace !== undefined && { [RUN_DIRECTORY_META]: workspace }),
      ...(on !== undefined && { [ON_META]: on }),
      ...(value !== undefined && { [SECRET_META]: value }),
    };
  }

  /** What of an answer is too long for it, or a file, is kept elsewhere before anybody is told of it. */
  async #settled(
    answer: ToolAnswer,
    call: ToolCall,
    { entry: { client, hasScreen }, redactor }: { readonly entry: Entry; readonly redactor: Redactor | undefined },
  ): Promise<ToolAnswer> {
    const { settle, settleFiles } = this.#options;
    if (client === this.#servers[0]?.client) return settle === undefined ? answer : settle(answer, call);
    return settleFiles !== undefined && 'read' in client
      ? settleFiles(answer, call, { server: client, redactor, hasScreen })
      : answer;
  }

  /** For REGISTER. */
  telemetry(): ToolInfo[] {
    return toolInfos([...this.#entries.values()].map(({ tool }) => tool));
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map(({ client }) => client.close()));
  }

  /**
   * The answer to `list_tools`, in the shape that foreign servers know: who asks this is one. All tools here act, none only
   * collects data for a prompt; those of the client itself need frames that a foreign server does not have.
   */
  #list({ tool_type: type, namespace }: Readonly<Record<string, Json>>): Json[] {
    const wanted = [...this.#entries.values()].filter(
      ({ client }) =>
        client !== this.#options.builtIn && (type ?? ACTION) === ACTION && (namespace ?? client.name) === client.name,
    );
    return wanted.map(({ client, tool }) => ({
      tool_key: `${ACTION}::${tool.name}`,
      tool_name: tool.name,
      title: tool.title,
      namespace: client.name,
      tool_type: ACTION,
      description: tool.description,
      input_schema: tool.inputSchema,
      output_schema: tool.outputSchema,
      meta: null,
      annotations: tool.annotations,
    }));
  }

  #onFact(server: string, fact: ToolServerFact): void {
    const { logger } = this.#options;
    if (fact.fact === 'disconnected') logger.warn({ server, ...fact }, 'tool server disconnected');
    else if (fact.fact === 'list_failed') logger.warn({ server, ...fact }, 'tools could not be read');
    else {
      logger.info({ server, ...fact }, 'tool server connected');
      this.#rebuild();
    }
  }

  #rebuild(): void {
    // Until the own server has named its tools, nobody else may have a name that could be one of them.
    if (this.#servers[0]?.client.tools.length === 0) return;
    const entries = new Map<string, Entry>();
    const { builtIn } = this.#options;
    const [own, ...others] = this.#servers;
    const all = [
      own,
      builtIn && { client: builtIn, timeoutMs: 0, hasScreen: false, isExclusive: false },
      ...others,
    ].filter((server) => server !== undefined);
    for (const { client, timeoutMs, hasScreen, isExclusive } of all) {
      for (const tool of client.tools) {
        const full = entries.size >= TOOLS_MAX ? `the device has ${TOOLS_MAX} tools already` : undefined;
        const refusal = refusalOf(tool.name, entries.get(tool.name)?.client.name) ?? full;
        if (refusal === undefined) entries.set(tool.name, { tool, client, timeoutMs, hasScreen, isExclusive });
        else this.#complain(client.name, tool.name, refusal);
      }
    }
    this.#entries = entries;
    const signature = JSON.stringify(this.telemetry());
    if (signature === this.#signature) return;
    this.#signature = signature;
    this.#options.onChange();
  }

  /** Once per tool: a server that is started again every few seconds would say it every few seconds. */
  #complain(server: string, tool: string, reason: string): void {
    const key = `${server} ${tool}`;
    if (this.#complaints.has(key) || this.#complaints.size >= COMPLAINTS_MAX) return;
    this.#complaints.add(key);
    this.#options.logger.warn({ server, tool: tool.slice(0, 128), reason }, 'tool refused');
  }
}

/** What the process of the own tools is told beside the arguments. */
function metaOf({ isAgents, stdinFile, wall, workspace }: ToolCall): Record<string, Json> | undefined {
  const meta = {
    ...(isAgents === true && { [AGENT_META]: true }),
    ...(stdinFile !== undefined && { [STDIN_FILE_META]: stdinFile }),
    ...(wall !== undefined && { [WALL_META]: jsonOf(wall) }),
    ...(workspace !== undefined && { [WORKSPACE_META]: workspace }),
  };
  return Object.keys(meta).length === 0 ? undefined : meta;
}

const jsonOf = ({ kind, views, internet, writable }: CommandWall): Json => ({
  kind,
  views: [...views],
  ...(internet !== undefined && { internet }),
  ...(writable !== undefined && { writable: [...writable] }),
});

function refusalOf(name: string, owner: string | undefined): string | undefined {
  if (name === LIST_TOOLS) return 'the name is reserved';
  if (!TOOL_NAME.test(name)) return 'a tool name must be 1 to 128 letters, digits or _ . : -';
  return owner === undefined ? undefined : `the name belongs to the server "${owner}"`;
}
