import type {
  ClientTelemetry,
  CommandId,
  CommandOutcome,
  DeviceMetrics,
  Identity,
  ServerMessage,
  SessionId,
} from '#proto';
import {
  Complaints,
  decodeClientMessage,
  authorised,
  countedFrames,
  logged,
  numberedFrames,
  layered,
  type ProtocolEvent,
  type StepOf,
  fullFrameRate,
  takeFrame,
  type Rate,
  Sequence,
} from '../frames/index.js';
import {
  isNumbered,
  openSession,
  senderOf,
  type FileMessage,
  type OutputPiece,
  type Session,
  type SessionEffect,
  type SessionInput,
} from './session-state.js';
import { step } from './session.js';
import type { RegisteredClient } from './telemetry.js';
import type { Closed, Transport } from '../transport/index.js';

/** Port: where the files of this device go to and come from. */
export interface FilePort {
  /** Only from a device that is ready and numbers its frames; everything else about it is still to be judged. */
  frame(message: FileMessage): void;
  /** Once: nothing is sent or received any more. */
  closed(): void;
}

/** Port: what stands behind a device's connection. Questions are answered with the endpoint's methods, at once or later. */
export interface DevicePort {
  /** Make this the device's session everywhere, then say `claimed` or `claimFailed`. */
  claim(client: RegisteredClient): void;
  /** What the device's journal holds, in several calls perhaps, before `open`. */
  resume(running: readonly CommandId[], finished: readonly CommandId[]): void;
  /** The session is complete: commands may be sent from now on. */
  open(): void;
  started(commandId: CommandId): void;
  /** `bytes`: size of the frame that it came in. */
  result(commandId: CommandId, outcome: CommandOutcome, bytes: number): void;
  /** Of any command id that the device says: whether it runs here is to be judged. */
  output(commandId: CommandId, piece: OutputPiece): void;
  metrics(metrics: DeviceMetrics): void;
  telemetry(telemetry: ClientTelemetry): void;
  /** Find out whose credential this is, then say `identified`. */
  identify(credential: string): void;
  /** What was sent before has been taken by the device's end. */
  drained(): void;
  /** Once, when the session is over; the socket may still say goodbye. */
  left(): void;
  /** Once, when the socket is closed. */
  closed(why: Closed): void;
  /** Undefined: files are not spoken of here. */
  readonly files?: FilePort | undefined;
}

/** Port: who watches what goes over the connection. */
export interface DeviceWatch {
  log(event: ProtocolEvent | { readonly kind: 'complaint'; readonly error: string }): void;
  count(direction: 'in' | 'out', type: string): void;
  latency(ms: number): void;
}

export interface DeviceServerOptions {
  readonly identity: Identity;
  readonly transport: Transport;
  readonly clock: { now(): number };
  readonly port: DevicePort;
  readonly watch: DeviceWatch;
}

interface Waiting {
  readonly input: SessionInput;
  /** Size of the frame that it came in. */
  readonly bytes: number;
  /** Called when nothing was handed to the socket for it. */
  readonly lost: (() => void) | undefined;
}

/**
 * The server's end of one device connection (paper section 7.1, L5): transport, decoding, rate, the protocol in its layers,
 * numbers and ticks. It knows no bus and no clock of its own, so it runs on a linked pair as well as on a socket.
 */
export class DeviceServerEndpoint {
  readonly #options: DeviceServerOptions;
  readonly #step: StepOf<Session, SessionInput, SessionEffect>;
  /** What comes while effects are carried out waits for its turn. */
  readonly #waiting: Waiting[] = [];
  #session: Session;
  #rate: Rate;
  readonly #complaints: Complaints;
  #pausedUntilMs: number | null = null;
  #busy = false;
  #left = false;
  /** The last frame was handed to the socket. */
  #handed = false;

  constructor(options: DeviceServerOptions) {
    const { identity, transport, clock, port, watch } = options;
    const nowMs = clock.now();
    this.#options = options;
    this.#step = protocolOf(watch);
    this.#session = openSession(identity, nowMs);
    this.#rate = fullFrameRate(nowMs);
    this.#complaints = new Complaints(nowMs);
    transport.handle({
      frame: (text) => this.#receive(text),
      closed: (why) => {
        this.#input({ kind: 'closed' });
        port.closed(why);
      },
      drained: () => port.drained(),
    });
  }

  get phase(): Session['phase'] {
    return this.#session.phase;
  }

  /** The device takes its frames more slowly than they are sent: nothing that can wait should be sent. */
  get congested(): boolean {
    return this.#options.transport.congested;
  }

  /** To be called a few times a second. */
  tick(): void {
    const { clock, transport } = this.#options;
    if (this.#pausedUntilMs !== null && clock.now() >= this.#pausedUntilMs) {
      this.#pausedUntilMs = null;
      transport.resume();
    }
    this.#input({ kind: 'tick' });
  }

  /** The session is the device's: it is told so. */
  claimed(sessionId: SessionId): void {
    this.#input({ kind: 'claimed', sessionId });
  }

  claimFailed(): void {
    this.#input({ kind: 'claim-failed' });
  }

  /** Answers `identify`; null with the reason when the credential counts for nothing. */
  identified(identity: Identity | null, error = 'the credential is not valid'): void {
    this.#input({ kind: 'identified', identity, error });
  }

  /** Sends a frame to a device that is ready. `lost` is called when no byte of it was handed to the socket, and none will be. */
  say(message: ServerMessage, lost?: () => void): void {
    this.#input({ kind: 'say', message }, { lost });
  }

  /** Asks a foreign client for its tools again if it is time for that; `wanted`: somebody asked for one that it has not named. */
  askTools(wanted: boolean): void {
    this.#input({ kind: 'ask-tools', wanted });
  }

  /** A newer connection of the device has the session. */
  replaced(): void {
    this.#input({ kind: 'replaced' });
  }

  revoke(): void {
    this.#input({ kind: 'revoked' });
  }

  shutDown(): void {
    this.#input({ kind: 'shutdown' });
  }

  /** A token bucket: who sends faster is read more slowly, and never dropped. */
  #receive(text: string | null): void {
    const { clock, transport } = this.#options;
    const nowMs = clock.now();
    const [rate, { waitMs }] = takeFrame(this.#rate, text, nowMs);
    this.#rate = rate;
    if (waitMs > 0 && this.#pausedUntilMs === null) {
      this.#pausedUntilMs = nowMs + waitMs;
      transport.pause();
    }
    const decoded = decodeClientMessage(text);
    if (decoded.ok) this.#input({ kind: 'message', message: decoded.message }, { bytes: text?.length });
    else this.#input({ kind: 'unreadable', error: decoded.error });
  }

  #input(input: SessionInput, { bytes = 0, lost }: { bytes?: number | undefined; lost?: Waiting['lost'] } = {}): void {
    this.#waiting.push({ input, bytes, lost });
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) this.#take(next);
    } finally {
      this.#busy = false;
    }
  }

  #take({ input, bytes, lost }: Waiting): void {
    this.#handed = false;
    const [session, effects] = this.#step(this.#session, input, this.#options.clock.now());
    this.#session = session;
    for (const effect of effects) this.#perform(effect, bytes);
    if (!this.#handed) lost?.();
    if (session.phase !== 'CLOSED' || this.#left) return;
    this.#left = true;
    const { port } = this.#options;
    port.files?.closed();
    port.left();
  }

  #perform(effect: SessionEffect, bytes: number): void {
    const { transport, port, watch } = this.#options;
    switch (effect.kind) {
      case 'send':
        this.#handed = transport.send(JSON.stringify(effect.message));
        return;
      case 'close':
        return transport.close(effect.code, effect.reason);
      case 'claim':
        return port.claim(effect.client);
      case 'resume':
        return port.resume(effect.running, effect.finished);
      case 'open':
        return port.open();
      case 'started':
        return port.started(effect.commandId);
      case 'result':
        return port.result(effect.commandId, effect.outcome, bytes);
      case 'output':
        return port.output(effect.commandId, effect.piece);
      case 'metrics':
        return port.metrics(effect.metrics);
      case 'telemetry':
        return port.telemetry(effect.telemetry);
      case 'file':
        return port.files === undefined ? this.#refuseFile(effect.message) : port.files.frame(effect.message);
      case 'identify':
        return port.identify(effect.credential);
      case 'complaint':
        if (this.#complaints.take(this.#options.clock.now())) watch.log(effect);
        return;
    }
  }

  #refuseFile({ type, orrery }: FileMessage): void {
    if (type === 'file_abort') return;
    const why = { code: 'NO_FILES', message: 'this server takes and gives no files' };
    this.say({ type: 'file_abort', status: 'error', orrery: { transfer_id: orrery.transfer_id, ...why } });
  }
}

/** Outermost first: what is logged and counted is what really goes over the wire. */
function protocolOf(watch: DeviceWatch): StepOf<Session, SessionInput, SessionEffect> {
  return layered<Session, SessionInput, SessionEffect>(
    step,
    logged((event) => watch.log(event)),
    countedFrames((direction, type) => watch.count(direction, type)),
    numberedFrames({ sequence: new Sequence(), isNumbered, latency: (ms) => watch.latency(ms) }),
    authorised(senderOf),
  );
}
