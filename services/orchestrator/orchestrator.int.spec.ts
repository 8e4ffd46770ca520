import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { type RunCommit, type RunEventType, subjects } from '#proto';
import { checkInvariants, foldRun, viewOf } from '#libs/constellation';
import { openRunLog, readCommits, runIdOf } from '#libs/event-log';
import { checkKeptProof } from '#libs/keys';
import { connectBus } from '#libs/messaging';
import {
  connectDevice,
  instantDevice,
  introduceWith,
  moment,
  type Replica,
  requestRun,
  signedRequest,
  startTestNats,
  type TestNats,
} from '#libs/testing';
import { startOrchestrator } from './rig.testing.js';

const FLEET = Array.from({ length: 100 }, (_, index) => `fleet-${String(index).padStart(2, '0')}`);

describe('orchestrator', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let orchestrator: Replica;

  beforeAll(async () => {
    nats = await startTestNats({ provisioned: true });
    nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
    await connectDevice(nc, 'web-1');
    await connectDevice(nc, 'db-1', { tags: ['db'] });
    // Before anybody looks: what is written later is heard of in its own time, and not all of it at once.
    await Promise.all(FLEET.map((id) => connectDevice(nc, id, { tags: ['fleet'] })));
    orchestrator = await start(nc, 'one');
  });

  afterAll(async () => {
    await orchestrator.stop();
    await nc.close();
    await nats.stop();
  });

  it('runs a diamond to its end and answers the same request with the same run', async () => {
    const device = instantDevice(nc);
    const { runId } = await submit(nc, diamond('diamond-1'));
    const commits = await untilEnd(nc, runId);
    const run = foldRun(commits);
    if (run === undefined) throw new Error('no run');
    expect(viewOf(run)).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
    expect(checkInvariants(run)).toEqual([]);
    expect(proofsOf(commits[0])).toEqual([{ check: 'good', subject: subjects.submit, body: diamond('diamond-1') }]);
    expect(run.request).toMatchObject({ namespace: 'default', requestedBy: { kind: 'external', id: 'external' } });
    expect(await submit(nc, diamond('diamond-1'))).toEqual({ runId, requestId: 'diamond-1' });
    expect(await openRunLog(nc).load(runId)).toHaveLength(commits.length);
    device.stop();
  });

  it('refuses the same request id with other content', async () => {
    await submit(nc, diamond('conflict-1'));
    expect(await submit(nc, { ...diamond('conflict-1'), metadata: { other: true } })).toMatchObject({
      error: { code: 'IDEMPOTENCY_CONFLICT' },
    });
  });

  it.each([
    ['not JSON', 'nonsense', 'INVALID_JSON', ''],
    ['an unknown field', { ...diamond('bad-1'), speed: 9 }, 'INVALID_REQUEST', 'speed'],
    ['a cycle', withLine('bad-2', { id: 'back', from: 'd', to: 'a' }), 'INVALID_REQUEST', 'constellation.lines'],
    [
      'a dangling line',
      withLine('bad-3', { id: 'x', from: 'a', to: 'nobody' }),
      'INVALID_REQUEST',
      'constellation.lines[4].to',
    ],
    [
      'a duplicate line id',
      withLine('bad-4', { id: 'ab', from: 'a', to: 'd' }),
      'INVALID_REQUEST',
      'constellation.lines[4].id',
    ],
    [
      'a condition that does not parse',
      withLine('bad-5', { id: 'x', from: 'a', to: 'd', type: 'conditional', condition: 'result ==' }),
      'INVALID_REQUEST',
      'constellation.lines[4].condition',
    ],
    [
      'an unknown tool',
      withTask('bad-6', { command: { tool: 'FLY' } }),
      'INVALID_REQUEST',
      'constellation.tasks[0].command.tool',
    ],
    [
      'an unknown device',
      withTask('bad-7', { target: { device: 'mars' } }),
      'INVALID_REQUEST',
      'constellation.tasks[0].target',
    ],
    [
      'a selector nobody satisfies',
      withTask('bad-8', { target: { tags: ['mars'] } }),
      'INVALID_REQUEST',
      'constellation.tasks[0].target',
    ],
    ['a goal without a planner', { requestId: 'bad-9', goal: 'fly' }, 'NO_PLANNER', 'goal'],
    ['an oversized request', { ...diamond('bad-10'), metadata: { blob: 'x'.repeat(1_100_000) } }, 'TOO_LARGE', ''],
  ])('refuses %s with a path', async (_, request, code, path) => {
    const answer = await submit(nc, request);
    expect(answer).toMatchObject({ error: { code, issues: [{ path }] } });
  });

  it('takes a request from the stream, answers it on its own subject, and buries what nobody can answer', async () => {
    const device = instantDevice(nc);
    const answers = nc.subscribe(subjects.answer('stream-1'), { max: 1 });
    const buried = nc.subscribe(subjects.dlq('orchestrator'), { max: 1 });
    nc.publish(subjects.requests, 'nonsense');
    nc.publish(subjects.requests, JSON.stringify(diamond('stream-1')));
    for await (const message of answers) expect(message.json()).toMatchObject({ requestId: 'stream-1' });
    for await (const message of buried)
      expect(message.json()).toMatchObject({ subject: subjects.requests, stream: 'REQUESTS' });
    const [requested] = await untilEnd(nc, runIdOf('default', 'stream-1'));
    expect(proofsOf(requested)).toEqual([undefined]);
    expect(requested?.events[0]?.data).toMatchObject({ requestedBy: { kind: 'external', id: 'external' } });
    device.stop();
  });

  it('takes a request from the subject of its actor, with its proof, and no unsigned one that wants an answer at once', async () => {
    const device = instantDevice(nc);
    const subject = subjects.requestsOf('external');
    const answers = nc.subscribe(subjects.answersTo('external'), { max: 1 });
    nc.publish(subject, await signedRequest(nc, diamond('own-1'), subject));
    for await (const message of answers) {
      expect(message.subject).toBe(subjects.answerTo('external', 'own-1'));
      expect(message.json()).toEqual({ requestId: 'own-1', runId: runIdOf('default', 'own-1') });
    }
    const [requested] = await untilEnd(nc, runIdOf('default', 'own-1'));
    expect(proofsOf(requested)).toEqual([{ check: 'good', subject, body: diamond('own-1') }]);
    const unsigned = await nc.request(subjects.submit, JSON.stringify(diamond('own-2')), { timeout: 10_000 });
    expect(unsigned.json()).toMatchObject({ error: { code: 'UNAUTHORIZED', issues: [{ path: 'actor' }] } });
    expect(await openRunLog(nc).load(runIdOf('default', 'own-2'))).toEqual([]);
    device.stop();
  });

  it('takes of a system what it may send, tells it so of the rest, buries none, and goes on with the runs of others', async () => {
    const device = instantDevice(nc);
    const seed = await introduceWith(nc, { kind: 'external', id: 'flood' }, ['requester'], {
      limits: { requestsPerMinute: 3 },
    });
    await requestRun(nc, diamond('flood-0'), seed);
    const buried = nc.subscribe(subjects.dlq('orchestrator'));
    const answers = nc.subscribe(subjects.answersTo('flood'), { max: 30 });
    for (let index = 1; index <= 30; index++)
      nc.publish(subjects.requestsOf('flood'), JSON.stringify(diamond(`flood-${index}`)));
    const said: string[] = [];
    for await (const message of answers) {
      const answer: { runId?: string; error?: { code: string; message: string } } = message.json();
      said.push(answer.error?.code ?? 'taken');
      if (answer.error !== undefined)
        expect(answer.error.message).toMatch(/^at most 3 requests of flood .* after 20\d\d-/u);
    }
    expect(said.filter((one) => one === 'taken')).toHaveLength(2);
    expect(said.filter((one) => one === 'LIMIT_REACHED')).toHaveLength(28);
    const { runId } = await submit(nc, diamond('calm-1'));
    expect(foldRun(await untilEnd(nc, runId))?.phase).toBe('COMPLETED');
    expect(buried.getReceived()).toBe(0);
    buried.unsubscribe();
    device.stop();
  });

  it('lets a system have so many runs that have not ended, and answers one that it has as before', async () => {
    const seed = await introduceWith(nc, { kind: 'external', id: 'slow' }, ['requester'], { limits: { openRuns: 1 } });
    const runId = await requestRun(nc, diamond('slow-1'), seed);
    await expect(requestRun(nc, diamond('slow-2'), seed)).rejects.toThrow('slow may have 1 runs that have not ended');
    expect(await requestRun(nc, diamond('slow-1'), seed)).toBe(runId);
    const device = instantDevice(nc);
    await untilEnd(nc, runId);
    device.stop();
  });

  it('goes on with another replica after the first one is gone', async () => {
    const { runId } = await submit(nc, diamond('handover-1'));
    await orchestrator.stop();
    const device = instantDevice(nc);
    orchestrator = await start(nc, 'two');
    const run = foldRun(await untilEnd(nc, runId));
    expect(run?.phase).toBe('COMPLETED');
    device.stop();
  });

  it('goes over a hundred devices in waves of ten, a second replica from the middle on, and stops at the failure that is one too many', async () => {
    const failing = new Set(['fleet-13', 'fleet-58']);
    const device = instantDevice(nc, {
      answer: ({ deviceId }) =>
        failing.has(deviceId)
          ? { status: 'failed', error: { code: 'EXIT_CODE', message: 'exit code 3', outcome: 'failed' } }
          : { status: 'completed', result: { value: { exit_code: 0, stdout: deviceId } } },
    });
    const sweep = {
      id: 'sweep',
      name: 'sweep',
      target: { tags: ['fleet'] },
      command: { tool: 'NOOP' },
      forEach: { wave: '10%', maxFailures: 1 },
    };
    const constellation = { name: 'sweep', tasks: [sweep], lines: [] };
    const { runId } = await submit(nc, { requestId: 'sweep-1', constellation });
    await untilEvent(nc, runId, 'WAVE_STARTED');
    await orchestrator.stop();
    orchestrator = await start(nc, 'three');
    const commits = await untilEnd(nc, runId);
    device.stop();
    const run = foldRun(commits);
    if (run === undefined) throw new Error('no run');
    expect(checkInvariants(run)).toEqual([]);
    const [planned] = viewOf(run).tasks;
    expect(planned).toMatchObject({ status: 'FAILED', error: { code: 'TOO_MANY_FAILURES' } });
    expect(planned?.fanOut).toMatchObject({ devices: 100, wave: 6, completed: 58, failed: 2, notStarted: 40 });
    expect(atWork(commits)).toBe(10);
    const started = commits.flatMap(({ events }) =>
      events.flatMap(({ type, data }) => (type === 'TASK_STARTED' ? [data.deviceId] : [])),
    );
    expect(started).toEqual(FLEET.slice(0, 60));
  });

  it('stops an attempt at its timeout and calls its outcome unknown when nobody ends it', async () => {
    const { runId } = await submit(nc, withTask('timeout-1', { timeoutMs: 100 }));
    const stop = await untilEvent(nc, runId, 'TASK_STOP_REQUESTED');
    expect(stop.events.find(({ type }) => type === 'TASK_STOP_REQUESTED')?.data).toMatchObject({
      taskId: 'a',
      reason: 'timeout',
    });
    const failed = await untilEvent(nc, runId, 'TASK_FAILED');
    expect(failed.events.find(({ type }) => type === 'TASK_FAILED')?.data).toMatchObject({
      error: { outcome: 'unknown' },
    });
  });
});

/** Most attempts that were under way at once. */
function atWork(commits: readonly RunCommit[]): number {
  let [now, most] = [0, 0];
  for (const { type, data } of commits.flatMap(({ events }) => events)) {
    if (type === 'TASK_STARTED') now += 1;
    if ((type === 'TASK_COMPLETED' || type === 'TASK_FAILED') && data.attempt > 0) now -= 1;
    most = Math.max(most, now);
  }
  return most;
}

/** What of the proofs in a commit an auditor would look at. */
function proofsOf(commit: RunCommit | undefined): unknown {
  return commit?.causes.map(
    ({ proof }) => proof && { check: checkKeptProof(proof), subject: proof.subject, body: proof.body },
  );
}

async function start(nc: NatsConnection, instance: string): Promise<Replica> {
  const orchestrator = await startOrchestrator(nc, { instance });
  return orchestrator;
}

interface Task {
  readonly id: string;
  readonly name: string;
  readonly target: object;
  readonly command: object;
}

function diamond(requestId: string) {
  const task = (id: string): Task => ({ id, name: id, target: { device: 'web-1' }, command: { tool: 'NOOP' } });
  const line = (from: string, to: string) => ({ id: `${from}${to}`, from, to });
  const lines: object[] = [line('a', 'b'), line('a', 'c'), line('b', 'd'), line('c', 'd')];
  return { requestId, constellation: { name: 'diamond', tasks: ['a', 'b', 'c', 'd'].map(task), lines } };
}

function withLine(requestId: string, line: object) {
  const request = diamond(requestId);
  request.constellation.lines.push(line);
  return request;
}

function withTask(requestId: string, change: object) {
  const request = diamond(requestId);
  request.constellation.tasks = request.constellation.tasks.map((task, index) =>
    index === 0 ? { ...task, ...change } : task,
  );
  return request;
}

/** Partitions are served, and keys are known, within a heartbeat or two. */
const NOT_YET: ReadonlySet<string> = new Set(['TRY_AGAIN', 'UNAUTHORIZED']);

/** The partitions of a replica are its own within a heartbeat or two: until then the answer is to try again. */
async function submit(nc: NatsConnection, request: string | object): Promise<{ runId: string; requestId: string }> {
  for (;;) {
    const payload = typeof request === 'string' ? request : await signedRequest(nc, request);
    const answer = (await nc.request(subjects.submit, payload, { timeout: 10_000 })).json<{
      runId: string;
      requestId: string;
      error?: { code: string };
    }>();
    if (answer.error === undefined || !NOT_YET.has(answer.error.code)) return answer;
    await moment();
  }
}

async function untilEvent(nc: NatsConnection, runId: string, type: RunEventType): Promise<RunCommit> {
  for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, filter: subjects.run(runId) })) {
    if (entry.types.includes(type)) return JSON.parse(new TextDecoder().decode(entry.data)) as RunCommit;
  }
  throw new Error('the stream ended');
}

async function untilEnd(nc: NatsConnection, runId: string): Promise<RunCommit[]> {
  const commits: RunCommit[] = [];
  for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, filter: subjects.run(runId) })) {
    commits.push(JSON.parse(new TextDecoder().decode(entry.data)) as RunCommit);
    if (entry.types.some((type) => /^RUN_(?:COMPLETED|FAILED|CANCELLED)$/u.test(type))) break;
  }
  return commits;
}
