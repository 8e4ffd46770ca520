import { chmod, lchown, mkdir, readFile } from 'node:fs/promises';
import { freePort, LOOPBACK } from '#libs/embedded';
import { keepSecret, newPassword, writeSecret } from '#libs/keys';
import { parseJson, type DesktopSettings, type ScreenSettings } from '#proto';
import { makeDir, writeJson, type Home } from '../home/index.js';
import { startNodeProcess, type LocalDevice, type NodeProcess } from '../processes/index.js';
import { failure } from '../terminal/index.js';
import { desktopUser, type OtherUser } from './desktop-machine.adapter.js';
import { DESKTOP_ID, type DesktopPlan } from './desktop-plan.js';

const PRIVATE_DIR = 0o700;
/** What belongs to another user lies below. */
const PASSABLE_DIR = 0o711;
const X_SOCKETS = '/tmp/.X11-unix';
const X_SOCKETS_MODE = 0o1777;
/** Sockets below it have names of up to twenty signs, and a path to a socket has at most 107. */
const PATH_CHARS_MAX = 85;
const SCREEN = `${DESKTOP_ID}-screen`;

interface DesktopOptions {
  readonly home: Home;
  readonly plan: DesktopPlan;
  /** What programs of devices are told, and the file of other screens that the console was told of. */
  readonly env: NodeJS.ProcessEnv;
  readonly given: string | undefined;
}

/** The desktop of a system: its files, its screen, and what its device client is started with. */
export class Desktop {
  readonly #options: DesktopOptions;
  readonly #user: OtherUser | undefined;
  readonly #port: number;
  readonly screen = SCREEN;

  private constructor(options: DesktopOptions, user: OtherUser | undefined, port: number) {
    this.#options = options;
    this.#user = user;
    this.#port = port;
  }

  /** Makes its directories, and tells the console of its screen. */
  static async prepare(options: DesktopOptions): Promise<Desktop> {
    const { home, plan, given } = options;
    const screenDir = home.desktopScreenDir(DESKTOP_ID);
    if (screenDir.length > PATH_CHARS_MAX) {
      throw failure(`--desktop: ${screenDir} is too long for sockets below it; choose a shorter ORRERY_HOME.`);
    }
    const desktop = new Desktop(options, await desktopUser(), await freePort());
    await desktop.#ownDirectories();
    if (!plan.isShown) return desktop;
    const passwordFile = home.secretFile(`${DESKTOP_ID}.view`);
    const password = await keepSecret(passwordFile, newPassword);
    await writeSecret(desktop.#file('view.password'), password);
    await desktop.#give(desktop.#file('view.password'));
    const others = given === undefined ? {} : (parseJson(await readFile(given, 'utf8')) as object);
    const own = { host: LOOPBACK, port: desktop.#port, passwordFile };
    await writeJson(home.screensFile, { ...others, [DESKTOP_ID]: own });
    return desktop;
  }

  get device(): LocalDevice {
    const dataDir = this.#options.home.desktopDataDir(DESKTOP_ID);
    return { id: DESKTOP_ID, tags: ['desktop'], agent: 'DesktopAgent', dataDir };
  }

  /** What the console has to be told of. */
  get screensFile(): string | undefined {
    return this.#options.plan.isShown ? this.#options.home.screensFile : undefined;
  }

  /** Ready when programs can be started on it. The display of an earlier one is taken again: others know it by then. */
  async startScreen(before: NodeProcess | undefined, signal: AbortSignal): Promise<NodeProcess> {
    const { home, plan, env } = this.#options;
    const directory = home.desktopScreenDir(DESKTOP_ID);
    const { display } = before?.ports ?? {};
    const view = { host: LOOPBACK, port: this.#port, passwordFile: this.#file('view.password') };
    const settings: Partial<ScreenSettings> = {
      directory,
      server: plan.server,
      ...(display !== undefined && { display: `:${display}` }),
      ...(plan.isShown && { view }),
    };
    await this.#tell('screen.json', settings);
    return startNodeProcess(
      {
        name: SCREEN,
        entry: 'desktop-tools/screen.main.js',
        args: [this.#file('screen.json')],
        env,
        cwd: home.desktopDataDir(DESKTOP_ID),
        user: this.#user,
        logFile: home.logFile(SCREEN),
        announces: true,
      },
      signal,
    );
  }

  /** What its client is started with, when its screen is there and it has been admitted. */
  async client(screen: NodeProcess): Promise<ClientOfDesktop> {
    const { home, plan } = this.#options;
    await this.#ownDirectories();
    const secrets = home.deviceSecretsDir(DESKTOP_ID);
    await makeDir(secrets, PRIVATE_DIR);
    for (const path of [secrets, home.deviceTokenFile(DESKTOP_ID)]) await this.#give(path);
    const directory = home.desktopScreenDir(DESKTOP_ID);
    const files = [`${directory}/home`];
    const applications = Object.fromEntries(
      Object.entries(plan.applications).map(([name, application]) => [name, { ...application, files }]),
    );
    const desktop: DesktopSettings = {
      display: displayOf(screen),
      bus: `unix:path=${directory}/bus`,
      authority: `${directory}/Xauthority`,
      applications,
    };
    await this.#tell('device.json', { tools: { desktop } });
    return {
      args: ['--config', this.#file('device.json')],
      env: { HOME: `${directory}/home`, XDG_RUNTIME_DIR: directory },
      user: this.#user,
      dataDir: home.desktopDataDir(DESKTOP_ID),
    };
  }

  /** For people and programs. */
  facts(screen: NodeProcess) {
    const { plan } = this.#options;
    const applications = Object.keys(plan.applications);
    return { device: DESKTOP_ID, display: displayOf(screen), applications, shown: plan.isShown };
  }

  async #ownDirectories(): Promise<void> {
    const { home } = this.#options;
    // Where it is missing: what another user makes there would be his, also for servers of others.
    if (this.#user !== undefined) {
      const made = await mkdir(X_SOCKETS, { recursive: true });
      if (made !== undefined) await chmod(X_SOCKETS, X_SOCKETS_MODE);
    }
    const passable = this.#user === undefined ? PRIVATE_DIR : PASSABLE_DIR;
    await makeDir(home.devices, passable);
    await makeDir(home.deviceDir(DESKTOP_ID), passable);
    for (const path of [home.desktopDataDir(DESKTOP_ID), home.desktopScreenDir(DESKTOP_ID)]) {
      await makeDir(path, PRIVATE_DIR);
      await this.#give(path);
    }
  }

  /** Of what we write and it reads. It may write nothing there: what we give away is what we have made. */
  #file(name: string): string {
    return `${this.#options.home.deviceDir(DESKTOP_ID)}/${name}`;
  }

  async #tell(name: string, value: object): Promise<void> {
    await writeJson(this.#file(name), value);
    await this.#give(this.#file(name));
  }

  async #give(path: string): Promise<void> {
    if (this.#user !== undefined) await lchown(path, this.#user.uid, this.#user.gid);
  }
}

export interface ClientOfDesktop {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: OtherUser | undefined;
  readonly dataDir: string;
}

const displayOf = ({ ports }: NodeProcess): string => `:${ports['display'] ?? 0}`;
