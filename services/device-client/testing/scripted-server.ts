import { createServer, type IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { AttemptKey, ClientMessage, CommandId, CommandOutcome, Json } from '#proto';
import { ClientMessage as ClientMessageSchema } from '#proto';
import { until } from './until.js';

type Of<T extends ClientMessage['type']> = Extract<ClientMessage, { type: T }>;

/** One connection as the server sees it; frames are kept until a test asks for them. */
export class ScriptedConnection {
  private readonly inbox: ClientMessage[] = [];
  closed = false;

  constructor(
    private readonly socket: WebSocket,
    readonly request: IncomingMessage,
  ) {
    socket.on('message', (data: Buffer) => this.inbox.push(ClientMessageSchema.parse(JSON.parse(data.toString()))));
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('error', () => undefined);
  }

  /** The next message of the type; others before it stay. */
  next<T extends ClientMessage['type']>(type: T): Promise<Of<T>> {
    return until(() => {
      const index = this.inbox.findIndex((message) => message.type === type);
      return index < 0 ? undefined : (this.inbox.splice(index, 1)[0] as Of<T>);
    });
  }

  /** The outcome of the command; results of others stay. */
  outcome(id: CommandId): Promise<CommandOutcome> {
    return until(() => {
      const index = this.inbox.findIndex(
        (message) => message.type === 'command_results' && message.orrery?.command_id === id,
      );
      const [found] = index < 0 ? [] : this.inbox.splice(index, 1);
      return found?.type === 'command_results' ? found.orrery?.outcome : undefined;
    });
  }

  /** How many messages of the type wait. */
  count(type: ClientMessage['type']): number {
    return this.inbox.filter((message) => message.type === type).length;
  }

  send(message: Json): void {
    this.socket.send(JSON.stringify(message));
  }

  raw(text: string): void {
    this.socket.send(text);
  }

  command(id: CommandId, tool: string, parameters: Json, more: Partial<CommandOptions> = {}): void {
    const { attempt = ATTEMPT, digest = 'd1', not_after_ms = 60_000 } = more;
    this.send({
      type: 'command',
      status: 'continue',
      response_id: id,
      agent_name: 'LinuxAgent',
      actions: [{ tool_name: tool, parameters, tool_type: 'action', call_id: id }],
      orrery: { command_id: id, attempt, digest, not_after_ms },
    });
  }

  stop(attempt: AttemptKey = ATTEMPT): void {
    this.send({ type: 'stop_attempt', status: 'ok', orrery: { attempt } });
  }

  stored(id: CommandId): void {
    this.send({ type: 'result_stored', status: 'ok', orrery: { command_id: id } });
  }

  /** Without a close frame, as when a cable is cut. */
  cut(): void {
    this.socket.terminate();
  }

  close(code = 1000): void {
    this.socket.close(code);
  }
}

interface CommandOptions {
  readonly attempt: AttemptKey;
  readonly digest: string;
  readonly not_after_ms: number;
}

export const ATTEMPT: AttemptKey = { runId: 'r1', taskId: 't1', attempt: 1 };

export interface ScriptedServer {
  readonly url: string;
  /** The next connection that nobody has taken yet, not registered. */
  connection(): Promise<ScriptedConnection>;
  /** The next connection, registered as our gateway does. */
  registered(): Promise<{ connection: ScriptedConnection; register: Of<'register'> }>;
  /** Handshakes are refused with this status from now on; 101 lets them in again. */
  refuse(status: number): void;
  readonly handshakes: number;
  stop(): Promise<void>;
}

/** A device server that does what a test says, on a real socket. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const connections: ScriptedConnection[] = [];
  let status = 101;
  let handshakes = 0;
  http.on('upgrade', (request, socket, head) => {
    handshakes++;
    if (status === 101) {
      sockets.handleUpgrade(request, socket, head, (ws) => connections.push(new ScriptedConnection(ws, request)));
    } else socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const address = http.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const connection = (): Promise<ScriptedConnection> => until(() => connections.shift());
  return {
    url: `ws://127.0.0.1:${port}/ws`,
    connection,
    registered: async () => {
      const taken = await connection();
      const register = await taken.next('register');
      const orrery = { revision: 1, session_id: 's1', server_time: '2026-11-20T00:00:00.000Z' };
      taken.send({ type: 'heartbeat', status: 'ok', response_id: 'r', orrery });
      return { connection: taken, register };
    },
    refuse: (given) => {
      status = given;
    },
    get handshakes() {
      return handshakes;
    },
    stop: async () => {
      for (const client of sockets.clients) client.terminate();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
