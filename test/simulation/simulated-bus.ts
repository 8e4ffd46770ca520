import type { AttemptKey, RunId } from '#proto';
import type { Answer } from '#libs/constellation';
import type { Settled, Waiting } from '../../services/orchestrator/runs/served-run.js';
import type { Faults } from './faults.js';
import type { Replica, Replicas } from './replicas.js';
import type { Dice } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Trace } from './trace.js';

export type StreamName = 'REQUESTS' | 'ATTEMPTS' | 'TIMERS' | 'PLANS' | 'VERBS';

/** Something a run is to hear. It comes again until a final answer has been acknowledged. */
export interface Message {
  readonly stream: StreamName;
  readonly runId: RunId;
  /** For the trace. */
  readonly about: string;
  /** What a replica makes of it, each time that it comes. */
  readonly read: (now: number) => Omit<Waiting, 'settle'>;
  /** The attempt whose end it is. */
  readonly ends?: AttemptKey;
  /** The final answers it got: more than one when it came more than once. */
  readonly answers: Extract<Settled, { kind: 'answered' }>[];
  /** Why it was given up; such a message is in the dead letters. */
  buried: string | null;
  done: boolean;
}

const RETRY_MS = 500;
const NOBODY_MS = 250;
/** Held by a replica that died or froze: comes again after this. */
const ACK_WAIT_MS = 1_000;
/** Who sent it without a stream waits so long for an answer, then sends it again. */
const ANSWER_MS = 4_000;
const LATENCY_MS_MIN = 0.2;
const LATENCY_MS_MAX = 4;
const DELAY_MS_MIN = 1_000;
const DELAY_MS_MAX = 10 * 60_000;

interface Delivery {
  readonly message: Message;
  readonly to: Replica;
}

export interface BusParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly dice: Dice;
  readonly trace: Trace;
  /** The server takes and gives nothing. */
  readonly isAway: () => boolean;
  /** A replica gave its final word about a message. */
  readonly answered: (message: Message, answer: Answer) => void;
  /** Nothing is delayed beyond this: milliseconds since the epoch. */
  readonly horizon: number;
}

/** The streams of inputs between the rest of the system and the replica that owns a run. */
export class Bus {
  readonly messages: Message[] = [];
  readonly #parts: BusParts;
  readonly #held = new Set<Delivery>();
  readonly #lastArrival = new Map<string, number>();
  #replicas: Replicas | undefined;
  #open = 0;

  constructor(parts: BusParts) {
    this.#parts = parts;
  }

  /** Messages without an acknowledged answer. */
  get open(): number {
    return this.#open;
  }

  connect(replicas: Replicas): void {
    this.#replicas = replicas;
  }

  publish(message: Pick<Message, 'stream' | 'runId' | 'about' | 'read' | 'ends'>): Message {
    const { faults } = this.#parts;
    const published: Message = { ...message, answers: [], buried: null, done: false };
    this.messages.push(published);
    this.#open += 1;
    this.#send(published);
    const twice = faults.strike('input-twice', message.about);
    if (twice !== undefined) this.#after(twice.spread(1, 5_000), () => this.#deliver(published));
    return published;
  }

  /** The server notices that a replica does not say any more that it works on what it holds. */
  silent(replica: Replica): void {
    for (const delivery of this.#held) {
      if (delivery.to !== replica) continue;
      if (replica.process.state === 'dead') this.#held.delete(delivery);
      this.#after(ACK_WAIT_MS, () => this.#deliver(delivery.message));
    }
  }

  /** Messages of one stream come in order, but for those that are struck. */
  #send(message: Message): void {
    const { scheduler, faults, dice, horizon } = this.#parts;
    const now = scheduler.now();
    const lane = `${message.stream} ${message.runId}`;
    let arrival = now + dice.spread(LATENCY_MS_MIN, LATENCY_MS_MAX);
    const delay = faults.strike('input-delayed', message.about);
    if (delay !== undefined)
      arrival = Math.min(now + delay.spread(DELAY_MS_MIN, DELAY_MS_MAX), Math.max(horizon, arrival));
    else if (faults.strike('input-overtakes', message.about) === undefined) {
      arrival = Math.max(arrival, this.#lastArrival.get(lane) ?? 0);
      this.#lastArrival.set(lane, arrival + dice.spread(0.01, 300));
    }
    scheduler.at(arrival, () => this.#deliver(message));
  }

  #deliver(message: Message): void {
    if (message.done || this.#replicas === undefined) return;
    const { scheduler, trace } = this.#parts;
    const to = this.#parts.isAway() ? undefined : this.#replicas.consumerOf(message.runId);
    if (to === undefined) return this.#after(NOBODY_MS, () => this.#deliver(message));
    const delivery: Delivery = { message, to };
    this.#held.add(delivery);
    if (message.stream === 'REQUESTS' || message.stream === 'VERBS') this.#askAgain(delivery);
    else if (to.process.state === 'frozen') this.#after(ACK_WAIT_MS, () => this.#deliver(message));
    to.process.post(() => {
      trace.note(to.name, `takes ${message.about}`);
      const settle = (settled: Settled) => this.#settle(delivery, settled);
      to.server.deliver(message.runId, { ...message.read(scheduler.now()), settle });
    });
  }

  #askAgain(delivery: Delivery): void {
    this.#after(ANSWER_MS, () => {
      if (this.#held.has(delivery)) this.#deliver(delivery.message);
    });
  }

  #settle(delivery: Delivery, settled: Settled): void {
    const { message, to } = delivery;
    const { faults, trace, isAway } = this.#parts;
    trace.note(to.name, `${settled.kind} ${message.about}${reasonOf(settled)}`);
    this.#held.delete(delivery);
    this.#replicas?.publishSoon(to);
    if (settled.kind === 'answered') {
      message.answers.push(settled);
      this.#parts.answered(message, settled.answer);
    }
    if (message.done) return;
    if (settled.kind === 'retry') return this.#after(RETRY_MS, () => this.#deliver(message));
    if (settled.kind === 'poison') message.buried = settled.reason;
    else if (isAway() || faults.strike('input-ack-lost', message.about)) {
      return this.#after(ACK_WAIT_MS, () => this.#deliver(message));
    }
    message.done = true;
    this.#open -= 1;
  }

  #after(ms: number, run: () => void): void {
    this.#parts.scheduler.after(ms, run);
  }
}

function reasonOf(settled: Settled): string {
  if (settled.kind !== 'answered') return `: ${settled.reason}`;
  const { answer } = settled;
  if (answer.kind === 'accepted') return ': accepted';
  return `: ${answer.kind} ${answer.kind === 'ignored' ? answer.reason : answer.reason.code}`;
}
