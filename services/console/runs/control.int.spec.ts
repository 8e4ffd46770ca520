import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { verifyActorProof } from '#libs/keys';
import { systemClock } from '#libs/platform';
import { startTestBus, type TestBus } from '#libs/testing';
import { subjects, type ActorProof, type RefusalCode, type VerbAnswer } from '#proto';
import { startConsole, type TestConsole } from '../console.testing.js';
import type { ConsoleCaller } from '../callers/caller.js';
import { RunVerbs } from './run-verbs.client.js';

const TOKEN = 'the-admin-token';
const RUN = 'run-1';
const ACCEPTED: VerbAnswer = { answer: 'accepted', sequence: 17 };

let bus: TestBus;
let orchestrator: NatsConnection;
let started: TestConsole;
let url: string;
let end = (): void => {};

beforeAll(async () => {
  bus = await startTestBus();
  orchestrator = await bus.as('orchestrator');
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: bus.seedFile('console') };
  started = await startConsole(TOKEN, env);
  url = `http://127.0.0.1:${started.port}/v1/runs/${RUN}`;
});
afterEach(async () => {
  end();
  await orchestrator.flush(); // nobody may ask one that is gone
});
afterAll(async () => {
  await started.stop();
  await bus.stop();
});

interface Received {
  readonly subject: string;
  readonly body: Record<string, unknown> & { id: string; actor: ActorProof };
}

/** Somebody who serves runs and gives one answer. */
async function owner(answer: VerbAnswer): Promise<Received[]> {
  const received: Received[] = [];
  const subscription = orchestrator.subscribe(subjects.anyVerb, {
    callback: (_, message) => {
      received.push({ subject: message.subject, body: message.json() });
      message.respond(JSON.stringify(answer));
    },
  });
  end = () => subscription.unsubscribe();
  await orchestrator.flush();
  return received;
}

const rejected = (code: RefusalCode, issues: { path: string; message: string }[] = []): VerbAnswer => ({
  answer: 'rejected',
  reason: { code, message: 'It cannot be done.', issues },
  sequence: 9,
});

async function post(path: string, body?: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}

describe('POST /v1/runs/:id/…', () => {
  it.each<[string, string | undefined, string, object]>([
    ['/cancel', '{"reason":"wrong device"}', 'CANCEL', { reason: 'wrong device' }],
    ['/cancel', undefined, 'CANCEL', {}],
    ['/pause', '{}', 'PAUSE', {}],
    ['/resume', undefined, 'RESUME', {}],
    ['/fork', '{"at":12}', 'FORK', { at: 12 }],
    ['/tasks/a/retry', undefined, 'RETRY', { taskId: 'a' }],
    ['/board/free_gb', '{"value":[1],"revision":0}', 'BOARD_SET', { name: 'free_gb', value: [1], revision: 0 }],
    ['/board/free_gb/delete', undefined, 'BOARD_DELETE', { name: 'free_gb' }],
    ['/workspaces/web-1/discard', undefined, 'DISCARD', { deviceId: 'web-1' }],
    ['/notes', '{"text":"a new disk","taskId":"a"}', 'ANNOTATE', { text: 'a new disk', taskId: 'a' }],
  ])('%s with %j is sent signed with the key of the console', async (path, body, verb, fields) => {
    const received = await owner(ACCEPTED);
    const { status, headers, json } = await post(path, body);
    expect([status, json]).toEqual([200, { answer: 'accepted', sequence: 17 }]);
    expect(received).toHaveLength(1);
    const [sent] = received;
    if (sent === undefined) throw new Error('nothing was sent');
    const { id, actor, ...rest } = sent.body;
    expect([sent.subject, rest]).toEqual([subjects.verb(RUN, verb), fields]);
    expect(headers.get('idempotency-key')).toBe(id);
    const command = { subject: sent.subject, body: sent.body, now: Date.now() };
    expect(verifyActorProof(actor, command)).toMatchObject({ ok: true });
  });

  it('takes the idempotency key for the id of the verb', async () => {
    const received = await owner(ACCEPTED);
    await post('/cancel', undefined, { 'idempotency-key': 'mine' });
    await post('/cancel', undefined, { 'idempotency-key': 'mine' });
    expect(received.map(({ body }) => body.id)).toEqual(['mine', 'mine']);
  });

  it('names the run that a fork began', async () => {
    await owner({ ...ACCEPTED, runId: 'run-2' });
    const { headers, json } = await post('/fork', '{"at":12}');
    expect([headers.get('location'), json]).toEqual(['/v1/runs/run-2', { ...ACCEPTED, runId: 'run-2' }]);
  });

  it('hands in a proposal as it is', async () => {
    const received = await owner(ACCEPTED);
    const edits = [{ tool: 'remove_task', taskId: 'b' }];
    expect((await post('/edits', JSON.stringify({ baseRevision: 3, edits }))).status).toBe(200);
    expect(received[0]?.body['proposal']).toEqual({
      editId: null,
      try: 1,
      baseRevision: 3,
      state: 'CONTINUE',
      edits,
    });
  });

  it('says why there was nothing to do', async () => {
    const reason = { code: 'IGNORED' as const, message: 'The run is paused already.', issues: [] };
    await owner({ answer: 'ignored', reason, sequence: 9 });
    const { status, json } = await post('/pause');
    expect([status, json]).toEqual([200, { answer: 'ignored', sequence: 9, reason }]);
  });

  it.each<[RefusalCode, number]>([
    ['INVALID_STATE', 409],
    ['EDIT_REJECTED', 409],
    ['NOT_FOUND', 404],
    ['INVALID_REQUEST', 400],
    ['TOO_LARGE', 413],
    ['UNAUTHORIZED', 403],
  ])('answers a refusal with %s with %i and the issues', async (code, status) => {
    const answer = rejected(code, [{ path: 'edits[0].taskId', message: 'task b is RUNNING' }]);
    await owner(answer);
    const reply = await post('/edits', '{"edits":[]}');
    expect([reply.status, reply.json]).toEqual([status, { error: answer.reason }]);
  });

  it('of which nobody knows what came answers 503, when to come back, and the id to come back with', async () => {
    const { status, headers, json } = await post('/cancel', undefined, { 'idempotency-key': 'mine' });
    expect([status, headers.get('retry-after'), headers.get('idempotency-key')]).toEqual([503, '1', 'mine']);
    expect(json).toMatchObject({
      error: { code: 'TRY_AGAIN', message: expect.stringContaining('with Idempotency-Key mine') },
    });
  });

  it.each<[string, string | undefined, string]>([
    ['/cancel', '{"id":"x"}', 'id'],
    ['/cancel', '{"actor":{"kind":"person","id":"me"}}', 'actor'],
    ['/cancel', '{"reason":""}', 'reason'],
    ['/resume', '{"reason":"x"}', 'reason'],
    ['/fork', '{}', 'at'],
    ['/fork', '{"at":0}', 'at'],
    ['/fork', '{"at":1,"parent":"run-2"}', 'parent'],
    ['/edits', '{"edits":[{"tool":"remove_task","taskId":"a.b"}]}', 'edits[0].taskId'],
    ['/tasks/a/retry', '{"taskId":"b"}', 'taskId'],
    ['/notes', '{}', 'text'],
    ['/notes', `{"text":"${'x'.repeat(1_001)}"}`, 'text'],
    ['/notes', '{"text":"x","by":{"kind":"person","id":"me"}}', 'by'],
    ['/tasks/a.b/retry', undefined, 'taskId'],
    ['/../a.b/cancel', undefined, ''],
  ])('refuses %s with %j without asking anybody', async (path, body, field) => {
    const received = await owner(ACCEPTED);
    const { status, json } = await post(path, body);
    expect([status, json]).toEqual([
      400,
      {
        error: expect.objectContaining({ code: 'INVALID_REQUEST', issues: [expect.objectContaining({ path: field })] }),
      },
    ]);
    expect(received).toEqual([]);
  });

  it.each(['{', '[]', 'null', '"x"'])('refuses the body %j', async (body) => {
    const received = await owner(ACCEPTED);
    for (const path of ['/cancel', '/edits', '/tasks/a/retry']) expect((await post(path, body)).status).toBe(400);
    expect([(await post('/edits')).status, (await post('/fork')).status]).toEqual([400, 400]);
    expect(received).toEqual([]);
  });

  it.each(['a.b', 'x'.repeat(65), 'a, b'])('refuses the idempotency key %j', async (key) => {
    const received = await owner(ACCEPTED);
    const { status, json } = await post('/cancel', undefined, { 'idempotency-key': key });
    expect([status, json]).toMatchObject([400, { error: { issues: [{ path: 'Idempotency-Key' }] } }]);
    expect(received).toEqual([]);
  });

  it('needs the token', async () => {
    const received = await owner(ACCEPTED);
    for (const path of ['/cancel', '/pause', '/resume', '/fork', '/edits', '/notes', '/tasks/a/retry']) {
      expect((await post(path, '{}', { authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await post(path, '{}', { origin: 'http://evil.example' })).status).toBe(403);
    }
    expect(received).toEqual([]);
  });
});

describe('POST /v1/approvals', () => {
  const approvalId = `${RUN}.web.1.2.0`;
  const decide = (word: object) => post('/../../approvals', JSON.stringify(word));

  it.each<[string, object, string]>([
    ['approve', { grantMs: 60_000, note: 'go on' }, 'APPROVE'],
    ['approve', { command: { tool: 'EXEC_CLI', arguments: { command: 'ls' } } }, 'APPROVE'],
    ['reject', {}, 'REJECT'],
    ['answer', { text: 'port 8443' }, 'ANSWER'],
  ])('sends %s with %j to the run that the approval names', async (decision, fields, verb) => {
    const received = await owner(ACCEPTED);
    const { status, headers, json } = await decide({ approvalId, decision, ...fields });
    expect([status, json]).toEqual([200, ACCEPTED]);
    expect(received.map(({ subject }) => subject)).toEqual([subjects.verb(RUN, verb)]);
    const { id, actor: _actor, ...rest } = received[0]?.body ?? { id: '', actor: undefined };
    expect(rest).toEqual({ approvalId, ...fields });
    expect(headers.get('idempotency-key')).toBe(id);
  });

  it.each<[object, string]>([
    [{ decision: 'approve' }, 'approvalId'],
    [{ approvalId, decision: 'perhaps' }, 'decision'],
    [{ approvalId: 'web.1', decision: 'reject' }, 'approvalId'],
    [{ approvalId, decision: 'answer' }, 'text'],
    [{ approvalId, decision: 'approve', grantMs: 1 }, 'grantMs'],
    [{ approvalId, decision: 'reject', by: 'me' }, 'by'],
  ])('refuses %j without asking anybody', async (word, path) => {
    const received = await owner(ACCEPTED);
    const { status, json } = await decide(word);
    expect([status, json]).toMatchObject([400, { error: { issues: [{ path }] } }]);
    expect(received).toEqual([]);
  });
});

const CALLER: ConsoleCaller = {
  actor: { kind: 'person', id: 'anna' },
  roles: ['operator'],
  namespace: 'anna',
  issuer: 'orrery',
  subject: 'token:t1',
  session: 'token:t1',
};

describe('a console without a key', () => {
  it('changes nothing', async () => {
    const verbs = new RunVerbs({ nc: orchestrator, seed: undefined, clock: systemClock });
    const received = await owner(ACCEPTED);
    await expect(
      verbs.send({ runId: RUN, verb: 'CANCEL', fields: {}, id: 'mine', caller: CALLER }),
    ).rejects.toMatchObject({
      status: 403,
      refusal: { code: 'UNAUTHORIZED' },
    });
    expect(received).toEqual([]);
  });
});
