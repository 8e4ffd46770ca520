import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  commandIdOf,
  FeedMessage,
  LIMITS,
  subjects,
  type ActorProof,
  type ApprovalView,
  type RunEventType,
  type SubmitAnswer,
} from '#proto';
import { evolveCommit, summaryOf, viewOf, type Run } from '#libs/constellation';
import { verifyActorProof } from '#libs/keys';
import { connectBus, QueryRefusedError, serveQueries } from '#libs/messaging';
import { RecordedItem } from '#libs/output';
import {
  ANYBODY,
  notAsked,
  attemptOutputs,
  generateHistory,
  runCommitsOf,
  startTestNats,
  type TestNats,
} from '#libs/testing';
import { startConsole, type TestConsole } from './console.testing.js';

const TOKEN = 'the-admin-token';
const COMMITS = runCommitsOf(generateHistory({ seed: 5, tasks: 4 }));
const RUN = COMMITS.reduce<Run | undefined>(evolveCommit, undefined) as Run;
const EVENTS = COMMITS.flatMap(({ events, at }) => events.map((event) => ({ ...event, at })));

let server: TestNats;
let nc: NatsConnection;
let started: TestConsole;
let port: number;
let directory: string;
/** What came, signed, without its signature. */
const requests: string[] = [];
let submitAnswer: SubmitAnswer | undefined = { runId: 'r1', requestId: 'q1' };

const APPROVAL: ApprovalView = {
  approvalId: 'run-1.web.1.2.0',
  runId: 'run-1',
  taskId: 'web',
  attempt: 1,
  ask: {
    kind: 'question',
    approvalId: 'run-1.web.1.2.0',
    deviceId: 'web-1',
    agent: 'LinuxAgent',
    step: 2,
    thought: '',
    plan: [],
    expiresAt: '2026-11-20T12:10:00.000Z',
    question: 'Which port?',
  },
  requestedAt: '2026-11-20T12:00:00.000Z',
  state: 'open',
  by: null,
  note: null,
  decidedAt: null,
  grantUntil: null,
};

beforeAll(async () => {
  server = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  directory = await mkdtemp(join(tmpdir(), 'orrery-console-'));
  const seedFile = join(directory, 'console.seed');
  await writeFile(seedFile, createUser().getSeed(), { mode: 0o600 });
  const env = {
    ORRERY_CONSOLE_WEB_DIR: join(directory, 'none'),
    ORRERY_NATS_SEED_FILE: seedFile,
    ORRERY_CONSOLE_HOSTS: 'console.example',
  };
  started = await startConsole(TOKEN, { ORRERY_NATS_URL: server.url, ...env });
  ({ port } = started);
  await serveQueries(
    nc,
    'logging',
    {
      ...notAsked('logging'),
      runs: async ({ limit = 9, status = ['RUNNING'], by, id = '', label = [] }) => ({
        runs:
          status.includes('RUNNING') && by === undefined && label.length !== 1 && RUN.runId.startsWith(id)
            ? [summaryOf(RUN)].slice(0, limit)
            : [],
      }),
      run: async ({ runId }) => {
        if (runId === RUN.runId) return { run: viewOf(RUN) };
        throw new QueryRefusedError({ code: 'NOT_FOUND', message: `There is no run ${runId}.`, issues: [] });
      },
      approvals: async ({ state = 'open', limit = 9 }) => ({
        approvals: (state === 'all' ? [APPROVAL, { ...APPROVAL, state: 'rejected' as const }] : [APPROVAL]).slice(
          0,
          limit,
        ),
      }),
      report: async ({ runId }) => ({ runId, markdown: '# Report\n' }),
    },
    { authority: ANYBODY },
  );
  nc.subscribe(subjects.submit, {
    callback: (_, message) => {
      const { actor, ...request } = message.json<{ readonly actor: ActorProof }>();
      const proven = verifyActorProof(actor, { subject: message.subject, body: request, now: Date.now() });
      if (proven.ok) requests.push(JSON.stringify(request));
      if (submitAnswer !== undefined) message.respond(JSON.stringify(submitAnswer));
    },
  });
  await jetstream(nc).publish(subjects.run(RUN.runId), JSON.stringify(COMMITS[0]));
  for (const { id, type, sequence, data, at } of EVENTS) await publish({ id, type, sequence, data, at });
});
afterAll(async () => {
  await started.stop();
  await rm(directory, { recursive: true, force: true });
  await nc.close();
  await server.stop();
});

interface Event {
  id: string;
  type: RunEventType;
  sequence: number;
  data: object;
  at: string;
}

async function publish({ id, type, sequence, data, at }: Event, runId = RUN.runId): Promise<void> {
  const message = FeedMessage.parse({
    specversion: '1.0',
    id,
    source: `/orrery/runs/${runId}`,
    type: `orrery.${type}`,
    time: at,
    datacontenttype: 'application/json',
    orreryrunid: runId,
    orrerysequence: sequence,
    orrerysource: `${sequence}.0`,
    data,
  });
  await jetstream(nc).publish(subjects.feed(runId, type, 'anna'), JSON.stringify(message));
}

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

interface Call {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Ends the reading as soon as the text so far holds this. */
  readonly until?: string;
  /** The answer has begun to come. */
  readonly onBegin?: () => void;
}

/** A client that may say of itself what it likes, Host included. */
function call(path: string, { method = 'GET', headers = {}, body, until, onBegin }: Call = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const authorization = `Bearer ${TOKEN}`;
  const options = { host: '127.0.0.1', port, path, method, headers: { authorization, ...headers } };
  const sent = httpRequest(options, (response) => {
    let text = '';
    const done = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    response.setEncoding('utf8').on('data', (chunk: string) => {
      if (text === '') onBegin?.();
      text += chunk;
      if (until !== undefined && text.includes(until)) {
        done();
        sent.destroy();
      }
    });
    response.on('end', done).on('error', () => undefined);
  });
  sent.on('error', reject).end(body);
  return promise;
}

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;

describe('who may come in', () => {
  const paths = [
    '/v1/runs',
    '/v1/runs/x',
    '/v1/nothing',
    '/v1/runs/x/events',
    '/v1/runs/x/output',
    '/healthz/x',
    '/V1/runs',
  ];
  it.each(paths)('needs the token for %s', async (path) => {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`]) {
      const reply = await call(path, { headers: { authorization } });
      expect(reply.status).toBe(401);
      expect(json(reply)).toMatchObject({ error: { code: 'UNAUTHORIZED', issues: [] } });
      expect(reply.headers['www-authenticate']).toContain('Bearer');
    }
  });

  it('gives the pages of the web application to anybody, and by its own names only', async () => {
    for (const path of ['/', '/runs/x', '//healthz']) {
      expect((await call(path, { headers: { authorization: '' } })).status).toBe(503);
      expect((await call(path, { headers: { authorization: '', host: 'evil.example' } })).status).toBe(403);
      expect((await call(path, { headers: { authorization: '' }, method: 'POST' })).status).toBe(401);
    }
  });

  it('answers probes and the descriptions of the interfaces to anybody', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/asyncapi.json']) {
      expect((await call(path, { headers: { authorization: '' } })).status).toBe(200);
    }
  });

  it.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost@evil.example', 'console.example.'])(
    'refuses the Host %s',
    async (host) => expect((await call('/v1/runs', { headers: { host } })).status).toBe(403),
  );

  it.each(['localhost:1', '[::1]:99', '127.0.0.1', 'console.example', 'CONSOLE.example:8080'])(
    'accepts the Host %s',
    async (host) => expect((await call('/v1/runs', { headers: { host } })).status).toBe(200),
  );

  it.each(['http://evil.example', 'null', 'file://', 'https://localhost.evil.example'])(
    'refuses the Origin %s',
    async (origin) => {
      const reply = await call('/v1/runs', { headers: { origin } });
      expect(reply.status).toBe(403);
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it('allows nothing to other origins and stores nothing', async () => {
    const { headers } = await call('/v1/runs', { headers: { origin: 'http://localhost:1234' } });
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect((await call('/v1/runs', { method: 'OPTIONS', headers: { origin: 'http://localhost' } })).status).toBe(404);
  });
});

describe('POST /v1/requests', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    call('/v1/requests', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

  it('forwards the request and answers with the ids', async () => {
    requests.length = 0;
    const reply = await post('{"requestId":"q1","goal":"x"}', { 'idempotency-key': 'other' });
    expect([reply.status, json(reply), reply.headers['location']]).toEqual([
      202,
      { runId: 'r1', requestId: 'q1' },
      '/v1/runs/r1',
    ]);
    expect(requests).toEqual(['{"requestId":"q1","goal":"x"}']);
  });

  it('takes the idempotency key for the request id when the body has none', async () => {
    requests.length = 0;
    await post('{"goal":"x"}', { 'idempotency-key': 'key-1' });
    await post('{"goal":"x"}');
    expect(requests.map((text) => JSON.parse(text) as unknown)).toEqual([
      { goal: 'x', requestId: 'key-1' },
      { goal: 'x' },
    ]);
  });

  it.each([
    ['INVALID_REQUEST', 400],
    ['IDEMPOTENCY_CONFLICT', 409],
    ['TOO_LARGE', 413],
    ['TRY_AGAIN', 503],
    ['STORAGE_FULL', 507],
  ] as const)('answers %s with %i and the issues', async (code, status) => {
    const error = { code, message: 'no', issues: [{ path: 'goal', message: 'is wrong' }] };
    submitAnswer = { error };
    const reply = await post('{}');
    expect([reply.status, json(reply)]).toEqual([status, { error }]);
    submitAnswer = { runId: 'r1', requestId: 'q1' };
  });

  it.each(['', '{', '\u00e4', '[]', 'null', '"x"'])('refuses the body %j without asking anybody', async (body) => {
    requests.length = 0;
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(json(reply)).toMatchObject({ error: { code: expect.stringMatching(/^INVALID_/u) } });
    expect(requests).toEqual([]);
  });

  it('takes a request of exactly the limit, and refuses one byte more', async () => {
    requests.length = 0;
    const body = (bytes: number) => `{"goal":"${'x'.repeat(bytes - 11)}"}`;
    expect((await post(body(LIMITS.requestBytesMax))).status).toBe(202);
    expect(requests[0]).toHaveLength(LIMITS.requestBytesMax);
    const tooLarge = await post(body(LIMITS.requestBytesMax + 1));
    expect([tooLarge.status, json(tooLarge)['error']]).toEqual([413, expect.objectContaining({ code: 'TOO_LARGE' })]);
    const chunked = await post(body(LIMITS.requestBytesMax + 1), { 'transfer-encoding': 'chunked' });
    expect(chunked.status).toBe(413);
  });
});

describe('GET /v1/approvals', () => {
  it('lists what is open, or all', async () => {
    expect(json(await call('/v1/approvals'))).toEqual({ approvals: [APPROVAL] });
    expect(json(await call('/v1/approvals?state=all&limit=2'))['approvals']).toHaveLength(2);
  });

  it.each(['/v1/approvals?state=old', '/v1/approvals?limit=0'])('refuses %s', async (path) => {
    expect([(await call(path)).status, json(await call(path))]).toMatchObject([
      400,
      { error: { code: 'INVALID_REQUEST' } },
    ]);
  });
});

describe('GET /v1/runs', () => {
  it('lists and shows runs as logging answers them', async () => {
    expect(json(await call('/v1/runs?limit=5'))).toEqual({ runs: [summaryOf(RUN)] });
    for (const [said, found] of [
      ['status=running', 1],
      ['status=failed,running', 1],
      ['status=FAILED&status=CANCELLED', 0],
      ['by=anna', 0],
      ['label=team=db', 0],
      ['label=team%3Ddb&label=env', 1],
      ['label=team=db,env', 1],
      [`id=${RUN.runId.slice(0, 5)}&status=running`, 1],
    ] as const)
      expect(json(await call(`/v1/runs?${said}`))['runs']).toHaveLength(found);
    expect(json(await call('/v1/runs?stauts=failed'))).toMatchObject({
      error: { issues: [{ path: 'stauts', message: 'unknown field; did you mean "status"?' }] },
    });
    expect(json(await call(`/v1/runs/${RUN.runId}`))).toEqual(viewOf(RUN));
    expect((await call('/v1/runs/latest')).headers['content-location']).toBe(`/v1/runs/${RUN.runId}`);
    const report = await call(`/v1/runs/${RUN.runId}/report.md`);
    expect([report.text, report.headers['content-type']]).toEqual(['# Report\n', 'text/markdown; charset=utf-8']);
  });

  it.each([
    ['/v1/runs?limit=0', 400, 'INVALID_REQUEST'],
    ['/v1/runs?stauts=failed', 400, 'INVALID_REQUEST'],
    ['/v1/runs?status=done', 400, 'INVALID_REQUEST'],
    ['/v1/runs?since=yesterday', 400, 'INVALID_REQUEST'],
    ['/v1/runs?id=%25', 400, 'INVALID_REQUEST'],
    ['/v1/runs?label==db', 400, 'INVALID_REQUEST'],
    ['/v1/approvals?stat=open', 400, 'INVALID_REQUEST'],
    ['/v1/runs?limit=many', 400, 'INVALID_REQUEST'],
    ['/v1/runs/unknown', 404, 'NOT_FOUND'],
    ['/v1/runs/a.b', 400, 'INVALID_REQUEST'],
    ['/v1/runs/%3E/events', 400, 'INVALID_REQUEST'],
    ['/v1/runs/unknown/events', 404, 'NOT_FOUND'],
    ['/v1/nothing', 404, 'NOT_FOUND'],
  ] as const)('refuses %s with %i', async (path, status, code) => {
    const reply = await call(path);
    expect([reply.status, json(reply)['error']]).toEqual([status, expect.objectContaining({ code })]);
  });
});

describe('GET /v1/runs/:id/events', () => {
  const end = EVENTS.findIndex(({ type }) => type === 'RUN_COMPLETED' || type === 'RUN_FAILED');
  const ids = ({ text }: Reply) => [...text.matchAll(/^id: (.*)$/gmu)].map(([, id]) => id);
  const path = `/v1/runs/${RUN.runId}/events`;

  it('sends every event in order and ends after the end of the run', async () => {
    const reply = await call(path);
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(ids(reply)).toEqual(EVENTS.slice(0, end + 1).map(({ id }) => id));
    const data = [...reply.text.matchAll(/^data: (.*)$/gmu)].map(([, text]) =>
      FeedMessage.parse(JSON.parse(text ?? '')),
    );
    expect(data.map(({ data }) => data)).toEqual(EVENTS.slice(0, end + 1).map(({ data }) => data));
    expect([...reply.text.matchAll(/^event: (.*)$/gmu)].map(([, type]) => type)).toEqual(
      EVENTS.slice(0, end + 1).map(({ type }) => type),
    );
  });

  it('goes on after the event that the client saw last, wherever it broke off', async () => {
    for (let seen = 0; seen < end; seen++) {
      const reply = await call(path, { headers: { 'last-event-id': EVENTS[seen]?.id ?? '' } });
      expect(ids(reply)).toEqual(EVENTS.slice(seen + 1, end + 1).map(({ id }) => id));
    }
  });

  it('tells a client that saw the end not to come back, and sends all to one whose event is unknown', async () => {
    expect((await call(path, { headers: { 'last-event-id': EVENTS[end]?.id ?? '' } })).status).toBe(204);
    expect(ids(await call(path, { headers: { 'last-event-id': 'unknown' } }))).toHaveLength(end + 1);
  });

  it('follows a run that goes on', async () => {
    const [first, second] = EVENTS;
    if (first === undefined || second === undefined) throw new Error('the history is too short');
    await jetstream(nc).publish(subjects.run('live'), '{}');
    const live = call('/v1/runs/live/events', { until: 'live-2' });
    await publish({ ...first, id: 'live-1' }, 'live');
    await publish({ ...second, id: 'live-2' }, 'live');
    expect(ids(await live)).toEqual(['live-1', 'live-2']);
  });
});

describe('GET /v1/runs/:id/output', () => {
  it('follows a run that goes on, and sends nothing of one that is over', async () => {
    const [, ...rest] = COMMITS;
    const append = (commit: unknown) => jetstream(nc).publish(subjects.run(RUN.runId), JSON.stringify(commit));
    const [task] = RUN.requested?.tasks ?? [];
    const path = `/v1/runs/${RUN.runId}/output`;
    const [whole, part] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const live = call(path, { onBegin: whole.resolve });
    const ofTask = call(`${path}?task=${task?.id}`, { onBegin: part.resolve });
    await Promise.all([whole.promise, part.promise]);
    const commandId = commandIdOf({ runId: RUN.runId, taskId: task?.id ?? '', attempt: 1 });
    const chunk = { commandId, deviceId: 'web-1', stream: 'stdout', offset: 0, text: 'one' };
    // Stored before the task is over: outputs and runs are streams of their own, and neither waits for the other.
    await jetstream(nc).publish(subjects.output(commandId), JSON.stringify(chunk));
    for (const commit of rest) await append(commit);
    for (const { status, headers, text } of [await live, await ofTask]) {
      expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
      expect(text).toContain(`event: output\ndata: ${JSON.stringify(chunk)}\n\n`);
    }
    expect((await call(path)).status).toBe(204);
  });

  it('gives what is recorded, as text with the place of each line or as JSON, searched', async () => {
    const { id: taskId = '' } = RUN.requested?.tasks[0] ?? {};
    const of = { runId: RUN.runId, taskId, attempt: 9 };
    const written = attemptOutputs.printed('one\u001B[2J\ntwo', 'careful\n');
    const { subject, commit } = attemptOutputs.attemptCommit(of, [attemptOutputs.finishedCommand(of, written)]);
    await jetstream(nc).publish(subject, JSON.stringify(commit));
    const path = `/v1/runs/${RUN.runId}/output?task=${taskId}&attempt=9`;
    const place = `${taskId}/9/0.0`;
    const { headers, text } = await call(`${path}&format=text`);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text).toBe(`${place} stdout | one\n${place} stdout | two\n${place} stderr | careful\n`);
    const items = (await call(`${path}&format=json`)).text.trim().split('\n');
    expect(items.map((item) => RecordedItem.parse(JSON.parse(item)).type)).toEqual(['command', 'output', 'output']);
    expect((await call(`${path}&format=text&grep=^t`)).text).toBe(`${place} stdout 2: two\n`);
  });

  it.each([
    ['/v1/runs/unknown/output', 404, 'NOT_FOUND'],
    ['/v1/runs/a.b/output', 400, 'INVALID_REQUEST'],
    ['/v1/runs/x/output?task=%3E', 400, 'INVALID_REQUEST'],
    ['/v1/runs/x/output?task=a&task=b', 400, 'INVALID_REQUEST'],
    ['/v1/runs/x/output?grep=a', 400, 'INVALID_REQUEST'],
    ['/v1/runs/x/output?format=text&grep=(', 400, 'INVALID_REQUEST'],
    ['/v1/runs/x/output?format=text&stepp=1', 400, 'INVALID_REQUEST'],
    [`/v1/runs/${RUN.runId}/output?format=text&attempt=77`, 404, 'NOT_FOUND'],
    ['/v1/runs/unknown/output?format=json', 404, 'NOT_FOUND'],
  ] as const)('refuses %s with %i', async (path, status, code) => {
    const reply = await call(path);
    expect([reply.status, json(reply)['error']]).toEqual([status, expect.objectContaining({ code })]);
  });
});

it('GET /asyncapi.json gives what is in the project, of this version', async () => {
  const stored = readFileSync(join(import.meta.dirname, '../../proto/asyncapi.json'), 'utf8');
  expect(json(await call('/asyncapi.json'))).toEqual(JSON.parse(stored));
});
