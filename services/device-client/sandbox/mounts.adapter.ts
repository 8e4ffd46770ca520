import { readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { isAt } from './hidden-places.adapter.js';
import { isHiddenDirectory, type Laid, laidOver, modeOf, ownedByCommand } from './laid-over.adapter.js';
import type { Sandbox, WalledCommand } from './sandbox.js';

/** One mount, `options` as mount(8) names them; `path`: in the file system of the machine. */
export interface Mount {
  readonly source: string;
  readonly path: string;
  readonly type: 'none' | 'tmpfs' | 'proc';
  readonly options: readonly string[];
  /** It may have to be made first, in what is laid over what is there. */
  readonly isMade?: boolean;
}

/** In their order: everything read-only, then what is private, what is hidden, where the command works. */
export async function mountsOf(sandbox: Sandbox, place: WalledCommand): Promise<readonly Mount[]> {
  const { limits, closedFile } = sandbox;
  const { kind, views } = place.wall;
  const [all, laid] = [await mountsNow(), await laidOver(sandbox, place)];
  const [seen, isTmpSeen] = [views.includes('host-processes'), views.includes('host-tmp')];
  const covered = isTmpSeen ? COVERED_BUT_TMP : COVERED;
  const made = isTmpSeen ? ['/dev/shm'] : ['/tmp', '/dev/shm'];
  return [
    { source: '/', path: '/', type: 'none', options: ['rbind'] },
    ...all.filter(({ path }) => !covered.test(path)).map(readOnly),
    ...made.map((path) => tmpfs(path, '1777', `${limits.tmpMb}m`)),
    ...(seen ? [] : [{ source: 'proc', path: '/proc', type: 'proc', options: [...PLAIN, 'noexec'] } as const]),
    ...(isTmpSeen && kind === 'write' ? [mountOf({ path: '/tmp', as: 'writable' }, closedFile)] : []),
    ...laid.map((one) => mountOf(one, closedFile)),
    ...ownedByCommand(sandbox, laid).map(({ path }) => readOnly({ path, flags: [] })),
    ...laid.filter(({ as }) => as === 'readable').map(({ path }) => readOnly({ path, flags: flagsAt(all, path) })),
  ];
}

const PLAIN = ['nosuid', 'nodev'] as const;

const tmpfs = (path: string, mode: string, size: string): Mount => ({
  source: 'wall',
  path,
  type: 'tmpfs',
  options: [...PLAIN, `mode=${mode}`, `size=${size}`],
});

const readOnly = ({ path, flags }: Mounted): Mount => ({
  source: 'none',
  path,
  type: 'none',
  options: ['remount', 'bind', 'ro', 'nosuid', ...flags, ...(isDevices(path) ? [] : ['nodev'])],
});

function mountOf(laid: Laid, closedFile: string): Mount {
  const { path, as } = laid;
  if (as === 'file') return { source: closedFile, path, type: 'none', options: ['bind'] };
  if (isHiddenDirectory(laid)) return { ...tmpfs(path, modeOf(laid), '1m'), isMade: true };
  // With what is mounted in it, as it is outside; what can only be read has none of that, for it is made read-only by itself.
  return { source: path, path, type: 'none', options: [as === 'writable' ? 'rbind' : 'bind'], isMade: true };
}

/** Nothing below is seen any more; what can be written in /proc asks for privileges, or is about oneself. */
const COVERED = /^\/(?:tmp|dev\/shm|proc)(?:\/|$)/u;
const COVERED_BUT_TMP = /^\/(?:dev\/shm|proc)(?:\/|$)/u;

/** The devices stay: what is more than `null` in there, the user of a command may not open. */
const isDevices = (path: string): boolean => isAt(path, '/dev');

/** Flags of a mount that belong to who made it: nobody in a user namespace may leave them out. */
const KEPT_FLAGS = /^(?:nodev|noexec|noatime|nodiratime|relatime|strictatime)$/;

interface Mounted {
  readonly path: string;
  readonly flags: readonly string[];
}

/** How long it is believed that what could be reached still can be: what cannot be is a command that fails. */
const REACHED_FOR_MS = 5_000;
let last = { text: '', mounts: [] as readonly Mounted[], reached: new Set<string>(), untilMs: 0 };

/**
 * Mounts come and go: what is mounted now is what has to be read-only. Of several in one place the last one is seen; what cannot be
 * reached by who makes the wall cannot be reached behind it, and is asked for each command anew. The list comes from the memory of the kernel and waits for nothing.
 */
async function mountsNow(): Promise<readonly Mounted[]> {
  const text = readFileSync('/proc/self/mountinfo', 'utf8');
  const now = performance.now();
  if (text !== last.text) last = { text, mounts: topmost(text), reached: new Set(), untilMs: 0 };
  if (now > last.untilMs) last = { ...last, reached: new Set(), untilMs: now + REACHED_FOR_MS };
  const { mounts, reached } = last;
  const open = mounts.filter(({ path }) => !reached.has(path));
  await Promise.all(
    open.map(({ path }) =>
      access(path).then(
        () => reached.add(path),
        () => undefined,
      ),
    ),
  );
  return mounts.filter(({ path }) => reached.has(path));
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

/** As proc_pid_mountinfo(5) writes what would end a field. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\(?<octal>[0-7]{3})/gu, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
