import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Server } from 'node:net';
import fc from 'fast-check';
import { hasAdb, RealAdb, StandInAdbd, StandInPhone, StandInServer } from '#libs/testing';
import { AdbDevice, AdbFault, type AdbAddress } from './index.js';

/** What a shell reads something into. */
const HARMFUL = [
  "'",
  '"',
  '\\',
  '$',
  '`',
  ';',
  '&',
  '|',
  '<',
  '>',
  '(',
  ')',
  '{',
  '[',
  '*',
  '?',
  '!',
  '#',
  '~',
  '%',
  '\n',
  ' ',
  '$(',
  'touch x',
];
const never = new AbortController().signal;
const ONCE = { signal: never, timeoutMs: 60_000, bytesMax: 1024 * 1024 };

interface Rig {
  readonly phone: StandInPhone;
  readonly other: StandInPhone;
  readonly device: AdbDevice;
  readonly address: AdbAddress;
  /** The phone is there again after it was gone. */
  back(): Promise<void>;
  stop(): Promise<void>;
}

async function withStandIn(): Promise<Rig> {
  const [phone, other] = [await StandInPhone.make('phone-a'), await StandInPhone.make('phone-b')];
  const server = await StandInServer.start([phone, other]);
  return {
    phone,
    other,
    device: new AdbDevice(server.address, 'phone-a'),
    address: server.address,
    back: () => Promise.resolve(void (phone.isThere = true)),
    stop: async () => {
      await Promise.all([phone.remove(), other.remove()]);
      await server.close();
    },
  };
}

async function withRealAdb(): Promise<Rig> {
  const [phone, other] = [await StandInPhone.make('phone-a'), await StandInPhone.make('phone-b')];
  const [adb, adbd, otherAdbd] = await Promise.all([
    RealAdb.start(),
    StandInAdbd.start(phone),
    StandInAdbd.start(other),
  ]);
  const serial = await adb.connect(adbd.port);
  await adb.connect(otherAdbd.port);
  return {
    phone,
    other,
    device: new AdbDevice(adb.address, serial),
    address: adb.address,
    back: async () => {
      phone.isThere = true;
      await adb.run('disconnect', serial);
      await adb.connect(adbd.port);
    },
    stop: async () => {
      await adb.stop();
      await Promise.all([adbd.close(), otherAdbd.close(), phone.remove(), other.remove()]);
    },
  };
}

const RIGS: [string, () => Promise<Rig>][] = [['a server that stands in for adb', withStandIn]];
if (hasAdb()) RIGS.push(["the distribution's adb and the transport of a device", withRealAdb]);
else process.stderr.write('There is no adb here: its client is not tried against the real server.\n');

describe.each(RIGS)('a device behind %s', (_, make) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await make();
  });
  afterAll(() => rig.stop());
  beforeEach(async () => {
    rig.phone.oddities.vanishOn = undefined;
    rig.phone.oddities.hangOn = undefined;
    await rig.phone.calls();
  });

  it('runs a command with its words, and tells all that came of it', async () => {
    const words = ['sh', '-c', 'printf "%s|" "$@"; echo oops >&2; exit 7', 'sh', 'a b', '', "it's", '*', 'ü\n;$(x)'];
    const { stdout, stderr, exitCode } = await rig.device.shell(words, ONCE);
    expect(stdout.toString()).toBe("a b||it's|*|ü\n;$(x)|");
    expect({ stderr, exitCode }).toEqual({ stderr: 'oops\n', exitCode: 7 });
  });

  it('gives any text to a program as it is, and runs nothing of it', async () => {
    const text = fc.oneof(
      fc.array(fc.integer({ min: 1, max: 0x10_ffff }), { maxLength: 40 }).map((all) => String.fromCodePoint(...all)),
      fc.array(fc.constantFrom(...HARMFUL), { maxLength: 12 }).map((parts) => parts.join('')),
    );
    const words = fc.array(
      text.map((one) => one.replaceAll('\0', '').toWellFormed()),
      { minLength: 1, maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(words, async (given) => {
        expect(await rig.device.shell(['input', ...given], ONCE)).toMatchObject({ stderr: '', exitCode: 0 });
        expect(await rig.phone.calls()).toEqual([['input', ...given]]);
      }),
      { numRuns: 12 },
    );
    expect(await rig.phone.leftBehind()).toEqual([]);
  });

  it('carries bytes that are no text, and more than one message of them', async () => {
    const picture = Buffer.alloc(700_000, Buffer.from([0x89, 0x0d, 0x0a, 0x00, 0xff]));
    await rig.phone.put('screen.png', picture);
    expect((await rig.device.shell(['screencap', '-p'], ONCE)).stdout.equals(picture)).toBe(true);
  });

  it('ends a command that writes more than it may', async () => {
    const words = ['head', '-c', '4000', '/dev/zero'];
    await expect(rig.device.shell(words, { ...ONCE, bytesMax: 1_000 })).rejects.toMatchObject({ code: 'TOO_MUCH' });
  });

  it('means this device and no other', async () => {
    await rig.device.shell(['input', 'tap', '1', '2'], ONCE);
    expect([await rig.phone.calls(), await rig.other.calls()]).toEqual([[['input', 'tap', '1', '2']], []]);
  });

  it('knows no device of another serial, and says which there are', async () => {
    const failure = new AdbDevice(rig.address, 'phone-z').shell(['input'], ONCE);
    await expect(failure).rejects.toMatchObject({
      code: 'NO_DEVICE',
      message: expect.stringMatching(/^the device phone-z cannot be used: .*not found; the adb server has .*, /u),
    });
  });

  it('is cancelled in the middle of a command', async () => {
    rig.phone.oddities.hangOn = 'uiautomator';
    const before = rig.phone.services.length;
    const stop = new AbortController();
    const dump = rig.device.shell(['uiautomator', 'dump', '/x'], { ...ONCE, signal: stop.signal });
    const failed = expect(dump).rejects.toMatchObject({ code: 'ABORTED' });
    while (rig.phone.services.length === before) await new Promise(setImmediate);
    stop.abort();
    await failed;
    expect((await rig.device.shell(['wm', 'size'], ONCE)).stdout.toString()).toContain('1080x2340');
  });

  it('says that a command may have run whose device is gone in the middle, and works when it is back', async () => {
    rig.phone.oddities.vanishOn = 'input';
    await expect(rig.device.shell(['input', 'tap', '1', '2'], ONCE)).rejects.toMatchObject({ code: 'LOST' });
    rig.phone.oddities.vanishOn = undefined;
    await expect(rig.device.shell(['input', 'tap', '1', '2'], ONCE)).rejects.toMatchObject({ code: 'NO_DEVICE' });
    await rig.back();
    expect((await rig.device.shell(['input', 'tap', '3', '4'], ONCE)).exitCode).toBe(0);
    expect(await rig.phone.calls()).toEqual([['input', 'tap', '3', '4']]);
  });
});

describe('an address', () => {
  const listening = async (say: string): Promise<{ readonly server: Server; readonly address: AdbAddress }> => {
    const server = createServer((socket) => socket.on('error', () => undefined).end(say));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } };
  };

  it('without a server says how to start one', async () => {
    const { server, address } = await listening('');
    await new Promise((resolve) => server.close(resolve));
    await expect(new AdbDevice(address, 'a').shell(['id'], ONCE)).rejects.toMatchObject({
      code: 'NO_SERVER',
      message: expect.stringContaining('adb start-server'),
    });
  });

  it('of something else is not taken for a server', async () => {
    const { server, address } = await listening('HTTP/1.1 400 Bad Request\r\n\r\n');
    await expect(new AdbDevice(address, 'a').shell(['id'], ONCE)).rejects.toMatchObject({ code: 'NO_SERVER' });
    server.close();
  });

  it('of a server whose device is too old is refused', async () => {
    const phone = await StandInPhone.make('old');
    const server = await StandInServer.start([phone]);
    server.features = 'cmd';
    const failure = new AdbDevice(server.address, 'old').shell(['input'], ONCE);
    await expect(failure).rejects.toMatchObject({ code: 'NO_DEVICE', message: expect.stringContaining('Android 7') });
    expect(phone.services).toEqual([]);
    await server.close();
    await phone.remove();
  });
});

describe('a command', () => {
  const device = new AdbDevice({ path: '/nowhere' }, 'a');

  it.each([
    ['a NUL', ['input', 'a\0b']],
    ['half a character', ['input', '\ud83d']],
    ['more than a request holds', ['input', 'x'.repeat(70_000)]],
  ])('with %s is not even sent', async (_, words) => {
    await expect(device.shell(words, ONCE)).rejects.toBeInstanceOf(AdbFault);
    await expect(device.shell(words, ONCE)).rejects.toMatchObject({ code: 'ARGUMENT' });
  });
});
