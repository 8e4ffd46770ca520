import type { Json, ResultFile } from '#proto';

/** Where a tool server is: a program that speaks MCP on its standard streams, or a streamable HTTP endpoint. */
export type ToolServerSpec =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** Added to the few harmless variables (HOME, LOGNAME, PATH, SHELL, TERM, USER); nothing else is inherited. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string | undefined;
    }
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** One tool as its server describes it: hostile input like everything a server says. */
export interface ListedTool {
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: Json;
  readonly outputSchema: Json;
  readonly annotations: Json;
  /** Declared by the server: running it twice harms nobody. */
  readonly readOnly: boolean;
}

/** What a server says beside its answer (`_meta` of MCP): for clients that know what it means, hostile like the rest. */
export type ToolMeta = Readonly<Record<string, unknown>>;

/**
 * A part of an answer, or of a resource, as its server sent it: text, image, audio, resource or resource_link of MCP, or anything else.
 * Hostile input, and nothing but its `type` is known to have a form.
 */
export type ToolPart = Readonly<Record<string, unknown>> & { readonly type: string };

/** What became of one call. Only `answered` with `isError: false` is a success; `unavailable` was certainly not executed. */
export type ToolAnswer =
  | {
      readonly kind: 'answered';
      readonly isError: boolean;
      readonly value: Json;
      readonly meta?: ToolMeta;
      /** All parts of the answer in their order, where one of them is no text. */
      readonly parts?: readonly ToolPart[];
      /** Files among the parts, kept elsewhere: by whoever has put something in place of the parts. */
      readonly files?: readonly ResultFile[];
    }
  | { readonly kind: 'timed_out' }
  /** `value` is what the tool had produced until then, when its server can say so. */
  | { readonly kind: 'cancelled'; readonly value: Json }
  | { readonly kind: 'unavailable'; readonly reason: string }
  /** The connection ended while the call was running: nobody knows what was executed. */
  | { readonly kind: 'lost'; readonly reason: string };

/** What a server has under an address that it named: parts as above, or why there are none. */
export type ResourceAnswer =
  | { readonly kind: 'read'; readonly contents: readonly Readonly<Record<string, unknown>>[] }
  | { readonly kind: 'failed'; readonly reason: string };

/** A piece of what a running call writes: hostile input, and nothing of it is in the answer because of it. */
export interface ToolOutput {
  readonly stream: 'stdout' | 'stderr';
  /** Bytes of that stream before this piece; larger than expected when pieces were left out. */
  readonly offset: number;
  readonly text: string;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Told what the call writes while it runs, by servers that can say so, until the call has its answer. */
  readonly onOutput?: ((piece: ToolOutput) => void) | undefined;
  /** Said to the server beside the arguments; to be given to servers only that may know it. */
  readonly meta?: ToolMeta | undefined;
}

/** A server's life as facts for a log; none of them stops the process that hosts the client. */
export type ToolServerFact =
  | { readonly fact: 'connected'; readonly tools: number }
  | { readonly fact: 'disconnected'; readonly reason: string; readonly retryMs: number }
  | { readonly fact: 'tools_changed'; readonly tools: number }
  | { readonly fact: 'list_failed'; readonly reason: string };

export const MCP_LIMITS = {
  connectMs: 10_000,
  listMs: 10_000,
  /** Reading one resource. */
  readMs: 30_000,
  listPagesMax: 100,
  toolsMax: 1_000,
  /** One message over stdio: two output streams of 1 MiB, every byte of them escaped. */
  messageBytesMax: 32 * 1024 * 1024,
  /** How long a server that promises to may take to say that a cancelled call has ended. */
  settleMs: 8_000,
  restartMsMin: 200,
  restartMsMax: 30_000,
  /** A connection that lived this long was not a failed start: the wait begins small again. */
  uptimeMsGood: 10_000,
  /** Standard error is read no faster than this, so that a server that floods it blocks itself and not us. */
  stderrBytesPerSecondMax: 256 * 1024,
  stderrTailBytes: 2_048,
  /** One piece of what a running call writes. */
  outputCharsMax: 16 * 1024,
} as const;

/**
 * A request of our own beside MCP, offered under `capabilities.experimental`: MCP has no answer to a cancelled call, so a
 * client could not tell "was asked to end" from "has ended". `orrery/settled {call}` is answered when it has.
 */
export const SETTLED_METHOD = 'orrery/settled';
export const CALL_META = 'orrery/call';

/**
 * Live output, offered under `capabilities.experimental`: a `notifications/progress` of MCP whose `message` is the text, and
 * whose `_meta` has here the stream and the offset of it. A client that knows nothing of it sees a progress bar with words.
 */
export const OUTPUT_META = 'orrery/output';
