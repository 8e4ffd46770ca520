import type { Json, RunId } from '#proto';
import type { ClientTask, ClientTaskEnd } from './client-task.js';
import { constellationStep } from './constellation-session.js';
import {
  openConstellationSession,
  type ConstellationEffect,
  type ConstellationIdentity,
  type ConstellationInput,
  type ConstellationSession,
  type TargetState,
} from './constellation-state.js';
import {
  Complaints,
  decodeClientMessage,
  countedFrames,
  logged,
  layered,
  type ProtocolEvent,
  type StepOf,
  fullFrameRate,
  takeFrame,
  type Rate,
  unreadableTaskOf,
} from '../frames/index.js';
import type { Closed, Transport } from '../transport/index.js';

/** Port: what tasks become, and where devices are known. Questions are answered with the endpoint's methods, at once or later. */
export interface ConstellationPort {
  /** Say with `target` whether this device is connected. `sessionId`: of the task that needs it; null: REGISTER does. */
  lookUp(deviceId: string, sessionId: string | null): void;
  /** Make a run of the task, then say `accepted` or `refused`. `label`: what the client calls itself. */
  submit(task: ClientTask, label: string | null): void;
  /** Say `ended` when this run has. */
  follow(sessionId: string, runId: RunId): void;
  /** Nobody waits for this task any more: its run, if there is one, is to be cancelled. */
  cancel(sessionId: string): void;
  /** Say with `deviceInfo` what is known of this device. */
  deviceInfo(deviceId: string, requestId: string | null): void;
  /** Once, when the session is over; the socket may still say goodbye. */
  left(): void;
  /** Once, when the socket is closed. */
  closed(why: Closed): void;
}

/** Port: who watches what goes over the connection. */
export interface ConstellationWatch {
  log(event: ProtocolEvent | { readonly kind: 'complaint'; readonly error: string }): void;
  count(direction: 'in' | 'out', type: string): void;
}

export interface ConstellationServerOptions {
  readonly identity: ConstellationIdentity;
  readonly transport: Transport;
  readonly clock: { now(): number };
  readonly port: ConstellationPort;
  readonly watch: ConstellationWatch;
}

type Protocol = StepOf<ConstellationSession, ConstellationInput, ConstellationEffect>;

/**
 * The server's end of one constellation client's connection (paper section 7.1, L5): transport, decoding, rate, the
 * protocol in its layers, and ticks. It knows no bus and no clock of its own, so it runs on a linked pair as well as on a socket.
 */
export class ConstellationServerEndpoint {
  readonly #options: ConstellationServerOptions;
  readonly #step: Protocol;
  /** What comes while effects are carried out waits for its turn. */
  readonly #waiting: ConstellationInput[] = [];
  #session: ConstellationSession;
  #rate: Rate;
  readonly #complaints: Complaints;
  #pausedUntilMs: number | null = null;
  #busy = false;
  #left = false;

  constructor(options: ConstellationServerOptions) {
    const { identity, transport, clock, port, watch } = options;
    const nowMs = clock.now();
    this.#options = options;
    this.#step = protocolOf(watch);
    this.#session = openConstellationSession(identity, nowMs);
    this.#rate = fullFrameRate(nowMs);
    this.#complaints = new Complaints(nowMs);
    transport.handle({
      frame: (text) => this.#receive(text),
      closed: (why) => {
        this.#input({ kind: 'closed' });
        port.closed(why);
      },
    });
  }

  get phase(): ConstellationSession['phase'] {
    return this.#session.phase;
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

  /** Answers `lookUp`, with its session id. */
  target(sessionId: string | null, state: TargetState): void {
    this.#input({ kind: 'target', sessionId, state });
  }

  /** Answers `submit`: the task is a run now, and stays one. */
  accepted(sessionId: string, runId: RunId): void {
    this.#input({ kind: 'accepted', sessionId, runId });
  }

  /** Answers `submit`: it is no run and will be none. `error`: one sentence for the client. */
  refused(sessionId: string, error: string): void {
    this.#input({ kind: 'refused', sessionId, error });
  }

  /** Answers `follow`. */
  ended(sessionId: string, end: ClientTaskEnd): void {
    this.#input({ kind: 'ended', sessionId, ...end });
  }

  /** Answers `deviceInfo`, with its request id; null when there is no such device. */
  deviceInfo(deviceId: string, requestId: string | null, info: Json): void {
    this.#input({ kind: 'device-info', deviceId, requestId, info });
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
    if (decoded.ok) return this.#input({ kind: 'message', message: decoded.message });
    this.#input({ kind: 'unreadable', error: decoded.error, taskSessionId: unreadableTaskOf(text) });
  }

  #input(input: ConstellationInput): void {
    this.#waiting.push(input);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) this.#take(next);
    } finally {
      this.#busy = false;
    }
  }

  #take(input: ConstellationInput): void {
    const [session, effects] = this.#step(this.#session, input, this.#options.clock.now());
    this.#session = session;
    for (const effect of effects) this.#perform(effect);
    if (session.phase !== 'CLOSED' || this.#left) return;
    this.#left = true;
    this.#options.port.left();
  }

  #perform(effect: ConstellationEffect): void {
    const { transport, port, watch } = this.#options;
    switch (effect.kind) {
      case 'send':
        transport.send(JSON.stringify(effect.message));
        return;
      case 'close':
        return transport.close(effect.code, effect.reason);
      case 'lookUp':
        return port.lookUp(effect.deviceId, effect.sessionId);
      case 'submit':
        return port.submit(effect.task, effect.label);
      case 'follow':
        return port.follow(effect.sessionId, effect.runId);
      case 'cancel':
        return port.cancel(effect.sessionId);
      case 'deviceInfo':
        return port.deviceInfo(effect.deviceId, effect.requestId);
      case 'complaint':
        if (this.#complaints.take(this.#options.clock.now())) watch.log(effect);
        return;
    }
  }
}

/** Outermost first: what is logged and counted is what really goes over the wire. */
function protocolOf(watch: ConstellationWatch): Protocol {
  return layered<ConstellationSession, ConstellationInput, ConstellationEffect>(
    constellationStep,
    logged((event) => watch.log(event)),
    countedFrames((direction, type) => watch.count(direction, type)),
  );
}
