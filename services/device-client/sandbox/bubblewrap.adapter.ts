import { isHiddenDirectory, type Laid, laidOver, modeOf, ownedByCommand } from './laid-over.adapter.js';
import {
  firstProcess,
  hasInternet,
  hasOwnNetwork,
  lastShell,
  unprivileged,
  withheld,
  type Sandbox,
  type SandboxPort,
  type WalledCommand,
} from './sandbox.js';
import { hasFilterFor, seccompFilter } from './seccomp-filter.js';

const FILTER_DESCRIPTOR = '3';
const MIB = 1024 * 1024;
const FILTERS = hasFilterFor(process.arch)
  ? { internet: seccompFilter(process.arch, true), none: seccompFilter(process.arch, false) }
  : undefined;

/**
 * Root puts the file system together and gives its user away behind it, for good: so owners of files and processes are shown as they
 * are, and no user namespace is needed. Whoever is not root has one, where everybody else's things seem to be nobody's.
 */
export const bubblewrap: SandboxPort = {
  hasFilter: () => hasFilterFor(process.arch),
  async confine(sandbox, place) {
    const ownNetwork = hasOwnNetwork(sandbox, place);
    const filter = hasInternet(sandbox, place) ? FILTERS?.internet : FILTERS?.none;
    return {
      file: sandbox.programs['bwrap'] ?? 'bwrap',
      args: [
        ...mountsOf(sandbox, place, await laidOver(sandbox, place)),
        '--unshare-pid',
        '--unshare-ipc',
        '--unshare-uts',
        ...(ownNetwork ? ['--unshare-net'] : []),
        '--cap-drop',
        'ALL',
        ...(sandbox.user.isOther ? GIVING_AWAY : []),
        ...(filter === undefined ? [] : ['--seccomp', FILTER_DESCRIPTOR]),
        // With its first process everything in it ends, also what left its group and its session.
        '--die-with-parent',
        // It is waited for: what stands between it and the command would be told of its end too early.
        '--as-pid-1',
        '--chdir',
        place.cwd,
        '--',
        ...firstProcess(sandbox.limits),
        // Whoever has nothing to give away is held by what bubblewrap itself drops: one program less for every command.
        ...(sandbox.user.isOther ? unprivileged(sandbox, place) : []),
        ...lastShell(place),
      ],
      env: withheld(place.env, place.given),
      input: filter,
      isInputSame: true,
    };
  },
};

/** What setpriv needs to change the user, and to lose this as well; and to start in a directory that is only for that user. */
const GIVING_AWAY = ['SETUID', 'SETGID', 'SETPCAP', 'DAC_READ_SEARCH'].flatMap((name) => ['--cap-add', `CAP_${name}`]);

/** In their order: later ones lie on top. */
function mountsOf(sandbox: Sandbox, place: WalledCommand, laid: readonly Laid[]): string[] {
  const { closedFile, limits } = sandbox;
  const tmp = (path: string): string[] => ['--perms', '1777', '--size', String(limits.tmpMb * MIB), '--tmpfs', path];
  // The list of processes is that of whose it is; a process is signalled by its number in the own one all the same.
  const { kind, views } = place.wall;
  const proc = views.includes('host-processes') ? ['--ro-bind', '/proc', '/proc'] : ['--proc', '/proc'];
  return [
    '--ro-bind',
    '/',
    '/',
    ...(views.includes('host-devices') ? ['--dev-bind', '/dev', '/dev'] : ['--dev', '/dev']),
    ...tmp('/dev/shm'),
    ...proc,
    ...(views.includes('host-tmp') ? [kind === 'write' ? '--bind' : '--ro-bind', '/tmp', '/tmp'] : tmp('/tmp')),
    ...laid.flatMap((one) => mountOf(one, closedFile)),
    ...ownedByCommand(sandbox, laid).flatMap(({ path }) => ['--remount-ro', path]),
  ];
}

function mountOf(laid: Laid, closedFile: string): string[] {
  const { path, as } = laid;
  if (as === 'file') return ['--ro-bind', closedFile, path];
  if (isHiddenDirectory(laid)) return ['--perms', modeOf(laid), '--tmpfs', path];
  return [...ancestorsOf(path), as === 'writable' ? '--bind' : '--ro-bind', path, path];
}

/** Those that are not there, in what is private or hidden, would be made for root alone. */
const ancestorsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1, -1)
    .flatMap((_, index, names) => ['--perms', '0755', '--dir', `/${names.slice(0, index + 1).join('/')}`]);
