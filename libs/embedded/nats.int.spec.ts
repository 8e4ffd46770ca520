import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { createUser } from '@nats-io/nkeys';
import { connect, nkeyAuthenticator, PermissionViolationError } from '@nats-io/transport-node';
import { findNatsServer } from './nats-binary.js';
import { renderNatsConfig, type NatsUser } from './nats-config.js';
import { reloadWhenChanged } from './nats-reload.runner.js';
import { startNats, stopNatsOn, type NatsHandle, type NatsOptions } from './nats.runner.js';
import { freePorts } from './ports.js';

const run = promisify(execFile);
let storeDir = '';
const handles: NatsHandle[] = [];

async function start(options: Partial<NatsOptions> = {}): Promise<NatsHandle> {
  const handle = await startNats({ storeDir, dieWithParent: true, ...options });
  handles.push(handle);
  return handle;
}

function user(
  name: string,
  rights: Pick<NatsUser, 'publish' | 'subscribe'>,
): NatsUser & { nkeyPublic: string; seed: Uint8Array } {
  const pair = createUser();
  return { name, nkeyPublic: pair.getPublicKey(), seed: pair.getSeed(), ...rights };
}

async function publishOne(url: string, subject: string): Promise<number> {
  const nc = await connect({ servers: url });
  const { seq } = await jetstream(nc).publish(subject, 'x');
  await nc.close();
  return seq;
}

beforeEach(async () => {
  storeDir = await mkdtemp(join(tmpdir(), 'orrery-nats-'));
});
afterEach(async () => {
  await Promise.all(handles.splice(0).map((handle) => handle.stop()));
  await rm(storeDir, { recursive: true, force: true });
});

describe('the rendered configuration', () => {
  it('is accepted by nats-server itself', async () => {
    const file = join(storeDir, 'nats-server.conf');
    const users = [
      { ...user('admin', { publish: ['>'], subscribe: ['>'] }), allowResponses: true },
      user('auditor', { publish: ['$JS.API.INFO', '$JS.API.STREAM.INFO.RUNS'], subscribe: [] }),
    ];
    const options = { serverName: 's', port: 4333, monitorPort: 8333, storeDir, logFile: join(storeDir, 'a "log"') };
    for (const config of [renderNatsConfig(options), renderNatsConfig({ ...options, users })]) {
      await writeFile(file, config);
      await expect(run(await findNatsServer(), ['-t', '-c', file])).resolves.toBeDefined();
    }
  });
});

describe('findNatsServer', () => {
  it('says what is wrong with ORRERY_NATS_SERVER', async () => {
    await expect(findNatsServer({ ORRERY_NATS_SERVER: '/bin/true' })).rejects.toThrow('is not a nats-server');
  });

  it('finds nothing in an empty environment and says what to do', async () => {
    await expect(findNatsServer({ HOME: storeDir, PATH: storeDir })).rejects.toThrow('start through ./orrery');
  });

  it('finds the one on PATH', async () => {
    const binary = await findNatsServer();
    const { dir } = (await import('node:path')).parse(binary);
    expect(await findNatsServer({ HOME: storeDir, PATH: dir })).toBe(binary);
  });
});

describe('startNats', () => {
  it('gives a durable log that outlives kill -9', async () => {
    const first = await start();
    const nc = await connect({ servers: first.url });
    await (await jetstreamManager(nc)).streams.add({ name: 'FACTS', subjects: ['fact.>'] });
    await nc.close();
    expect(await publishOne(first.url, 'fact.1')).toBe(1);
    first.kill();
    expect(await first.exited).toBeNull();
    const second = await start();
    expect(second.reattached).toBe(false);
    expect(await publishOne(second.url, 'fact.2')).toBe(2);
  });

  it('keeps its configuration private and answers on the monitoring port', async () => {
    const { monitorUrl } = await start();
    expect((await stat(join(storeDir, 'nats-server.conf'))).mode & 0o777).toBe(0o600);
    const health = await fetch(`${monitorUrl}/healthz`);
    expect(health.status).toBe(200);
    const jsz = (await (await fetch(`${monitorUrl}/jsz`)).json()) as { config: { sync_always: boolean } };
    expect(jsz.config.sync_always).toBe(true);
  });

  it('takes over the server an earlier launcher left', async () => {
    const first = await start();
    const second = await start();
    expect(second).toMatchObject({ pid: first.pid, port: first.port, reattached: true });
    await second.stop();
    await first.exited;
    expect(await stopNatsOn(storeDir)).toBe(false);
  });

  it('starts anew when the users changed', async () => {
    const first = await start();
    const second = await start({ users: [user('admin', { publish: ['>'], subscribe: ['>'] })] });
    expect(second.pid).not.toBe(first.pid);
    await first.exited;
    await expect(connect({ servers: second.url, reconnect: false })).rejects.toThrow('Authorization Violation');
  });

  it('does not mistake a reused pid for its server', async () => {
    await writeFile(
      join(storeDir, 'nats-server.json'),
      JSON.stringify({ pid: process.pid, port: 4333, monitorPort: 8333 }),
    );
    expect(await start()).toMatchObject({ reattached: false });
  });

  it('starts over a damaged pid file', async () => {
    await writeFile(join(storeDir, 'nats-server.json'), '{"pid":');
    const handle = await start();
    expect(JSON.parse(await readFile(join(storeDir, 'nats-server.json'), 'utf8'))).toMatchObject({ pid: handle.pid });
  });

  it('has ports of its own for clients and for monitoring', async () => {
    expect(new Set(await freePorts(50)).size).toBe(50);
    const { port, monitorUrl } = await start();
    expect(Number(new URL(monitorUrl).port)).not.toBe(port);
  });

  it('says which port is taken', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    await expect(start({ port })).rejects.toThrow(`Port ${port} for nats-server is in use`);
    await new Promise((resolve) => holder.close(resolve));
  });

  it('ends when another launcher stops it by its directory', async () => {
    const handle = await start();
    expect(await stopNatsOn(storeDir)).toBe(true);
    expect(await handle.exited).toBe(0);
  });
});

describe('users', () => {
  it('may do what is listed and nothing else', async () => {
    const writer = user('writer', { publish: ['a.>'], subscribe: ['_INBOX_w.>'] });
    const mute = user('mute', { publish: [], subscribe: [] });
    const { url } = await start({ users: [writer, mute] });
    const nc = await connect({ servers: url, authenticator: nkeyAuthenticator(writer.seed), inboxPrefix: '_INBOX_w' });
    nc.publish('a.b', 'x');
    await nc.flush();
    expect(await violationOf(nc, () => nc.publish('b.b', 'x'))).toBe('b.b');
    await nc.close();
    const silent = await connect({ servers: url, authenticator: nkeyAuthenticator(mute.seed) });
    expect(await violationOf(silent, () => silent.publish('a.b', 'x'))).toBe('a.b');
    await silent.close();
  });
});

describe('a configuration that was written while the server runs', () => {
  it('is read once, and a connection that is still allowed stays', async () => {
    const [known, other] = ['known', 'other'].map((name) => user(name, { publish: ['>'], subscribe: ['>'] })) as [
      ReturnType<typeof user>,
      ReturnType<typeof user>,
    ];
    const { url, pid, monitorUrl } = await start({ users: [known] });
    const configFile = join(storeDir, 'nats-server.conf');
    const server = { pid, monitorUrl, configFile, log: 'its log' };
    const nc = await connect({ servers: url, authenticator: nkeyAuthenticator(known.seed), reconnect: false });
    expect(await reloadWhenChanged(server)).toBe(false);

    const line = `nkey: "${known.nkeyPublic}"`;
    const config = await readFile(configFile, 'utf8');
    expect(config).toContain(line);
    await writeFile(
      configFile,
      config.replace(`{\n        ${line}`, `{ nkey: "${other.nkeyPublic}" }\n      {\n        ${line}`),
    );
    expect(await reloadWhenChanged(server)).toBe(true);
    expect(await reloadWhenChanged(server)).toBe(false);
    await (await connect({ servers: url, authenticator: nkeyAuthenticator(other.seed) })).close();
    await nc.flush();
    await nc.close();
  });
});

it('a server that does not say at once when it read its configuration is not taken for one that has read it anew', async () => {
  const configFile = join(storeDir, 'nats-server.conf');
  await writeFile(configFile, '');
  const stubborn = spawn('sh', ['-c', 'trap "" HUP; echo; while :; do sleep 1; done'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(stubborn.stdout, 'data');
  // Nothing is said first; each of the two times that it is read, it is asked before, once in vain and once when it is done.
  const answers = [undefined, undefined, 'a', 'a', 'b', 'b', 'b', 'c'];
  const monitor = createHttpServer((_, response) => {
    const loadedAt = answers.shift();
    if (loadedAt === undefined) response.destroy();
    else response.end(JSON.stringify({ config_load_time: loadedAt }));
  });
  await new Promise<void>((resolve) => monitor.listen(0, '127.0.0.1', resolve));
  const { port } = monitor.address() as AddressInfo;
  const server = { pid: stubborn.pid ?? 0, configFile, monitorUrl: `http://127.0.0.1:${port}`, log: 'its log' };
  try {
    expect(await reloadWhenChanged(server)).toBe(true);
    expect(answers).toEqual([]);
  } finally {
    stubborn.kill('SIGKILL');
    monitor.close();
  }
});

/** The subject the server refused. */
async function violationOf(nc: Awaited<ReturnType<typeof connect>>, act: () => void): Promise<string | undefined> {
  const statuses = nc.status()[Symbol.asyncIterator]();
  act();
  for (;;) {
    const { value, done } = await statuses.next();
    if (done === true) return undefined;
    if (value.type === 'error' && value.error instanceof PermissionViolationError) return value.error.subject;
  }
}
