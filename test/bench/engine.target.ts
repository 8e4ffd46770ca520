import { connectDevice, instantDevice } from '#libs/testing';
import { Bus } from './bus.adapter.js';
import { ServiceProcess } from './service-process.runner.js';
import type { BenchTarget, Ended, Execution, Floor, Plan } from './target.js';

const DEVICES = 8;
/** The same name before and after a crash, as a supervisor starts it: it takes its partitions back at once. */
const INSTANCE = 'bench';
/** Nothing of the bench waits for a device: the plans say which one. */
const deviceOf = (index: number): string => `bench-${index % DEVICES}`;

export interface EngineOptions {
  /** The store of the log is made in here. */
  readonly parent: string;
  /** Writes a CPU profile of the orchestrator into a directory in here. */
  readonly profileDirectory: string | undefined;
}

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
}

/** The orchestrator as a process, the log fsynced, and a device in this process that answers each start with one append. */
export class EngineTarget implements BenchTarget {
  readonly name = 'orrery';
  readonly #options: EngineOptions;
  readonly #executions = new Map<string, Execution[]>();
  readonly #waiters = new Map<string, Waiter[]>();
  readonly #ended: ServiceProcess[] = [];
  #bus: Bus | undefined;
  #orchestrator: ServiceProcess | undefined;
  #device: { stop(): void } | undefined;
  #requests = 0;
  #swept = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get bus(): Bus {
    if (this.#bus === undefined) throw new Error('not started');
    return this.#bus;
  }

  async start(): Promise<void> {
    this.#bus = await Bus.open(this.#options.parent);
    const { nc } = this.#bus;
    await Promise.all(Array.from({ length: DEVICES }, (_, index) => connectDevice(nc, deviceOf(index))));
    this.#device = instantDevice(nc, {
      answer: ({ taskId }, runId) => {
        this.#execute(runId, taskId);
        return { status: 'completed', result: { value: { exit_code: 0, stdout: '' } } };
      },
    });
    this.#orchestrator = this.#fork();
    await this.#orchestrator.ready;
  }

  async submit(plan: Plan): Promise<string> {
    const requestId = `${plan.name}-${++this.#requests}`;
    if (plan.waves !== undefined) await this.#connect(plan.waves.devices);
    const tasks = plan.tasks.map((id, index) => ({
      id,
      name: id,
      ...(plan.waves === undefined
        ? { target: { device: deviceOf(index) } }
        : { target: { tags: ['swept'] }, forEach: { wave: plan.waves.size } }),
      command: { tool: 'NOOP' },
    }));
    const lines = plan.lines.map(([from, to]) => ({ id: `${from}-${to}`, from, to }));
    return this.bus.submit({ requestId, constellation: { name: plan.name, tasks, lines } });
  }

  untilEnd(runId: string): Promise<Ended> {
    return this.bus.untilEnd(runId);
  }

  async untilExecuted(runId: string, count: number): Promise<void> {
    if (this.executions(runId).length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.set(runId, [...(this.#waiters.get(runId) ?? []), { count, resolve }]);
    await promise;
  }

  executions(runId: string): readonly Execution[] {
    return this.#executions.get(runId) ?? [];
  }

  cpuSeconds(): Readonly<Record<string, number>> {
    const orchestrators = [this.#orchestrator, ...this.#ended];
    const orchestrator = orchestrators.reduce((sum, service) => sum + (service?.cpuSeconds() ?? 0), 0);
    return { orchestrator, ...this.bus.cpuSeconds() };
  }

  rssBytes(): Readonly<Record<string, number>> {
    const all = [this.#orchestrator, ...this.#ended];
    return { orchestrator: Math.max(...all.map((service) => service?.rssBytesMax()[0] ?? 0)) };
  }

  killScheduler(): void {
    if (this.#orchestrator === undefined) throw new Error('not started');
    this.#orchestrator.kill();
    this.#ended.push(this.#orchestrator);
    this.#orchestrator = this.#fork();
  }

  appended(): Promise<Readonly<Record<string, number>>> {
    return this.bus.appended(['RUNS', 'ATTEMPTS', 'TIMERS']);
  }

  floor(runIds: readonly string[]): Promise<Floor> {
    return this.bus.floor(runIds);
  }

  async stop(): Promise<void> {
    this.#device?.stop();
    await this.#orchestrator?.stop();
    await this.#bus?.close();
  }

  /** Devices that only a task over many of them means, in time for it. */
  async #connect(count: number): Promise<void> {
    const { nc } = this.bus;
    const ids = Array.from({ length: count }, (_, index) => `swept-${index}`).slice(this.#swept);
    this.#swept = Math.max(this.#swept, count);
    await Promise.all(ids.map((id) => connectDevice(nc, id, { tags: ['swept'] })));
  }

  #execute(runId: string, task: string): void {
    const executions = this.#executions.get(runId) ?? [];
    this.#executions.set(runId, executions);
    executions.push({ task, at: performance.now() });
    for (const { count, resolve } of this.#waiters.get(runId) ?? []) if (executions.length >= count) resolve();
  }

  #fork(): ServiceProcess {
    const { profileDirectory } = this.#options;
    return new ServiceProcess({
      name: 'orchestrator',
      directory: this.bus.directory,
      env: { ...this.bus.env, ORRERY_INSTANCE: INSTANCE },
      profileDirectory,
    });
  }
}
