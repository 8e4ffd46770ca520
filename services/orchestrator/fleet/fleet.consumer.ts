import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { AgentProfile, BUCKETS, type Member } from '#proto';
import { agentsOf, followBucket, KnownAgents, entryValue, type BucketEntry } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { Fleet } from './fleet.js';

const ORCHESTRATOR = 'orchestrator';
const PLANNER = 'planner';

/** Keeps the fleet view up to date: profiles from the registry's bucket, running tasks from the other replicas. */
export class FleetViewConsumer {
  readonly #nc: NatsConnection;
  readonly #fleet: Fleet;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #instance: string;
  readonly #agents = new KnownAgents();
  readonly #stopped = new AbortController();
  #hasPlanner = false;
  #hasModel: boolean | undefined;

  constructor(nc: NatsConnection, parts: { fleet: Fleet; clock: Clock; logger: Logger; instance: string }) {
    this.#nc = nc;
    this.#fleet = parts.fleet;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#instance = parts.instance;
  }

  /** Resolves when every profile that is there has been seen, however often the connection breaks before that. */
  async begin(): Promise<void> {
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    const { over } = followBucket(this.#nc, {
      bucket: BUCKETS.AGENT_PROFILES.bucket,
      look: () => ({ take: (entry) => this.#take(entry), complete: resolve }),
      report: (error) => this.#logger.warn({ err: error }, 'the profiles cannot be followed'),
      signal: this.#stopped.signal,
    });
    await Promise.race([seen, over]);
    this.#fleet.completed(this.#clock.now());
  }

  end(): void {
    this.#stopped.abort();
  }

  /** Whether somebody plans, as far as the members say. */
  get hasPlanner(): boolean {
    return this.#hasPlanner;
  }

  /** Whether some planner has a model to ask; undefined: none says so, and not all say that they have none. */
  get hasModel(): boolean | undefined {
    return this.#hasModel;
  }

  /** `members`: of all services. */
  members(members: readonly Member[]): void {
    const planners = members.filter(({ service }) => service === PLANNER);
    this.#hasPlanner = planners.length > 0;
    const hasNone = planners.length > 0 && planners.every(({ model }) => model === false);
    this.#hasModel = planners.some(({ model }) => model === true) || (hasNone ? false : undefined);
    this.#fleet.agents(this.#agents.see(agentsOf(members), performance.now()));
    const running = new Map<string, number>();
    for (const member of members) {
      if (member.service !== ORCHESTRATOR || member.instance === this.#instance) continue;
      for (const [deviceId, count] of Object.entries(member.running))
        running.set(deviceId, (running.get(deviceId) ?? 0) + count);
    }
    this.#fleet.others(running);
  }

  #take(entry: BucketEntry): void {
    if (entry.operation !== 'PUT') return this.#fleet.remove(entry.key);
    const profile = entryValue(entry, AgentProfile);
    if (profile !== undefined) this.#fleet.profile(profile);
    else this.#logger.warn({ deviceId: entry.key }, 'a profile cannot be read and is passed over');
  }
}
