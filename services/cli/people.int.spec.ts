import { execFile, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { startNats, type NatsHandle } from '#libs/embedded';
import { keyOf, verifyActorProof } from '#libs/keys';
import { BusError, connectBus, serveQueries, type Authority, type QueryAnswer, type Served } from '#libs/messaging';
import { ANYBODY, askedOnce, notAsked } from '#libs/testing';
import { subjects } from '#proto';
import { withBusAt } from './bus/index.js';
import { homeAt } from './home/index.js';
import { runProgram } from './run-program.js';
import { busUsersOf } from './system/index.js';
import { fakeTerminal, surroundings } from './testing/fake-terminal.js';

/** A home with its bus, and what stands for the registry: it writes down what it is told, and looks at the bus when it is told it. */
const NOW = '2026-11-20T12:00:00.000Z';
const directory = await mkdtemp(join(tmpdir(), 'orrery-people-'));
const home = homeAt(directory);
const annasFile = home.personSeedFile('anna');
let server: NatsHandle;
let served: Served;
let registry: NatsConnection;
const connections: NatsConnection[] = [];
const asked: { name: string; body: Record<string, unknown>; config: string }[] = [];
const people: QueryAnswer<'registry', 'people'>['people'] = [];

async function connect(seedFile: string): Promise<NatsConnection> {
  const nc = await connectBus({ url: server.url, name: 'test', seedFile });
  connections.push(nc);
  return nc;
}

/** Whoever holds the key may do everything; that he holds it, he has to show. */
const authority: Authority = ({ proof, ...signed }) => {
  expect(verifyActorProof(proof, { ...signed, now: Date.parse(proof.at) })).toMatchObject({ ok: true });
  return ANYBODY({ proof, ...signed });
};

async function note(name: string, request: object): Promise<{ changed: boolean }> {
  asked.push({ name, body: { ...request }, config: await readFile(join(home.nats, 'nats-server.conf'), 'utf8') });
  return { changed: true };
}

beforeAll(async () => {
  await mkdir(home.keys, { recursive: true, mode: 0o700 });
  server = await startNats({ storeDir: home.nats, users: await busUsersOf(home), dieWithParent: true });
  const endpoints = { nats: server.url, postgres: 'x', console: 'x', aip: 'x', health: {} };
  await writeFile(home.endpointsFile, JSON.stringify(endpoints));
  registry = await connectBus({
    url: server.url,
    name: 'registry',
    inboxPrefix: '_INBOX_registry',
    seedFile: home.seedFile('registry'),
  });
  const order = (name: string) => (request: object) => note(name, request);
  served = await serveQueries(
    registry,
    'registry',
    {
      ...notAsked('registry'),
      devices: async () => ({ devices: [] }),
      people: async () => ({ people }),
      tokens: async () => ({ tokens: [] }),
      'people-add': async (request) => {
        const { actorId: id, kind, roles } = request;
        if (people.some(({ actor }) => actor.id === id)) return { changed: false };
        people.push({ actor: { kind, id }, roles, namespace: id, keys: [], logins: [], revision: 1, addedAt: NOW });
        return note('people-add', request);
      },
      'people-key': order('people-key'),
      'people-role': order('people-role'),
      'people-limits': order('people-limits'),
      'people-revoke': order('people-revoke'),
      'token-issue': order('token-issue'),
      'token-revoke': order('token-revoke'),
    },
    { authority },
  );
});
afterAll(async () => {
  await served.stop();
  for (const nc of [registry, ...connections]) await nc.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function orrery(line: string, env: NodeJS.ProcessEnv = {}) {
  asked.length = 0;
  const terminal = fakeTerminal();
  const words = line.split(' ');
  const exitCode = await runProgram(words, surroundings(terminal, { ORRERY_HOME: directory, ...env }));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}
const mode = async (file: string): Promise<string> => ((await stat(file)).mode & 0o777).toString(8);

describe('a person with a key', () => {
  let anna: NatsConnection;
  let key: string;

  it('gets a file that only its owner reads, and the fact of the key comes before the bus lets it in', async () => {
    const { exitCode, err } = await orrery('people add anna --roles requester,approver --key');
    expect([exitCode, err]).toEqual([0, []]);
    expect(askedOnce(asked.map(({ name }) => name))).toEqual(['people-add', 'people-key']);
    expect(asked[0]?.body).toMatchObject({ actorId: 'anna', kind: 'person', roles: ['requester', 'approver'] });
    key = String(asked.at(-1)?.body['key']);
    expect(asked.every(({ config }) => !config.includes(key))).toBe(true);
    expect([await mode(annasFile), await mode(home.peopleKeys)]).toEqual(['600', '700']);
    const seed = (await readFile(annasFile, 'utf8')).trim();
    expect(JSON.stringify(asked)).not.toContain(seed);
  });

  it('is let in by a server that went on running, and by that only', async () => {
    const before = server.pid;
    anna = await connect(annasFile);
    expect(await orrery('devices', { ORRERY_NATS_SEED_FILE: annasFile })).toMatchObject({ exitCode: 0 });
    const again = await startNats({ storeDir: home.nats, users: await busUsersOf(home) });
    expect([again.reattached, again.pid]).toEqual([true, before]);
  });

  it.each([
    ['hear the answers of the terminal', (nc: NatsConnection) => nc.subscribe('_INBOX_cli.>')],
    ['hear the answers of the registry', (nc: NatsConnection) => nc.subscribe('_INBOX_registry.>')],
    ['hear what everybody asks', (nc: NatsConnection) => nc.subscribe(subjects.anyQuery)],
    ['write a run', (nc: NatsConnection) => nc.publish(subjects.run('r'))],
    ['write who somebody is', (nc: NatsConnection) => nc.publish(subjects.actor('anna'))],
    ['ask in the name of somebody else', (nc: NatsConnection) => nc.publish(subjects.requestsOf('berta'))],
    ['ask as an old external system', (nc: NatsConnection) => nc.publish(subjects.requests)],
    ['say that a token was used', (nc: NatsConnection) => nc.publish(subjects.query('registry', 'token-used'))],
  ])('cannot %s', async (_, act) => {
    const { promise: denied, resolve } = Promise.withResolvers<unknown>();
    const statuses = anna.status();
    const listen = async (): Promise<void> => {
      for await (const status of statuses) if (status.type === 'error') return resolve(status.error);
    };
    void listen();
    act(anna);
    expect(await denied).toBeInstanceOf(PermissionViolationError);
  });

  it('is out at once when it is revoked, also when it is connected, and before that is written down', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const statuses = anna.status();
    const listen = async (): Promise<void> => {
      for await (const status of statuses) if (status.type === 'disconnect') return resolve();
    };
    void listen();
    const kept = join(directory, 'kept.seed');
    await copyFile(annasFile, kept);
    const { promise: isIn, resolve: comeIn } = Promise.withResolvers<void>();
    const following = withBusAt({ url: server.url, seedFile: kept }, async () => {
      comeIn();
      return Promise.withResolvers<never>().promise;
    });
    const told = expect(following).rejects.toThrow(`refused the key in ${kept}`);
    await isIn;
    expect(await orrery('people revoke anna --reason left')).toMatchObject({ exitCode: 0 });
    await gone;
    await told;
    expect(askedOnce(asked)).toMatchObject([{ name: 'people-revoke', body: { actorId: 'anna', reason: 'left' } }]);
    expect(asked[0]?.config).not.toContain(key);
    await expect(stat(annasFile)).rejects.toThrow('ENOENT');
    await expect(connect(kept)).rejects.toBeInstanceOf(BusError);
  });
});

describe('several at once', () => {
  const config = () => readFile(join(home.nats, 'nats-server.conf'), 'utf8');
  const keyOfPerson = (id: string) => keyOf(home.personSeedFile(id));

  it('are all let in, and who is revoked beside them is not, whoever writes last', async () => {
    expect(await orrery('people add zoe --roles viewer --key')).toMatchObject({ exitCode: 0 });
    const zoe = await keyOfPerson('zoe');
    const ids = ['dana', 'emil', 'fritz'];
    const lines = [...ids.map((id) => `people add ${id} --roles viewer --key`), 'people revoke zoe'];
    const done = await Promise.all(lines.map((line) => orrery(line)));
    expect(done.map(({ exitCode, err }) => [exitCode, err])).toEqual(lines.map(() => [0, []]));
    for (const id of ids) await connect(home.personSeedFile(id));
    expect(await config()).not.toContain(zoe);
  });

  it('and whoever asks meanwhile hears the answer, though the server of the bus forgets where it was to go', async () => {
    const over = new AbortController();
    const failed: string[][] = [];
    const asking = Array.from({ length: 3 }, async () => {
      while (!over.signal.aborted) {
        const { exitCode, err } = await orrery('people list');
        if (exitCode !== 0) failed.push(err);
      }
    });
    for (const id of ['gerd', 'hans', 'ida']) await orrery(`people add ${id} --roles viewer --key`);
    over.abort();
    await Promise.all(asking);
    expect(failed).toEqual([]);
  });

  it.each(['the fact', 'the file', 'the first of two readings'])(
    'of which one is killed after %s: the same command again lets in, and nobody else is touched',
    async (moment) => {
      const id = `killed-${moment.split(' ').at(-1)}`;
      const words = ['people', 'add', id, '--roles', 'viewer', '--key'];
      const still = await connect(home.personSeedFile('dana'));
      const before = await loadedAt();
      const child = execFile(process.execPath, [resolve('dist/services/cli/main.js'), ...words], {
        env: { ...process.env, ORRERY_HOME: directory },
      });
      const ended = once(child, 'exit');
      const isReached: Record<string, () => Promise<boolean>> = {
        'the fact': async () => asked.some(({ name, body }) => name === 'people-key' && body['actorId'] === id),
        'the file': async () => (await config()).includes(await keyOfPerson(id)),
        'the first of two readings': async () => (await loadedAt()) !== before,
      };
      while (isRunning(child) && (await isReached[moment]?.()) === false) await turn();
      child.kill('SIGKILL');
      await ended;
      expect(await orrery(words.join(' '))).toMatchObject({ exitCode: 0 });
      await connect(home.personSeedFile(id));
      await still.flush();
      expect((await readdir(home.nats)).filter((name) => name.endsWith('.new'))).toEqual([]);
    },
  );

  const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;
  /** When the server has read its configuration last. */
  async function loadedAt(): Promise<unknown> {
    const { config_load_time } = (await (await fetch(new URL('/varz', server.monitorUrl))).json()) as Record<
      string,
      unknown
    >;
    return config_load_time;
  }
});

it('another system asks for itself and reads nothing, and is told how to connect', async () => {
  const orchestrator = await connect(home.seedFile('orchestrator'));
  orchestrator.subscribe(subjects.submit, { callback: (_, message) => void message.respond('yes') });
  await orchestrator.flush();
  const { exitCode, out } = await orrery('people add billing --system --key');
  expect(exitCode).toBe(0);
  expect(asked[0]?.body).toMatchObject({ kind: 'external', roles: ['requester'] });
  for (const word of [
    'orrery.requests.billing',
    'orrery.answers.billing',
    'external-billing',
    'domain orrery',
    'publish.ts',
  ])
    expect(out.join('\n')).toContain(word);
  const billing = await connect(home.personSeedFile('billing'));
  // Of a server that was there before its account was.
  expect((await billing.request(subjects.submit, '{}', { timeout: 20_000 })).string()).toBe('yes');
  const { promise: denied, resolve } = Promise.withResolvers<unknown>();
  const statuses = billing.status();
  const listen = async (): Promise<void> => {
    for await (const status of statuses) if (status.type === 'error') return resolve(status.error);
  };
  void listen();
  billing.subscribe(subjects.anyLiveRun);
  expect(await denied).toBeInstanceOf(PermissionViolationError);
  expect(await orrery('people limits billing --connections 1 --feed all')).toMatchObject({ exitCode: 0 });
  expect(askedOnce(asked)).toMatchObject([{ name: 'people-limits', body: { given: { connections: 1, feed: 'all' } } }]);
  expect(await readFile(join(home.nats, 'nats-server.conf'), 'utf8')).toMatch(
    /EXTERNAL_billing \{[^}]*\}[^]*max_connections: 1,/u,
  );
  await billing.flush();
  expect(await orrery('people limits external --connections 9')).toMatchObject({ exitCode: 3 });
  expect(await orrery('people limits billing --feed everything')).toMatchObject({ exitCode: 3 });
});

it.each(['registry', 'cli', 'Anna', 'a.b', '../anna', '_fleet', 'a>', '*'])('nobody is called %s', async (id) => {
  expect(await orrery(`people add ${id} --roles viewer --key`)).toMatchObject({ exitCode: 3 });
  expect(asked).toEqual([]);
});

describe('a token', () => {
  it('is shown once, and only its hash leaves', async () => {
    const { exitCode, out } = await orrery('tokens issue anna --scopes viewer --label laptop --days 30');
    expect(exitCode).toBe(0);
    const [secret = ''] = out;
    expect(secret).toMatch(/^ort_[\w-]{43}$/u);
    const tokenHash = createHash('sha256').update(secret).digest('hex');
    const body = {
      actorId: 'anna',
      tokenHash,
      scopes: ['viewer'],
      label: 'laptop',
      expiresAt: '2026-12-20T12:00:00.000Z',
    };
    expect(askedOnce(asked)).toMatchObject([{ name: 'token-issue', body }]);
    expect(JSON.stringify(asked)).not.toContain(secret);
  });

  it('goes into a file of its own, never over another', async () => {
    const file = join(directory, 'ci.token');
    expect((await orrery(`tokens issue anna --token-file ${file}`)).out).toEqual([]);
    expect(await mode(file)).toBe('600');
    const before = await readFile(file, 'utf8');
    expect(await orrery(`tokens issue anna --token-file ${file}`)).toMatchObject({ exitCode: 1 });
    expect([await readFile(file, 'utf8'), asked]).toEqual([before, []]);
  });

  it('is refused for a role that there is not', async () => {
    expect(await orrery('tokens issue anna --scopes root')).toMatchObject({ exitCode: 3 });
    expect(asked).toEqual([]);
  });
});
