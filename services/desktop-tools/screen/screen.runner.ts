import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScreenSettings } from '#proto';
import { displayAuthority, viewPasswordOf } from './display-keys.js';
import { busOf, displayServer, placesOf, sessionBus, viewServer, WINDOW_MANAGER } from './display-server.js';
import { endLeft } from './left-over.adapter.js';
import { Parts } from './parts.runner.js';

const COOKIE_BYTES = 16;
const PRIVATE_DIR = 0o700;
const PRIVATE_FILE = 0o600;
/** Where servers of X keep their sockets: everybody may make one, and remove his own. */
const SOCKETS = '/tmp/.X11-unix';
const SOCKETS_MODE = 0o1777;
/** What moves by itself is never at rest, and would be waited for. */
const STILL = '[Settings]\ngtk-cursor-blink=false\ngtk-enable-animations=false\n';

interface ScreenOptions {
  /** Worked with on the screen, for as long as there is one: a device client, where it is started together with it. */
  readonly command: readonly string[];
  /** Aborted: it is to end. */
  readonly signal: AbortSignal;
  readonly onReady: (ports: Readonly<Record<string, number>>) => void;
}

/**
 * A display with a window manager and a bus of its own, until it is told to end, or one of them ends; what was started on it ends with
 * it. Resolves with the words about what ended by itself; undefined: it was told to end.
 */
export async function runScreen(
  settings: ScreenSettings,
  { command, signal, onReady }: ScreenOptions,
): Promise<string | undefined> {
  const { directory, view } = settings;
  await endLeft(directory);
  await makePlaces(settings);
  const parts = new Parts();
  const told = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
  try {
    const host = view === undefined ? '' : (await lookup(view.host)).address;
    const own = environmentOf(directory);
    const number = await Promise.race([parts.told(displayServer(settings, host), own), told]);
    if (number === undefined) return undefined;
    const display = `:${number}`;
    const env = { ...own, DISPLAY: display, DBUS_SESSION_BUS_ADDRESS: busOf(directory) };
    await Promise.race([parts.told(sessionBus(directory), env), told]);
    if (signal.aborted) return undefined;
    parts.start(WINDOW_MANAGER, env);
    const viewer = viewServer(settings, display, host);
    if (viewer !== undefined) parts.start(viewer, env);
    const [program, ...args] = command;
    // It is told of its display by its settings, and by nothing else.
    const { HOME, XDG_RUNTIME_DIR } = own;
    if (program !== undefined) parts.start({ program, args }, { ...process.env, HOME, XDG_RUNTIME_DIR }, process.cwd());
    onReady({ display: Number(number), ...(view !== undefined && { view: view.port }) });
    return await Promise.race([parts.ended(), told]);
  } finally {
    await parts.end();
    await endLeft(directory);
  }
}

async function makePlaces({ directory, view }: ScreenSettings): Promise<void> {
  const { home, authority, viewPassword } = placesOf(directory);
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIR });
  await chmod(directory, PRIVATE_DIR);
  await mkdir(SOCKETS, { mode: SOCKETS_MODE }).then(
    () => chmod(SOCKETS, SOCKETS_MODE),
    () => undefined, // it is there
  );
  const settings = join(home, '.config/gtk-3.0');
  await mkdir(settings, { recursive: true, mode: PRIVATE_DIR });
  // A person may have written others since.
  await writeFile(join(settings, 'settings.ini'), STILL, { flag: 'wx' }).catch(() => undefined);
  const privately = { mode: PRIVATE_FILE };
  await writeFile(authority, displayAuthority(randomBytes(COOKIE_BYTES)), privately);
  if (view === undefined) return;
  const password = (await readFile(view.passwordFile, 'utf8')).trim();
  await writeFile(viewPassword, viewPasswordOf(password), privately);
}

function environmentOf(directory: string): NodeJS.ProcessEnv {
  const { home, authority } = placesOf(directory);
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    LANG: process.env['LANG'] ?? 'C.UTF-8',
    HOME: home,
    XDG_RUNTIME_DIR: directory,
    XAUTHORITY: authority,
    GTK_MODULES: 'gail:atk-bridge',
    NO_AT_BRIDGE: '0',
  };
}
