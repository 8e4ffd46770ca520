import { AIP_CLOSE, AIP_LIMITS, type ClientMessage } from '#proto';
import { binaryPiece, decodeServerMessage, encoded, Sequence, type Encoded } from '../frames/index.js';
import {
  ackMessage,
  openLink,
  resumeMessages,
  stepLink,
  type DeviceLink,
  type Holdings,
  type LinkEffect,
  type LinkInput,
  type ServerFacts,
  type ServerRequest,
} from './device-link.js';
import { NUMBERED_SINCE } from '../session/index.js';
import type { Closed, Transport } from '../transport/index.js';

/** Port: the device behind the connection: its journal, its tools, its machine. */
export interface LinkedDevice {
  /** REGISTER as of now. */
  register(): ClientMessage;
  /** For RESUME: everything whose end the server may still want. */
  holdings(): Holdings;
  /** The next result that is to be sent to this server now; undefined when there is none. */
  nextResult(): ClientMessage | undefined;
  heartbeat(server: ServerFacts): ClientMessage;
  /** Commands may come, results are asked for with `nextResult` from now on. */
  onReady(server: ServerFacts): void;
  /** `server` is null when it has not confirmed the registration yet. */
  onMessage(message: ServerRequest, server: ServerFacts | null): void;
  /** The connection is over; null when it never was confirmed. */
  onDisconnected(server: ServerFacts | null): void;
}

export interface ConnectionOptions {
  readonly transport: Transport;
  readonly device: LinkedDevice;
  readonly clock: { now(): number };
  readonly heartbeatMs: number;
  readonly onFact: (fact: FrameFact) => void;
  /** Once, after the device knows. */
  readonly onEnd: (end: ConnectionEnd) => void;
}

/** What a log may say of the frames of a connection. */
export type FrameFact =
  { readonly fact: 'complaint'; readonly error: string } | { readonly fact: 'ignored'; readonly error: string };

export interface ConnectionEnd extends Closed {
  /** Since everything could be sent; 0 when it never could. */
  readonly uptimeMs: number;
}

/** Messages that wait for a slow server. A server that takes less than that is left. */
const OUTBOX_FRAMES_MAX = 4_096;
const OUTBOX_BYTES_MAX = 16 * 1024 * 1024;
/** Results that are sent and not acknowledged. The others stay in the journal, whose memory they need anyway. */
const RESULTS_UNACKED_BYTES_MAX = 4 * 1024 * 1024;
const NORMAL = 'normal';
const RESULT = 'result';
const OUTPUT = 'output';

interface Waiting extends Encoded {
  readonly type: ClientMessage['type'];
  readonly cargo: string;
}

const sizeOf = ({ text, data }: Encoded): number => text.length + (data?.length ?? 0);

/**
 * One connection of a device, from REGISTER to its end: the protocol, the numbers, and what waits for a slow server. It has
 * no clock and no timer of its own, so it runs on a linked pair as well as on a socket.
 */
export class ServerConnection {
  readonly #options: ConnectionOptions;
  #link: DeviceLink;
  #sequence: Sequence | undefined;
  #outbox: Waiting[] = [];
  #outboxBytes = 0;
  #server: ServerFacts | null = null;
  #readyAtMs: number | undefined;
  #beatAtMs = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#link = openLink(options.clock.now());
  }

  /** Says REGISTER and begins to listen. */
  start(): void {
    const { transport, device } = this.#options;
    transport.send(JSON.stringify(device.register()));
    transport.handle({
      frame: (text, bytes) => this.#onFrame(text, bytes),
      closed: (why) => this.#onClosed(why),
      drained: () => this.#flush(),
    });
  }

  /** To be called every 100 ms: acknowledgements, heartbeats and patience are measured by it. */
  tick(): void {
    const { clock, heartbeatMs } = this.#options;
    const nowMs = clock.now();
    this.#apply({ kind: this.#sequence?.unackedTooLong(nowMs) === true ? 'unacknowledged' : 'tick' });
    if (this.#link.phase === 'READY' && nowMs - this.#beatAtMs >= heartbeatMs) this.#beat(this.#link.server);
    this.#acknowledge();
  }

  /** Keeps it until it can be sent; what is kept is gone with the connection. `cargo` is what `unackedBytes` counts it under. */
  send(message: ClientMessage, cargo = NORMAL): void {
    const { transport } = this.#options;
    if (this.#link.phase === 'CLOSED') return;
    const waiting = waitingOf(message, cargo, this.#takesBytes);
    if (this.#isFree) return this.#write(waiting);
    this.#outbox.push(waiting);
    this.#outboxBytes += sizeOf(waiting);
    if (this.#outbox.length <= OUTBOX_FRAMES_MAX && this.#outboxBytes <= OUTBOX_BYTES_MAX) return;
    transport.close(AIP_CLOSE.unacknowledged, 'the server takes less than it asks for');
  }

  /** Live output: sent now or never. False when it was left out. */
  sendOutput(message: ClientMessage): boolean {
    if (this.#sequence === undefined || !this.#isFree) return false;
    const waiting = waitingOf(message, OUTPUT);
    if (this.unackedBytes(OUTPUT) + waiting.text.length > AIP_LIMITS.outputUnackedBytesMax) return false;
    this.#write(waiting);
    return true;
  }

  /** Sends the results that the device has, as far as the server keeps up with them. */
  sendResults(): void {
    while (this.#isFree && this.unackedBytes(RESULT) < RESULTS_UNACKED_BYTES_MAX) {
      const message = this.#options.device.nextResult();
      if (message === undefined) return;
      this.#write(waitingOf(message, RESULT));
    }
  }

  /** Bytes that the server has not acknowledged; 0 where nothing is acknowledged. */
  unackedBytes(cargo: string): number {
    return this.#sequence?.unackedBytes(cargo) ?? 0;
  }

  close(code: number, reason: string): void {
    this.#options.transport.close(code, reason);
  }

  get #isFree(): boolean {
    return this.#link.phase === 'READY' && this.#outbox.length === 0 && !this.#options.transport.congested;
  }

  #onFrame(text: string | null, bytes?: Uint8Array): void {
    const decoded = decodeServerMessage(text, bytes);
    if (!decoded.ok) {
      this.#sequence?.skip(this.#options.clock.now());
      this.#apply({ kind: 'unreadable', error: decoded.error });
    } else {
      const { message } = decoded;
      const judged = this.#sequence?.take(message, this.#options.clock.now());
      if (judged?.kind === 'duplicate') return;
      this.#apply(judged?.kind === 'gap' ? judged : { kind: 'message', message });
    }
    this.sendResults();
    this.#acknowledge();
  }

  #onClosed(why: Closed): void {
    const { device, clock, onEnd } = this.#options;
    this.#link = { phase: 'CLOSED' };
    this.#outbox = [];
    device.onDisconnected(this.#server);
    onEnd({ ...why, uptimeMs: this.#readyAtMs === undefined ? 0 : clock.now() - this.#readyAtMs });
  }

  #apply(input: LinkInput): void {
    const [link, effects] = stepLink(this.#link, input, this.#options.clock.now());
    this.#link = link;
    if ('server' in link) this.#server = link.server;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: LinkEffect): void {
    const { device, transport, onFact } = this.#options;
    switch (effect.kind) {
      case 'resume':
        this.#sequence = new Sequence();
        for (const message of resumeMessages(device.holdings())) this.#write(waitingOf(message, NORMAL));
        return;
      case 'ready':
        return this.#begin(effect.server);
      case 'deliver':
        return device.onMessage(effect.message, effect.server);
      case 'complaint':
      case 'ignored':
        return onFact({ fact: effect.kind, error: effect.error });
      case 'close':
        return transport.close(effect.code, effect.reason);
    }
  }

  #begin(server: ServerFacts): void {
    const { device, clock } = this.#options;
    this.#readyAtMs = clock.now();
    this.#beatAtMs = clock.now();
    device.onReady(server);
    // How the machine is doing is news to one of ours; others are content to hear of us now and then.
    if ((server.revision ?? 0) >= NUMBERED_SINCE) this.#beat(server);
    this.#flush();
  }

  #beat(server: ServerFacts): void {
    this.#beatAtMs = this.#options.clock.now();
    this.send(this.#options.device.heartbeat(server));
  }

  #flush(): void {
    while (this.#link.phase === 'READY' && !this.#options.transport.congested) {
      const next = this.#outbox.shift();
      if (next === undefined) break;
      this.#outboxBytes -= sizeOf(next);
      this.#write(next);
    }
    this.sendResults();
  }

  /** Numbers come last in the text: what is sent is written as JSON once, whenever that was. */
  #write(waiting: Waiting): void {
    const { transport, clock } = this.#options;
    const { type, text, data, cargo } = waiting;
    const stamped = this.#sequence?.stamp({ type }, clock.now(), { class: cargo, bytes: sizeOf(waiting) });
    const head = stamped === undefined ? text : `${text.slice(0, -1)},"seq":${stamped.seq},"ack":${stamped.ack}}`;
    if (data === undefined) transport.send(head);
    else transport.sendBytes?.(binaryPiece(head, data));
  }

  get #takesBytes(): boolean {
    return this.#server?.takesBytes === true && this.#options.transport.sendBytes !== undefined;
  }

  #acknowledge(): void {
    if (this.#link.phase === 'CLOSED' || this.#sequence?.ackDue(this.#options.clock.now()) !== true) return;
    this.#write(waitingOf(ackMessage(), NORMAL));
  }
}

/** A frame that waits is of the bytes that it was made of, whatever becomes of their memory. */
function waitingOf(message: ClientMessage, cargo: string, takesBytes = false): Waiting {
  const { text, data } = encoded(message, takesBytes);
  return { type: message.type, cargo, text, ...(data !== undefined && { data: Uint8Array.from(data) }) };
}
