import { describe, expect, it } from '@jest/globals';
import { hasFilterFor, seccompFilter } from './seccomp-filter.js';
import { FILTER_PROGRAM, FILTER_PROGRAM_PATH, SANDBOX_KINDS, viewsBehind } from './index.js';

const ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const ALLOW = 'allow';

interface Call {
  readonly number: number;
  readonly arch?: number;
  readonly args?: readonly number[];
}

/** The kernel's machine for such programs, as far as they use it (net/core/filter.c). */
function answerOf(program: Uint8Array, { number, arch = ARCH.x64, args = [] }: Call): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  args.forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + index * 8));
  const code = Buffer.from(program);
  let loaded = 0;
  for (let at = 0; at < code.length; at += 8) {
    const [what, ifTrue, ifFalse, value] = [
      code.readUInt16LE(at),
      code[at + 2],
      code[at + 3],
      code.readUInt32LE(at + 4),
    ];
    const jump = (yes: boolean): void => void (at += 8 * ((yes ? ifTrue : ifFalse) ?? 0));
    if (what === 0x06) return value === 0x7fff0000 ? ALLOW : value === 0x80000000 ? 'kill' : `errno ${value & 0xffff}`;
    if (what === 0x20) loaded = data.readUInt32LE(value);
    else if (what === 0x15) jump(loaded === value);
    else if (what === 0x25) jump(loaded > value);
    else if (what === 0x35) jump(loaded >= value);
    else if (what === 0x45) jump((loaded & value) !== 0);
    else throw new Error(`no such instruction: ${what}`);
  }
  throw new Error('the program has no end');
}

describe('the filter of calls', () => {
  const filter = seccompFilter('x64', true);
  it.each<[string, Call, string]>([
    ['read', { number: 0 }, ALLOW],
    ['execve', { number: 59 }, ALLOW],
    ['mount', { number: 165 }, 'kill'],
    ['fsopen', { number: 430 }, 'kill'],
    ['a call of x32', { number: 0x40000000 }, 'kill'],
    ['a call of 32 bit', { number: 0, arch: 0x40000003 }, 'kill'],
    ['ptrace', { number: 101 }, 'errno 1'],
    ['clone3', { number: 435 }, 'errno 38'],
    ['io_uring_setup', { number: 425 }, 'errno 38'],
    ['a call that is not known yet', { number: 9_999 }, 'errno 38'],
    ['clone of a thread', { number: 56, args: [0x3d0f00] }, ALLOW],
    ['clone with a user namespace', { number: 56, args: [0x10000011] }, 'errno 1'],
    ['unshare of a user namespace', { number: 272, args: [0x10020000] }, 'errno 1'],
    ['typing into a terminal', { number: 16, args: [0, 0x5412] }, 'errno 1'],
    ['typing with more bits set', { number: 16, args: [0, 0x100005412] }, 'errno 1'],
    ['the size of a terminal', { number: 16, args: [0, 0x5413] }, ALLOW],
    ['a socket of the machine', { number: 41, args: [1] }, ALLOW],
    ['a socket of the internet', { number: 41, args: [2] }, ALLOW],
    ['a socket to the host of a machine', { number: 41, args: [40] }, 'errno 97'],
  ])('%s', (_, call, answer) => {
    expect(answerOf(filter, call)).toBe(answer);
  });

  it.each([2, 10, 17])('lets nobody speak who only looks at the network: family %s', (family) => {
    expect(answerOf(seccompFilter('x64', false), { number: 41, args: [family] })).toBe('errno 13');
    expect(answerOf(seccompFilter('x64', false), { number: 41, args: [16] })).toBe(ALLOW);
    const arm = { arch: ARCH.arm64, number: 198, args: [family] };
    expect(answerOf(seccompFilter('arm64', false), arm)).toBe('errno 13');
  });
});

describe('a wall shows the network of the machine', () => {
  const user = { name: 'nobody', uid: 65_533, gid: 65_533, home: '/', isOther: true };
  const perl = { [FILTER_PROGRAM]: FILTER_PROGRAM_PATH };

  it.each(SANDBOX_KINDS)('by %s where a filter keeps its commands from speaking in it', (kind) => {
    expect(viewsBehind({ kind, user, programs: perl }).includes('host-network')).toBe(hasFilterFor(process.arch));
  });

  it('by util-linux, where nothing loads a filter, to nobody', () => {
    expect(viewsBehind({ kind: 'util-linux', user, programs: {} })).toEqual([
      'host-processes',
      'host-devices',
      'owners',
    ]);
  });
});
