import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { freePort } from '#libs/embedded';
import { tokenHash } from '#libs/keys';
import { serveQueries, storedPage } from '#libs/messaging';
import { ANYBODY, startTestBus, type TestBus } from '#libs/testing';
import { AccessRecord, ActorEntry, BUCKETS, parseJson, STREAMS, subjects } from '#proto';
import { startConsole, type TestConsole } from '../console.testing.js';

/* What is read over HTTP is stored before it is answered, by a console that may die at any time. */

const RUN = '0k3jq7w2m5n8x4c6v9b1d3f5g7';
const OTHER = '0k3jq7w2m5n8x4c6v9b1d3f5g8';
const TOKEN = 'of-anna';
const folder = mkdtempSync(join(tmpdir(), 'orrery-access-'));
let bus: TestBus;
let console: TestConsole;
/** What is to happen when the logging service is asked. */
let asked: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  bus = await startTestBus();
  const actors = await new Kvm(jetstream(await bus.as('admin'))).open(BUCKETS.ACTORS.bucket);
  const anna = ActorEntry.parse({
    actor: { kind: 'person', id: 'anna' },
    roles: ['viewer'],
    namespace: 'anna',
    keys: [],
    tokens: [{ tokenId: 'laptop', tokenHash: tokenHash(TOKEN), scopes: ['viewer'], label: '', expiresAt: null }],
    logins: [],
    revision: 1,
  });
  await actors.put('anna', JSON.stringify(anna));
  await serveQueries(
    await bus.as('logging'),
    'logging',
    {
      runs: async () => ({ runs: [] }),
      approvals: async () => ({ approvals: [] }),
      run: async () => Promise.reject(new Error('nobody asks')),
      report: async ({ runId }) => {
        await asked();
        return { runId, markdown: 'the output of a task' };
      },
    },
    { authority: ANYBODY },
  );
  console = await startConsole('the-admin-token', {
    ORRERY_NATS_URL: bus.server.url,
    ORRERY_NATS_SEED_FILE: bus.seedFile('console'),
  });
});
afterAll(async () => {
  await console.stop();
  await bus.stop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, token = TOKEN, port = console.port): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });

/** All records, each with its subject. */
async function records(): Promise<(AccessRecord & { subject: string })[]> {
  const { messages } = await storedPage(await bus.as('registry'), {
    stream: STREAMS.ACCESS.name,
    filter: subjects.anyAccess,
    after: 0,
  });
  return messages.map(({ subject, data }) => ({ subject, ...AccessRecord.parse(parseJson(data)) }));
}

describe('what is read over HTTP', () => {
  it('is recorded before anybody is asked for it: who, by which login, what, from where; never what it says', async () => {
    let then: Awaited<ReturnType<typeof records>> = [];
    asked = async () => {
      then = await records();
    };
    expect((await get(`/v1/runs/${RUN}/report.md`)).status).toBe(200);
    const login = { issuer: 'orrery', subject: 'token:laptop', session: 'token:laptop' };
    const who = { subject: 'orrery.access.console.anna', actor: { kind: 'person', id: 'anna' }, login };
    expect(then).toMatchObject([
      { what: 'LOGGED_IN', ...who },
      { what: 'REPORT_READ', runId: RUN, peer: '127.0.0.1', ...who },
    ]);
    expect(JSON.stringify(then)).not.toMatch(/the output|of-anna/u);
  });

  it('is the same reading for an hour, by however many requests at once; of another run it is another one', async () => {
    asked = async () => undefined;
    const before = (await records()).length;
    await Promise.all(Array.from({ length: 20 }, (_, n) => get(`/v1/runs/${n % 2 === 0 ? RUN : OTHER}/report.md`)));
    expect((await records()).slice(before)).toMatchObject([{ what: 'REPORT_READ', runId: OTHER }]);
  });

  it('needs no record where nothing is shown: for lists, without the role, and for what is no run', async () => {
    const before = (await records()).length;
    const statuses = [];
    for (const path of ['/v1/runs', '/v1/access', '/v1/runs/a.b/report.md', '/v1/me']) {
      statuses.push((await get(path)).status);
    }
    expect([statuses, (await records()).length]).toEqual([[200, 403, 400, 200], before]);
  });

  it('leaves a record, and no answer, when the console is killed in between', async () => {
    const port = await freePort();
    const tokenFile = join(folder, 'admin-token');
    writeFileSync(tokenFile, 'off');
    const child: ChildProcess = spawn(process.execPath, ['dist/services/console/main.js'], {
      stdio: 'ignore',
      env: {
        ORRERY_LOG_LEVEL: 'silent',
        ORRERY_ALLOW_UNSAFE_LOG: '1',
        ORRERY_CONSOLE_TOKEN_FILE: tokenFile,
        ORRERY_CONSOLE_PORT: String(port),
        ORRERY_NATS_URL: bus.server.url,
        ORRERY_NATS_SEED_FILE: bus.seedFile('console'),
      },
    });
    const ended = once(child, 'exit');
    const isUp = async (): Promise<boolean> => (await get('/readyz', '', port).catch(() => undefined))?.ok === true;
    while (!(await isUp())) expect(child.exitCode).toBeNull();
    asked = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    const before = (await records()).length;
    await expect(get(`/v1/runs/${RUN}/report.md`, TOKEN, port)).rejects.toThrow();
    expect((await records()).slice(before)).toMatchObject([
      { what: 'LOGGED_IN', actor: { id: 'anna' } },
      { what: 'REPORT_READ', runId: RUN },
    ]);
  });
});

describe('a login', () => {
  it('that is refused is recorded, of nobody and without what was tried; many are one record', async () => {
    const before = (await records()).length;
    for (let count = 0; count < 30; count++) expect((await get('/v1/runs', `guess-${count}`)).status).toBe(401);
    const nobody = { subject: 'orrery.access.console._', what: 'LOGIN_REFUSED', peer: '127.0.0.1' };
    let refused: Awaited<ReturnType<typeof records>> = [];
    while (refused.length < 20) refused = (await records()).slice(before);
    expect(refused).toEqual(Array.from({ length: 20 }, () => expect.objectContaining(nobody)));
    expect(JSON.stringify(refused)).not.toContain('guess');
  });
});

describe('when no record can be stored', () => {
  it('nothing is shown, and the answer says why; what only lists goes on', async () => {
    const jsm = await jetstreamManager(await bus.as('admin'));
    await jsm.streams.delete(STREAMS.ACCESS.name);
    const served: string[] = [];
    asked = async () => void served.push('asked');
    const unread = `${RUN.slice(0, -1)}z`;
    const response = await get(`/v1/runs/${unread}/report.md`);
    expect([response.status, served]).toEqual([503, []]);
    expect(await response.json()).toMatchObject({
      error: { code: 'TRY_AGAIN', message: expect.stringContaining('It cannot be recorded who reads this') },
    });
    expect((await get('/v1/runs')).status).toBe(200);
  });
});
