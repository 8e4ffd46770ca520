import { connectWs, type Closed, type Transport } from '#libs/aip';
import type { ActionResult, Json } from '#proto';
import type { Exchange, Frame } from './trace.js';

export interface DeviceScript {
  /** What a device answers to its commands; a command that is not among them it never answers. */
  readonly exchanges?: readonly Exchange[];
  /** Where its commands are kept. */
  readonly commands?: Frame[];
}

/** A liveness limit: who waits longer hangs, and is not slow. */
const WAIT_MS_MAX = 60_000;
const CLOCK = { now: () => Date.now() };

/** One client's socket in a replay. It keeps what it was sent until somebody takes it. */
export class TraceSocket {
  /** In the order they came; taken ones are gone. */
  readonly inbox: Frame[] = [];
  /** COMMANDs, which a device's own script answers. */
  readonly commands: Frame[];
  readonly #transport: Transport;
  readonly #ended = Promise.withResolvers<Closed>();
  readonly #watchers = new Set<() => void>();
  readonly #exchanges: Exchange[];
  #isOpen = true;

  private constructor(transport: Transport, { exchanges = [], commands = [] }: DeviceScript) {
    this.#transport = transport;
    this.commands = commands;
    this.#exchanges = [...exchanges];
    transport.handle({
      frame: (text) => this.#receive(JSON.parse(text ?? 'null') as Frame),
      closed: (why) => {
        this.#isOpen = false;
        this.#ended.resolve(why);
        for (const look of this.#watchers) look();
      },
    });
  }

  static async dial(url: string, script: DeviceScript = {}): Promise<TraceSocket> {
    return new TraceSocket(await connectWs({ url, clock: CLOCK }), script);
  }

  get closed(): Promise<Closed> {
    return this.#ended.promise;
  }

  send(what: Frame | string): void {
    this.#transport.send(typeof what === 'string' ? what : JSON.stringify(what));
  }

  close(code: number): void {
    if (this.#isOpen) this.#transport.close(code, '');
  }

  /** The cable is cut. */
  cut(): void {
    this.#transport.terminate();
  }

  /** Takes the first frame that passes, now or when it comes. */
  take(passes: (frame: Frame) => boolean, what: string): Promise<Frame> {
    return this.#until(what, () => {
      const index = this.inbox.findIndex(passes);
      return index < 0 ? undefined : this.inbox.splice(index, 1)[0];
    });
  }

  /** The `count`th COMMAND that is no question for tools. */
  async command(count: number): Promise<Frame> {
    return this.#until(`command ${count}`, () => this.commands[count - 1]);
  }

  #until<T>(what: string, look: () => T | undefined): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const check = (): void => {
      const found = look();
      if (found !== undefined) resolve(found);
      else if (!this.#isOpen) reject(new Error(`closed before ${what}; there was ${JSON.stringify(this.inbox)}`));
    };
    const late = (): void => reject(new Error(`no ${what}; there was ${JSON.stringify(this.inbox)}`));
    const timer = setTimeout(late, WAIT_MS_MAX);
    this.#watchers.add(check);
    check();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#watchers.delete(check);
    });
  }

  #receive(frame: Frame): void {
    if (frame.type === 'command') this.#act(frame);
    else this.inbox.push(frame);
    for (const look of this.#watchers) look();
  }

  /** As the recorded device did, one action at a time. */
  #act(frame: Frame): void {
    const [action] = frame['actions'] as unknown as { tool_name: string; parameters: Json; call_id: string }[];
    if (action === undefined) throw new Error('a COMMAND without an action');
    const { tool_name: tool, parameters, call_id: callId } = action;
    const isList = tool === 'list_tools';
    if (!isList) this.commands.push(frame);
    const index = this.#exchanges.findIndex(
      (exchange) => exchange.tool === tool && same(exchange.parameters, parameters),
    );
    const result = this.#exchanges[index]?.result ?? null;
    // Its tools are always the same; every other answer is given once.
    if (index >= 0 && !isList) this.#exchanges.splice(index, 1);
    if (result !== null) this.#answer(frame, { ...result, call_id: callId });
  }

  #answer(command: Frame, result: ActionResult): void {
    const { status, session_id: sessionId = null, response_id: responseId = null } = command;
    this.send({
      type: 'command_results',
      status: status ?? 'continue',
      client_type: 'device',
      session_id: sessionId,
      prev_response_id: responseId,
      action_results: [result as unknown as Json],
    });
  }
}

/** Whatever the order of the fields. */
const same = (one: Json, other: Json): boolean => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
