import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, type Member } from '#proto';
import type { Clock } from '#libs/platform';

const HEARTBEAT_MS = 500;
const TIMEOUT_MS = 1_000;

export interface AnnounceOptions {
  readonly service: string;
  readonly instance: string;
  readonly clock: Clock;
  /** Kinds of agents that this replica serves with a model. */
  readonly agents: readonly string[];
  readonly report: (error: unknown) => void;
}

export interface Announcement {
  /** Takes the word back, so that nobody starts an agent's task that nobody would carry out. */
  stop(): Promise<void>;
}

/** Says again and again that this replica serves these agents; the word expires by itself when the process dies. */
export function announceAgents(nc: NatsConnection, options: AnnounceOptions): Announcement {
  const { service, instance, clock, agents, report } = options;
  const stopped = new AbortController();
  const key = `${service}.${instance}`;
  const bucket = () => new Kvm(jetstream(nc, { timeout: TIMEOUT_MS })).open(BUCKETS.MEMBERS.bucket);
  const say = async (): Promise<void> => {
    const at = new Date(clock.now()).toISOString();
    const member: Member = { service, instance, partitions: [], running: {}, agents: [...agents], at };
    await (await bucket()).put(key, JSON.stringify(member), { timeout: TIMEOUT_MS });
  };
  const beat = async (): Promise<void> => {
    while (!stopped.signal.aborted && !nc.isClosed()) {
      await say().catch((error: unknown) => (stopped.signal.aborted ? undefined : report(error)));
      await sleep(HEARTBEAT_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const beating = beat();
  return {
    stop: async () => {
      stopped.abort();
      await beating;
      if (!nc.isClosed()) await (await bucket()).purge(key).catch(() => {}); // it expires by itself, too
    },
  };
}
