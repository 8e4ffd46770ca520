import { decodeClientMessage, decodeServerMessage, ServerConnection, type ServerFacts } from '#libs/aip';
import { AIP_CLOSE } from '#proto';
import type { ClientMessage } from '#proto';
import { checkPiece } from './device-server.target.js';
import type { FuzzFrame, Recipe } from './generator.js';
import { Numbers } from './numbers.js';
import { hold, type Act, type Outcome, type Subject, type Target, type Verdict } from './subject.js';
import { Wire } from './wire.js';

const WORK = ['command', 'stop_attempt', 'result_stored', 'task_end', 'heartbeat', 'device_info_request', 'error'];
const FILES = ['file_ready', 'file_stored', 'file_begin', 'file_chunk', 'file_end', 'file_ack', 'file_abort'];

const RECIPES: Readonly<Record<string, Omit<Recipe, 'sender'>>> = {
  REGISTERING: { fitting: ['heartbeat', 'command', 'error'], numbered: false },
  RESUMING: { fitting: ['resumed', 'heartbeat', 'ack'], numbered: true },
  'READY foreign': { fitting: [...WORK, 'task'], numbered: false },
  'READY 1': { fitting: WORK, numbered: false },
  'READY 2': { fitting: [...WORK, ...FILES, 'ack'], numbered: true },
};

/** The device's end of its connection, with a server that sends anything. */
export const DEVICE_CLIENT: Target = {
  name: 'device-client',
  stages: Object.keys(RECIPES),
  recipe: (stage) => ({ sender: 'server', ...(RECIPES[stage] ?? { fitting: [], numbered: false }) }),
  acts: [
    ...Array.from({ length: 10 }, () => 'tick'),
    'send',
    'send',
    'output',
    'output',
    'congest',
    'drain',
    'drain',
    'cut',
  ],
  open: (stage) => new DeviceClientSubject().at(stage),
};

const RESULTS = 3;
const ANSWERS_MAX = 40;

class DeviceClientSubject implements Subject {
  readonly #wire = new Wire();
  readonly #connection: ServerConnection;
  readonly #numbers = new Numbers();
  #nowMs = 1_000;
  #calls = 0;
  #facts = 0;
  #results = RESULTS;
  #server: ServerFacts | undefined;
  #resuming = false;
  #ends = 0;
  /** Of the binary frame that is given now. */
  #bytes: Uint8Array | undefined;

  constructor() {
    const called = (name: string): void => {
      hold(this.#ends === 0, `${name} was called after the end`);
      this.#calls++;
    };
    this.#connection = new ServerConnection({
      transport: this.#wire,
      clock: { now: () => this.#nowMs },
      heartbeatMs: 20_000,
      onFact: () => void this.#facts++,
      onEnd: () => {
        hold(this.#ends === 1, 'the end was told before the device knew, or twice');
      },
      device: {
        register: () => REGISTER,
        holdings: () => {
          hold(!this.#resuming, 'RESUME was begun twice');
          this.#resuming = true;
          this.#numbers.begin(this.#wire.sent.length);
          return { running: ['run-1.task-1.1.0.0'], finished: ['run-1.task-1.2.0.0'] };
        },
        nextResult: () => {
          hold(this.#server !== undefined, 'results were asked for before they may be sent');
          return this.#results-- > 0 ? RESULT : undefined;
        },
        heartbeat: () => HEARTBEAT,
        onReady: (server) => {
          called('onReady');
          hold(this.#server === undefined, 'the device was ready twice');
          this.#server = server;
        },
        onMessage: (message) => {
          checkPiece(message, this.#bytes);
          called('onMessage');
        },
        onDisconnected: () => {
          called('onDisconnected');
          this.#ends++;
        },
      },
    });
    this.#connection.start();
  }

  at(stage: string): this {
    const revision = { 'READY 1': 1, 'READY 2': 2, RESUMING: 2 }[stage];
    const orrery = { revision, session_id: 'session-1', server_time: '2026-11-20T15:40:40.489Z' };
    if (stage !== 'REGISTERING') {
      this.receive({
        text: JSON.stringify({ type: 'heartbeat', status: 'ok', ...(revision !== undefined && { orrery }) }),
      });
    }
    if (stage === 'READY 2') this.receive({ text: JSON.stringify({ type: 'resumed', status: 'ok', seq: 1, ack: 0 }) });
    hold(this.state === stage, `the way to ${stage} ended in ${this.state}`);
    return this;
  }

  get state(): string {
    if (this.isOver) return 'CLOSED';
    if (this.#server !== undefined) return `READY ${this.#server.revision ?? 'foreign'}`;
    return this.#resuming ? 'RESUMING' : 'REGISTERING';
  }

  get isOver(): boolean {
    return this.#wire.isOver;
  }

  receive(given: Pick<FuzzFrame, 'text' | 'binary'>): Verdict {
    const { state } = this;
    const wasOver = this.isOver;
    const [text, bytes] = this.#numbers.frame(given, this.#wire.sent.length);
    this.#bytes = bytes;
    const decoded = decodeServerMessage(text, bytes);
    if (decoded.ok && text === null) hold(decoded.message.type === 'file_chunk', 'what is no piece came as binary');
    const before = { sent: this.#wire.sent.length, calls: this.#calls, facts: this.#facts };
    const hadBegun = this.#numbers.hasBegun;
    const isDuplicate = decoded.ok && this.#numbers.isDuplicate(decoded.message.seq);
    const isInOrder = decoded.ok && this.#numbers.isInOrder(decoded.message, before.sent);
    this.#wire.receive(text, bytes);
    const sent = this.#wire.sent.slice(before.sent).map(checkedClient);
    if (wasOver) {
      hold(sent.length === 0, 'a frame after the end was answered');
      return { state: 'CLOSED', outcome: 'after the end', isMessage: decoded.ok };
    }
    // The confirmation itself, which is what begins the numbers, has none.
    if (hadBegun) this.#numbers.received(decoded.ok ? decoded.message.seq : undefined, { isReadable: decoded.ok });
    this.#numbers.check(sent);
    hold(sent.length <= ANSWERS_MAX, `a frame was answered with ${sent.length} frames`);
    const noticed = this.#facts > before.facts || this.isOver;
    if (!decoded.ok) hold(noticed, `a wrong frame was passed over in silence: ${decoded.error}`);
    if (isDuplicate) hold(this.#calls === before.calls, 'a frame that was taken before had an effect');
    if (isInOrder)
      hold(this.#wire.closeCode !== AIP_CLOSE.protocolError, 'a frame with the right number was refused for it');
    return { state, outcome: this.#outcome(sent, this.#calls > before.calls, noticed), isMessage: decoded.ok };
  }

  act({ name, value }: Act): void {
    if (this.isOver) return;
    const sentBefore = this.#wire.sent.length;
    this.#perform(name, value);
    this.#numbers.check(this.#wire.sent.slice(sentBefore).map(checkedClient));
  }

  end(): void {
    this.#wire.end();
    hold(this.#ends === 1, `the device was told of its end ${this.#ends} times`);
  }

  #perform(name: string, value: number): void {
    switch (name) {
      case 'tick':
        this.#nowMs += Math.floor(value * value * value * 30_000);
        return this.#connection.tick();
      case 'send':
        return this.#connection.send(PROGRESS);
      case 'output':
        return void this.#connection.sendOutput(OUTPUT);
      case 'congest':
        this.#wire.congested = true;
        return;
      case 'drain':
        return this.#wire.drain();
      case 'cut':
        return value < 0.3 ? this.#wire.end() : undefined;
    }
  }

  #outcome(sent: readonly ClientMessage[], called: boolean, noticed: boolean): Outcome {
    if (this.isOver) return 'closed';
    if (called) return 'taken';
    if (sent.some(({ type }) => type !== 'ack')) return 'answered';
    return noticed ? 'refused' : 'silent';
  }
}

function checkedClient(text: string): ClientMessage {
  const decoded = decodeClientMessage(text);
  hold(decoded.ok, `the device sent what is no message: ${text.slice(0, 300)}`);
  return decoded.message;
}

const BASE = { status: 'ok', client_type: 'device' } as const;
const COMMAND = 'run-1.task-1.1.0.0';
const TELEMETRY = {
  platform: 'linux',
  osVersion: '',
  hostname: '',
  arch: '',
  cpuCount: 1,
  memoryMb: 1,
  capabilities: [],
  tools: [],
  metadata: {},
};
const REGISTER: ClientMessage = {
  ...BASE,
  type: 'register',
  metadata: { orrery: { revision: 2, journal_id: 'journal-1', telemetry: TELEMETRY } },
};
const HEARTBEAT: ClientMessage = { ...BASE, type: 'heartbeat' };
const PROGRESS: ClientMessage = {
  ...BASE,
  type: 'command_progress',
  orrery: { command_id: COMMAND, state: 'running' },
};
const OUTPUT: ClientMessage = {
  ...BASE,
  type: 'command_output',
  orrery: { command_id: COMMAND, stream: 'stdout', offset: 0, text: 'x' },
};
const RESULT: ClientMessage = {
  ...BASE,
  type: 'command_results',
  orrery: {
    command_id: COMMAND,
    outcome: { state: 'COMPLETED', result: null, error: null, startedAt: null, durationMs: 1 },
  },
};
