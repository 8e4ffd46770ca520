import { access, readFile } from 'node:fs/promises';
import { BEFORE_LOADER, filterLine, filterLoader } from './filter-loader.adapter.js';
import { isHiddenDirectory, type Laid, laidOver, modeOf, ownedByCommand } from './laid-over.adapter.js';
import {
  FILTER_PROGRAM,
  firstProcess,
  hasInternet,
  hasOwnNetwork,
  shellOf,
  unprivileged,
  type Sandbox,
  type SandboxPort,
  type WalledCommand,
} from './sandbox.js';
import { hasFilterFor } from './seccomp-filter.js';

/*
 * The same wall from programs that every Linux has. One mount(8) makes all mounts from a table in the form of fstab(5), in a
 * namespace of their own; behind it the first process waits for the command and ends everything with itself. The filter of calls is in
 * the same file, and loaded where there is perl: setpriv(1) can do so since 2.41 only.
 */
export const utilLinux: SandboxPort = {
  hasFilter: ({ programs }) => programs[FILTER_PROGRAM] !== undefined && hasFilterFor(process.arch),
  async confine(sandbox, place) {
    const { programs, user, rootDir } = sandbox;
    const { mount = 'mount', pivot_root: pivot = 'pivot_root', umount = 'umount', unshare = 'unshare' } = programs;
    const own = hasOwnNetwork(sandbox, place) ? ['--net'] : [];
    const perl = programs[FILTER_PROGRAM];
    const filter = perl === undefined ? undefined : filterLine(hasInternet(sandbox, place));
    const loader = perl === undefined || filter === undefined ? [] : filterLoader(perl);
    // Whoever has nothing to give away is held by the loader.
    const needsSetpriv = user.isOther || filter === undefined;
    const last = needsSetpriv ? unprivileged(sandbox, place, loader) : [...loader, ...shellOf(place)];
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
        ...firstProcess(sandbox.limits, scriptOf(user.isOther, filter !== undefined)),
        ...named,
        ...(user.isOther ? [] : back),
        ...last,
      ],
      input: new TextEncoder().encode(
        `${tableOf(sandbox, place, { all: await mountsNow(), laid: await laidOver(sandbox, place) })}${filter ?? ''}`,
      ),
    };
  },
};

/** Whoever loads the filter reads it at the same descriptor as mount(8) its table. */
const scriptOf = (isRoot: boolean, isFiltered: boolean): string =>
  [
    'set -e; ',
    isRoot ? '' : 'echo 1 > /proc/sys/user/max_user_namespaces; ',
    '"$1" -a -T /proc/self/fd/3; ',
    isFiltered ? BEFORE_LOADER : 'exec 3<&-; ',
    'cd "$2"; "$3" . .; "$4" -l .; cd "$5"; shift 5; set +e; ',
  ].join('');

/** Flags of a mount that belong to who made it: nobody in a user namespace may leave them out. */
const KEPT_FLAGS = /^(?:nodev|noexec|noatime|nodiratime|relatime|strictatime)$/;

interface Mounted {
  readonly path: string;
  readonly flags: readonly string[];
}

/** Those that there are, and those that are made. */
interface Mounts {
  readonly all: readonly Mounted[];
  readonly laid: readonly Laid[];
}

type Line = (source: string, path: string, how: readonly [type: string, options: string]) => string;

/** In their order: everything read-only, then what is private, what is hidden, where the command works. */
function tableOf(sandbox: Sandbox, place: WalledCommand, { all, laid }: Mounts): string {
  const { rootDir, limits, closedFile } = sandbox;
  const { kind, views } = place.wall;
  const [seen, isTmpSeen] = [views.includes('host-processes'), views.includes('host-tmp')];
  const covered = isTmpSeen ? COVERED_BUT_TMP : COVERED;
  const made = isTmpSeen ? ['/dev/shm'] : ['/tmp', '/dev/shm'];
  const line: Line = (source, path, [type, options]) =>
    `${escaped(source)} ${escaped(path === '/' ? rootDir : `${rootDir}${path}`)} ${type} ${options} 0 0`;
  const readOnly = ({ path, flags }: Mounted): string =>
    line('none', path, ['none', ['remount,bind,ro,nosuid', ...flags, ...(isDevices(path) ? [] : ['nodev'])].join(',')]);
  return [
    line('/', '/', ['none', 'rbind']),
    ...all.filter(({ path }) => !covered.test(path)).map(readOnly),
    ...made.map((path) => line('wall', path, ['tmpfs', `${PLAIN},mode=1777,size=${limits.tmpMb}m`])),
    ...(seen ? [] : [line('proc', '/proc', ['proc', `${PLAIN},noexec`])]),
    ...(isTmpSeen && kind === 'write' ? [mountOf({ path: '/tmp', as: 'writable' }, { line, closedFile })] : []),
    ...laid.map((one) => mountOf(one, { line, closedFile })),
    ...ownedByCommand(sandbox, laid).map(({ path }) => readOnly({ path, flags: [] })),
    ...laid.filter(({ as }) => as === 'readable').map(({ path }) => readOnly({ path, flags: flagsAt(all, path) })),
    '',
  ].join('\n');
}

const PLAIN = 'nosuid,nodev';

function mountOf(laid: Laid, { line, closedFile }: { readonly line: Line; readonly closedFile: string }): string {
  const { path, as } = laid;
  if (as === 'file') return line(closedFile, path, ['none', 'bind']);
  if (isHiddenDirectory(laid))
    return line('wall', path, ['tmpfs', `${PLAIN},mode=${modeOf(laid)},size=1m,X-mount.mkdir`]);
  // With what is mounted in it, as it is outside; what can only be read has none of that, for it is made read-only by itself.
  return line(path, path, ['none', as === 'writable' ? 'rbind,X-mount.mkdir=0755' : 'bind,X-mount.mkdir=0755']);
}

/** Nothing below is seen any more; what can be written in /proc asks for privileges, or is about oneself. */
const COVERED = /^\/(?:tmp|dev\/shm|proc)(?:\/|$)/u;
const COVERED_BUT_TMP = /^\/(?:dev\/shm|proc)(?:\/|$)/u;

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
