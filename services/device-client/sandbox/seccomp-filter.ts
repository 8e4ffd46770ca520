import { endianness } from 'node:os';

/*
 * A program for the kernel that looks at each of its calls (seccomp(2), BPF_* of linux/filter.h): instructions of 8 bytes, 16 bit
 * what to do, twice 8 bit how far to jump, 32 bit a value. Numbers of calls are those of linux/unistd.h.
 */

/** Calls that no program without privileges can use: who makes one wants out, and is killed with SIGSYS. */
const KILLED = {
  x64: [165, 166, 155, 167, 168, 169, 175, 313, 176, 246, 320, 163, 172, 173, 308],
  arm64: [40, 39, 41, 224, 225, 142, 105, 273, 106, 104, 294, 89, 268],
} as const;
/** The newer way to mount, the same numbers everywhere: open_tree, move_mount, fsopen to fspick, mount_setattr. */
const KILLED_EVERYWHERE = [428, 429, 430, 431, 432, 433, 442];

/**
 * Calls that ordinary programs try and do without: ptrace, process_vm_*, kcmp, keys, bpf, perf_event_open, userfaultfd,
 * open_by_handle_at, the clock, names of the machine, quotactl, chroot.
 */
const REFUSED = {
  x64: [101, 310, 311, 312, 248, 249, 250, 321, 298, 323, 304, 164, 227, 305, 170, 171, 179, 161, 153, 154, 212],
  arm64: [117, 270, 271, 272, 217, 218, 219, 280, 241, 282, 265, 170, 112, 266, 161, 162, 60, 51, 58, 18],
} as const;
/** pidfd_getfd, quotactl_fd. */
const REFUSED_EVERYWHERE = [438, 443];

/** Said not to be there, so that programs take the older call, which can be looked at: io_uring (sockets), clone3 (user namespaces). */
const ABSENT = [425, 426, 427, 435];
/** What a later kernel brings is not known to be harmless. */
const NEWEST = 466;

const SINGLE = {
  x64: { arch: 0xc000003e, clone: 56, unshare: 272, socket: 41, ioctl: 16 },
  arm64: { arch: 0xc00000b7, clone: 220, unshare: 97, socket: 198, ioctl: 29 },
} as const;
/** prctl(2), which loads it. */
export const PRCTL = { x64: 157, arm64: 167 } as const satisfies Record<keyof typeof SINGLE, number>;
/** Calls of x32 have this bit: the same work behind other numbers. */
const X32 = 0x40000000;
const NEW_USER = 0x10000000;
/** TIOCSTI and TIOCLINUX: typing into somebody's terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];
const FAMILIES = { unix: 1, inet: 2, inet6: 10, netlink: 16, packet: 17 } as const;

const ERRNO = { EPERM: 1, EACCES: 13, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
const RETURN = { kill: 0x80000000, errno: 0x00050000, allow: 0x7fff0000 } as const;
const CODE = { load: 0x20, ifEqual: 0x15, ifGreater: 0x25, ifAtLeast: 0x35, ifAny: 0x45, return: 0x06 } as const;
/** Where it stands in seccomp_data; of an argument the lower half, which is all that the kernel takes of these. */
const AT = { number: 0, arch: 4, argument: (index: number) => 16 + 8 * index } as const;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Whether there is a filter for machines of this kind. */
export const hasFilterFor = (arch: string): arch is keyof typeof SINGLE => arch in SINGLE && endianness() === 'LE';

/**
 * The filter as bytes. `internet`: sockets of the internet may be made, which in a network without anybody reach nobody; without it a
 * command sees the network of the machine and cannot speak in it.
 */
export function seccompFilter(arch: keyof typeof SINGLE, internet: boolean): Uint8Array {
  const { arch: audit, clone, unshare, socket, ioctl } = SINGLE[arch];
  const { unix, netlink, packet, inet, inet6 } = FAMILIES;
  const numbers = (all: readonly number[], then: number): Instruction[] =>
    all.flatMap((number) => when(CODE.ifEqual, number, then));
  return assembled([
    [CODE.load, 0, 0, AT.arch],
    [CODE.ifEqual, 1, 0, audit],
    [CODE.return, 0, 0, RETURN.kill],
    [CODE.load, 0, 0, AT.number],
    ...when(CODE.ifAtLeast, X32, RETURN.kill),
    ...when(CODE.ifGreater, NEWEST, refusal('ENOSYS')),
    ...numbers([...KILLED[arch], ...KILLED_EVERYWHERE], RETURN.kill),
    ...numbers([...REFUSED[arch], ...REFUSED_EVERYWHERE], refusal('EPERM')),
    ...numbers(ABSENT, refusal('ENOSYS')),
    ...[clone, unshare].flatMap((call) => argumentOf(call, 0, when(CODE.ifAny, NEW_USER, refusal('EPERM')))),
    ...argumentOf(ioctl, 1, numbers(TERMINAL_INPUT, refusal('EPERM'))),
    ...argumentOf(socket, 0, [
      ...numbers([inet, inet6, packet], internet ? RETURN.allow : refusal('EACCES')),
      ...numbers([unix, netlink], RETURN.allow),
      [CODE.return, 0, 0, refusal('EAFNOSUPPORT')],
    ]),
    [CODE.return, 0, 0, RETURN.allow],
  ]);
}

const refusal = (name: keyof typeof ERRNO): number => RETURN.errno + ERRNO[name];

const when = (code: number, value: number, then: number): Instruction[] => [
  [code, 0, 1, value],
  [CODE.return, 0, 0, then],
];

/** For one call: its argument is loaded, looked at, and the number is back for who comes after. */
function argumentOf(call: number, index: number, look: readonly Instruction[]): Instruction[] {
  return [
    [CODE.ifEqual, 0, look.length + 2, call],
    [CODE.load, 0, 0, AT.argument(index)],
    ...look,
    [CODE.load, 0, 0, AT.number],
  ];
}

function assembled(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}
