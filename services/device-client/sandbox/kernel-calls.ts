import { hasFilterFor, PRCTL, seccompFilter } from './seccomp-filter.js';
import type { Mount } from './mounts.adapter.js';
import type { ExecLimits } from './sandbox.js';

/*
 * A wall as the calls of the kernel that make it, in their order, for a program that does nothing but call it: each is one word with its number, how
 * many arguments follow, and which refusal is none. Numbers are those of linux/unistd.h and the headers of each call.
 */

const NUMBERS = {
  x64: {
    capset: 126,
    chdir: 80,
    mkdirat: 258,
    mount: 165,
    pivotRoot: 155,
    prctl: PRCTL.x64,
    prlimit: 302,
    setgroups: 116,
    setresgid: 119,
    setresuid: 117,
    umount: 166,
    unshare: 272,
  },
  arm64: {
    capset: 91,
    chdir: 49,
    mkdirat: 34,
    mount: 40,
    pivotRoot: 41,
    prctl: PRCTL.arm64,
    prlimit: 261,
    setgroups: 159,
    setresgid: 149,
    setresuid: 147,
    umount: 39,
    unshare: 97,
  },
} as const satisfies Record<keyof typeof PRCTL, Record<string, number>>;
type Call = keyof (typeof NUMBERS)['x64'];

const NEW = { mounts: 0x20000, names: 0x4000000, ipc: 0x8000000, user: 0x10000000, pids: 0x20000000, net: 0x40000000 };
const MS = {
  ro: 1,
  nosuid: 2,
  nodev: 4,
  noexec: 8,
  remount: 32,
  noatime: 1024,
  nodiratime: 2048,
  bind: 4096,
  rbind: 4096 | 16384,
  relatime: 1 << 21,
  strictatime: 1 << 24,
} as const;
const PRIVATE = (1 << 18) | 16384;
const DETACH = 2;
const AT_CWD = -100;
const [PDEATHSIG, CAPBSET_DROP, SET_NO_NEW_PRIVS, SET_SECCOMP, MODE_FILTER] = [1, 24, 38, 22, 2] as const;
const SIGKILL = 9;
const RLIMIT = { cpu: 0, fsize: 1, core: 4, nproc: 6, as: 9 } as const;
const EEXIST = 17;
/** More than there are: the kernel says at which it has none any more. */
const CAPABILITIES = 64;
const CAPABILITIES_VERSION_3 = 0x20080522;

/** Bytes for the kernel to read. */
class Packed {
  constructor(readonly hex: string) {}
}
/** A program for it, by its address and length (struct sock_fprog). */
class Program extends Packed {}

type Argument = number | string | Packed;

/** What a wall is made of; each field says what, and not how. */
export interface WallInCalls {
  readonly rootDir: string;
  readonly cwd: string;
  readonly mounts: readonly Mount[];
  readonly ownNetwork: boolean;
  /** Sockets of the internet may be made. */
  readonly internet: boolean;
  readonly limits: ExecLimits & { readonly processesRefused?: number | undefined; readonly cpuGraceSeconds: number };
  /** `groups`: the primary and the supplementary one, where root gives its user away; undefined: it is who makes the wall. */
  readonly user: { readonly uid: number; readonly gid: number; readonly group: number | undefined };
}

/** The words for the program that makes the calls. */
export function wordsOf(wall: WallInCalls, arch: string): readonly string[] {
  if (!hasFilterFor(arch)) throw new Error(`There are no numbers of calls for ${arch}.`);
  const numbers = NUMBERS[arch];
  const calls = new Calls((name) => numbers[name]);
  apart(calls, wall);
  calls.fork();
  inside(calls, wall);
  calls.fork();
  asCommand(calls, wall, seccompFilter(arch, wall.internet));
  return calls.words;
}

class Calls {
  readonly words: string[] = [];
  readonly #numberOf: (name: Call) => number;

  constructor(numberOf: (name: Call) => number) {
    this.#numberOf = numberOf;
  }

  /** `refusal`: a number of an error that is none; `any`: none is one. */
  call(name: Call, args: readonly Argument[], refusal: number | 'any' | '' = ''): void {
    this.words.push(`${this.#numberOf(name)}:${args.length}:${refusal}:${name}`, ...args.map(wordOf));
  }

  write(path: string, text: string): void {
    this.words.push('write:2', wordOf(path), wordOf(text));
  }

  /** With every number below `end` as the second argument, as far as the kernel knows it. */
  each(name: Call, first: number, end: number): void {
    this.words.push(`each:${this.#numberOf(name)}:${first}:${end}`);
  }

  /** Who calls waits for whom he has made, and ends as he does; what follows is done by the latter. */
  fork(): void {
    this.words.push('fork');
  }
}

function wordOf(argument: Argument): string {
  if (typeof argument === 'number') return `i${argument}`;
  if (typeof argument === 'string') return `s${argument}`;
  return `${argument instanceof Program ? 'f' : 'h'}${argument.hex}`;
}

/** Whoever is not root has to be root of a namespace of users to mount anything. */
function apart(calls: Calls, { ownNetwork, user }: WallInCalls): void {
  const isOther = user.group !== undefined;
  const kinds = [NEW.mounts, NEW.pids, NEW.ipc, NEW.names, ...(ownNetwork ? [NEW.net] : [])];
  calls.call('unshare', [[...kinds, ...(isOther ? [] : [NEW.user])].reduce((all, one) => all | one, 0)]);
  if (isOther) return;
  calls.write('/proc/self/setgroups', 'deny');
  calls.write('/proc/self/uid_map', `0 ${user.uid} 1`);
  calls.write('/proc/self/gid_map', `0 ${user.gid} 1`);
}

/** The first process in it puts the file system together. With it everything behind the wall ends, and it ends with whom it comes from. */
function inside(calls: Calls, { rootDir, cwd, mounts, user }: WallInCalls): void {
  calls.call('prctl', [PDEATHSIG, SIGKILL, 0, 0, 0]);
  calls.call('mount', ['none', '/', 0, PRIVATE, 0]);
  // The second namespace of users, in which being root is over, is the last that can be made.
  if (user.group === undefined) calls.write('/proc/sys/user/max_user_namespaces', '1');
  const inRoot = (path: string): string => (path === '/' ? rootDir : `${rootDir}${path}`);
  const over: string[] = [];
  for (const { source, path, type, options, isMade } of mounts) {
    if (isMade === true)
      for (const missing of namesBelow(path, over)) calls.call('mkdirat', [AT_CWD, inRoot(missing), 0o755], EEXIST);
    const data = options.filter((option) => !(option in MS)).join(',');
    const flags = options.reduce((all, option) => all | (MS[option as keyof typeof MS] ?? 0), 0);
    calls.call('mount', [source, inRoot(path), type, flags, data === '' ? 0 : data]);
    if (type === 'tmpfs') over.push(path);
  }
  calls.call('chdir', [rootDir]);
  calls.call('pivotRoot', ['.', '.']);
  calls.call('umount', ['.', DETACH]);
  calls.call('chdir', [cwd]);
}

/** A path and those above it, down from the last directory that is laid over what was there. */
function namesBelow(path: string, over: readonly string[]): readonly string[] {
  const around = over.filter((one) => path.startsWith(`${one}/`)).sort((a, b) => b.length - a.length)[0];
  if (around === undefined) return [];
  const names = path.slice(around.length + 1).split('/');
  return names.map((_, index) => `${around}/${names.slice(0, index + 1).join('/')}`);
}

/** Limits, then the user, then what can be given up and not be had again, the filter last. */
function asCommand(calls: Calls, { limits, user }: WallInCalls, filter: Uint8Array): void {
  const { cpuSeconds, memoryMb, fileMb, processesRefused, cpuGraceSeconds } = limits;
  const MIB = 1024 * 1024;
  const limit = (which: number, soft: number | undefined, hard = soft): void => {
    // Who is not root may have lower ones already.
    if (soft !== undefined && hard !== undefined) calls.call('prlimit', [0, which, packed64([soft, hard]), 0], 'any');
  };
  limit(RLIMIT.core, 0);
  limit(RLIMIT.cpu, cpuSeconds, (cpuSeconds ?? 0) + cpuGraceSeconds);
  limit(RLIMIT.as, memoryMb && memoryMb * MIB);
  limit(RLIMIT.fsize, fileMb && fileMb * MIB);
  limit(RLIMIT.nproc, processesRefused);
  const { uid, gid, group } = user;
  if (group === undefined) {
    calls.call('unshare', [NEW.user]);
    calls.write('/proc/self/uid_map', `${uid} 0 1`);
    calls.write('/proc/self/gid_map', `${gid} 0 1`);
  } else {
    calls.each('prctl', CAPBSET_DROP, CAPABILITIES);
    calls.call('setgroups', [1, packed32([gid])]);
    calls.call('setresgid', [group, group, group]);
    calls.call('setresuid', [uid, uid, uid]);
  }
  calls.call('capset', [packed32([CAPABILITIES_VERSION_3, 0]), packed32([0, 0, 0, 0, 0, 0])]);
  calls.call('prctl', [SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
  calls.call('prctl', [SET_SECCOMP, MODE_FILTER, new Program(Buffer.from(filter).toString('hex')), 0, 0]);
}

function packed32(values: readonly number[]): Packed {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32LE(value, 4 * index));
  return new Packed(bytes.toString('hex'));
}

function packed64(values: readonly number[]): Packed {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, index) => bytes.writeBigUInt64LE(BigInt(value), 8 * index));
  return new Packed(bytes.toString('hex'));
}
