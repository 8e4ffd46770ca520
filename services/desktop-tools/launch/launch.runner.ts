import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { settled, type Acting, type DeskState } from '../desk/index.js';
import { DEVTOOLS_PIPE, type Browsers } from '../devtools/index.js';
import type { DesktopWindow } from '../display/index.js';
import { DesktopFault, pause } from '../faults/index.js';
import { placeIn } from './given-files.adapter.js';

/** A large office program on a busy machine. */
const WINDOW_MS = 30_000;
const LOOK_MS = 100;
const ARGUMENTS_MAX = 64;

/** What makes programs tell what is in their windows. */
const ACCESSIBLE = {
  GTK_MODULES: 'gail:atk-bridge',
  NO_AT_BRIDGE: '0',
  QT_LINUX_ACCESSIBILITY_ALWAYS_ON: '1',
  QT_ACCESSIBILITY: '1',
  ACCESSIBILITY_ENABLED: '1',
  SAL_USE_VCLPLUGIN: 'gtk3',
} as const;

/** What programs are started on. */
export interface LaunchedOn {
  readonly desk: DeskState;
  readonly acting: Acting;
  /** Who is told of browsers that can be asked for their pages. */
  readonly browsers: Pick<Browsers, 'add'>;
}

/** Starts programs, and waits for their windows. */
export class Launcher {
  readonly #desk: DeskState;
  readonly #acting: Acting;
  readonly #browsers: Pick<Browsers, 'add'>;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor({ desk, acting, browsers }: LaunchedOn, env: Readonly<Record<string, string | undefined>>) {
    this.#desk = desk;
    this.#acting = acting;
    this.#browsers = browsers;
    this.#env = env;
  }

  /** The window of the program: a new one, or one that it had and brought to the front. */
  async launch(name: string, given: readonly string[]): Promise<DesktopWindow> {
    const { windows } = await this.#desk.reach();
    const { applications } = this.#desk.settings;
    const application = Object.hasOwn(applications, name) ? applications[name] : undefined;
    if (application?.command === undefined) {
      const known = Object.keys(applications).filter((one) => applications[one]?.command !== undefined);
      throw new DesktopFault(
        'APPLICATION',
        `this device starts ${known.join(', ') || 'no program'}, and not ${JSON.stringify(name)}`,
      );
    }
    await checked(given, application.files);
    const before = await windows.list();
    const started = await this.#start(application.command, [...application.args, ...given]);
    return this.#window(name, before, started);
  }

  async #start(command: string, args: readonly string[]): Promise<Started> {
    const { display, bus, authority } = this.#desk.settings;
    const own = Object.fromEntries(
      KEPT.flatMap((name) => (this.#env[name] === undefined ? [] : [[name, this.#env[name]]])),
    );
    const child = spawn(command, args, {
      // It stays when these tools end: what a person sees on the screen is not taken away. A browser whose pages are asked
      // for does not: what it is asked through belongs to nobody then.
      detached: true,
      stdio: args.includes(DEVTOOLS_PIPE) ? ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] : 'ignore',
      cwd: this.#env['HOME'] ?? '/',
      env: {
        ...own,
        ...ACCESSIBLE,
        DISPLAY: display,
        DBUS_SESSION_BUS_ADDRESS: bus,
        ...(authority !== undefined && { XAUTHORITY: authority }),
      },
    });
    child.on('error', () => undefined);
    child.unref();
    if (child.pid === undefined) throw new DesktopFault('APPLICATION', `${command} could not be started`);
    const [, , , to, from] = child.stdio;
    if (to && from) this.#browsers.add(child.pid, to as Writable, from as Readable);
    return child;
  }

  async #window(name: string, before: readonly DesktopWindow[], started: Started): Promise<DesktopWindow> {
    const { windows, screen } = await this.#desk.reach();
    const known = new Set(before.map(({ handle }) => handle));
    const end = performance.now() + WINDOW_MS;
    while (performance.now() < end) {
      const code = started.exitCode;
      const own = (await windows.list()).filter(({ application }) => application === name);
      const fresh = own.find(({ handle }) => !known.has(handle));
      // One that has ended well has handed its files to a window that was there.
      const window = fresh ?? (code === 0 ? own[0] : undefined);
      if (window !== undefined) {
        await windows.activate(window.handle);
        await settled(screen, window.rect);
        const now = (await windows.list()).find(({ handle }) => handle === window.handle);
        if (now !== undefined) return this.#acting.choose(now);
      }
      if (code !== null && code !== 0) throw new DesktopFault('APPLICATION', `${name} ended at once with code ${code}`);
      await pause(LOOK_MS);
    }
    throw new DesktopFault('NOT_RESPONDING', `${name} was started and has shown no window for ${WINDOW_MS / 1_000} s`);
  }
}

/** A program that was started. */
interface Started {
  readonly exitCode: number | null;
}

const KEPT = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TMPDIR',
  'TZ',
  'USER',
  'XDG_RUNTIME_DIR',
] as const;

/** Only files, and only those that the device gives to this program: an option could be anything. */
async function checked(given: readonly string[], directories: readonly string[]): Promise<void> {
  if (given.length > ARGUMENTS_MAX) throw new DesktopFault('APPLICATION', `at most ${ARGUMENTS_MAX} arguments`);
  for (const path of given) {
    if ((await placeIn(path, directories)) !== undefined) continue;
    const what = JSON.stringify(path.slice(0, 200));
    throw new DesktopFault('APPLICATION', `${what} is not the path of a file that this program may be given`);
  }
}
