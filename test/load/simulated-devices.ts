import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { said, start } from './child.js';
import type { LoadSystem } from './load-system.js';

const PROCESSES = 2;
/** Devices of one process dial so long after each other. */
const STAGGER_MS = 20;
const ENROLMENTS_AT_ONCE = 16;

/** What the devices of all processes have seen together. */
export interface SimulatorReport {
  readonly registered: number;
  readonly connected: number;
  readonly heartbeats: number;
  readonly commands: number;
  readonly refused: number;
  readonly complaints: number;
  /** Connections that ended, by close code and reason. */
  readonly ends: Readonly<Record<string, number>>;
}

/** Light devices on real sockets, in two processes beside the gateway's. */
export class SimulatedDevices {
  readonly #children: readonly ChildProcess[];

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
  }

  /** Enrols so many devices and lets them dial; does not wait for them. */
  static async start(load: LoadSystem, count: number): Promise<SimulatedDevices> {
    const devices: { id: string; token: string }[] = [];
    for (let at = 0; at < count; at += ENROLMENTS_AT_ONCE) {
      const ids = Array.from({ length: Math.min(ENROLMENTS_AT_ONCE, count - at) }, (_, index) => `sim-${at + index}`);
      devices.push(...(await Promise.all(ids.map(async (id) => ({ id, token: await load.enrol(id) })))));
    }
    const children = Array.from({ length: PROCESSES }, () => start('device-simulator.main.ts'));
    for (const [index, child] of children.entries()) {
      const share = devices.filter((_, at) => at % PROCESSES === index);
      child.send({ url: load.gatewayUrl, devices: share, staggerMs: STAGGER_MS });
    }
    return new SimulatedDevices(children);
  }

  get pids(): number[] {
    return this.#children.map(({ pid }) => pid ?? 0);
  }

  async report(): Promise<SimulatorReport> {
    const reports = await Promise.all(
      this.#children.map((child) => {
        const report = said<SimulatorReport>(child);
        child.send('report');
        return report;
      }),
    );
    return reports.reduce((sum, one) => added(sum, one));
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      const exited = once(child, 'exit');
      if (child.connected) child.send('stop');
      await exited;
    }
  }
}

function added(a: SimulatorReport, b: SimulatorReport): SimulatorReport {
  const ends = { ...a.ends };
  for (const [why, count] of Object.entries(b.ends)) ends[why] = (ends[why] ?? 0) + count;
  const sum = (key: Exclude<keyof SimulatorReport, 'ends'>): number => a[key] + b[key];
  return {
    registered: sum('registered'),
    connected: sum('connected'),
    heartbeats: sum('heartbeats'),
    commands: sum('commands'),
    refused: sum('refused'),
    complaints: sum('complaints'),
    ends,
  };
}
