import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { deviceIdOfSubject, FleetCommit, STREAMS, type DeviceId } from '#proto';
import { parseCommits, readCommits, type StreamEntry } from '#libs/event-log';
import { Loop, untilItWorks } from '#libs/platform';
import type { FleetState } from '#libs/fleet';
import { SharedLook } from './shared-look.js';

const CATCH_UP_MS_MAX = 1_000;
const FOLD_LOOK_MS_MAX = 10_000;
const CATCH_UP_LOOK_MS = 5;

/** Folds FLEET from its first message and follows it: what other replicas append arrives here, too. */
export class FleetConsumer extends Loop {
  readonly #nc: NatsConnection;
  readonly #state: FleetState;
  readonly #listeners: ((deviceId: DeviceId) => void)[] = [];
  readonly #logger: Logger;
  readonly #damaged = new Set<DeviceId>();
  readonly #looks = new SharedLook(() => this.lastSequence());
  #folded = 0;

  constructor({ nc, state, logger }: { nc: NatsConnection; state: FleetState; logger: Logger }) {
    super();
    this.#nc = nc;
    this.#state = state;
    this.#logger = logger;
  }

  /** Called whenever something is folded in: a fact about this device, client, or the whole fleet. */
  onChange(listener: (id: DeviceId) => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves when FLEET is folded as it was then; waits for a stream that does not exist yet. */
  override async begin(): Promise<void> {
    const [logger, signal] = [this.#logger, this.signal];
    const end = await untilItWorks(() => this.lastSequence(), { what: 'FLEET', logger, signal });
    void super.begin();
    while (!(await this.reached(end, FOLD_LOOK_MS_MAX))) signal.throwIfAborted();
  }

  async run(signal: AbortSignal): Promise<void> {
    for await (const entry of readCommits(this.#nc, 'FLEET', { afterSequence: 0, signal })) {
      this.#apply(entry);
      this.#folded = entry.sequence;
    }
  }

  /** Stream sequence of the last message there is; throws while the stream does not exist. */
  async lastSequence(): Promise<number> {
    const jsm = await jetstreamManager(this.#nc, { checkAPI: false });
    const { state } = await jsm.streams.info(STREAMS.FLEET.name);
    return state.messages === 0 ? 0 : state.last_seq;
  }

  /** The same for many who ask at once. */
  newest(): Promise<number> {
    return this.#looks.ask();
  }

  /** Stream sequence of the last message that is folded in. */
  get position(): number {
    return this.#folded;
  }

  /** True when everything up to this sequence is folded in, false when that took too long. */
  async reached(sequence: number, limitMs = CATCH_UP_MS_MAX): Promise<boolean> {
    const within = AbortSignal.any([this.signal, AbortSignal.timeout(limitMs)]);
    while (this.#folded < sequence && !within.aborted) await sleep(CATCH_UP_LOOK_MS);
    return this.#folded >= sequence;
  }

  #changed(id: DeviceId): void {
    for (const listener of this.#listeners) listener(id);
  }

  /** One damaged device does not stop the others; its facts are not guessed either. */
  #apply({ subject, sequence, data }: StreamEntry): void {
    const deviceId = deviceIdOfSubject(subject) ?? subject;
    if (this.#damaged.has(deviceId)) return;
    try {
      const known = this.#state.endOf(deviceId);
      if (known !== undefined && sequence <= known.sequence) return this.#changed(deviceId);
      const parsed = parseCommits(subject, FleetCommit, [{ sequence, data }], { fromStart: known === undefined });
      for (const stored of parsed) this.#state.apply(stored);
      this.#changed(deviceId);
    } catch (error) {
      this.#damaged.add(deviceId);
      this.#logger.error({ err: error, deviceId, sequence }, 'the log of a device is damaged');
    }
  }
}
