import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectWs } from '#libs/aip';
import { makeDeviceSecret, makeJoinAssertion } from '#libs/keys';
import { FakeDevice } from '#libs/testing';
import { BareMachine, offerBroken, ownOffer } from './bare-machine.js';
import { testsOfReplicas } from './replicas.js';
import { COMPILE_CACHE, TestSystem, until } from './system.js';

const CLIENT = resolve(import.meta.dirname, '../../dist/services/device-client/main.js');
/** Short enough to see credentials renewed, and the one of a frozen device expire. */
const CREDENTIAL_MS = 6_000;
/** What a device says that was revoked, when it dials. */
const UNWANTED = 'does not accept this device, web-1, any more';
const SETTINGS: Record<string, string> = { ORRERY_LOG_LEVEL: 'trace', ORRERY_CREDENTIAL_MS: String(CREDENTIAL_MS) };

let system: TestSystem;
let dir: string;
let url: string;
/** Of the client that is offered. */
let release: string;
/** What must be in no log. */
const secrets = new Set<string>();
const devices: DeviceProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-credentials-'));
  SETTINGS['ORRERY_DEVICE_OFFER'] = await mkdtemp(join(dir, 'offer-'));
  release = await ownOffer(SETTINGS['ORRERY_DEVICE_OFFER']);
  Object.assign(process.env, SETTINGS);
  system = await TestSystem.start('--devices', '0');
  url = (await system.endpoints()).aip;
});
afterAll(async () => {
  for (const device of devices) await device.kill('SIGKILL');
  await system.stop();
  await rm(dir, { recursive: true, force: true });
  for (const name of Object.keys(SETTINGS)) delete process.env[name];
});

/** `orrery-device join`, as a person starts it. */
class DeviceProcess {
  output = '';
  readonly dataDir: string;
  readonly #child: ChildProcess;
  /** It is over, and all that it has said is in `output`. */
  readonly #closed: Promise<unknown>;

  constructor(name: string, token?: string) {
    this.dataDir = join(dir, name);
    this.#child = spawn(process.execPath, [CLIENT, 'join', '--url', url, '--data-dir', this.dataDir], {
      stdio: [token === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILE_CACHE, ORRERY_LOG_LEVEL: 'trace' },
    });
    this.#child.stdin?.end(token);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.#closed = once(this.#child, 'close');
    devices.push(this);
  }

  hasSaid(text: string): true | undefined {
    return this.output.includes(text) || undefined;
  }

  says(text: string, times = 1): Promise<true> {
    return until(`"${text}" of the device`, async () => this.output.split(text).length > times || undefined);
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal);
    await this.#closed;
  }

  async exitCode(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }
}

async function enrol(id: string, ...options: readonly string[]): Promise<string> {
  const { token } = await system.json<{ token: string }>('devices', 'enroll', '--id', id, ...options);
  secrets.add(token);
  return token;
}

const gatewayLog = (): Promise<string> => readFile(join(system.home, 'logs/aip-gateway.log'), 'utf8');

/** Of the lines with this text, when they were written. */
const timesOf = (log: string, text: string): string[] =>
  log.split('\n').flatMap((line) => (line.includes(text) ? (/"time":"([^"]+)"/u.exec(line)?.[1] ?? []) : []));

async function refusal(credential: string): Promise<unknown> {
  const clock = { now: () => Date.now() };
  return connectWs({ url, token: credential, clock }).then(
    () => 'let in',
    (error: unknown) => (error as { status?: number }).status,
  );
}

describe('three orchestrators on 32 partitions, under load', () => testsOfReplicas(() => system));

describe('a device with a join token', () => {
  let token: string;
  let device: DeviceProcess;

  it('joins with it, once, and keeps a key for itself alone', async () => {
    token = await enrol('web-1');
    expect(token).toMatch(/^join-/u);
    device = new DeviceProcess('web-1', token);
    await device.says('"msg":"registered"');
    const file = join(device.dataDir, 'identity.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { joined } = JSON.parse(await readFile(file, 'utf8')) as { joined: { secret: { d: string } } };
    secrets.add(joined.secret.d);

    const thief = new DeviceProcess('thief', token);
    expect(await thief.exitCode()).toBe(3);
    expect(thief.output).toContain('Another client has used this join token already');
  });

  it('stays connected on credentials that it renews', async () => {
    // The second one comes when what it dialled with is over. Whoever had no time to renew dials again, and is looked at from then on.
    await until('two renewals on one connection', async () => {
      const since = timesOf(device.output, '"msg":"registered"').at(-1) ?? '';
      const renewed = timesOf(await gatewayLog(), '"kind":"renew","deviceId":"web-1"').filter((at) => at > since);
      return renewed.length >= 2 || undefined;
    });
  });

  it('comes back without a token, and after a sleep that its credential did not survive', async () => {
    await device.kill('SIGTERM');
    device = new DeviceProcess('web-1');
    await device.says('"msg":"registered"');
    const expired = async (): Promise<number> => timesOf(await gatewayLog(), '"code":4002').length;
    const before = await expired();
    device.signal('SIGSTOP');
    await until('4002', async () => (await expired()) > before || undefined);
    device.signal('SIGCONT');
    await device.says('"msg":"registered"', 2);
  });

  it('is sent away when it is revoked, says so once, and is let in by a new token alone', async () => {
    const { code, stderr } = await system.cli('devices', 'revoke', 'web-1', '--reason', 'stolen');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    // One whose credential was over just then, because it had no time to renew it, hears it when it dials.
    await until('the end of its connection', async () => device.hasSaid('"code":4001') || device.hasSaid(UNWANTED));
    await device.kill('SIGTERM');

    const again = new DeviceProcess('web-1');
    await again.says(UNWANTED);
    expect(again.output).not.toContain('"msg":"registered"');
    await again.kill('SIGTERM');

    const late = new DeviceProcess('late', token);
    expect(await late.exitCode()).toBe(3);
    const back = new DeviceProcess('web-1-again', await enrol('web-1'));
    await back.says('"msg":"registered"');
    await back.kill('SIGTERM');
  });
});

describe('a credential', () => {
  it('that was changed, or made by somebody else, lets nobody in', async () => {
    const [token, secret] = [await enrol('web-2'), makeDeviceSecret()];
    const assertion = await makeJoinAssertion(secret, { token, now: Date.now() });
    secrets.add(assertion).add(secret.d);
    // It is good for some seconds only: who had no time to dial within them asks again, with the same key.
    const credential = await until('a credential that lets in', async () => {
      const answer = await fetch(url.replace('ws:', 'http:').replace('/ws', '/v1/join'), {
        method: 'POST',
        body: JSON.stringify({ token, assertion: await makeJoinAssertion(secret, { token, now: Date.now() }) }),
      });
      if (!answer.ok) return undefined;
      const { credential: given } = (await answer.json()) as { credential: string };
      secrets.add(given);
      return (await refusal(given)) === 'let in' ? given : undefined;
    });
    const [header = '', claims = '', signature = ''] = credential.split('.');
    const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');
    const told = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object;
    const forged = [
      `${part({ alg: 'none' })}.${claims}.${signature}`,
      `${header}.${part({ ...told, sub: 'web-1' })}.${signature}`,
      `${header}.${part({ ...told, exp: 4_000_000_000 })}.${signature}`,
      `${header}.${claims}.${signature.split('').toReversed().join('')}`,
      assertion,
    ];
    for (const text of forged) expect(await refusal(text)).toBe(401);
  });
});

describe('the logs of everything', () => {
  it('hold no token, no credential and no key, also of clients that put theirs into the URL', async () => {
    const token = await enrol('ufo-1', '--foreign');
    const foreign = await FakeDevice.connect({ url: `${url}?token=${token}`, deviceId: 'ufo-1', journalId: null });
    foreign.raw('{"type":"canary-in-a-frame"}');
    await foreign.until(({ type }) => type === 'error');
    await foreign.close();
    secrets.add('canary-in-a-frame').add('canary-in-a-url');
    await connectWs({ url: `${url}?token=canary-in-a-url`, clock: { now: () => Date.now() } }).catch(() => undefined);
    await system.cli('devices', 'revoke', 'ufo-1');

    const files = (await readdir(join(system.home, 'logs'))).map((name) => join(system.home, 'logs', name));
    expect(files.length).toBeGreaterThan(5);
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    const all = [...texts, ...devices.map(({ output }) => output)].join('\n');
    // Nothing was left out because it is only for those who look closely.
    expect(all.includes('"level":"debug"')).toBe(true);
    for (const secret of secrets) expect(all.includes(secret)).toBe(false);
  });
});

describe('a machine that has nothing', () => {
  let machine: BareMachine;
  const lines = async (id: string): Promise<string> => {
    const words = ['devices', 'enroll', '--id', id, '--url', url, '--dir', machine.dir];
    return (await system.json<{ block: string }>(...words)).block;
  };
  const status = async () => {
    const { stdout, exitCode } = await machine.device('status', '--json');
    return {
      exitCode,
      ...(JSON.parse(stdout) as { client: { pid: number; deviceId: string; release: string } | null }),
    };
  };
  /** For a moment it may not be: its credential lasts for seconds. */
  const connected = async () => {
    const { exitCode, client } = await status();
    return exitCode === 0 ? (client ?? undefined) : undefined;
  };
  beforeAll(async () => {
    machine = await BareMachine.make();
  });

  it('becomes a device by the lines that enroll prints, and pasted again they change nothing', async () => {
    const block = await lines('bare-1');
    const altered = await machine.run(block.replace(/^echo "[0-9a-f]{8}/mu, 'echo "00000000'));
    expect(altered).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is not the script that was promised'),
    });
    await expect(stat(machine.dir)).rejects.toThrow();
    const pasted = await machine.run(block);
    expect(pasted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Device bare-1 is connected to') });
    expect((await stat(join(machine.dir, 'data'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(machine.dir, 'data/token'))).mode & 0o777).toBe(0o600);
    const before = await until('a client that is connected', connected);
    expect(before).toMatchObject({ deviceId: 'bare-1', release });
    const again = await machine.run(block);
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('was installed already'), stderr: '' });
    expect((await status()).client?.pid).toBe(before.pid);
    await until('it in the list', async () => {
      const { devices: listed } = await system.json<{ devices: { id: string; status: string }[] }>('devices');
      return listed.some(({ id, status: now }) => id === 'bare-1' && now === 'connected') || undefined;
    });
  });

  it('goes back to the release it had when the offered one does not come up', async () => {
    expect((await machine.device('upgrade')).stdout).toContain('is what the server offers');
    await offerBroken(SETTINGS['ORRERY_DEVICE_OFFER'] ?? '', machine, '9.9.9-broken');
    const upgrade = await machine.device('upgrade');
    expect(upgrade.exitCode).toBe(1);
    expect(upgrade.stderr).toContain(`9.9.9-broken did not come up (it does not run); ${release} runs again.`);
    const client = await until('the release before', connected);
    expect(client).toMatchObject({ deviceId: 'bare-1', release });
  });

  it('leaves with its key, and says what stays', async () => {
    const { exitCode, stdout } = await machine.device('leave');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('orrery devices revoke bare-1');
    expect((await readdir(machine.dir)).sort()).toEqual(['data']);
    expect(await readdir(join(machine.dir, 'data'))).not.toContain('identity.json');
  });
});
