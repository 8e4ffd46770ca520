import type { Json } from '#proto';
import { exchangesOf, toolsOfUfo, type Frame, type TraceLine } from './trace.js';
import { TraceSocket } from './trace-socket.js';

/** Fields that a frame has to have, with these values; a regular expression for a text. */
export type Value = Json | RegExp | { readonly [field: string]: Value };
export type Expected = Readonly<Record<string, Value>>;

/** Where our server does something else than the recorded one, and why that is better. */
export interface Difference {
  readonly why: string;
  /** Before the line: frames that the recorded server did not send. */
  readonly before?: readonly Expected[];
  /** Instead of the frame of the line. */
  readonly instead?: readonly Expected[];
  /** Instead of the code of the line. */
  readonly close?: number;
}

/** The sockets of a replay, for what happens in the world beside the recording. */
export interface Stage {
  readonly sockets: ReadonlyMap<string, TraceSocket>;
  /** The client of this connection comes back with a new socket and says what it said first. */
  comeBack(conn: string): Promise<void>;
}

export interface ReplayOptions {
  readonly url: string;
  readonly trace: readonly TraceLine[];
  /** By line. */
  readonly differences?: Readonly<Record<number, Difference>>;
  /** What happens before a line: a cable that is cut, a device that others have to see first. */
  readonly before?: Readonly<Record<number, (stage: Stage) => Promise<unknown>>>;
  /** Devices that only our server asks for their tools, because it asks at once: they answer as the recorded ones do. */
  readonly namesTools?: readonly string[];
}

/** What devices were told to do, by connection. */
export type Driven = ReadonlyMap<string, readonly { readonly tool: string; readonly parameters: Json }[]>;

/** Devices carry their own names, whatever they say; every constellation client is the same one. */
const tokenOf = ({ role, id, conn }: TraceLine): string =>
  role === 'constellation' ? 'client-galaxy' : `token-${id ?? `nobody-${conn}`}`;

/**
 * Plays the clients' side of a recorded conversation against a server, in the recorded order, and takes the frames of the
 * server's side as they come. Throws when one does not come, when another one came, or when a connection ends otherwise.
 */
export async function replay(options: ReplayOptions): Promise<Driven> {
  const { trace, differences = {}, before = {} } = options;
  const stage = new Sockets(options);
  try {
    for (const line of trace) {
      await before[line.line]?.(stage);
      const difference = differences[line.line];
      const socket = await stage.of(line);
      for (const expected of difference?.before ?? []) await take(socket, expected, line);
      await play(socket, line, difference);
    }
    for (const [conn, { inbox }] of stage.sockets) {
      if (inbox.length > 0) throw new Error(`${conn} got more than was recorded: ${JSON.stringify(inbox)}`);
    }
    return stage.driven();
  } finally {
    for (const socket of stage.sockets.values()) socket.cut();
  }
}

class Sockets implements Stage {
  readonly sockets = new Map<string, TraceSocket>();
  readonly #options: ReplayOptions;
  readonly #commands = new Map<string, Frame[]>();

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  async of(line: TraceLine): Promise<TraceSocket> {
    return this.sockets.get(line.conn) ?? this.#dial(line);
  }

  async comeBack(conn: string): Promise<void> {
    const first = this.#options.trace.find((line) => line.conn === conn);
    if (first === undefined || !('frame' in first.what)) throw new Error(`${conn} has said nothing`);
    const socket = await this.#dial(first);
    socket.send(first.what.frame);
    await take(socket, { type: 'heartbeat', status: 'ok' }, first);
  }

  driven(): Driven {
    const told = ({ actions }: Frame) => {
      const [action] = actions as unknown as { tool_name: string; parameters: Json }[];
      return { tool: action?.tool_name ?? '', parameters: action?.parameters ?? null };
    };
    return new Map([...this.#commands].map(([conn, commands]) => [conn, commands.map(told)]));
  }

  async #dial(line: TraceLine): Promise<TraceSocket> {
    const { url, trace, namesTools = [] } = this.#options;
    const { conn } = line;
    const exchanges = [...exchangesOf(trace, conn), ...(namesTools.includes(conn) ? toolsOfUfo() : [])];
    const commands = this.#commands.get(conn) ?? [];
    this.#commands.set(conn, commands);
    const socket = await TraceSocket.dial(`${url}?token=${tokenOf(line)}`, { exchanges, commands });
    this.sockets.set(conn, socket);
    return socket;
  }
}

async function play(socket: TraceSocket, line: TraceLine, difference: Difference | undefined): Promise<void> {
  const { what, dir } = line;
  if (dir === 'c2s') {
    if ('close' in what) return socket.close(what.close);
    // What a device answers is said by its script, when it is asked; what it does because its server asks first, never.
    if ('frame' in what && line.role === 'device' && ANSWERS.has(what.frame.type) && isAnswer(what.frame)) return;
    return socket.send('frame' in what ? what.frame : what.text);
  }
  if (difference?.instead !== undefined) {
    for (const expected of difference.instead) await take(socket, expected, line);
    return;
  }
  if ('close' in what) {
    const { code } = await socket.closed;
    const wanted = difference?.close ?? what.close;
    if (code !== wanted) throw new Error(`line ${line.line}: ${line.conn} was closed with ${code}, not ${wanted}`);
    return;
  }
  if (!('frame' in what)) throw new Error(`line ${line.line}: a server sends no such text`);
  if (line.role === 'device' && OWN_WAY.has(what.frame.type)) return;
  await take(socket, expectedOf(what.frame), line);
}

const ANSWERS = new Set(['command_results']);
/** Results of nothing are played as they are. */
const isAnswer = (frame: Frame): boolean => frame['prev_response_id'] !== 'nope';
/** How a device is driven is judged by the outcomes of its commands. It hears of no tasks: its client only logs them. */
const OWN_WAY = new Set(['command', 'task', 'task_end']);

/** What matters of a recorded frame: what it is, what it belongs to, and what it says. */
function expectedOf(frame: Frame): Expected {
  const { type, status = null, session_id: sessionId, response_id: responseId = null, result, error } = frame;
  return {
    type,
    status,
    ...(sessionId !== undefined && sessionId !== null && { session_id: sessionId }),
    ...(type === 'device_info_response' ? { response_id: responseId } : { response_id: /./u }),
    ...(type === 'task_end' && { result: result ?? null }),
    ...(type === 'device_info_response' && { result: isRefusal(result) ? { error: /./u } : (result ?? null) }),
    ...(typeof error === 'string' && { error: /./u }),
  };
}

const isRefusal = (result: Json | undefined): boolean =>
  result !== null && typeof result === 'object' && !Array.isArray(result) && 'error' in result;

async function take(socket: TraceSocket, expected: Expected, { line, conn }: TraceLine): Promise<void> {
  const passes = (frame: Frame): boolean => Object.entries(expected).every(([key, value]) => fits(frame[key], value));
  await socket.take(passes, `line ${line}, ${conn}: ${describe(expected)}`);
}

/** An object may have more than was recorded. */
function fits(given: Json | undefined, expected: Value): boolean {
  if (expected instanceof RegExp) return typeof given === 'string' && expected.test(given);
  if (expected === null || typeof expected !== 'object') return given === expected;
  if (given === null || typeof given !== 'object') return false;
  if (Array.isArray(expected)) {
    return (
      Array.isArray(given) && given.length === expected.length && expected.every((item, at) => fits(given[at], item))
    );
  }
  return !Array.isArray(given) && Object.entries(expected).every(([key, item]) => fits(given[key], item));
}

const describe = (expected: Expected): string =>
  JSON.stringify(expected, (_, value: unknown) => (value instanceof RegExp ? String(value) : value));
