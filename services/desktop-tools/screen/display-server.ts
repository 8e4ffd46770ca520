import type { ScreenSettings } from '#proto';

/** A program of a screen, and what it is started with. */
export interface Part {
  readonly program: string;
  readonly args: readonly string[];
}

/** Where what belongs to a screen lies, below its directory. */
export function placesOf(directory: string) {
  return {
    home: `${directory}/home`,
    authority: `${directory}/Xauthority`,
    socket: `${directory}/bus`,
    viewPassword: `${directory}/view.password`,
  };
}

/** Of the programs on it, by which they are known to be of it. */
export const busOf = (directory: string): string => `unix:path=${placesOf(directory).socket}`;

/** It says on its descriptor 3 which display it is. `host`: the address to listen on, where it is looked on. */
export function displayServer({ directory, display, size, server, view }: ScreenSettings, host: string): Part {
  const { authority, viewPassword } = placesOf(directory);
  const named = display === undefined ? [] : [display];
  const common = ['-displayfd', '3', '-auth', authority, '-nolisten', 'tcp', '-noreset'];
  if (server === 'Xvfb') return { program: server, args: [...named, ...common, '-screen', '0', `${size}x24`] };
  const shown =
    view === undefined
      ? ['-rfbport', '-1', '-SecurityTypes', 'None']
      : ['-rfbport', `${view.port}`, '-interface', host, '-SecurityTypes', 'VncAuth', '-PasswordFile', viewPassword];
  // Who guesses must not lock out who knows; nobody who looks on changes the size, or throws out another one.
  const rules = ['-UseBlacklist=0', '-AcceptSetDesktopSize=0', '-AlwaysShared', '-DisconnectClients=0'];
  return { program: server, args: [...named, ...common, '-geometry', size, '-depth', '24', ...shown, ...rules] };
}

/** What shows a display that shows itself to nobody; undefined where nothing has to. */
export function viewServer(
  { directory, server, view }: ScreenSettings,
  display: string,
  host: string,
): Part | undefined {
  if (server !== 'Xvfb' || view === undefined) return undefined;
  const { authority, viewPassword } = placesOf(directory);
  const where = ['-display', display, '-auth', authority, '-listen', host, '-no6', '-rfbport', `${view.port}`];
  return { program: 'x11vnc', args: [...where, '-rfbauth', viewPassword, '-forever', '-shared', '-quiet', '-noipv6'] };
}

export const sessionBus = (directory: string): Part => ({
  program: 'dbus-daemon',
  args: ['--session', '--nofork', `--address=${busOf(directory)}`, '--print-address=3'],
});

export const WINDOW_MANAGER: Part = { program: 'openbox', args: ['--sm-disable'] };
