import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { requestRun } from '#libs/testing';
import { AgentProfile, BUCKETS, type FailureOutcome, type RunId } from '#proto';
import { type EffectCommand, effectOf, FaultDevice } from './aip-faults-device.js';
import { CommitWatch } from './commit-watch.js';
import { dialAsAdmin, TestSystem } from './system.js';

/** What the log says became of one command. */
export interface Fate {
  readonly id: string;
  readonly outcome: 'completed' | FailureOutcome;
  readonly code: string | null;
}

/** One change of a device's profile, at an instant of `performance.now()`. */
export interface Sighting {
  readonly profile: AgentProfile;
  readonly at: number;
}

export interface RigOptions {
  /** Of the services. */
  readonly environment: NodeJS.ProcessEnv;
  /** Of the devices. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly gateways: number;
}

/** A whole system, devices behind proxies, and an observer that sees what is stored. */
export class FaultRig {
  readonly system: TestSystem;
  readonly nc: NatsConnection;
  readonly watch: CommitWatch;
  readonly sightings: Sighting[] = [];
  readonly #config: RigOptions['config'];
  readonly #devices = new Map<string, FaultDevice>();
  readonly #waiters = new Set<{ fits: (seen: Sighting) => boolean; resolve: (seen: Sighting) => void }>();

  private constructor(system: TestSystem, nc: NatsConnection, watch: CommitWatch, config: RigOptions['config']) {
    this.system = system;
    this.nc = nc;
    this.watch = watch;
    this.#config = config;
    void this.#follow();
  }

  static async start({ environment, config, gateways }: RigOptions): Promise<FaultRig> {
    Object.assign(process.env, environment);
    const system = await TestSystem.start('--devices', '0', '--replicas', `aip-gateway=${gateways}`);
    try {
      const { nats } = await system.endpoints();
      const nc = await dialAsAdmin(system.home, nats);
      return new FaultRig(system, nc, await CommitWatch.start(nc), config);
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  /** Where a gateway takes devices: 1 and up. Only the log of the second one says it. */
  async gatewayUrl(number = 1): Promise<string> {
    const name = number === 1 ? 'aip-gateway' : `aip-gateway-${number}`;
    // What comes after the last end of a line is being written.
    const lines = (await readFile(join(this.system.home, 'logs', `${name}.log`), 'utf8')).split('\n').slice(0, -1);
    const ports = lines.flatMap((line) =>
      line.includes('"ready"') ? [JSON.parse(line) as { ports: { aip: number } }] : [],
    );
    const port = ports.at(-1)?.ports.aip;
    if (port === undefined) throw new Error(`${name} is not ready`);
    return `ws://127.0.0.1:${port}/ws`;
  }

  /** A device that takes so many commands at once, the same under the same name; by default it knows the first gateway only. */
  async device(id: string, tasksMax: number, gateways = [1]): Promise<FaultDevice> {
    const known = this.#devices.get(id);
    if (known !== undefined) return known;
    const urls = await Promise.all(gateways.map((number) => this.gatewayUrl(number)));
    const admin = { tags: [], capabilities: [], tasksMax };
    const { system, nc } = this;
    const device = await FaultDevice.start({ system, nc, id, urls, admin, config: this.#config });
    this.#devices.set(id, device);
    await this.untilSession(id, () => true);
    return device;
  }

  /** Gives a device commands, all in one run; they start as it has room for them. */
  give(device: { readonly id: string }, requestId: string, commands: readonly EffectCommand[]): Promise<RunId> {
    const tasks = commands.map((command) => ({
      id: command.id,
      name: command.id,
      target: { device: device.id },
      command: { tool: 'EXEC_CLI', arguments: { command: effectOf(command), timeout: 600 } },
    }));
    return this.submit(requestId, tasks);
  }

  async submit(requestId: string, tasks: readonly object[]): Promise<RunId> {
    const request = { requestId, constellation: { name: requestId, tasks, lines: [] } };
    const seed = await readFile(join(this.system.home, 'keys/cli.seed'), 'utf8');
    return requestRun(this.nc, request, seed.trim());
  }

  /** What became of each task of a run, when the run has ended. */
  async fates(runId: RunId): Promise<Fate[]> {
    await this.watch.untilEnd(runId);
    const events = this.watch.seen
      .filter(({ commit }) => commit.runId === runId)
      .flatMap(({ commit }) => commit.events);
    return events.flatMap((event): Fate[] => {
      if (event.type === 'TASK_COMPLETED') return [{ id: event.data.taskId, outcome: 'completed', code: null }];
      if (event.type !== 'TASK_FAILED') return [];
      const { taskId, error } = event.data;
      return [{ id: taskId, outcome: error.outcome, code: error.code }];
    });
  }

  /** The first profile of the device since then that shows it connected, with a session that passes. */
  untilSession(deviceId: string, passes: (profile: AgentProfile) => boolean, since = 0): Promise<Sighting> {
    return this.untilSeen(deviceId, (profile) => profile.status === 'connected' && passes(profile), since);
  }

  /** The first such profile of the device since then, of those seen already or to come. */
  untilSeen(deviceId: string, passes: (profile: AgentProfile) => boolean, since = 0): Promise<Sighting> {
    const fits = ({ profile, at }: Sighting): boolean =>
      profile.deviceId === deviceId && at >= since && passes(profile);
    const found = this.sightings.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => void this.#waiters.add({ fits, resolve }));
  }

  /** The session it has, or had last. */
  sessionOf(deviceId: string): string | undefined {
    return this.sightings.findLast(({ profile }) => profile.deviceId === deviceId)?.profile.session?.sessionId;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#devices.values()].map((device) => device.stop()));
    this.watch.stop();
    await this.nc.close();
    await this.system.stop();
  }

  async #follow(): Promise<void> {
    const bucket = await new Kvm(this.nc).open(BUCKETS.AGENT_PROFILES.bucket);
    for await (const entry of await bucket.watch()) {
      if (entry.operation !== 'PUT') continue;
      const sighting = { profile: AgentProfile.parse(entry.json()), at: performance.now() };
      this.sightings.push(sighting);
      for (const waiter of this.#waiters) {
        if (!waiter.fits(sighting)) continue;
        this.#waiters.delete(waiter);
        waiter.resolve(sighting);
      }
    }
  }
}
