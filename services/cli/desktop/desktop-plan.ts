// What a desktop of `up` is made of, from what is on this machine. Pure.
import type { DesktopApplication, ScreenSettings } from '#proto';
import { failure } from '../terminal/index.js';

/** The device that has the desktop. */
export const DESKTOP_ID = 'desk-1';
/** Whose the desktop is where `up` runs as root: who else runs as this user could read what agents do there, and they what is his. */
export const DESKTOP_USER = 'orrery-desk';

/** By the name of a program on a path, or by a file: what a desktop cannot be without, and the package of Debian that has it. */
const NEEDED: Readonly<Record<string, string>> = {
  openbox: 'openbox',
  'dbus-daemon': 'dbus-daemon',
  '/usr/bin/setpriv': 'util-linux',
  '/usr/libexec/at-spi-bus-launcher': 'at-spi2-core',
  '/usr/share/fonts/truetype': 'fonts-dejavu-core',
};
/** The first that is there is taken: two show themselves to who looks on, the last one needs x11vnc for that. */
const SERVERS = ['Xtigervnc', 'Xvnc', 'Xvfb'] as const satisfies readonly ScreenSettings['server'][];
const SERVER_PACKAGE = 'tigervnc-standalone-server';
const VIEWER = 'x11vnc';

type Application = Pick<DesktopApplication, 'args'> & { readonly command: string };

/** What may be used on it, where it is installed, by the name of what runs. */
const APPLICATIONS: Readonly<Record<string, Application>> = {
  mousepad: { command: '/usr/bin/mousepad', args: [] },
  'soffice.bin': { command: '/usr/bin/localc', args: ['--norestore', '--nologo', '--accept=pipe,name=desk;urp;'] },
  chromium: {
    command: '/usr/bin/chromium',
    // Its pages are asked for over the pipe that it is started with.
    args: ['--no-first-run', '--force-renderer-accessibility', '--password-store=basic', '--remote-debugging-pipe'],
  },
};
const FIRST_APPLICATION = 'mousepad';
/** It makes a wall around pages, of what a kernel gives to some only. */
const BROWSER = 'chromium';

/** Every place that is asked for: names of programs, and paths. */
export const DESKTOP_PLACES: readonly string[] = [
  ...Object.keys(NEEDED),
  ...SERVERS,
  VIEWER,
  ...Object.values(APPLICATIONS).map(({ command }) => command),
];

export interface DesktopMachine {
  readonly platform: NodeJS.Platform;
  /** Of the places that were asked for. */
  readonly there: ReadonlySet<string>;
  /** `up` runs as root. */
  readonly isRoot: boolean;
  /** The user of the desktop is known on this machine. */
  readonly hasUser: boolean;
  /** Who is not root may make namespaces. */
  readonly hasNamespaces: boolean;
  /** What that user would have to enter or to read, and may not. */
  readonly closed: string | undefined;
}

export interface DesktopPlan {
  readonly server: ScreenSettings['server'];
  /** It can be looked at. */
  readonly isShown: boolean;
  readonly applications: Readonly<Record<string, Application>>;
  /** What is not as it could be, a sentence each. */
  readonly notes: readonly string[];
}

/** Throws CliError with one sentence: what is missing, and what installs it. */
export function desktopPlan(machine: DesktopMachine): DesktopPlan {
  const { platform, there, hasNamespaces } = machine;
  if (platform !== 'linux') throw failure(`--desktop needs a machine with Linux and X11, and this is ${platform}.`);
  const applications = Object.entries(APPLICATIONS).filter(([, { command }]) => there.has(command));
  const server = SERVERS.find((name) => there.has(name));
  const packages = [
    ...(server === undefined ? [SERVER_PACKAGE] : []),
    ...Object.entries(NEEDED).flatMap(([place, name]) => (there.has(place) ? [] : [name])),
    ...(applications.length === 0 ? [FIRST_APPLICATION] : []),
  ];
  const noUser = machine.isRoot && !machine.hasUser;
  if (server === undefined || packages.length > 0 || noUser) throw failure(missing(packages, noUser));
  if (machine.closed !== undefined) {
    throw failure(
      `--desktop of root runs as ${DESKTOP_USER}, who may not read ${machine.closed}; let others read it: chmod o+rX ${machine.closed}`,
    );
  }
  const isShown = server !== 'Xvfb' || there.has(VIEWER);
  const listed = applications.filter(([name]) => name !== BROWSER || hasNamespaces);
  const notes = [
    ...(isShown ? [] : [`nobody can look at its screen, for want of a server of VNC: ${install([SERVER_PACKAGE])}`]),
    ...(listed.length === applications.length
      ? []
      : [`${BROWSER} is left out, because this kernel gives no user namespaces for the wall around its pages`]),
  ];
  return { server, isShown, applications: Object.fromEntries(listed), notes };
}

const install = (packages: readonly string[]): string =>
  `apt-get install -y --no-install-recommends ${packages.join(' ')}`;

function missing(packages: readonly string[], noUser: boolean): string {
  const what = [
    ...(packages.length === 0 ? [] : [`the packages ${packages.join(', ')}`]),
    ...(noUser ? [`the user ${DESKTOP_USER}`] : []),
  ];
  const commands = [
    ...(packages.length === 0 ? [] : [install(packages)]),
    ...(noUser ? [`useradd --system --user-group --shell /usr/sbin/nologin ${DESKTOP_USER}`] : []),
  ];
  return `--desktop needs ${what.join(' and ')}, not on this machine yet; as root: ${commands.join(' && ')}`;
}
