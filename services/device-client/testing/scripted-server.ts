import { createServer, type IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { Sequence } from '#libs/aip';
import { ClientMessage as ClientMessageSchema } from '#proto';
import type { AttemptKey, ClientMessage, CommandId, CommandOutcome, Json, Judged } from '#proto';
import { until } from './until.js';

type Of<T extends ClientMessage['type']> = Extract<ClientMessage, { type: T }>;

const ACKS_EVERY_MS = 20;

/** One connection as the server sees it; frames are kept until a test asks for them. */
export class ScriptedConnection {
  readonly #inbox: ClientMessage[] = [];
  #sequence: Sequence | undefined;
  #acks: NodeJS.Timeout | undefined;
  /** Whether a file that the device offers is refused at once; else a test has to answer. */
  refusesFiles = true;
  /** False: nothing is acknowledged any more, except on what is sent. */
  acknowledging = true;
  closed = false;
  /** The code that the device closed with, or 1006. */
  closeCode = 0;
  /** Bytes of all frames that came, and of them those of results. */
  received = { bytes: 0, resultBytes: 0 };
  /** Gets every frame as it came. */
  onFrame: (text: string) => void = () => undefined;
  /** What was wrong with the numbers of the device's frames. */
  readonly wrong: string[] = [];

  readonly #socket: WebSocket;

  constructor(
    socket: WebSocket,
    readonly request: IncomingMessage,
  ) {
    this.#socket = socket;

    socket.on('message', (data: Buffer) => this.#take(data));
    socket.on('close', (code) => {
      clearInterval(this.#acks);
      this.closed = true;
      this.closeCode = code;
    });
    socket.on('error', () => undefined);
  }

  /** Confirms the registration as our gateway does. Of revision 2 frames are numbered and acknowledged from here on. */
  confirm(revision: number): void {
    const orrery = { revision, session_id: 's1', server_time: '2026-11-20T00:00:00.000Z' };
    this.send({ type: 'heartbeat', status: 'ok', response_id: 'r', orrery });
    if (revision < 2) return;
    this.#sequence = new Sequence();
    this.#acks = setInterval(() => {
      if (this.acknowledging && this.#sequence?.ackDue(Infinity) === true) this.send({ type: 'ack', status: 'ok' });
    }, ACKS_EVERY_MS);
  }

  /** Everything that the device says to hold, and the answer to it. */
  async resume(): Promise<{ running: CommandId[]; finished: CommandId[]; frames: number }> {
    const held = { running: [] as CommandId[], finished: [] as CommandId[], frames: 0 };
    for (let more = true; more;) {
      const { orrery } = await this.next('resume');
      held.running.push(...orrery.running);
      held.finished.push(...orrery.finished);
      held.frames++;
      ({ more } = orrery);
    }
    return held;
  }

  resumed(): void {
    this.send({ type: 'resumed', status: 'ok' });
  }

  /** The next message of the type; others before it stay. Throws when the connection has ended and none will come. */
  next<T extends ClientMessage['type']>(type: T): Promise<Of<T>> {
    return until(() => {
      const index = this.#inbox.findIndex((message) => message.type === type);
      if (index < 0 && this.closed) throw new Error(`the connection ended with ${this.closeCode} before ${type} came`);
      return index < 0 ? undefined : (this.#inbox.splice(index, 1)[0] as Of<T>);
    });
  }

  /** The outcome of the command; results of others stay. */
  outcome(id: CommandId): Promise<CommandOutcome> {
    return until(() => {
      const index = this.#inbox.findIndex(
        (message) => message.type === 'command_results' && message.orrery?.command_id === id,
      );
      const [found] = index < 0 ? [] : this.#inbox.splice(index, 1);
      return found?.type === 'command_results' ? found.orrery?.outcome : undefined;
    });
  }

  /** Until the device has said that this command waits for its turn; of one that runs for long it says so, too. */
  queued(id: CommandId): Promise<true> {
    return until(() => {
      const isSaid = this.#inbox.some(
        (said) => said.type === 'command_progress' && said.orrery.command_id === id && said.orrery.state === 'queued',
      );
      return isSaid || undefined;
    });
  }

  /** How many messages of the type wait. */
  count(type: ClientMessage['type']): number {
    return this.#inbox.filter((message) => message.type === type).length;
  }

  /** All messages that wait, the oldest first. */
  waiting(): readonly ClientMessage[] {
    return this.#inbox;
  }

  send(message: Json): void {
    this.#socket.send(JSON.stringify(this.#stamped(message)));
  }

  /** Acknowledges nothing; on a connection with numbers it has one. */
  sendWithoutAck(message: { readonly [field: string]: Json }): void {
    const { ack: _, ...unacknowledging } = { ack: 0, ...(this.#stamped(message) as object) };
    this.#socket.send(JSON.stringify(unacknowledging));
  }

  /** Any bytes; on a connection with numbers they count as the next frame, as everything does. */
  raw(text: string): void {
    this.#sequence?.stamp({ type: 'raw' }, performance.now());
    this.#socket.send(text);
  }

  command(id: CommandId, tool: string, parameters: Json, more: Partial<CommandOptions> = {}): void {
    const { attempt = ATTEMPT, digest = 'd1', not_after_ms = 60_000, judged } = more;
    this.send({
      type: 'command',
      status: 'continue',
      response_id: id,
      agent_name: 'LinuxAgent',
      actions: [{ tool_name: tool, parameters, tool_type: 'action', call_id: id }],
      orrery: {
        command_id: id,
        attempt,
        digest,
        not_after_ms,
        ...(judged && { judged: JSON.parse(JSON.stringify(judged)) as Json }),
      },
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
    this.#socket.terminate();
  }

  close(code = 1000): void {
    this.#socket.close(code);
  }

  #stamped(message: Json): Json {
    if (this.#sequence === undefined || message === null || typeof message !== 'object' || Array.isArray(message)) {
      return message;
    }
    const type = message['type'] === 'ack' ? 'ack' : 'other';
    return { ...message, ...this.#sequence.stamp({ type }, performance.now()), type: message['type'] ?? null };
  }

  #take(data: Buffer): void {
    this.onFrame(data.toString());
    const message = ClientMessageSchema.parse(JSON.parse(data.toString()));
    this.received.bytes += data.length;
    if (message.type === 'command_results') this.received.resultBytes += data.length;
    const judged = this.#sequence?.take(message, performance.now());
    if (judged !== undefined && judged.kind !== 'fresh') this.wrong.push(JSON.stringify(judged));
    if (this.#sequence === undefined && typeof message.seq === 'number')
      this.wrong.push(`${message.type} has a number`);
    if (message.type === 'file_begin' && this.refusesFiles) {
      const { transfer_id } = message.orrery;
      const orrery = { transfer_id, code: 'NO_FILES', message: 'this server takes and gives no files' };
      return this.send({ type: 'file_abort', status: 'error', orrery });
    }
    if (message.type !== 'ack') this.#inbox.push(message);
  }
}

interface CommandOptions {
  readonly attempt: AttemptKey;
  readonly digest: string;
  readonly not_after_ms: number;
  readonly judged: Judged;
}

export const ATTEMPT: AttemptKey = { runId: 'r1', taskId: 't1', attempt: 1 };

export interface Registered {
  readonly connection: ScriptedConnection;
  readonly register: Of<'register'>;
  /** What the device said to hold; nothing of a device that was confirmed with revision 1. */
  readonly held: { readonly running: CommandId[]; readonly finished: CommandId[]; readonly frames: number };
}

export interface ScriptedServer {
  readonly url: string;
  /** The next connection that nobody has taken yet and that is still open, not registered. */
  connection(): Promise<ScriptedConnection>;
  /**
   * The next connection, registered and with all that its device holds, which has not been told yet that it was heard. A device waits ten
   * seconds for each answer and then comes again: on a machine that takes longer it is the one that stays.
   */
  confirmed(revision?: number): Promise<Registered>;
  /** The next connection, registered as our gateway does. */
  registered(revision?: number): Promise<Registered>;
  /** The next one that names all these tools: a device registers without those of servers that start slowly, and with them afterwards. */
  registeredWith(...tools: readonly string[]): Promise<Registered>;
  /** Handshakes are refused with this status from now on; 101 lets them in again. */
  refuse(status: number): void;
  readonly handshakes: number;
  /** Every connection there is, as when a cable is cut. */
  cut(): void;
  stop(): Promise<void>;
}

/** A device server that does what a test says, on a real socket. */
export async function startScriptedServer(port = 0): Promise<ScriptedServer> {
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
  await new Promise<void>((resolve) => void http.listen(port, '127.0.0.1', resolve));
  const address = http.address();
  const listening = typeof address === 'object' && address !== null ? address.port : 0;
  const connection = (): Promise<ScriptedConnection> =>
    until(() => {
      let next = connections.shift();
      while (next?.closed === true) next = connections.shift();
      return next;
    });
  const confirmed = async (revision = 2): Promise<Registered> => {
    for (;;) {
      const taken = await connection();
      try {
        const register = await taken.next('register');
        taken.confirm(revision);
        const held = revision < 2 ? { running: [], finished: [], frames: 0 } : await taken.resume();
        return { connection: taken, register, held };
      } catch (error) {
        if (!taken.closed) throw error;
      }
    }
  };
  const cut = (): void => {
    for (const client of sockets.clients) client.terminate();
  };
  const registered = async (revision = 2): Promise<Registered> => {
    const found = await confirmed(revision);
    if (revision >= 2) found.connection.resumed();
    return found;
  };
  return {
    url: `ws://127.0.0.1:${listening}/ws`,
    connection,
    confirmed,
    registered,
    registeredWith: async (...tools) => {
      for (;;) {
        const found = await registered();
        const named = found.register.metadata?.orrery?.telemetry.tools.map(({ name }) => name) ?? [];
        if (tools.every((tool) => named.includes(tool))) return found;
      }
    },
    refuse: (given) => {
      status = given;
    },
    get handshakes() {
      return handshakes;
    },
    cut,
    stop: async () => {
      cut();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
