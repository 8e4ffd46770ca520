import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { type AgentProfile, commandIdOf, DeviceAnswer, type DeviceRequest, subjects } from '#proto';
import { runIdOf } from '#libs/event-log';
import { connectBus, query } from '#libs/messaging';
import { cpuSeconds, familyOf, parents, rssBytesMax } from '../bench/processes.adapter.js';
import { DeviceProcess } from '../e2e/aip-faults-process.js';
import { dialAsAdmin, TestSystem, until } from '../e2e/system.js';

/** `ORRERY_LOAD=short`: the same in seconds, to see that it works. Its figures mean little. */
export const SHORT = process.env['ORRERY_LOAD'] === 'short';
export const scaled = <T>(full: T, short: T): T => (SHORT ? short : full);

const MIB = 1024 * 1024;
/** Descriptors that a process has of its own, beside the sockets of devices. */
const FILES_MARGIN = 256;
/** Real device clients that start at the same time. */
const STARTS_AT_ONCE = 4;
const HOUR_MS = 3_600_000;

/** A whole system with one gateway, and a connection that may speak to devices as the device-agent does. */
export class LoadSystem {
  readonly system: TestSystem;
  readonly admin: NatsConnection;
  readonly agent: NatsConnection;
  readonly gatewayUrl: string;
  readonly gatewayPid: number;
  readonly #devices: DeviceProcess[] = [];
  #commands = 0;

  private constructor(system: TestSystem, buses: readonly [NatsConnection, NatsConnection], gateway: [string, number]) {
    this.system = system;
    [this.admin, this.agent] = buses;
    [this.gatewayUrl, this.gatewayPid] = gateway;
  }

  static async start(): Promise<LoadSystem> {
    const system = await TestSystem.start('--devices', '0');
    try {
      const { nats, aip } = await system.endpoints();
      const connect = (user: string): Promise<NatsConnection> => {
        const seedFile = join(system.home, `keys/${user}.seed`);
        return connectBus({ url: nats, seedFile, name: `load ${user}`, inboxPrefix: `_INBOX_${user}` });
      };
      const buses = [await dialAsAdmin(system.home, nats), await connect('device-agent')] as const;
      return new LoadSystem(system, buses, [aip, await system.pidOf('aip-gateway')]);
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  /** Node takes as many descriptors as it may have; when those are too few, only the machine's owner can help. */
  async expectFiles(pid: number, sockets: number): Promise<void> {
    const line = /^Max open files\s+(?<soft>\d+)/mu.exec(await readFile(`/proc/${pid}/limits`, 'utf8'));
    expect(Number(line?.groups?.['soft'] ?? 0)).toBeGreaterThanOrEqual(sockets + FILES_MARGIN);
  }

  async enrol(deviceId: string): Promise<string> {
    const { token } = await query(this.admin, 'registry', 'enroll', {
      deviceId,
      admin: { tags: [], capabilities: [] },
    });
    return token;
  }

  /** Real device clients, each a process with its tools in another one. */
  async realDevices(ids: readonly string[], commandsMax: number): Promise<DeviceProcess[]> {
    const admin = { tags: [], capabilities: [], tasksMax: commandsMax };
    const shared = { system: this.system, nc: this.admin, urls: [this.gatewayUrl], admin, config: { commandsMax } };
    const started: DeviceProcess[] = [];
    for (let at = 0; at < ids.length; at += STARTS_AT_ONCE) {
      const batch = ids.slice(at, at + STARTS_AT_ONCE).map((id) => new DeviceProcess({ ...shared, id }));
      await Promise.all(batch.map((device) => device.enrol()));
      started.push(...batch);
      this.#devices.push(...batch);
    }
    return started;
  }

  async profiles(): Promise<AgentProfile[]> {
    return (await query(this.admin, 'registry', 'devices', {})).devices;
  }

  /** The profile of a device that is connected and has named its tools. */
  connected(deviceId: string): Promise<AgentProfile> {
    return until(`the profile of ${deviceId}`, async () =>
      (await this.profiles()).find((profile) => profile.deviceId === deviceId && profile.status === 'connected'),
    );
  }

  /** From the request on the bus to the outcome on the bus; no run, no log: gateway, socket, device, tool. */
  async command(profile: AgentProfile, command: string): Promise<{ ms: number; result: Record<string, unknown> }> {
    const { deviceId, session } = profile;
    if (session === null) throw new Error(`${deviceId} was never connected`);
    const attempt = { runId: runIdOf('default', `load-${++this.#commands}`), taskId: 'load', attempt: 1 };
    const [commandId, begun] = [commandIdOf(attempt), performance.now()];
    const request: DeviceRequest = {
      kind: 'run',
      commandId,
      attempt,
      deviceId,
      sessionId: session.sessionId,
      journalId: session.journalId,
      command: { tool: 'EXEC_CLI', arguments: { command, timeout: 600 } },
      priority: 0,
      notAfter: new Date(Date.now() + HOUR_MS).toISOString(),
    };
    for (;;) {
      const answer = await this.#ask(request);
      if (answer.state === 'queued' || answer.state === 'running') continue;
      const ms = performance.now() - begun;
      await this.#ask({ kind: 'stored', commandId, deviceId });
      if (answer.state !== 'finished') throw new Error(`${commandId}: ${JSON.stringify(answer)}`);
      expect(answer.outcome).toMatchObject({ state: 'COMPLETED', result: { exit_code: 0 } });
      return { ms, result: answer.outcome.result as Record<string, unknown> };
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#devices.map((device) => device.kill9()));
    await Promise.all([this.admin.close(), this.agent.close()]);
    await this.system.stop();
  }

  async #ask(request: DeviceRequest): Promise<DeviceAnswer> {
    const subject = subjects.deviceCommand(request.deviceId);
    const message = await this.agent.request(subject, JSON.stringify(request), { timeout: 30_000 });
    return DeviceAnswer.parse(message.json());
  }
}

/** How much larger processes became than they were, with all that they started. */
export class MemoryWatch {
  readonly #before: ReadonlyMap<number, number>;

  constructor(pids: readonly number[]) {
    const members = pids.flatMap((pid) => familyOf(pid, parents()));
    this.#before = new Map(members.map((member) => [member, residentBytes(member)]));
    // From now on the kernel's high-water mark is of what comes (proc(5), clear_refs).
    for (const member of this.#before.keys()) writeFileSync(`/proc/${member}/clear_refs`, '5');
  }

  /** The most, in MiB, by which one of the processes has been larger than at the beginning. */
  get growthMib(): number {
    return Math.max(...[...this.#before].map(([pid, before]) => (rssBytesMax(pid) - before) / MIB));
  }
}

/** Processor time of one process, in hundredths of a core, since it was made. */
export class CpuWatch {
  readonly #pid: number;
  readonly #begun = performance.now();
  readonly #before: number;

  constructor(pid: number) {
    this.#pid = pid;
    this.#before = cpuSeconds(pid, { children: false });
  }

  get percent(): number {
    const seconds = (performance.now() - this.#begun) / 1_000;
    return ((cpuSeconds(this.#pid, { children: false }) - this.#before) / seconds) * 100;
  }
}

export const rssMib = (pid: number): number => rssBytesMax(pid) / MIB;

function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(?<kib>\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.groups?.['kib'] ?? Number.NaN) * 1024;
}

/** One figure for people and for docs/performance.md; nothing is decided by it. */
export function say(what: string, value: string): void {
  process.stderr.write(`${SHORT ? '[short] ' : ''}${what}: ${value}\n`);
}

export const pause = (ms: number): Promise<unknown> => sleep(ms);
