import { access, readFile } from 'node:fs/promises';
import {
  hasOwnNetwork,
  isHiddenDirectory,
  laidOver,
  modeOf,
  unprivileged,
  type Laid,
  type Sandbox,
  type SandboxPort,
  type WalledCommand,
} from './sandbox.js';

/*
 * The same wall from programs that every Linux has. One mount(8) makes all mounts from a table in the form of fstab(5), in a
 * namespace of their own; behind it the first process waits for the command and ends everything with itself. No filter of calls:
 * setpriv(1) can load one since 2.41 only.
 */
export const utilLinux: SandboxPort = {
  views: ['host-processes'],
  hasFilter: false,
  async confine(sandbox, place) {
    const { programs, user, rootDir } = sandbox;
    const { mount = 'mount', pivot_root: pivot = 'pivot_root', umount = 'umount', unshare = 'unshare' } = programs;
    const own = hasOwnNetwork(sandbox, place) ? ['--net'] : [];
    const last = unprivileged(sandbox, place);
    // In a user namespace one has to be root to mount; the second one, in which that is over, is the last that can be made.
    const back = [unshare, '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--'];
    const named = [mount, rootDir, pivot, umount, place.cwd];
    return {
      file: unshare,
      args: [
        '--mount',
        '--pid',
        '--ipc',
        '--uts',
        ...own,
        '--fork',
        '--kill-child',
        ...(user.isOther ? [] : ['--map-root-user']),
        '--',
        '/bin/sh',
        '-c',
        user.isOther ? SCRIPT.root : SCRIPT.mapped,
        'sh',
        ...named,
        ...(user.isOther ? last : [...back, ...last]),
      ],
      input: new TextEncoder().encode(tableOf(sandbox, place, await mountsNow())),
    };
  },
};

/** The shell would say how the command was killed, to whoever reads its errors. */
const script = (first: string): string =>
  `set -e; ${first}"$1" -a -T /proc/self/fd/3; exec 3<&-; cd "$2"; "$3" . .; "$4" -l .; ` +
  'cd "$5"; shift 5; exec 9>&2 2>/dev/null; "$@" 2>&9 9>&-; exit "$?"';
const SCRIPT = {
  root: script(''),
  mapped: script('echo 1 > /proc/sys/user/max_user_namespaces; '),
} as const;

/** Flags of a mount that belong to who made it: nobody in a user namespace may leave them out. */
const KEPT_FLAGS = /^(?:nodev|noexec|noatime|nodiratime|relatime|strictatime)$/;

interface Mounted {
  readonly path: string;
  readonly flags: readonly string[];
}

type Line = (source: string, path: string, how: readonly [type: string, options: string]) => string;

/** In their order: everything read-only, then what is private, what is hidden, where the command works. */
function tableOf(sandbox: Sandbox, place: WalledCommand, all: readonly Mounted[]): string {
  const { rootDir, limits, closedFile } = sandbox;
  const seen = place.wall.views.includes('host-processes');
  const line: Line = (source, path, [type, options]) =>
    `${escaped(source)} ${escaped(path === '/' ? rootDir : `${rootDir}${path}`)} ${type} ${options} 0 0`;
  const readOnly = ({ path, flags }: Mounted): string =>
    line('none', path, ['none', ['remount,bind,ro,nosuid', ...flags, ...(isDevices(path) ? [] : ['nodev'])].join(',')]);
  const laid = laidOver(sandbox, place);
  return [
    line('/', '/', ['none', 'rbind']),
    ...all.filter(({ path }) => !COVERED.test(path)).map(readOnly),
    ...['/tmp', '/dev/shm'].map((path) => line('wall', path, ['tmpfs', `${PLAIN},mode=1777,size=${limits.tmpMb}m`])),
    ...(seen ? [] : [line('proc', '/proc', ['proc', `${PLAIN},noexec`])]),
    ...laid.map((one) => mountOf(one, { line, closedFile })),
    ...laid
      .filter((one) => isHiddenDirectory(one) || one.as === 'readable')
      .map((one) => readOnly({ path: one.path, flags: isHiddenDirectory(one) ? [] : flagsAt(all, one.path) })),
    '',
  ].join('\n');
}

const PLAIN = 'nosuid,nodev';

function mountOf(laid: Laid, { line, closedFile }: { readonly line: Line; readonly closedFile: string }): string {
  const { path, as } = laid;
  if (as === 'file') return line(closedFile, path, ['none', 'bind']);
  if (isHiddenDirectory(laid))
    return line('wall', path, ['tmpfs', `${PLAIN},mode=${modeOf(laid)},size=1m,X-mount.mkdir`]);
  return line(path, path, ['none', 'bind,X-mount.mkdir=0755']);
}

/** Nothing below is seen any more; what can be written in /proc asks for privileges, or is about oneself. */
const COVERED = /^\/(?:tmp|dev\/shm|proc)(?:\/|$)/u;

/**
 * Mounts come and go: what is mounted now is what has to be read-only. Of several in one place the last one is seen; what cannot be
 * reached by who makes the wall cannot be reached behind it.
 */
async function mountsNow(): Promise<readonly Mounted[]> {
  const mounts = topmost(await readFile('/proc/self/mountinfo', 'utf8'));
  const reached = await Promise.all(
    mounts.map(({ path }) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return mounts.filter((_, index) => reached[index]);
}

function topmost(mounts: string): Mounted[] {
  const found = new Map<string, Mounted>();
  for (const text of mounts.split('\n')) {
    const [, , , , path, flags] = text.split(' ');
    if (path === undefined || flags === undefined) continue;
    const mounted = { path: unescaped(path), flags: flags.split(',').filter((flag) => KEPT_FLAGS.test(flag)) };
    found.set(mounted.path, mounted);
  }
  return [...found.values()];
}

/** A directory has the flags of the mount in which it lies. */
function flagsAt(mounts: readonly Mounted[], path: string): readonly string[] {
  const around = mounts.filter((one) => one.path === '/' || `${path}/`.startsWith(`${one.path}/`));
  return around.sort((a, b) => b.path.length - a.path.length)[0]?.flags ?? [];
}

/** The devices stay: what is more than `null` in there, the user of a command may not open. */
const isDevices = (path: string): boolean => path === '/dev' || path.startsWith('/dev/');

/** As fstab(5) and proc_pid_mountinfo(5) write what would end a field. */
const escaped = (text: string): string =>
  text.replaceAll(/[\s\\#]/gu, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);
const unescaped = (text: string): string =>
  text.replaceAll(/\\(?<octal>[0-7]{3})/gu, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
