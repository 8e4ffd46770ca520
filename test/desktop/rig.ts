import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, chown, constants, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ToolClient, type ToolAnswer, type ToolPart } from '#libs/mcp';
import type { DesktopApplication, DesktopSettings, Json } from '#proto';
import { until } from '../../services/device-client/testing/until.js';
import { OwnProcesses } from './own-processes.js';

/** What a desktop is made of, and the packages of Debian that have it. */
const PARTS: Readonly<Record<string, string>> = {
  Xvfb: 'xvfb',
  openbox: 'openbox',
  'dbus-daemon': 'dbus-daemon',
  mousepad: 'mousepad',
  xterm: 'xterm',
  setpriv: 'util-linux',
};
/** Those that are on no path. */
const FILES: Readonly<Record<string, string>> = {
  '/usr/libexec/at-spi-bus-launcher': 'at-spi2-core',
  '/usr/lib/openssh/gnome-ssh-askpass': 'ssh-askpass-gnome',
};
const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'dist/services/desktop-tools/main.js');
const CLIENT = join(ROOT, 'dist/services/device-client/main.js');
/** Whose desktop it is when tests run as root: nobody's. */
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

const isThere = (path: string, mode = constants.X_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** Why this machine has no desktop for tests, in a sentence; undefined when it has. */
export async function whyNoDesktop(): Promise<string | undefined> {
  const places = (process.env['PATH'] ?? '').split(delimiter);
  const missing: string[] = [];
  for (const [program, name] of Object.entries(PARTS)) {
    const found = await Promise.all(places.map((place) => isThere(join(place, program))));
    if (!found.includes(true)) missing.push(name);
  }
  for (const [path, name] of Object.entries(FILES)) if (!(await isThere(path))) missing.push(name);
  if (missing.length > 0) return `this machine has not the packages ${missing.join(', ')}`;
  if (isRoot && !(await isForEverybody(PROGRAM))) return `others than root cannot read ${PROGRAM}`;
  return (await isThere(PROGRAM, constants.R_OK))
    ? undefined
    : `there is no ${PROGRAM}; start with ./orrery test desktop`;
}

/** Whether displays of this machine can be VNC servers. */
export async function hasVnc(): Promise<boolean> {
  const places = (process.env['PATH'] ?? '').split(delimiter);
  return (await Promise.all(places.map((place) => isThere(join(place, 'Xvnc'))))).includes(true);
}

/** The larger programs that this machine has; which are missing is said, and what needs them is skipped. */
export async function largePrograms(): Promise<{ readonly hasBrowser: boolean; readonly hasSpreadsheet: boolean }> {
  const found = async (path: string, what: string, name: string): Promise<boolean> => {
    const is = await isThere(path);
    if (!is) process.stderr.write(`desktop: no ${what} is used, because this machine has not the package ${name}.\n`);
    return is;
  };
  return {
    hasBrowser: await found('/usr/bin/chromium', 'browser', 'chromium'),
    hasSpreadsheet: await found('/usr/bin/localc', 'spreadsheet', 'libreoffice-calc'),
  };
}

async function isForEverybody(path: string): Promise<boolean> {
  for (const place of [await realpath(path), await realpath(process.execPath)]) {
    const test = spawn('setpriv', [...AS_NOBODY, 'test', '-r', place], { stdio: 'ignore' });
    const [code] = (await once(test, 'exit')) as [number | null];
    if (code !== 0) return false;
  }
  return true;
}

const SCREEN = ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp', '-noreset'];

/** What a device client joins with. */
interface Joining {
  readonly token?: string;
  /** A server of UFO, which knows the device by this name. */
  readonly foreignAs?: string;
  readonly applications?: Readonly<Record<string, Partial<DesktopApplication>>>;
  /** Of the device, by their names. */
  readonly secrets?: Readonly<Record<string, string>>;
}

const AS_NOBODY = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** A display and what it is told. */
function displayOf(vncPort: number | undefined): readonly [string, ...string[]] {
  if (vncPort === undefined) return ['Xvfb', ...SCREEN];
  const open = ['-SecurityTypes', 'None', '-localhost', '-rfbport', String(vncPort)];
  return ['Xvnc', '-displayfd', '3', '-geometry', '1280x800', '-depth', '24', '-nolisten', 'tcp', '-noreset', ...open];
}

/** A desktop of its own: display, window manager, buses, home, and a user who may do nothing else. */
export class DesktopRig {
  readonly dir: string;
  readonly #processes: OwnProcesses;
  readonly #clients: ToolClient[] = [];
  display = '';
  bus = '';

  private constructor(dir: string) {
    this.dir = dir;
    this.#processes = new OwnProcesses(dir);
  }

  /** `vncPort`: where its screen is passed on from, by a display that is a VNC server. */
  static async start(vncPort?: number): Promise<DesktopRig> {
    const dir = await mkdtemp(join(tmpdir(), 'orrery-desktop-'));
    const rig = new DesktopRig(dir);
    try {
      await rig.#homes();
      const [server, ...words] = displayOf(vncPort);
      rig.display = `:${await rig.#told(server, words)}`;
      rig.bus = await rig.#told('dbus-daemon', ['--session', '--nofork', '--print-address=3']);
      rig.start('openbox', ['--sm-disable']);
    } catch (error) {
      await rig.end();
      throw error;
    }
    return rig;
  }

  get home(): string {
    return join(this.dir, 'home');
  }

  file(name: string): string {
    return join(this.home, name);
  }

  async text(name: string): Promise<string> {
    return readFile(this.file(name), 'utf8').catch(() => '');
  }

  async write(name: string, text: string): Promise<string> {
    await writeFile(this.file(name), text);
    await this.#give(this.file(name));
    return this.file(name);
  }

  /** A directory of its user, beside the files of its programs. */
  async directory(name: string): Promise<string> {
    const path = join(this.dir, name);
    await mkdir(path, { mode: 0o700, recursive: true });
    await this.#give(path);
    return path;
  }

  /** A program on this desktop, as its user. */
  start(command: string, args: readonly string[]): ChildProcess {
    const [program, ...words] = isRoot ? ['setpriv', ...AS_NOBODY, command, ...args] : [command, ...args];
    const child = spawn(program ?? command, words, {
      env: this.#env(),
      cwd: this.home,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      // A session of its own, by which all that it starts is found.
      detached: true,
    });
    return child;
  }

  /** The display ends as a crash ends it, and another one is in its place: what was shown there is gone. */
  async anotherDisplay(): Promise<void> {
    for (const pid of await this.processes('Xvfb')) process.kill(pid, 'SIGKILL');
    await until(async () => ((await this.processes('Xvfb')).length === 0 ? true : undefined));
    await this.#told('Xvfb', [this.display, ...SCREEN]);
    this.start('openbox', ['--sm-disable']);
  }

  /** The tools as a device client has them, on real MCP, as the user of the desktop. */
  async tools(settings: Partial<DesktopSettings> = {}): Promise<DesktopHands> {
    const asked: DesktopSettings = {
      display: this.display,
      bus: this.bus,
      applications: { mousepad: { command: '/usr/bin/mousepad', args: [], files: [this.home] } },
      ...settings,
    };
    const words = [process.execPath, PROGRAM, JSON.stringify(asked)];
    const [command = '', ...args] = isRoot ? ['setpriv', ...AS_NOBODY, ...words] : words;
    const { DISPLAY: _, DBUS_SESSION_BUS_ADDRESS: __, ...env } = this.#env();
    const client = new ToolClient({
      name: 'desktop',
      spec: { kind: 'stdio', command, args, env },
      onFact: () => undefined,
      monotonicMs: () => performance.now(),
    });
    this.#clients.push(client);
    client.start();
    await until(() => (client.tools.length > 0 ? true : undefined));
    return new DesktopHands(client);
  }

  /** A device client with this desktop, as its user: buses take nobody else, not even root. */
  async device(
    url: string,
    { token = 'a-token-of-tests', foreignAs, applications = { mousepad: {} }, secrets }: Joining = {},
  ): Promise<ChildProcess> {
    const desktop = { display: this.display, bus: this.bus, applications };
    const credentialIn = foreignAs === undefined ? 'header' : 'query';
    const config = await this.write('device.yaml', JSON.stringify({ tools: { desktop }, credentialIn }));
    const name = foreignAs === undefined ? [] : ['--id', foreignAs];
    const file = await this.write('token', `${token}\n`);
    const where = ['--data-dir', this.file('device'), '--jail-dir', this.file('work'), '--token-file', file];
    const hidden = secrets === undefined ? [] : ['--secrets', await this.#secrets(secrets)];
    return this.start(process.execPath, [
      CLIENT,
      'join',
      '--url',
      url,
      '--config',
      config,
      ...name,
      ...where,
      ...hidden,
    ]);
  }

  /** A directory with these secrets, one file each. */
  async #secrets(secrets: Readonly<Record<string, string>>): Promise<string> {
    const path = await this.directory('secrets');
    for (const [name, value] of Object.entries(secrets)) {
      await writeFile(join(path, name), value, { mode: 0o600 });
      await this.#give(join(path, name));
    }
    return path;
  }

  async end(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#processes.end();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** The processes of this desktop, of one program or of all. */
  processes(program?: string): Promise<number[]> {
    return this.#processes.list(program);
  }

  async #homes(): Promise<void> {
    await chmod(this.dir, 0o755);
    const settings = join(this.home, '.config/gtk-3.0');
    await mkdir(settings, { recursive: true });
    await mkdir(join(this.dir, 'run'), { mode: 0o700 });
    await mkdir('/tmp/.X11-unix', { mode: 0o1777 }).then(
      () => chmod('/tmp/.X11-unix', 0o1777),
      () => undefined,
    );
    await writeFile(
      join(settings, 'settings.ini'),
      '[Settings]\ngtk-cursor-blink=false\ngtk-enable-animations=false\n',
    );
    for (const path of [this.home, join(this.home, '.config'), settings, join(this.dir, 'run')]) await this.#give(path);
  }

  async #give(path: string): Promise<void> {
    if (isRoot) await chown(path, NOBODY, NOBODY);
  }

  #env(): Record<string, string> {
    return {
      HOME: this.home,
      XDG_RUNTIME_DIR: join(this.dir, 'run'),
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      GTK_MODULES: 'gail:atk-bridge',
      NO_AT_BRIDGE: '0',
      ...(this.display !== '' && { DISPLAY: this.display }),
      ...(this.bus !== '' && { DBUS_SESSION_BUS_ADDRESS: this.bus }),
    };
  }

  /** Starts a program that says on its descriptor 3 where it is to be found. */
  async #told(command: string, args: readonly string[]): Promise<string> {
    const child = this.start(command, args);
    const pipe = child.stdio[3] as NodeJS.ReadableStream;
    let text = '';
    pipe.setEncoding('utf8');
    for await (const part of pipe) {
      text += String(part);
      if (text.endsWith('\n')) return text.trim();
    }
    throw new Error(`${command} has ended without a word`);
  }
}

type Arguments = Readonly<Record<string, Json>>;

export interface Shown {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly state?: readonly string[];
  readonly value?: string;
  readonly application?: string;
  readonly listed?: boolean;
  readonly terminal?: boolean;
}

export interface ShownList {
  readonly result: readonly Shown[];
  readonly listing: string;
  readonly window?: { readonly application: string; readonly window: string; readonly run_directory?: string };
  readonly more?: boolean;
  readonly pictures_only?: boolean;
}

/** What an agent can do at a desktop, a word for each call. */
export class DesktopHands {
  readonly #client: ToolClient;
  readonly #beside: Arguments;

  /** `beside`: what is said with each call. */
  constructor(client: ToolClient, beside: Arguments = {}) {
    this.#client = client;
    this.#beside = beside;
  }

  /** The hands of an attempt of a task. */
  as(taskId: string, attempt: number): DesktopHands {
    return new DesktopHands(this.#client, {
      'orrery/attempt': { runId: '01JD0000000000000000000000', taskId, attempt },
    });
  }

  /** The same hands with the directory of a run. */
  within(directory: string): DesktopHands {
    return new DesktopHands(this.#client, { ...this.#beside, 'orrery/run-directory': directory });
  }

  async answer(tool: string, args: Arguments = {}, on?: Json): Promise<Extract<ToolAnswer, { kind: 'answered' }>> {
    const answer = await this.#client.call(tool, args, {
      signal: new AbortController().signal,
      timeoutMs: 60_000,
      meta: { ...this.#beside, ...(on !== undefined && { 'orrery/on': on }) },
    });
    if (answer.kind !== 'answered') throw new Error(`${tool}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Puts a secret into a field, as a device client has it done: its value goes beside the call. Says what came of it. */
  async secret({ id, name }: Shown, secret: string, value?: string): Promise<string> {
    const answer = await this.#client.call(
      'set_edit_text',
      { id, name, text: { secret } },
      {
        signal: new AbortController().signal,
        timeoutMs: 60_000,
        ...(value !== undefined && { meta: { 'orrery/secret': value } }),
      },
    );
    return JSON.stringify(answer.kind === 'answered' ? answer.value : answer);
  }

  /** The answer of a call that must succeed. */
  async ask<T = { readonly result: string; readonly changed: boolean; readonly settled: boolean }>(
    tool: string,
    args: Arguments = {},
    on?: Json,
  ): Promise<T> {
    const { isError, value } = await this.answer(tool, args, on);
    if (isError) throw new Error(`${tool}: ${JSON.stringify(value)}`);
    return value as T;
  }

  /** The sentence of a call that must be refused. */
  async refusal(tool: string, args: Arguments = {}, on?: Json): Promise<string> {
    const { isError, value } = await this.answer(tool, args, on);
    if (!isError) throw new Error(`${tool} was done: ${JSON.stringify(value)}`);
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  /** The pictures of a call, decoded from what travels. */
  async pictures(tool: string, args: Arguments = {}): Promise<Buffer[]> {
    const { parts = [] } = await this.answer(tool, args);
    return parts.flatMap((part: ToolPart) => {
      const resource = part['resource'] as { readonly blob?: string } | undefined;
      return resource?.blob === undefined ? [] : [Buffer.from(resource.blob, 'base64')];
    });
  }

  windows(): Promise<ShownList> {
    return this.ask<ShownList>('get_desktop_app_target_info');
  }

  controls(): Promise<ShownList> {
    return this.ask<ShownList>('get_app_window_controls_target_info');
  }

  /** Lists until there is such a window, and chooses it. */
  async choose(is: (window: Shown) => boolean): Promise<Shown> {
    return until(async () => {
      const window = (await this.windows()).result.find(is);
      if (window === undefined) return undefined;
      await this.ask('select_application_window', { id: window.id, name: window.name });
      return window;
    });
  }

  /** Lists until there is such a control. */
  async control(is: (control: Shown) => boolean): Promise<Shown> {
    return until(async () => (await this.controls()).result.find(is));
  }

  /** The control of this type whose name begins so, in a new listing. */
  named(type: string, name: string): Promise<Shown> {
    return this.control((control) => control.type === type && control.name.startsWith(name));
  }

  async click(type: string, name: string): Promise<void> {
    await this.on('click_input', await this.named(type, name));
  }

  /** One of the tools that act on a control. */
  on(
    tool: string,
    { id, name }: Shown,
    more: Arguments = {},
  ): Promise<{ readonly result: string; readonly changed: boolean; readonly settled: boolean }> {
    return this.ask(tool, { id, name, ...more });
  }
}
