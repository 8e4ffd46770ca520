import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { BUCKETS, type Member } from '#proto';
import { takeBack } from '#libs/messaging';
import { Loop, type Clock } from '#libs/platform';
import { SERVICE } from '../live/index.js';

const HEARTBEAT_MS = 500;
const TIMEOUT_MS = 1_000;

interface AnnouncementParts {
  readonly nc: NatsConnection;
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Kinds of agents that this replica serves with a model. */
  readonly agents: readonly string[];
}

/** Says again and again that this replica serves these agents; the word expires by itself when the process dies. */
export class Announcement extends Loop {
  readonly #parts: AnnouncementParts;
  readonly #key: string;

  constructor(parts: AnnouncementParts) {
    super();
    this.#parts = parts;
    this.#key = `${SERVICE}.${parts.instance}`;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nc, logger, agents } = this.#parts;
    while (agents.length > 0 && !signal.aborted && !nc.isClosed()) {
      await this.#say().catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ err: error }, 'the orchestrator was not told which agents are served');
      });
      await sleep(HEARTBEAT_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Takes the word back, so that nobody starts an agent's task that nobody would carry out. */
  async leave(): Promise<void> {
    await this.end();
    const { nc, agents } = this.#parts;
    if (agents.length === 0 || nc.isClosed()) return;
    await takeBack(() => this.#bucket(), this.#key);
  }

  async #say(): Promise<void> {
    const { instance, clock, agents } = this.#parts;
    const at = new Date(clock.now()).toISOString();
    const member: Member = { service: SERVICE, instance, partitions: [], running: {}, agents: [...agents], at };
    await (await this.#bucket()).put(this.#key, JSON.stringify(member), { timeout: TIMEOUT_MS });
  }

  #bucket(): Promise<KV> {
    return new Kvm(jetstream(this.#parts.nc, { timeout: TIMEOUT_MS })).open(BUCKETS.MEMBERS.bucket);
  }
}
