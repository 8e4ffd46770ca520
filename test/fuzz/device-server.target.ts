import { decodeClientMessage, DeviceServerEndpoint, type RegisteredClient } from '#libs/aip';
import { AIP_CLOSE, AIP_LIMITS, ServerMessage } from '#proto';
import type { ClientMessage, Identity } from '#proto';
import { IDENTITY } from './corpus.js';
import { bytesBehindHead } from './binary.js';
import type { FuzzFrame, Recipe } from './generator.js';
import { Numbers } from './numbers.js';
import { hold, type Act, type Outcome, type Subject, type Target, type Verdict } from './subject.js';
import { Wire } from './wire.js';

const DEVICE: Identity = { id: IDENTITY, role: 'device', targets: null, expiresAt: null };
const COMMAND = 'run-1.task-1.1.0.0';
const WORK = ['command_results', 'command_progress', 'command_output', 'device_info_response', 'heartbeat'];
const FILES = ['file_begin', 'file_chunk', 'file_end', 'file_request', 'file_ack', 'file_abort'];

const RECIPES: Readonly<Record<string, Omit<Recipe, 'sender'>>> = {
  AWAITING_REGISTER: { fitting: ['register'], numbered: false },
  LISTING_TOOLS: { fitting: ['command_results', 'heartbeat'], numbered: false },
  CLAIMING: { fitting: ['heartbeat', 'error'], numbered: false },
  RESUMING: { fitting: ['resume', 'heartbeat', 'ack', 'credential'], numbered: true },
  'READY foreign': { fitting: ['command_results', 'heartbeat', 'error'], numbered: false },
  'READY 1': { fitting: WORK, numbered: false },
  'READY 2': { fitting: [...WORK, ...FILES, 'ack', 'credential'], numbered: true },
};

/** The server's end of a device connection, with a device that sends anything. */
export const DEVICE_SERVER: Target = {
  name: 'device-server',
  stages: Object.keys(RECIPES),
  recipe: (stage) => ({ sender: 'device', ...(RECIPES[stage] ?? { fitting: [], numbered: false }) }),
  acts: [
    ...Array.from({ length: 12 }, () => 'tick'),
    'claimed',
    'claimed',
    'claim-failed',
    'identified',
    'identified',
    'say',
    'say',
    'congest',
    'drain',
    'replaced',
    'revoked',
    'shutdown',
    'cut',
  ],
  open: (stage) => new DeviceServerSubject().at(stage),
};

/** Always answered while the session lasts, whoever sends them; the others may be taken without a word. */
const ANSWERED: ReadonlySet<ClientMessage['type']> = new Set(['register', 'heartbeat', 'task', 'device_info_request']);
const ANSWERS_MAX = 3;

class DeviceServerSubject implements Subject {
  readonly #wire = new Wire();
  readonly #endpoint: DeviceServerEndpoint;
  readonly #numbers = new Numbers();
  readonly #calls: string[] = [];
  #nowMs = 1_800_000_000_000;
  #client: RegisteredClient | undefined;
  #open = false;
  #left = false;
  #metricsAtMs = -Infinity;
  /** Of the binary frame that is given now. */
  #bytes: Uint8Array | undefined;

  constructor() {
    const call = (name: string): void => {
      hold(!this.#left, `${name} was called after the session was over`);
      this.#calls.push(name);
    };
    const work = (name: string) => (): void => {
      hold(this.#open, `${name} was called before the session was open`);
      call(name);
    };
    this.#endpoint = new DeviceServerEndpoint({
      identity: DEVICE,
      transport: this.#wire,
      clock: { now: () => this.#nowMs },
      port: {
        claim: ({ client }) => {
          hold(this.#client === undefined, 'the session was claimed twice');
          this.#client = client;
          call('claim');
        },
        resume: ({ running, finished }) => {
          hold(!this.#open, 'the journal was taken over after the session was open');
          hold(running.length <= 1_000 && finished.length <= 1_000, 'a RESUME with too many ids was taken over');
          call('resume');
        },
        open: () => {
          hold(!this.#open && this.#client !== undefined, 'the session was opened twice, or before it was claimed');
          this.#open = true;
          call('open');
        },
        started: work('started'),
        result: work('result'),
        output: ({ piece }) => {
          hold(this.#open, 'output was passed on before the session was open');
          hold(piece.text.length <= AIP_LIMITS.outputChunkCharsMax, 'a piece of output that is too long was passed on');
          call('output');
        },
        metrics: () => {
          hold(this.#nowMs - this.#metricsAtMs >= AIP_LIMITS.metricsEveryMs, 'metrics were taken too often');
          this.#metricsAtMs = this.#nowMs;
          call('metrics');
        },
        workspaces: work('workspaces'),
        telemetry: work('telemetry'),
        identify: () => call('identify'),
        drained: () => undefined,
        left: () => {
          call('left');
          this.#left = true;
        },
        closed: () => undefined,
        files: {
          frame: (message) => {
            checkPiece(message, this.#bytes);
            work('file')();
          },
          closed: () => undefined,
        },
      },
      watch: { log: () => undefined, count: () => undefined, latency: () => undefined },
    });
  }

  at(stage: string): this {
    if (stage === 'AWAITING_REGISTER') return this;
    const revision = { 'READY 1': 1, 'READY 2': 2, RESUMING: 2, CLAIMING: 2 }[stage] ?? null;
    this.#wire.receive(JSON.stringify(registerFor(revision)));
    if (stage === 'LISTING_TOOLS' || stage === 'CLAIMING') return this;
    if (revision === null) this.#wire.receive(JSON.stringify(TOOLS));
    this.#endpoint.input({ kind: 'claimed', sessionId: 'session-1' });
    if (revision === 2) {
      this.#numbers.begin(this.#wire.sent.length);
      if (stage === 'READY 2') this.receive({ text: JSON.stringify({ ...RESUME, seq: this.#numbers.next, ack: 0 }) });
    }
    hold(this.state === stage, `the way to ${stage} ended in ${this.state}`);
    return this;
  }

  get state(): string {
    const { phase } = this.#endpoint;
    return phase === 'READY' ? `READY ${this.#client?.revision ?? 'foreign'}` : phase;
  }

  get isOver(): boolean {
    return this.#wire.isOver;
  }

  receive(given: Pick<FuzzFrame, 'text' | 'binary'>): Verdict {
    const { state } = this;
    const wasOver = this.isOver;
    const [text, bytes] = this.#numbers.frame(given, this.#wire.sent.length);
    this.#bytes = bytes;
    const decoded = decodeClientMessage(text, bytes);
    if (decoded.ok && text === null) hold(decoded.message.type === 'file_chunk', 'what is no piece came as binary');
    const [sentBefore, callsBefore] = [this.#wire.sent.length, this.#calls.length];
    const isDuplicate = decoded.ok && this.#numbers.isDuplicate(decoded.message.seq);
    const isInOrder = decoded.ok && this.#numbers.isInOrder(decoded.message, sentBefore);
    this.#wire.receive(text, bytes);
    const sent = this.#wire.sent.slice(sentBefore).map(checked);
    const calls = this.#calls.slice(callsBefore);
    if (wasOver) {
      hold(sent.length === 0 && calls.length === 0, 'a frame after the end had an effect');
      return { state: 'CLOSED', outcome: 'after the end', isMessage: decoded.ok };
    }
    this.#numbers.received(decoded.ok ? decoded.message.seq : undefined, { isReadable: decoded.ok });
    this.#numbers.check(sent);
    hold(sent.length <= ANSWERS_MAX, `a frame was answered with ${sent.length} frames`);
    const outcome = outcomeOf(sent, calls, this.isOver);
    if (!decoded.ok)
      hold(outcome === 'refused' || outcome === 'closed', `a wrong frame was ${outcome}: ${decoded.error}`);
    else if (isDuplicate) hold(calls.length === 0, 'a frame that was taken before had an effect');
    else if (isInOrder)
      hold(this.#wire.closeCode !== AIP_CLOSE.protocolError, 'a frame with the right number was refused for it');
    if (decoded.ok && !isDuplicate && ANSWERED.has(decoded.message.type)) {
      const waits = this.state === 'CLAIMING' && decoded.message.type === 'register';
      hold(waits || outcome !== 'silent', `${decoded.message.type} was not answered`);
    }
    this.#checkState();
    return { state, outcome, isMessage: decoded.ok };
  }

  act({ name, value }: Act): void {
    if (this.isOver && name !== 'tick') return;
    const sentBefore = this.#wire.sent.length;
    this.#perform(name, value);
    this.#numbers.check(this.#wire.sent.slice(sentBefore).map(checked));
    this.#checkState();
  }

  end(): void {
    this.#wire.end();
    hold(this.#endpoint.phase === 'CLOSED', 'the session outlives its socket');
    hold(this.#left, 'nobody was told that the session is over');
  }

  #perform(name: string, value: number): void {
    const endpoint = this.#endpoint;
    switch (name) {
      case 'tick':
        this.#nowMs += Math.floor(value * value * value * 20_000);
        return endpoint.tick();
      case 'claimed':
        if (endpoint.phase !== 'CLAIMING') return;
        endpoint.input({ kind: 'claimed', sessionId: 'session-1' });
        if (this.#client?.revision === 2) this.#numbers.begin(this.#wire.sent.length);
        return;
      case 'claim-failed':
        return endpoint.phase === 'CLAIMING' ? endpoint.input({ kind: 'claim-failed' }) : undefined;
      case 'identified':
        return endpoint.input({
          kind: 'identified',
          identity: value < 0.5 ? { ...DEVICE, expiresAt: SOON } : value < 0.75 ? OTHER : null,
          error: 'the credential is not valid',
        });
      case 'say':
        return endpoint.say({ type: 'result_stored', status: 'ok', orrery: { command_id: COMMAND } });
      case 'congest':
        this.#wire.congested = true;
        return;
      case 'drain':
        return this.#wire.drain();
      case 'replaced':
        return value < 0.3 ? endpoint.input({ kind: 'replaced' }) : undefined;
      case 'revoked':
        return value < 0.3 ? endpoint.revoke() : undefined;
      case 'shutdown':
        return value < 0.3 ? endpoint.shutDown() : undefined;
      case 'cut':
        return value < 0.3 ? this.#wire.end() : undefined;
    }
  }

  #checkState(): void {
    const { phase } = this.#endpoint;
    hold(this.#open === (phase === 'READY') || phase === 'CLOSED', `open is ${this.#open} in ${phase}`);
    hold(this.isOver === (phase === 'CLOSED'), `the socket is ${this.isOver ? 'over' : 'open'} in ${phase}`);
    hold(this.#left === (phase === 'CLOSED'), `left is ${this.#left} in ${phase}`);
  }
}

const SOON = '2030-01-01T00:00:00.000Z';
const OTHER: Identity = { ...DEVICE, id: 'dev-2' };

const BASE = { status: 'ok', client_type: 'device', client_id: IDENTITY } as const;
const RESUME = { ...BASE, type: 'resume', orrery: { running: [COMMAND], finished: [], more: false } };
const TOOLS = {
  ...BASE,
  type: 'command_results',
  prev_response_id: 'list_tools',
  action_results: [{ status: 'success', result: [{ tool_name: 'execute_command' }] }],
};

const registerFor = (revision: number | null): object => {
  const orrery = { revision, journal_id: 'journal-1', telemetry: { platform: 'linux' } };
  return { ...BASE, type: 'register', metadata: { platform: 'linux', ...(revision !== null && { orrery }) } };
};

/** A piece that came as binary has exactly the bytes behind its head. `frame`: the binary frame; undefined: it was none. */
export function checkPiece(message: ClientMessage | ServerMessage, frame: Uint8Array | undefined): void {
  if (message.type !== 'file_chunk' || frame === undefined) return;
  const { data } = message.orrery;
  hold(typeof data !== 'string' && Buffer.compare(data, bytesBehindHead(frame)) === 0, 'a piece came with other bytes');
}

/** What the server sent, which has to be a message. */
export function checked(text: string): ServerMessage {
  const parsed = ServerMessage.safeParse(JSON.parse(text));
  hold(parsed.success, `the server sent what is no message: ${text.slice(0, 300)}`);
  return parsed.data;
}

export function outcomeOf(sent: readonly ServerMessage[], calls: readonly string[], isOver: boolean): Outcome {
  if (isOver) return 'closed';
  if (sent.some(({ type, status }) => type === 'error' || (type === 'task_end' && status === 'failed')))
    return 'refused';
  if (sent.some(({ type }) => type === 'file_abort')) return 'refused';
  if (sent.some(({ type }) => type !== 'ack')) return 'answered';
  return calls.length > 0 ? 'taken' : 'silent';
}
