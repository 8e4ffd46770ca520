import { Kvm, type KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { AgentProfile, BUCKETS, type Member } from '#proto';
import { KnownAgents } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { Fleet } from './fleet.js';

const ORCHESTRATOR = 'orchestrator';
const DEVICE_AGENT = 'device-agent';
const PLANNER = 'planner';

/** Keeps the fleet view up to date: profiles from the registry's bucket, running tasks from the other replicas. */
export class FleetViewConsumer {
  readonly #nc: NatsConnection;
  readonly #fleet: Fleet;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #instance: string;
  readonly #agents = new KnownAgents();
  #hasPlanner = false;
  #stop: () => void = () => undefined;

  constructor(nc: NatsConnection, parts: { fleet: Fleet; clock: Clock; logger: Logger; instance: string }) {
    this.#nc = nc;
    this.#fleet = parts.fleet;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#instance = parts.instance;
  }

  /** Resolves when every profile that is there has been seen. */
  async begin(): Promise<void> {
    const bucket = await new Kvm(this.#nc).open(BUCKETS.AGENT_PROFILES.bucket);
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    const status = await bucket.status();
    if (status.values === 0) resolve();
    const watch = await bucket.watch();
    this.#stop = () => watch.stop();
    void this.#follow(watch, resolve);
    await seen;
    this.#fleet.completed(this.#clock.now());
  }

  end(): void {
    this.#stop();
  }

  /** Whether somebody plans, as far as the members say. */
  get hasPlanner(): boolean {
    return this.#hasPlanner;
  }

  /** `members`: of all services. */
  members(members: readonly Member[]): void {
    this.#hasPlanner = members.some(({ service }) => service === PLANNER);
    const served = members.flatMap(({ service, agents = [] }) => (service === DEVICE_AGENT ? agents : []));
    this.#fleet.agents(this.#agents.see(served, performance.now()));
    const running = new Map<string, number>();
    for (const member of members) {
      if (member.service !== ORCHESTRATOR || member.instance === this.#instance) continue;
      for (const [deviceId, count] of Object.entries(member.running))
        running.set(deviceId, (running.get(deviceId) ?? 0) + count);
    }
    this.#fleet.others(running);
  }

  async #follow(watch: AsyncIterable<KvWatchEntry>, seen: () => void): Promise<void> {
    for await (const entry of watch) {
      this.#take(entry);
      if (entry.delta === 0) seen();
    }
  }

  #take(entry: KvWatchEntry): void {
    if (entry.operation !== 'PUT') return this.#fleet.remove(entry.key);
    const parsed = AgentProfile.safeParse(readJson(entry));
    if (parsed.success) this.#fleet.profile(parsed.data);
    else this.#logger.warn({ deviceId: entry.key }, 'a profile cannot be read and is passed over');
  }
}

function readJson(entry: KvWatchEntry): unknown {
  try {
    return entry.json();
  } catch {
    return undefined;
  }
}
