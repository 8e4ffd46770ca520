import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createUser } from '@nats-io/nkeys';
import { type CommandCall, HEADER_TYPES, type RunCommit, subjects } from '#proto';
import { type ServerHandle, startPostgres } from '#libs/embedded';
import { query } from '#libs/messaging';
import { Bus } from './bus.adapter.js';
import { familyCpuSeconds, familyOf, parents, rssBytesMax, unlessGone } from './processes.adapter.js';
import { ServiceProcess } from './service-process.runner.js';
import type { BenchTarget, Ended, Execution, Floor, Plan, Work } from './target.js';

export interface PathOptions {
  /** The store of the log, the database and the devices' journals are made in here. */
  readonly parent: string;
  readonly devices: number;
  /** Whether the projection for people runs beside it. */
  readonly logging: boolean;
  readonly profileDirectory: string | undefined;
}

const SERVICES = ['orchestrator', 'registry', 'aip-gateway', 'device-agent', 'planner', 'logging'] as const;
const TOOLS = ['EXEC_CLI', 'NOOP'];
const POLL_MS = 50;
const CONNECTED_MS_MAX = 60_000;
/** More than any workload submits at once. */
const SHOWN_RUNS = 1_000;
const SETTLED_MS_MAX = 120_000;
const PRIVATE_FILE = 0o600;
const noopTool = fileURLToPath(new URL('noop-tool.main.js', import.meta.url));
const deviceId = (index: number): string => `bench-${index}`;

/** The whole system as the supervisor runs it on one machine: every service, PostgreSQL, and devices on real sockets. */
export class PathTarget implements BenchTarget {
  readonly name = 'orrery';
  readonly #options: PathOptions;
  readonly #executions = new Map<string, Execution[]>();
  readonly #services = new Map<string, ServiceProcess>();
  readonly #devices: ServiceProcess[] = [];
  #bus: Bus | undefined;
  #postgres: ServerHandle | undefined;
  #requests = 0;
  #tasks = 0;
  #gatewayPorts: Readonly<Record<string, number>> = {};

  constructor(options: PathOptions) {
    this.#options = options;
  }

  get bus(): Bus {
    if (this.#bus === undefined) throw new Error('not started');
    return this.#bus;
  }

  /** Where the first device keeps its journal: the one that plans for one device use. */
  get journalFile(): string {
    return join(this.#deviceDir(0), 'commands.journal');
  }

  get gatewayMetricsUrl(): string {
    return `http://127.0.0.1:${this.#gatewayPorts['health'] ?? 0}/metrics`;
  }

  async start(): Promise<void> {
    const { parent } = this.#options;
    this.#bus = await Bus.open(parent);
    const { nc, directory } = this.#bus;
    nc.subscribe(subjects.anyLiveRun, {
      callback: (_, message) => {
        if (message.headers?.get(HEADER_TYPES).includes('TASK_STARTED') !== true) return;
        const { runId, events } = message.json<RunCommit>();
        const at = performance.now();
        for (const { type, data } of events) if (type === 'TASK_STARTED') this.#execute(runId, data.taskId, at);
      },
    });
    this.#postgres = await startPostgres({
      dataDir: join(directory, 'postgres'),
      user: 'orrery',
      password: 'bench',
      database: 'orrery',
      dieWithParent: true,
    });
    await this.#startServices(this.#postgres.url);
    await this.#startDevices();
  }

  async submit({ name, tasks, lines, work = 'nothing', oneDevice = false }: Plan): Promise<string> {
    const { devices } = this.#options;
    const constellation = {
      name,
      tasks: tasks.map((id) => ({
        id,
        name: id,
        target: { device: deviceId(oneDevice ? 0 : this.#tasks++ % devices) },
        command: commandOf(work, id),
      })),
      lines: lines.map(([from, to]) => ({ id: `${from}-${to}`, from, to, type: 'success-only' })),
    };
    return this.bus.submit({ requestId: `${name}-${++this.#requests}`, constellation });
  }

  untilEnd(runId: string): Promise<Ended> {
    return this.bus.untilEnd(runId);
  }

  untilExecuted(): Promise<void> {
    return Promise.reject(new Error('the whole path has no workload that kills'));
  }

  executions(runId: string): readonly Execution[] {
    return this.#executions.get(runId) ?? [];
  }

  cpuSeconds(): Readonly<Record<string, number>> {
    const parentByPid = parents();
    const services = [...this.#services].map(([name, service]) => [name, service.cpuSeconds(parentByPid)]);
    const devices = this.#devices.reduce((sum, device) => sum + device.cpuSeconds(parentByPid), 0);
    const postgres = familyCpuSeconds(this.#postgres?.pid ?? 0, parentByPid);
    return { ...Object.fromEntries(services), devices, postgres, ...this.bus.cpuSeconds() };
  }

  rssBytes(): Readonly<Record<string, number>> {
    const parentByPid = parents();
    const services = [...this.#services].map(([name, service]) => [name, service.rssBytesMax(parentByPid)[0]]);
    const devices = this.#devices.map((device) => device.rssBytesMax(parentByPid));
    const postgres = familyOf(this.#postgres?.pid ?? 0, parentByPid).map((pid) => unlessGone(() => rssBytesMax(pid)));
    return {
      ...Object.fromEntries(services),
      'device-client': Math.max(...devices.map(([own]) => own)),
      'its tools': Math.max(...devices.map(([, children]) => children)),
      'postgres backend': Math.max(...postgres.map((bytes) => bytes ?? 0)),
      nats: this.bus.rssBytes(),
    };
  }

  killScheduler(): void {
    throw new Error('the whole path has no workload that kills');
  }

  appended(): Promise<Readonly<Record<string, number>>> {
    return this.bus.appended(['RUNS', 'ATTEMPTS', 'TIMERS', 'FEED']);
  }

  floor(runIds: readonly string[]): Promise<Floor> {
    return this.bus.floor(runIds);
  }

  /** Until the projection for people shows the ends of the runs. */
  async settled(runIds: readonly string[]): Promise<void> {
    if (!this.#options.logging) return;
    const deadline = performance.now() + SETTLED_MS_MAX;
    for (;;) {
      const { runs } = await query(this.bus.nc, 'logging', 'runs', { limit: SHOWN_RUNS });
      const shown = new Set(runs.filter(({ status }) => status === 'COMPLETED').map(({ runId }) => runId));
      if (runIds.every((runId) => shown.has(runId))) return;
      if (performance.now() > deadline) throw new Error('the projection did not show the ends of the runs');
      await sleep(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#devices.map((device) => device.stop()));
    await Promise.all([...this.#services.values()].map((service) => service.stop()));
    await this.#postgres?.stop();
    await this.#bus?.close();
  }

  async #startServices(databaseUrl: string): Promise<void> {
    const { logging, profileDirectory } = this.#options;
    const { directory, env } = this.bus;
    // The server asks nobody who he is; the registry signs the devices' credentials with its key all the same.
    const seedFile = join(directory, 'bench.seed');
    await writeFile(seedFile, createUser().getSeed(), { mode: PRIVATE_FILE });
    const ports = { ORRERY_AIP_PORT: '0', ORRERY_MCP_PORT: '0' };
    const own = { ORRERY_DATABASE_URL: databaseUrl, ...ports, ORRERY_NATS_SEED_FILE: seedFile };
    for (const name of SERVICES) {
      if (name === 'logging' && !logging) continue;
      const all = { ...env, ...own, ORRERY_INSTANCE: name };
      this.#services.set(name, new ServiceProcess({ name, directory, env: all, profileDirectory }));
    }
    await Promise.all([...this.#services.values()].map(({ ready }) => ready));
    this.#gatewayPorts = (await this.#services.get('aip-gateway')?.ready) ?? {};
  }

  async #startDevices(): Promise<void> {
    const { nc, directory } = this.bus;
    const ids = Array.from({ length: this.#options.devices }, (_, index) => deviceId(index));
    const configFile = join(directory, 'tools.yaml');
    // JSON is YAML.
    const mcpServers = { bench: { command: process.execPath, args: [noopTool] } };
    await writeFile(configFile, JSON.stringify({ mcpServers }));
    const url = `ws://127.0.0.1:${this.#gatewayPorts['aip'] ?? 0}/ws`;
    for (const [index, id] of ids.entries()) {
      const { token } = await query(nc, 'registry', 'enroll', { deviceId: id, admin: { tags: [], capabilities: [] } });
      const dataDir = this.#deviceDir(index);
      await mkdir(dataDir);
      const tokenFile = join(dataDir, 'token');
      await writeFile(tokenFile, token, { mode: PRIVATE_FILE });
      const files = ['--token-file', tokenFile, '--data-dir', dataDir, '--config', configFile];
      this.#devices.push(
        new ServiceProcess({
          name: id,
          service: 'device-client',
          args: ['join', '--url', url, ...files, '--log-level', 'warn'],
          env: {},
          directory,
          announces: false,
          profileDirectory: this.#options.profileDirectory,
        }),
      );
    }
    await this.#untilConnected(ids);
  }

  async #untilConnected(ids: readonly string[]): Promise<void> {
    const deadline = performance.now() + CONNECTED_MS_MAX;
    for (;;) {
      const { devices } = await query(this.bus.nc, 'registry', 'devices', {});
      const ready = devices.filter(
        ({ status, tools }) => status === 'connected' && TOOLS.every((tool) => tools.some(({ name }) => name === tool)),
      );
      const missing = ids.filter((id) => !ready.some((device) => device.deviceId === id));
      if (missing.length === 0) return;
      if (performance.now() > deadline) throw new Error(`${missing.join(', ')} did not connect`);
      await sleep(POLL_MS);
    }
  }

  #deviceDir(index: number): string {
    return join(this.bus.directory, deviceId(index));
  }

  #execute(runId: string, task: string, at: number): void {
    const executions = this.#executions.get(runId) ?? [];
    this.#executions.set(runId, executions);
    executions.push({ task, at });
  }
}

function commandOf(work: Work, task: string): CommandCall {
  switch (work) {
    case 'nothing':
      return { tool: 'NOOP', arguments: {} };
    case 'true':
      return { tool: 'EXEC_CLI', arguments: { command: 'true' } };
    case 'echo':
      return { tool: 'EXEC_CLI', arguments: { command: `echo ${task}` } };
  }
}
