import { callMaker } from './call-maker.js';
import { wordsOf } from './kernel-calls.js';
import { type Mount, mountsOf } from './mounts.adapter.js';
import {
  CPU_GRACE_SECONDS,
  FILTER_PROGRAM,
  firstProcess,
  hasInternet,
  hasOwnNetwork,
  lastShell,
  processesRefused,
  shellOf,
  unprivileged,
  WITHHELD,
  withheld,
  type Confined,
  type Sandbox,
  type SandboxPort,
  type WalledCommand,
} from './sandbox.js';
import { hasFilterFor } from './seccomp-filter.js';

/*
 * The same wall from what every Linux has. Where there is perl it makes all calls of the kernel by itself, the filter of calls with them. Elsewhere
 * they are made by programs of util-linux, and without a filter: setpriv(1) can load one since 2.41 only.
 */
export const utilLinux: SandboxPort = {
  hasFilter: ({ programs }) => programs[FILTER_PROGRAM] !== undefined && hasFilterFor(process.arch),
  async confine(sandbox, place) {
    const perl = sandbox.programs[FILTER_PROGRAM];
    const mounts = await mountsOf(sandbox, place);
    return perl === undefined || !hasFilterFor(process.arch)
      ? byPrograms(sandbox, place, mounts)
      : byCalls(perl, { sandbox, place, mounts });
  },
};

function byCalls(
  perl: string,
  { sandbox, place, mounts }: { sandbox: Sandbox; place: WalledCommand; mounts: readonly Mount[] },
): Confined {
  const { rootDir, limits } = sandbox;
  const { uid, gid, isOther } = sandbox.user;
  const words = wordsOf(
    {
      rootDir,
      mounts,
      cwd: place.cwd,
      ownNetwork: hasOwnNetwork(sandbox, place),
      internet: hasInternet(sandbox, place),
      limits: { ...limits, processesRefused: processesRefused(limits), cpuGraceSeconds: CPU_GRACE_SECONDS },
      user: { uid, gid, group: isOther ? place.group : undefined },
    },
    process.arch,
  );
  return {
    file: perl,
    args: callMaker({ words, command: shellOf(place), withheld: WITHHELD }),
    env: withheld(place.env, Object.keys(place.env)),
  };
}

/**
 * One mount(8) makes all mounts from a table in the form of fstab(5), in a namespace of their own; behind it the first process waits for the command and
 * ends everything with itself.
 */
function byPrograms(sandbox: Sandbox, place: WalledCommand, mounts: readonly Mount[]): Confined {
  const { programs, user, rootDir } = sandbox;
  const { mount = 'mount', pivot_root: pivot = 'pivot_root', umount = 'umount', unshare = 'unshare' } = programs;
  const own = hasOwnNetwork(sandbox, place) ? ['--net'] : [];
  // In a user namespace one has to be root to mount; the second one, in which that is over, is the last that can be made.
  const back = [unshare, '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--'];
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
      ...firstProcess(sandbox.limits, scriptOf(user.isOther)),
      mount,
      rootDir,
      pivot,
      umount,
      place.cwd,
      ...(user.isOther ? [] : back),
      ...unprivileged(sandbox, place),
      ...lastShell(place),
    ],
    env: withheld(place.env, place.given),
    input: new TextEncoder().encode(mounts.map((one) => `${lineOf(one, rootDir)}\n`).join('')),
  };
}

const scriptOf = (isRoot: boolean): string =>
  [
    'set -e; ',
    isRoot ? '' : 'echo 1 > /proc/sys/user/max_user_namespaces; ',
    '"$1" -a -T /proc/self/fd/3; exec 3<&-; ',
    'cd "$2"; "$3" . .; "$4" -l .; cd "$5"; shift 5; set +e; ',
  ].join('');

function lineOf({ source, path, type, options, isMade }: Mount, rootDir: string): string {
  const all = [...options, ...(isMade === true ? ['X-mount.mkdir=0755'] : [])].join(',');
  return `${escaped(source)} ${escaped(path === '/' ? rootDir : `${rootDir}${path}`)} ${type} ${all} 0 0`;
}

/** As fstab(5) writes what would end a field. */
const escaped = (text: string): string =>
  text.replaceAll(/[\s\\#]/gu, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);
