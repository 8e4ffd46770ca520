import { connectWs, decodeClientMessage, decodeServerMessage, Sequence, type Closed, type Transport } from '#libs/aip';
import { AIP_REVISION } from '#proto';
import type {
  ClientMessage,
  ClientTelemetry,
  CommandMessage,
  CommandOutcome,
  DeviceMetrics,
  ServerMessage,
  ToolInfo,
} from '#proto';

export interface FakeDeviceOptions {
  /** `ws://127.0.0.1:<port>/ws`; a foreign client carries its token in here. */
  readonly url: string;
  readonly deviceId: string;
  /** Sent as a header, as our devices do. */
  readonly token?: string;
  /** Null: a foreign client without journal, which knows nothing of our revision. Default `journal-<deviceId>`. */
  readonly journalId?: string | null;
  /** What one of our devices offers; default the newest. Of revision 2 it numbers and acknowledges its frames. */
  readonly revision?: number;
  /** What the journal holds when it connects, said in RESUME; null: it says nothing by itself. */
  readonly resume?: { readonly running?: readonly string[]; readonly finished?: readonly string[] } | null;
  readonly tools?: readonly string[];
  /** Whether a foreign client names its tools by itself; default true. */
  readonly namesTools?: boolean;
  /** What to do with a command; default: it completes at once with `{ echo: <its arguments> }`. */
  readonly onCommand?: (command: CommandMessage, device: FakeDevice) => void;
}

/** A liveness limit: who waits longer hangs, and is not slow. */
const WAIT_MS_MAX = 60_000;
const ACK_EVERY_MS = 100;
const CLOCK = { now: () => Date.now() };

/** A device that does what the test says, on a real socket. It keeps every frame it was sent. */
export class FakeDevice {
  readonly received: ServerMessage[] = [];
  readonly commands: CommandMessage[] = [];
  readonly #options: FakeDeviceOptions;
  readonly #transport: Transport;
  readonly #closed = Promise.withResolvers<Closed>();
  readonly #watchers = new Set<() => void>();
  /** Overrides the option from now on, as a tool server that is restarted does. */
  toolNames: readonly string[] | undefined;
  /** From the confirmation on, of revision 2. */
  #sequence: Sequence | undefined;
  #acknowledging: NodeJS.Timeout | undefined;

  private constructor(options: FakeDeviceOptions, transport: Transport) {
    this.#options = options;
    this.#transport = transport;
    transport.handle({
      frame: (text) => this.#receive(text),
      closed: (why) => {
        clearInterval(this.#acknowledging);
        this.#closed.resolve(why);
      },
    });
  }

  /** An open socket that has not said a word. Throws HandshakeRefused. */
  static async dial(options: FakeDeviceOptions): Promise<FakeDevice> {
    const { url, token } = options;
    return new FakeDevice(options, await connectWs({ url, clock: CLOCK, ...(token !== undefined && { token }) }));
  }

  /** Dials, registers, says what its journal holds and may take commands. */
  static async connect(options: FakeDeviceOptions): Promise<FakeDevice> {
    const device = await FakeDevice.dial(options);
    device.register();
    await device.until((message) => message.type === 'heartbeat');
    if (device.isNumbered && options.resume !== null) await device.until((message) => message.type === 'resumed');
    return device;
  }

  get deviceId(): string {
    return this.#options.deviceId;
  }

  /** Null before the confirmation, and for a foreign client, which is not told. */
  get sessionId(): string | null {
    const sessions = this.received.map((message) => (message.type === 'heartbeat' ? message.orrery?.session_id : null));
    return sessions.find((sessionId) => typeof sessionId === 'string') ?? null;
  }

  get journalId(): string | null {
    const { deviceId, journalId = `journal-${deviceId}` } = this.#options;
    return journalId;
  }

  /** Frames have numbers: the server has confirmed revision 2. */
  get isNumbered(): boolean {
    return this.#sequence !== undefined;
  }

  /** Why the socket was closed, once it is. */
  get closed(): Promise<Closed> {
    return this.#closed.promise;
  }

  register(): void {
    const { revision = AIP_REVISION } = this.#options;
    const orrery = { revision, journal_id: this.journalId ?? '', telemetry: this.#telemetry() };
    const { platform } = orrery.telemetry;
    this.send({
      type: 'register',
      metadata: { platform, ...(this.journalId === null ? { system_info: { hostname: 'fake' } } : { orrery }) },
    });
  }

  /** One frame of RESUME; the last unless `more` is said. */
  resume({ running = [], finished = [], more = false }: ResumeFrame = {}): void {
    this.send({ type: 'resume', orrery: { running: [...running], finished: [...finished], more } });
  }

  heartbeat(metrics?: DeviceMetrics): void {
    this.send({ type: 'heartbeat', ...(metrics !== undefined && { orrery: { metrics } }) });
  }

  output(commandId: string, text: string, offset = 0): void {
    this.send({ type: 'command_output', orrery: { command_id: commandId, stream: 'stdout', offset, text } });
  }

  started(command: CommandMessage): void {
    this.send({ type: 'command_progress', orrery: { command_id: idOf(command), state: 'running' } });
  }

  /** Reports an outcome for the command, in the dialect that the device speaks. */
  finish(command: CommandMessage, outcome: Partial<CommandOutcome> = {}): void {
    this.report(idOf(command), outcome);
  }

  /** Reports an outcome under any id: from the journal after a reconnect, or made up. */
  report(commandId: string, outcome: Partial<CommandOutcome> = {}): void {
    const whole = {
      state: 'COMPLETED',
      result: null,
      error: null,
      startedAt: null,
      durationMs: 1,
      ...outcome,
    } as const;
    const ours = this.journalId === null ? {} : { orrery: { command_id: commandId, outcome: whole } };
    const status = whole.state === 'COMPLETED' ? 'success' : 'failure';
    const { result, error } = whole;
    const results = [{ status, result, error: error?.message ?? null, call_id: commandId } as const];
    this.send({ type: 'command_results', prev_response_id: commandId, action_results: results, ...ours });
  }

  /** Any frame of the right shape, with what every frame of this device carries, its number included. */
  send(message: PartialMessage): void {
    const whole = { status: 'ok', client_type: 'device', client_id: this.#options.deviceId, ...message } as const;
    this.#transport.send(JSON.stringify(this.#sequence?.stamp(whole, CLOCK.now()) ?? whole));
  }

  /** Any bytes. What the server cannot read counts as a frame there, so it counts here. */
  raw(text: string): void {
    if (!decodeClientMessage(text).ok) this.#sequence?.stamp({ type: 'unreadable' }, CLOCK.now());
    this.#transport.send(text);
  }

  /** Cuts the cable: no close frame. */
  cut(): void {
    this.#transport.terminate();
  }

  async close(): Promise<void> {
    this.#transport.close(1000, '');
    await this.closed;
  }

  /** The first frame so far or from now on that passes. Throws when the socket closes first or a minute goes by. */
  async until(passes: (message: ServerMessage) => boolean): Promise<ServerMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<ServerMessage>();
    const look = (): void => {
      const found = this.received.find(passes);
      if (found !== undefined) resolve(found);
    };
    const timer = setTimeout(() => reject(new Error(`no such frame in ${WAIT_MS_MAX} ms`)), WAIT_MS_MAX);
    this.#watchers.add(look);
    void this.closed.then(({ code, reason }) => reject(new Error(`closed with ${code} ${reason}`)));
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#watchers.delete(look);
    });
  }

  /** The command with this id, as soon as it is here. */
  async untilCommand(commandId: string): Promise<CommandMessage> {
    const message = await this.until((frame) => frame.type === 'command' && idOf(frame) === commandId);
    if (message.type !== 'command') throw new TypeError('not a command');
    return message;
  }

  #receive(text: string | null): void {
    const decoded = decodeServerMessage(text);
    if (!decoded.ok) throw new Error(`the server sent a bad frame: ${decoded.error}`);
    const { message } = decoded;
    const judged = this.#sequence?.take(message, CLOCK.now());
    if (judged !== undefined && judged.kind !== 'fresh') throw new Error(`the server sent a ${judged.kind}`);
    this.received.push(message);
    if (message.type === 'heartbeat' && message.orrery?.revision === 2) this.#number();
    if (message.type === 'command') this.#act(message);
    for (const look of this.#watchers) look();
  }

  /** The confirmation: what follows has numbers, and the journal's state comes first. */
  #number(): void {
    if (this.#sequence !== undefined) return;
    const sequence = new Sequence();
    this.#sequence = sequence;
    this.#acknowledging = setInterval(() => {
      if (sequence.ackDue(CLOCK.now())) this.send({ type: 'ack' });
    }, ACK_EVERY_MS);
    const { resume = {} } = this.#options;
    if (resume !== null) this.resume(resume);
  }

  #act(command: CommandMessage): void {
    const [action] = command.actions;
    if (action?.tool_name === 'list_tools') {
      if (this.#options.namesTools === false) return;
      const result = this.#tools().map(({ name }) => ({ tool_name: name, tool_key: `action::${name}` }));
      return this.report(idOf(command), { result });
    }
    this.commands.push(command);
    const { onCommand = (_, device) => device.finish(command, { result: { echo: action?.parameters ?? null } }) } =
      this.#options;
    onCommand(command, this);
  }

  #telemetry(): ClientTelemetry {
    const facts = { platform: 'linux', osVersion: '', hostname: 'fake', arch: 'x64', cpuCount: 2, memoryMb: 1_024 };
    return { ...facts, capabilities: ['cli'], metadata: {}, tools: this.#tools() };
  }

  #tools(): ToolInfo[] {
    const tools = this.toolNames ?? this.#options.tools ?? ['EXEC_CLI', 'SYS_INFO'];
    return tools.map((name) => ({ name, description: '', readOnly: false }));
  }
}

export interface ResumeFrame {
  readonly running?: readonly string[];
  readonly finished?: readonly string[];
  readonly more?: boolean;
}

/** A message without what `send` adds. */
type PartialMessage = ClientMessage extends infer M
  ? M extends ClientMessage
    ? Omit<Partial<M>, 'type'> & Pick<M, 'type'>
    : never
  : never;

const idOf = ({ orrery, response_id: responseId }: CommandMessage): string => orrery?.command_id ?? responseId ?? '';
