// One MCP server as its user sees it, for as long as the process lives.
//
//   start ──► connecting ──► ready ──connection ends──► waiting ──backoff──► connecting ...
//                  └────────────── fails ─────────────────▲
//   close: from everywhere, final
import { setTimeout as sleep } from 'node:timers/promises';
import { doubledMs } from '#libs/backoff';
import type { Json } from '#proto';
import { openConnection, type ToolConnection } from './tool-connection.js';
import {
  MCP_LIMITS,
  type CallOptions,
  type ListedTool,
  type ResourceAnswer,
  type ToolAnswer,
  type ToolServerFact,
  type ToolServerSpec,
} from './tool-server.js';

export interface ToolClientOptions {
  readonly name: string;
  readonly spec: ToolServerSpec;
  readonly onFact: (fact: ToolServerFact) => void;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
}

/** Keeps one tool server connected: a dead one is started again for ever, with growing waits. */
export class ToolClient {
  readonly #stopping = new AbortController();
  #connection: ToolConnection | undefined;
  #listed: readonly ListedTool[] = [];
  #running: Promise<void> | undefined;
  #whyNot = 'it has not been started yet';
  readonly #waiters = new Set<() => void>();
  readonly #firstTry = Promise.withResolvers<void>();

  readonly #options: ToolClientOptions;

  constructor(options: ToolClientOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** The tools of the last connection; a server that is down keeps them, its calls are answered `unavailable`. */
  get tools(): readonly ListedTool[] {
    return this.#listed;
  }

  get isReady(): boolean {
    return this.#connection !== undefined;
  }

  start(): void {
    this.#running ??= this.#keepConnected();
  }

  /** Resolves with true when the server is ready, with false when it is not within the time. */
  async ready(timeoutMs: number): Promise<boolean> {
    if (this.isReady) return true;
    const { promise: becameReady, resolve: wake } = Promise.withResolvers<void>();
    this.#waiters.add(wake);
    await within(timeoutMs, becameReady);
    this.#waiters.delete(wake);
    return this.isReady;
  }

  /** Resolves when the first try to connect has succeeded or failed, or the time is over. */
  async tried(timeoutMs: number): Promise<void> {
    await within(timeoutMs, this.#firstTry.promise);
  }

  /** Calls a tool once. Never throws for what the server does and never calls again by itself. */
  async call(tool: string, args: Readonly<Record<string, Json>>, options: CallOptions): Promise<ToolAnswer> {
    const connection = this.#connection;
    if (connection === undefined) {
      return { kind: 'unavailable', reason: `the tool server "${this.name}" is not connected: ${this.#whyNot}` };
    }
    return connection.call(tool, args, options);
  }

  /** Reads a resource of this server, by an address that it named: nobody else is asked for it. Never throws. */
  async read(uri: string, signal: AbortSignal): Promise<ResourceAnswer> {
    const connection = this.#connection;
    if (connection === undefined) return { kind: 'failed', reason: `its server is not connected: ${this.#whyNot}` };
    return connection.read(uri, signal);
  }

  /** Ends the server and the loop; safe to call twice. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#connection?.close();
    await this.#running;
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; failures++) {
      const startedAt = this.#options.monotonicMs();
      this.#whyNot = await this.#connectOnce();
      if (signal.aborted) return;
      if (this.#options.monotonicMs() - startedAt >= MCP_LIMITS.uptimeMsGood) failures = 0;
      const retryMs = doubledMs({ msMin: MCP_LIMITS.restartMsMin, msMax: MCP_LIMITS.restartMsMax }, failures + 1);
      this.#options.onFact({ fact: 'disconnected', reason: this.#whyNot, retryMs });
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** One life of a connection; resolves with the reason of its end. */
  async #connectOnce(): Promise<string> {
    try {
      const connection = await openConnection(this.#options.name, this.#options.spec, {
        onToolsChanged: (tools) => {
          this.#listed = tools;
          this.#options.onFact({ fact: 'tools_changed', tools: tools.length });
        },
        onListFailed: (reason) => this.#options.onFact({ fact: 'list_failed', reason }),
        signal: this.#stopping.signal,
      });
      if (this.#stopping.signal.aborted) {
        await connection.close();
        return 'closed';
      }
      this.#listed = connection.tools;
      this.#connection = connection;
      this.#options.onFact({ fact: 'connected', tools: connection.tools.length });
      this.#firstTry.resolve();
      for (const wake of this.#waiters) wake();
      return await connection.closed;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#connection = undefined;
      this.#firstTry.resolve();
    }
  }
}

async function within(timeoutMs: number, fact: Promise<void>): Promise<void> {
  const timer = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([fact, late]);
  timer.abort();
}
