// The embedded system as one value: started in order, kept alive, stopped in reverse.
//
//   NATS ──► streams ──┬──► services ─────────────────┬──► devices ──► endpoints.json
//   PostgreSQL ────────┴──► services with a database ─┘
//
// What need not wait for another does not: the streams are looked at while PostgreSQL starts. Whatever fails on the way, everything
// that was started is stopped again.
import { rm } from 'node:fs/promises';
import type { NatsHandle, ServerHandle } from '#libs/embedded';
import type { NatsConnection } from '@nats-io/transport-node';
import { NO_WALL } from '#proto';
import { writeSecret } from '#libs/keys';
import { provision, renderActors, type Provisioned } from '#libs/messaging';
import { patienceOf, withBusAt, type BusAddress } from '../bus/index.js';
import { failure } from '../terminal/index.js';
import { Desktop, type DesktopPlan } from '../desktop/index.js';
import { enrolLocals, untilConnected } from './devices.client.js';
import { withoutCredentials, type Endpoints, type Home, isFile, makeDir, writeJson } from '../home/index.js';
import { deviceEnvironment, serviceEnvironment, withoutPassword, type SystemAddresses } from './environment.js';
import { withSecretFiles } from './given-secrets.adapter.js';
import { actorsOfKeys, busUsersOf, databasePassword, DATABASE_PASSWORD, firstAdminToken } from './keys.adapter.js';
import {
  endLeftServices,
  StartedProcesses,
  startNodeProcess,
  type NodeProcess,
  instancesOf,
  localDevices,
  type Instance,
  type LocalDevice,
  SERVICES_WITH_DATABASE,
  Supervised,
  type Running,
} from '../processes/index.js';
import { mendFullDisk } from './full-disk.runner.js';
import { portFor, startBus, startDatabase } from './stores.runner.js';
import {
  addressOf,
  endpointsOf,
  gatewaysOf,
  ownPort,
  type BusOfSystem,
  type DatabaseOfSystem,
  type ReadyInstance,
} from './where.js';

interface SystemOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly devices: number;
  readonly replicas: Readonly<Record<string, number>>;
  /** Of a device with a screen, where there is to be one. */
  readonly desktopPlan?: DesktopPlan | undefined;
  readonly now: () => number;
  /** Aborted: give up starting. */
  readonly signal: AbortSignal;
  /** One line per step, and what happens later. */
  readonly say: (text: string) => void;
  /** The administrator's token, on the first start only; it must not end up in a log. */
  readonly showToken: (token: string) => void;
}

const PRIVATE_DIR = 0o700;
const SCREENS_FILE = 'ORRERY_SCREENS_FILE';
/** PostgreSQL runs as another user when we are root: it may pass through the home, and read nothing in it. */
const PASSABLE_DIR = 0o711;

/** What is stopped at once; the groups one after the other. */
type Group = 'devices' | 'services' | 'postgres' | 'nats';
type Kept = Pick<Supervised<Running>, 'name' | 'restart' | 'stop'>;
const STOP_ORDER: readonly Group[] = ['devices', 'services', 'postgres', 'nats'];

/** Who admits devices, and where they connect to. */
const ADMITTING: readonly string[] = ['registry', 'aip-gateway'];

export class EmbeddedSystem {
  readonly #options: SystemOptions;
  readonly #started: StartedProcesses;
  readonly #instances: readonly Instance[];
  readonly #running: Record<Group, Kept[]> = {
    nats: [],
    postgres: [],
    services: [],
    devices: [],
  };
  readonly #services = new Map<Instance, Supervised<NodeProcess>>();
  #desktop: Desktop | undefined;
  #screen: Promise<Supervised<NodeProcess> | undefined> = Promise.resolve(undefined);
  #stopped: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  private constructor(options: SystemOptions) {
    this.#options = options;
    this.#started = new StartedProcesses(options.home);
    this.#instances = instancesOf(options.replicas);
  }

  static async start(options: SystemOptions): Promise<{ system: EmbeddedSystem; endpoints: Endpoints }> {
    const env = await withSecretFiles(options.home, options.env);
    const system = new EmbeddedSystem({ ...options, env });
    try {
      return { system, endpoints: await system.#startAll() };
    } catch (error) {
      await system.stop();
      throw options.signal.aborted ? failure('Stopped before everything was ready.', error) : error;
    }
  }

  /** What can be started anew by name: every process, and all of a service by its name. */
  names(): string[] {
    const kept = STOP_ORDER.flatMap((group) => this.#running[group].map(({ name }) => name));
    return [...new Set([...kept, ...this.#instances.map(({ service }) => service)])].toSorted();
  }

  /** One after the other where a service has several processes, so that the others go on. */
  async restart(name: string): Promise<void> {
    const kept = STOP_ORDER.flatMap((group) => this.#running[group]);
    const ofService = new Set(this.#instances.flatMap((one) => (one.service === name ? [one.name] : [])));
    for (const one of kept) if (one.name === name || ofService.has(one.name)) await one.restart();
  }

  /** In reverse order; the second call waits for the first. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #startAll(): Promise<Endpoints> {
    const { home, env, signal } = this.#options;
    await this.#prepareHome();
    await this.#prepareDesktop();
    this.#screen = this.#startScreen();
    const database = this.#startDatabase();
    const bus = this.#startBus();
    const starting = bus.then(
      (started) => new Map(this.#instances.map((one) => [one, this.#startService(one, started, database)])),
    );
    const services = starting.then((ready) =>
      this.#step(
        'services',
        () => allSettled([...ready.values()]),
        () => this.#instances.map(({ name }) => name).join(' '),
      ),
    );
    const connected = starting.then((ready) => this.#connectDevices(ready, bus));
    await allSettled([database, bus, services, connected, this.#screen]);
    const screen = (await this.#screen)?.current;
    const endpoints = {
      ...endpointsOf(this.#ready(), { ...(await bus), ...(await database), env }),
      ...(screen !== undefined && { desktop: this.#desktop?.facts(screen) }),
    };
    signal.throwIfAborted();
    await writeJson(home.endpointsFile, endpoints);
    return endpoints;
  }

  async #prepareHome(): Promise<void> {
    const { home, say, showToken } = this.#options;
    await makeDir(home.root, process.getuid?.() === 0 ? PASSABLE_DIR : PRIVATE_DIR);
    for (const directory of [home.keys, home.logs, home.devices, home.runbooksDir])
      await makeDir(directory, PRIVATE_DIR);
    const token = await firstAdminToken(home);
    if (token !== undefined) showToken(token);
    const left = await endLeftServices(home);
    if (left > 0) say(`ended ${left} processes that an earlier system had left`);
  }

  async #prepareDesktop(): Promise<void> {
    const { home, env, desktopPlan: plan, say } = this.#options;
    if (plan === undefined) return;
    const given = env[SCREENS_FILE] === '' ? undefined : env[SCREENS_FILE];
    this.#desktop = await Desktop.prepare({ home, plan, env: deviceEnvironment(env), given });
    for (const note of plan.notes) say(`desktop     ${note}`);
  }

  async #startScreen(): Promise<Supervised<NodeProcess> | undefined> {
    const desktop = this.#desktop;
    if (desktop === undefined) return undefined;
    return this.#step(
      'desktop',
      () => this.#keep<NodeProcess>('devices', desktop.screen, (before, signal) => desktop.startScreen(before, signal)),
      ({ current }) => {
        const { device, display, applications } = desktop.facts(current);
        return `${device} on ${display}: ${applications.join(', ')}`;
      },
    );
  }

  /** With its streams. */
  async #startBus(): Promise<BusOfSystem> {
    const bus = await this.#findBus();
    await this.#step(
      'streams',
      () => withBusAt(this.#addressOf(bus, 'admin'), (nc) => this.#provisionBus(nc, bus.foreignSeedFile), 'admin'),
      ({ created }) =>
        created.length === 0 ? 'as they have to be' : `${created.length} streams, durables and buckets made`,
    );
    return bus;
  }

  async #findBus(): Promise<BusOfSystem> {
    const { home, env } = this.#options;
    const foreign = env['ORRERY_NATS_URL'] ?? '';
    if (foreign !== '') {
      this.#options.say(`nats        ${withoutCredentials(foreign)} (not ours)`);
      const natsMonitorUrl = env['ORRERY_NATS_MONITOR_URL'];
      return { natsUrl: foreign, natsMonitorUrl, foreignSeedFile: env['ORRERY_NATS_SEED_FILE'] };
    }
    const port = await portFor('nats', env);
    const server = await this.#step(
      'nats',
      () =>
        this.#keep<NatsHandle>('nats', 'nats', async (before, signal) =>
          startBus(home, { users: await busUsersOf(home), port, signal }, before),
        ),
      ({ current }) => current.url,
    );
    const bus = (): NatsHandle => server.current;
    void mendFullDisk({ bus, directory: home.nats, say: this.#options.say, signal: this.#stopping.signal });
    return { natsUrl: server.current.url, natsMonitorUrl: server.current.monitorUrl, foreignSeedFile: undefined };
  }

  /** Whose the keys are is told to the registry: it alone writes that. */
  async #provisionBus(nc: NatsConnection, foreignSeedFile: string | undefined): Promise<Provisioned> {
    const { home } = this.#options;
    await writeSecret(home.actorsFile, renderActors(await actorsOfKeys(home, foreignSeedFile)));
    return provision(nc);
  }

  async #startDatabase(): Promise<DatabaseOfSystem> {
    const { home, env } = this.#options;
    const foreign = env['ORRERY_DATABASE_URL'] ?? '';
    if (foreign !== '') {
      this.#options.say(`postgres    ${withoutCredentials(foreign)} (not ours)`);
      return { databaseUrl: foreign, databasePasswordFile: env['ORRERY_DATABASE_PASSWORD_FILE'] };
    }
    const [password, port] = await Promise.all([databasePassword(home), portFor('postgres', env)]);
    const server = await this.#step(
      'postgres',
      () =>
        this.#keep<ServerHandle>('postgres', 'postgres', (before, signal) =>
          startDatabase(home, { password, port, signal }, before),
        ),
      ({ current }) => withoutCredentials(current.url),
    );
    return {
      databaseUrl: withoutPassword(server.current.url).url,
      databasePasswordFile: home.secretFile(DATABASE_PASSWORD),
    };
  }

  /** Resolves when it is ready. Only who has a database waits for it. */
  async #startService(instance: Instance, bus: BusOfSystem, database: Promise<DatabaseOfSystem>): Promise<void> {
    const { home } = this.#options;
    const screensFile = this.#desktop?.screensFile;
    const env = { ...this.#options.env, ...(screensFile !== undefined && { [SCREENS_FILE]: screensFile }) };
    const { service, name, first } = instance;
    const { databaseUrl, databasePasswordFile }: Partial<DatabaseOfSystem> = SERVICES_WITH_DATABASE.includes(service)
      ? await database
      : {};
    const policyFile = (await isFile(home.policyFile)) ? home.policyFile : undefined;
    const addresses: SystemAddresses = {
      ...bus,
      databaseUrl,
      databasePasswordFile,
      policyFile,
      runbooksDir: home.runbooksDir,
    };
    const port = ownPort(service);
    const wanted = first && port !== undefined ? await portFor(port, env) : 0;
    const supervised = await this.#keep<NodeProcess>('services', name, (before, signal) => {
      const ports = { health: before?.ports['health'] ?? 0, own: before?.ports[port ?? 'health'] ?? wanted };
      return startNodeProcess(
        {
          name,
          service,
          entry: `${service}/main.js`,
          env: serviceEnvironment(instance, { home, env, addresses, ports }),
          cwd: home.root,
          logFile: home.logFile(name),
          announces: true,
        },
        signal,
      );
    });
    this.#services.set(instance, supervised);
  }

  /** As soon as there is who admits them and where they connect to, whoever else is still starting. */
  async #connectDevices(ready: ReadonlyMap<Instance, Promise<void>>, bus: Promise<BusOfSystem>): Promise<void> {
    const local = [
      ...localDevices(this.#options.devices),
      ...(this.#desktop === undefined ? [] : [this.#desktop.device]),
    ];
    if (local.length === 0) return;
    await Promise.all([...ready].flatMap(([{ service }, one]) => (ADMITTING.includes(service) ? [one] : [])));
    const address = this.#addressOf(await bus, 'cli');
    await this.#step(
      'devices',
      () => withBusAt(address, (nc) => this.#startDevices(nc, local)),
      (started) => started.join(' '),
    );
  }

  /** Resolves with their ids when they are connected. */
  async #startDevices(nc: NatsConnection, devices: readonly LocalDevice[]): Promise<string[]> {
    const { home, env, say, signal } = this.#options;
    const admitted = await enrolLocals(nc, home, { devices, say });
    const gateways = gatewaysOf(this.#ready(), env);
    await allSettled(admitted.map((device) => this.#startDevice(device, gateways)));
    const ids = admitted.map(({ id }) => id);
    for (const { deviceId, wall } of await untilConnected(nc, home, { ids, signal })) {
      if (wall?.kind === NO_WALL)
        say(`${deviceId} runs commands of agents without a wall; see ${home.logFile(deviceId)}`);
    }
    return ids;
  }

  async #startDevice({ id }: LocalDevice, gateways: readonly string[]): Promise<void> {
    const { home, env } = this.#options;
    const screen = (await this.#screen)?.current;
    const own =
      screen !== undefined && id === this.#desktop?.device.id ? await this.#desktop.client(screen) : undefined;
    const directory = own?.dataDir ?? home.deviceDir(id);
    const secretsDir = home.deviceSecretsDir(id);
    // What is put there later is given to the next command that names it.
    if (own === undefined) await makeDir(secretsDir, PRIVATE_DIR);
    const urls = gateways.flatMap((url) => ['--url', url]);
    const choice = env['ORRERY_DEVICE_SANDBOX'] ?? '';
    const sandbox = choice === '' ? [] : ['--sandbox', choice];
    const where = ['--token-file', home.deviceTokenFile(id), '--data-dir', directory, '--secrets', secretsDir];
    await this.#keep<NodeProcess>('devices', id, (_, signal) =>
      startNodeProcess(
        {
          name: id,
          entry: 'device-client/main.js',
          args: ['join', ...urls, ...where, ...sandbox, ...(own?.args ?? [])],
          // What is of the system is not read by commands: the client has to know where it is.
          env: { ...deviceEnvironment(env), ...own?.env, ORRERY_HOME: home.root },
          cwd: directory,
          user: own?.user,
          logFile: home.logFile(id),
          announces: false,
        },
        signal,
      ),
    );
  }

  async #keep<T extends Running>(
    group: Group,
    name: string,
    start: (before: T | undefined, signal: AbortSignal) => Promise<T>,
  ): Promise<Supervised<T>> {
    const { now, say, signal } = this.#options;
    const onStart = ({ pid }: T): Promise<void> => this.#started.add(name, pid);
    const supervised = await Supervised.start<T>({ name, start, now, report: say, onStart }, signal);
    this.#running[group].push(supervised);
    return supervised;
  }

  #addressOf(bus: BusOfSystem, user: string): BusAddress {
    const { home, say } = this.#options;
    return { ...addressOf(bus, home, user), patience: patienceOf(this.#options, say) };
  }

  #ready(): ReadyInstance[] {
    return this.#instances.flatMap((instance) => {
      const ports = this.#services.get(instance)?.current.ports;
      return ports === undefined ? [] : [{ ...instance, ports }];
    });
  }

  async #step<T>(name: string, work: () => Promise<T>, describe: (result: T) => string): Promise<T> {
    const { now, say, signal } = this.#options;
    signal.throwIfAborted();
    const begun = now();
    const result = await work();
    const seconds = ((now() - begun) / 1000).toFixed(1).padStart(5);
    say(`${name.padEnd(10)} ${seconds} s  ${describe(result)}`);
    return result;
  }

  async #stopAll(): Promise<void> {
    this.#stopping.abort();
    for (const group of STOP_ORDER) await Promise.all(this.#running[group].map((supervised) => supervised.stop()));
    const { endpointsFile, processesFile } = this.#options.home;
    await Promise.all([endpointsFile, processesFile].map((file) => rm(file, { force: true })));
  }
}

/** Waits for all of them before it fails: what is still starting could not be stopped. */
async function allSettled(works: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
