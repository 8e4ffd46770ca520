import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { figuresCsv, figuresOfRuns } from '#libs/constellation';
import { tokenHash } from '#libs/keys';
import { putArtifact, serveQueries, storedPage } from '#libs/messaging';
import { ANYBODY, askedOnce, moment, notAsked, ownPort, startTestBus, type TestBus } from '#libs/testing';
import {
  AccessRecord,
  ActorEntry,
  BUCKETS,
  parseJson,
  STREAMS,
  subjects,
  type AccessEntry,
  type AttentionEntry,
  type AttentionWord,
  type ActorProof,
  type FiguresAnswer,
  type SearchAnswer,
} from '#proto';
import { startConsole, type TestConsole } from '../console.testing.js';

/* What is read over HTTP is stored before it is answered, by a console that may die at any time. */

const RUN = '0k3jq7w2m5n8x4c6v9b1d3f5g7';
const OTHER = '0k3jq7w2m5n8x4c6v9b1d3f5g8';
const TOKEN = 'of-anna';
const AUDIT_TOKEN = 'of-anna-as-auditor';
const DESK_TOKEN = 'of-anna-at-the-desk';
const CI_TOKEN = 'of-anna-in-a-pipeline';
const ENTRY: AccessEntry = {
  at: '2026-11-20T10:00:00.000Z',
  what: 'OUTPUT_READ',
  actor: { kind: 'person', id: 'vera' },
  proof: 'vouched',
  runId: RUN,
  taskId: 'disk',
  stream: 'ACCESS',
  sequence: 7,
};
const FAILED: AttentionEntry = {
  id: '4kq7w2m9x0ab',
  kind: 'failed',
  key: 'failed r1 2026-11-20T12:00:00.000Z',
  runId: 'r1',
  what: '"nightly backup" failed',
  next: 'orrery show r1',
  since: '2026-11-20T12:00:00.000Z',
  state: 'open',
  by: null,
  at: null,
  reason: null,
};
const wantedAttention: unknown[] = [];
/** By whom the id of the command says it was. */
const wordOf = (attentionId: string, state: AttentionWord['state'], id: string): AttentionWord => ({
  attentionId,
  state,
  by: { kind: 'person', id },
  at: '2026-11-20T12:00:00.000Z',
  changed: true,
});
const folder = mkdtempSync(join(tmpdir(), 'orrery-access-'));
let bus: TestBus;
let console: TestConsole;
/** What the registry was asked, and who the console says has asked it. */
const atRegistry: { readonly subject: string; readonly body: object; readonly vouched: ActorProof['vouched'] }[] = [];
/** What the logging service is asked to look for, and finds. */
const searched: object[] = [];
const measured: object[] = [];
const FIGURES: FiguresAnswer = {
  ...figuresOfRuns(['open']),
  by: 'team',
  groups: [{ value: 'db', ...figuresOfRuns(['open']) }],
  groupsLeft: 0,
  unknownLabels: [],
  upTo: { sequence: 3, at: null, behind: 0 },
};
const { message: FOUND } = JSON.parse(readFileSync('proto/fixtures/LoggingSearchAnswer/1-one.json', 'utf8')) as {
  message: SearchAnswer;
};
/** What is to happen when the logging service is asked. */
let asked: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  bus = await startTestBus();
  const actors = await new Kvm(jetstream(await bus.as('admin'))).open(BUCKETS.ACTORS.bucket);
  const anna = ActorEntry.parse({
    actor: { kind: 'person', id: 'anna' },
    roles: ['viewer', 'auditor', 'operator'],
    namespace: 'anna',
    keys: [],
    tokens: [
      { tokenId: 'laptop', tokenHash: tokenHash(TOKEN), scopes: ['viewer'], label: '', expiresAt: null },
      { tokenId: 'audit', tokenHash: tokenHash(AUDIT_TOKEN), scopes: ['auditor'], label: '', expiresAt: null },
      { tokenId: 'desk', tokenHash: tokenHash(DESK_TOKEN), scopes: ['operator'], label: '', expiresAt: null },
      { tokenId: 'ci', tokenHash: tokenHash(CI_TOKEN), scopes: ['viewer'], label: '', expiresAt: null },
    ],
    logins: [],
    revision: 1,
  });
  await actors.put('anna', JSON.stringify(anna));
  await serveQueries(
    await bus.as('logging'),
    'logging',
    {
      ...notAsked('logging'),
      attention: async (wanted) => {
        wantedAttention.push(wanted);
        return { open: 1, taken: 0, matching: { open: 1, taken: 0 }, entries: [FAILED], unseen: [] };
      },
      'attention-take': async ({ id, attentionId }) => wordOf(attentionId, 'taken', id),
      'attention-settle': async ({ id, attentionId }) => wordOf(attentionId, 'settled', id),
      runs: async () => ({ runs: [] }),
      approvals: async () => ({ approvals: [] }),
      run: async () => Promise.reject(new Error('nobody asks')),
      search: async (request) => {
        searched.push(request);
        return FOUND;
      },
      metrics: async (request) => {
        measured.push(request);
        return FIGURES;
      },
      report: async ({ runId }) => {
        await asked();
        return { runId, markdown: 'the output of a task' };
      },
    },
    { authority: ANYBODY },
  );
  await serveQueries(
    await bus.as('registry'),
    'registry',
    {
      ...notAsked('registry'),
      hold: async ({ deviceId }) => ({ changed: deviceId !== null, devices: 1 }),
      'people-limits': async () => ({ changed: true }),
      access: async () => ({ entries: [ENTRY], after: { access: 7, actors: 3 }, more: true }),
      'token-used': async () => ({ changed: true }),
    },
    {
      authority: (signed) => {
        atRegistry.push({ subject: signed.subject, body: signed.body, vouched: signed.proof.vouched });
        return ANYBODY(signed);
      },
    },
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

  it('is of a search a record, with the hash of its words and not the words', async () => {
    const before = (await records()).length;
    for (const words of ['hunter2', 'hunter2', 'hunter3']) {
      expect((await get(`/v1/search?words=${words}&run=${RUN}`)).status).toBe(200);
    }
    const asked = 'fb8c2e2b85ca81eb4350199faddd983cb26af3064614e737ea9f479621cfa57a';
    const searches = (await records()).slice(before);
    expect(searches).toMatchObject([
      { what: 'SEARCHED', runId: RUN, asked: expect.any(String) },
      { what: 'SEARCHED', runId: RUN, asked },
    ]);
    expect(JSON.stringify(searches)).not.toContain('hunter');
  });

  it('needs no record where nothing is shown: for lists, without the role, and for what is no run', async () => {
    const before = (await records()).length;
    const statuses = [];
    for (const path of ['/v1/runs', '/v1/access', '/v1/runs/a.b/report.md', '/v1/me'])
      statuses.push((await get(path)).status);
    expect([statuses, (await records()).length]).toEqual([[200, 403, 400, 200], before]);
  });

  it('leaves a record, and no answer, when the console is killed in between', async () => {
    const [port, tokenFile] = [await ownPort(), join(folder, 'admin-token')];
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
        NODE_COMPILE_CACHE: '.cache/node-compile',
      },
    });
    const ended = once(child, 'exit');
    const isUp = async (): Promise<boolean> => (await get('/readyz', '', port).catch(() => undefined))?.ok === true;
    for (; !(await isUp()); await moment()) expect(child.exitCode).toBeNull();
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

describe('a search over HTTP', () => {
  it('asks logging for what is said, and passes on what is found', async () => {
    const before = searched.length;
    const answer = await get('/v1/search?words=%22disk%20full%22&device=db-1&exit=1,-2&state=failed&limit=5&before=9');
    expect([answer.status, await answer.json()]).toEqual([200, FOUND]);
    const asked = { words: '"disk full"', device: 'db-1', exit: [1, -2], state: ['FAILED'], limit: 5, before: '9' };
    expect(askedOnce(searched.slice(before))).toEqual([asked]);
  });

  it.each([
    ['word=disk', 'word', 'unknown field; did you mean "words"?'],
    ['device=a.b', 'device', expect.any(String)],
    ['exit=', 'exit[0]', expect.any(String)],
    ['before=0', 'before', expect.any(String)],
    ['limit=201', 'limit', expect.any(String)],
    ['words=a&words=b', 'words', expect.any(String)],
  ])('%s is refused, and nobody is asked', async (said, path, message) => {
    const before = searched.length;
    const answer = await get(`/v1/search?${said}`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { issues: [{ path, message }] } }]);
    expect(searched).toHaveLength(before);
  });
});

describe('figures over HTTP', () => {
  const LABELS = 'label=bench=nebula,team&requester=anna&status=failed,completed&by=team';

  it('are those that logging gives for what is said, as JSON and as values with commas', async () => {
    const before = measured.length;
    const answer = await get(`/v1/metrics?${LABELS}&since=2026-11-01T00:00:00.000Z&until=2026-11-02T00:00:00.000Z`);
    expect([answer.status, await answer.json()]).toEqual([200, FIGURES]);
    const csv = await get('/v1/metrics?format=csv');
    expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(await csv.text()).toBe(figuresCsv(FIGURES));
    const asked = {
      label: ['bench=nebula', 'team'],
      requester: 'anna',
      status: ['FAILED', 'COMPLETED'],
      by: 'team',
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-11-02T00:00:00.000Z',
    };
    expect(askedOnce(measured.slice(before))).toEqual([asked, {}]);
  });

  it.each([
    ['labels=a', 'labels', 'unknown field; did you mean "label"?'],
    ['label==b', 'label[0]', expect.any(String)],
    ['by=team=db', 'by', expect.stringContaining('without a value')],
    ['since=7d', 'since', expect.any(String)],
    ['status=done', 'status[0]', expect.any(String)],
    ['format=xml', 'format', expect.any(String)],
  ])('%s is refused, and nobody is asked', async (said, path, message) => {
    const before = measured.length;
    const answer = await get(`/v1/metrics?${said}`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { issues: [{ path, message }] } }]);
    expect(measured).toHaveLength(before);
  });
});

describe('who looked at what', () => {
  it('is told an auditor as the registry tells it, asked in his name; from where he was told up to', async () => {
    const words = `since=2026-11-20T00:00:00.000Z&actor=vera&run=${RUN}&what=OUTPUT_READ&access=5&actors=2`;
    const response = await get(`/v1/access?${words}`, AUDIT_TOKEN);
    const page = { entries: [ENTRY], after: { access: 7, actors: 3 }, more: true };
    expect([response.status, await response.json()]).toEqual([200, page]);
    const asked = { since: '2026-11-20T00:00:00.000Z', of: 'vera', runId: RUN, what: 'OUTPUT_READ' };
    const vouched = { actor: 'anna', issuer: 'orrery', subject: 'token:audit', session: 'token:audit' };
    const subject = subjects.query('registry', 'access');
    const after = { access: 5, actors: 2 };
    expect(askedOnce(atRegistry.filter((one) => one.subject === subject))).toEqual([
      { subject, body: expect.objectContaining({ ...asked, after }), vouched },
    ]);
    expect((await get('/v1/access?since=yesterday', AUDIT_TOKEN)).status).toBe(400);
  });
});

describe('the last use of a token', () => {
  it('is told the registry by the first request with it, and by no other within the hour', async () => {
    const subject = subjects.query('registry', 'token-used');
    // Nobody waits for it: those of other tokens may still be on their way.
    const uses = () => askedOnce(atRegistry.filter((one) => one.subject === subject));
    const told = (tokenId: string) => uses().filter(({ body }) => Object.values(body).includes(tokenId)).length;
    const before = told('laptop');
    await Promise.all(Array.from({ length: 10 }, () => get('/v1/me', CI_TOKEN)));
    await Promise.all(Array.from({ length: 10 }, () => get('/v1/me')));
    while (told('ci') === 0) await get('/v1/me', CI_TOKEN);
    expect([told('ci'), told('laptop')]).toEqual([1, before]);
  });
});

describe('a login', () => {
  it('that is refused is recorded, of nobody and without what was tried; many are one record', async () => {
    const before = (await records()).length;
    for (let count = 0; count < 30; count++) expect((await get('/v1/runs', `guess-${count}`)).status).toBe(401);
    const nobody = { subject: 'orrery.access.console._', what: 'LOGIN_REFUSED', peer: '127.0.0.1' };
    let refused: Awaited<ReturnType<typeof records>> = [];
    for (; refused.length < 20; await moment()) refused = (await records()).slice(before);
    expect(refused).toEqual(Array.from({ length: 20 }, () => expect.objectContaining(nobody)));
    expect(JSON.stringify(refused)).not.toContain('guess');
  });
});

it('an artifact is given whole to who may read outputs, as bytes, when that is recorded', async () => {
  const content = Buffer.from('<script>alert(1)</script>');
  const { sha256 } = await putArtifact(await bus.as('device-agent'), content);
  const reply = await get(`/v1/artifacts/${sha256}`);
  expect(await reply.text()).toBe(content.toString());
  const [type, policy] = ['content-type', 'content-security-policy'].map((name) => reply.headers.get(name));
  expect([type, policy]).toEqual(['application/octet-stream', 'sandbox']);
  const read = (await records()).filter(({ what }) => what === 'OUTPUT_READ');
  expect(read.at(-1)).toMatchObject({ artifact: sha256, actor: { id: 'anna' } });
  const [none, bad] = [await get(`/v1/artifacts/${'0'.repeat(64)}`), await get('/v1/artifacts/x')];
  expect([none.status, bad.status]).toEqual([404, 400]);
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

describe('what needs somebody, over HTTP', () => {
  const post = (path: string, { body = '', token = DESK_TOKEN, key = '' } = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${console.port}/v1/attention/${path}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${token}`, ...(key !== '' && { 'idempotency-key': key }) },
    });

  it('is listed to who may look at runs, as it is asked for', async () => {
    const reply = await get('/v1/attention?kind=failed,disk&run=r1&device=web-1&all=true&limit=5');
    expect(await reply.json()).toEqual({
      open: 1,
      taken: 0,
      matching: { open: 1, taken: 0 },
      entries: [FAILED],
      unseen: [],
    });
    expect(askedOnce(wantedAttention)).toEqual([
      { kind: ['failed', 'disk'], runId: 'r1', deviceId: 'web-1', all: true, limit: 5 },
    ]);
    for (const said of ['kind=boredom', 'all=perhaps', 'limit=0', 'kinds=failed']) {
      expect((await get(`/v1/attention?${said}`)).status).toBe(400);
    }
  });

  it('is taken on and settled by who may, under the id that makes it safe to repeat', async () => {
    const taken = await post(`${FAILED.id}/take`, { key: 'take-1' });
    expect([taken.status, taken.headers.get('idempotency-key')]).toEqual([200, 'take-1']);
    expect(await taken.json()).toEqual(wordOf(FAILED.id, 'taken', 'take-1'));
    const settled = await post(`${FAILED.id}/settle`, { body: '{"reason":"the disk was replaced"}' });
    expect(await settled.json()).toMatchObject({ state: 'settled' });
    const body = '{"reason":"x"}';
    expect((await post(`${FAILED.id}/take`, { token: TOKEN })).status).toBe(403);
    expect((await post(`${FAILED.id}/settle`, { body, token: TOKEN })).status).toBe(403);
  });

  it('is not settled without a reason, nor under an id that none has', async () => {
    const statuses = [];
    for (const [path, body] of [
      [`${FAILED.id}/settle`, '{}'],
      [`${FAILED.id}/settle`, ''],
      ['nothing/take', ''],
    ] as const)
      statuses.push((await post(path, { body })).status);
    expect(statuses).toEqual([400, 400, 400]);
  });
});

// Last: whoever is on the bus comes back to it by and by.
describe('what a service is asked as it is', () => {
  const post = async (path: string, body: object = {}, token = DESK_TOKEN, headers = {}) => {
    const authorization = `Bearer ${token}`;
    const url = `http://127.0.0.1:${console.port}${path}`;
    const reply = await fetch(url, {
      method: 'POST',
      headers: { authorization, ...headers },
      body: JSON.stringify(body),
    });
    return { status: reply.status, key: reply.headers.get('idempotency-key'), json: (await reply.json()) as object };
  };
  /** What the registry was asked last for somebody; that a token was used it is told beside that. */
  const last = () => atRegistry.findLast(({ subject }) => subject !== subjects.query('registry', 'token-used'));

  it('is asked in the name of the caller, with what the address says and what the body says', async () => {
    const held = await post('/v1/devices/web-1/hold', { reason: 'a new disk' });
    expect(held).toEqual({ status: 200, key: null, json: { changed: true, devices: 1 } });
    const { actor: _, ...body } = (last()?.body ?? {}) as Record<string, unknown>;
    expect(body).toEqual({ deviceId: 'web-1', reason: 'a new disk' });
    expect(last()).toMatchObject({ subject: subjects.query('registry', 'hold'), vouched: { subject: 'token:desk' } });
    expect((await post('/v1/fleet/hold')).json).toEqual({ changed: false, devices: 1 });
  });

  it('has the Idempotency-Key as its id, when it changes something once', async () => {
    const limits = { given: { openRuns: 5 } };
    const said = await post('/v1/people/billing/limits', limits, DESK_TOKEN, { 'idempotency-key': 'mine' });
    expect([said.status, said.key, last()?.body]).toMatchObject([
      200,
      'mine',
      { id: 'mine', actorId: 'billing', ...limits },
    ]);
    expect((await post('/v1/people/billing/limits', limits)).key).toMatch(/^[0-9A-Z]{26}$/u);
  });

  it('is not asked by who may not, nor with what it does not know', async () => {
    const before = atRegistry.length;
    const error = { message: 'registry.hold needs the role operator; anna has viewer.' };
    expect(await post('/v1/devices/web-1/hold', {}, TOKEN)).toMatchObject({ status: 403, json: { error } });
    for (const body of [{ deviceId: 'web-2' }, { why: 'x' }, { reason: '' }])
      expect([(await post('/v1/devices/web-1/hold', body)).status, body]).toEqual([400, body]);
    expect((await post('/v1/devices/a%20b/hold')).status).toBe(400);
    expect((await get('/v1/runbooks?name=x')).status).toBe(400);
    expect(atRegistry.slice(before).filter(({ subject }) => subject.endsWith('.hold'))).toEqual([]);
  });
});

describe('while nats-server is away', () => {
  const reason = async (path: string): Promise<unknown> => {
    const response = await get(path);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return [response.status, error.code, error.message];
  };

  it('what is read is answered by its reason', async () => {
    await bus.server.kill9();
    const away = 'bus cannot be reached now.';
    // What was sent before the console has seen the connection break waits for its answer in vain.
    const answers = [await reason('/v1/runs'), await reason('/v1/runs')];
    expect(answers.at(-1)).toEqual([503, 'TRY_AGAIN', `The ${away}`]);
    const unread = `${RUN.slice(0, -1)}y`;
    const why = `It cannot be recorded who reads this, so it is not shown: the ${away}`;
    expect(await reason(`/v1/runs/${unread}/report.md`)).toEqual([503, 'TRY_AGAIN', why]);
    await bus.server.restart();
  });
});
