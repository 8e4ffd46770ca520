import type { ClientMessage, ServerMessage } from '#proto';
import {
  binaryPiece,
  Complaints,
  decodeClientMessage,
  encoded,
  fullFrameRate,
  takeFrame,
  type ProtocolEvent,
  type Rate,
  type StepOf,
} from '../frames/index.js';
import type { Closed, Transport } from '../transport/index.js';

/** Port: what every connection has behind it. */
export interface EndpointPort {
  /** What was sent before has been taken by the other end. */
  drained?(): void;
  /** Once, when the session is over; the socket may still say goodbye. */
  left(): void;
  /** Once, when the socket is closed. */
  closed(why: Closed): void;
}

/** What one protocol alone wants done: a method for each effect, by its name. `bytes`: size of the frame that it follows from. */
export type PortOf<E extends { readonly kind: string }> = {
  readonly [K in E['kind']]: (effect: Extract<E, { kind: K }>, bytes: number) => void;
};

/** Port: who watches what goes over the connection. */
export interface EndpointWatch {
  log(event: ProtocolEvent | { readonly kind: 'complaint'; readonly error: string }): void;
  count(direction: 'in' | 'out', type: string): void;
}

export interface ServerEndpointOptions<Id, Port extends EndpointPort, Watch extends EndpointWatch> {
  readonly identity: Id;
  readonly transport: Transport;
  readonly clock: { now(): number };
  readonly port: Port;
  readonly watch: Watch;
}

/** What happens to every session. */
type SharedInput =
  | { readonly kind: 'message'; readonly message: ClientMessage }
  | { readonly kind: 'unreadable'; readonly error: string; readonly taskSessionId: string | null }
  | { readonly kind: 'tick' | 'revoked' | 'shutdown' | 'closed' };

/** What every session wants done. */
export type SharedEffect =
  | { readonly kind: 'send'; readonly message: ServerMessage }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  | { readonly kind: 'complaint'; readonly error: string };

interface Waiting<Input> {
  readonly input: Input | SharedInput;
  /** Size of the frame that it came in. */
  readonly bytes: number;
  /** Called when nothing was handed to the socket for it. */
  readonly lost: (() => void) | undefined;
}

/**
 * The server's end of one connection (paper section 7.1, L5): transport, decoding, rate, a protocol in its layers, and ticks. It
 * knows no bus and no clock of its own, so it runs on a linked pair as well as on a socket.
 */
export abstract class ServerEndpoint<
  Session extends { readonly phase: string },
  Input extends { readonly kind: string },
  Effect extends { readonly kind: string },
  Port extends EndpointPort,
> {
  protected readonly port: Port;
  readonly #options: ServerEndpointOptions<unknown, Port, EndpointWatch>;
  readonly #step: StepOf<Session, Input | SharedInput, Effect | SharedEffect>;
  /** What comes while effects are carried out waits for its turn. */
  readonly #waiting: Waiting<Input>[] = [];
  #session: Session;
  #rate: Rate;
  readonly #complaints: Complaints;
  #pausedUntilMs: number | null = null;
  #busy = false;
  #left = false;
  /** The last frame was handed to the socket. */
  #handed = false;

  constructor(
    options: ServerEndpointOptions<unknown, Port, EndpointWatch>,
    session: Session,
    step: StepOf<Session, Input | SharedInput, Effect | SharedEffect>,
  ) {
    const { transport, clock, port } = options;
    const nowMs = clock.now();
    this.port = port;
    this.#options = options;
    this.#step = step;
    this.#session = session;
    this.#rate = fullFrameRate(nowMs);
    this.#complaints = new Complaints(nowMs);
    transport.handle({
      frame: (text, bytes) => this.#receive(text, bytes),
      closed: (why) => {
        this.input({ kind: 'closed' });
        port.closed(why);
      },
      drained: () => port.drained?.(),
    });
  }

  get phase(): Session['phase'] {
    return this.#session.phase;
  }

  /** The other end takes its frames more slowly than they are sent: nothing that can wait should be sent. */
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
    this.input({ kind: 'tick' });
  }

  revoke(): void {
    this.input({ kind: 'revoked' });
  }

  shutDown(): void {
    this.input({ kind: 'shutdown' });
  }

  /** The TASK that a frame that is no message would have been; null when it is none, or nobody waits for its end. */
  protected taskOf(_text: string | null): string | null {
    return null;
  }

  /** Whether the other end takes pieces of files as binary frames. */
  protected takesBytes(_session: Session): boolean {
    return false;
  }

  protected perform(effect: Effect, bytes: number): void {
    const port = this.port as unknown as Readonly<Record<string, (effect: Effect, bytes: number) => void>>;
    port[effect.kind]?.(effect, bytes);
  }

  /** Once, when the session is over. */
  protected leave(): void {
    this.port.left();
  }

  /** What has happened to the session; ports answer with it, at once or later. */
  input(
    input: Input | SharedInput,
    { bytes = 0, lost }: { readonly bytes?: number | undefined; readonly lost?: (() => void) | undefined } = {},
  ): void {
    this.#waiting.push({ input, bytes, lost });
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) this.#take(next);
    } finally {
      this.#busy = false;
    }
  }

  /** A token bucket: who sends faster is read more slowly, and never dropped. */
  #receive(text: string | null, bytes?: Uint8Array): void {
    const { clock, transport } = this.#options;
    const nowMs = clock.now();
    const [rate, { waitMs }] = takeFrame(this.#rate, text, nowMs, bytes?.length);
    this.#rate = rate;
    if (waitMs > 0 && this.#pausedUntilMs === null) {
      this.#pausedUntilMs = nowMs + waitMs;
      transport.pause();
    }
    const decoded = decodeClientMessage(text, bytes);
    if (decoded.ok) this.input({ kind: 'message', message: decoded.message }, { bytes: text?.length ?? bytes?.length });
    else this.input({ kind: 'unreadable', error: decoded.error, taskSessionId: this.taskOf(text) });
  }

  #take({ input, bytes, lost }: Waiting<Input>): void {
    this.#handed = false;
    const [session, effects] = this.#step(this.#session, input, this.#options.clock.now());
    this.#session = session;
    for (const effect of effects) {
      if (isShared(effect)) this.#performShared(effect);
      else this.perform(effect, bytes);
    }
    if (!this.#handed) lost?.();
    if (session.phase !== 'CLOSED' || this.#left) return;
    this.#left = true;
    this.leave();
  }

  #send(message: ServerMessage): boolean {
    const { transport } = this.#options;
    const { text, data } = encoded(message, transport.sendBytes !== undefined && this.takesBytes(this.#session));
    return data === undefined ? transport.send(text) : transport.sendBytes?.(binaryPiece(text, data)) === true;
  }

  #performShared(effect: SharedEffect): void {
    const { transport, clock, watch } = this.#options;
    switch (effect.kind) {
      case 'send':
        this.#handed = this.#send(effect.message);
        return;
      case 'close':
        return transport.close(effect.code, effect.reason);
      case 'complaint':
        if (this.#complaints.take(clock.now())) watch.log(effect);
        return;
    }
  }
}

const SHARED: Readonly<Record<SharedEffect['kind'], true>> = { send: true, close: true, complaint: true };

const isShared = (effect: { readonly kind: string }): effect is SharedEffect => Object.hasOwn(SHARED, effect.kind);
