import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NatsConnection, Status } from '@nats-io/transport-node';
import { pino } from 'pino';
import type { ClientTaskEnd } from '#libs/aip';
import { openRunLog, type RunLog } from '#libs/event-log';
import { systemClock } from '#libs/platform';
import { moment, signedRequest, startTestBus, type TestBus } from '#libs/testing';
import { subjects } from '#proto';
import { requestOf } from './client-run.js';
import { ClientRuns } from './client-runs.client.js';
import { OrchestratorStandIn } from '../testing/orchestrator-stand-in.js';

const logger = pino({ level: 'silent' });
let bus: TestBus;
let nc: NatsConnection;
let standIn: OrchestratorStandIn;
beforeAll(async () => {
  bus = await startTestBus();
  nc = await bus.as('admin');
  standIn = await new OrchestratorStandIn(nc).ready();
});
afterAll(() => bus.stop());

async function beginRun(sessionId: string): Promise<string> {
  const task = { sessionId, deviceId: 'd1', name: 't', request: 'x', command: null };
  const request = requestOf(task, { id: 'galaxy', connectionId: 'c', refusals: 0, label: null });
  await nc.request(subjects.submit, await signedRequest(nc, request), { timeout: 20_000 });
  return standIn.runs.at(-1)?.runId ?? '';
}

/** A connection over which nothing is heard live; `status` says what becomes of it. */
function deaf() {
  let said: (status: Status) => void = () => undefined;
  async function* statuses(): AsyncGenerator<Status> {
    for (;;) yield await new Promise<Status>((resolve) => (said = resolve));
  }
  const connection = {
    subscribe: () => ({ unsubscribe: () => undefined }),
    status: statuses,
  } as unknown as NatsConnection;
  return { connection, say: (status: Status) => said(status) };
}

/** Counts how often somebody looked, and says when a look is over. */
function watched(log: RunLog): RunLog & { looks: number } {
  const looking: RunLog & { looks: number } = {
    looks: 0,
    append: (runId, commit, end) => log.append(runId, commit, end),
    load: (runId, after) => log.load(runId, after),
    endsAt: async (runId) => {
      const end = await log.endsAt(runId);
      looking.looks += 1;
      return end;
    },
  };
  return looking;
}

async function untilLooked(log: { looks: number }, times: number): Promise<void> {
  while (log.looks < times) await moment();
}

it('an end that nobody announced is found in the log, every few seconds', async () => {
  const log = watched(openRunLog(nc));
  const { promise, resolve } = Promise.withResolvers<ClientTaskEnd>();
  const runs = new ClientRuns({ nc: deaf().connection, seed: undefined, clock: systemClock, logger, log });
  const runId = await beginRun('polled');
  const follower = runs.follow(runId, resolve);
  follower.tick(1_000);
  await untilLooked(log, 1);
  await standIn.finish(runId, { result: 'late' });
  follower.tick(3_999);
  expect(log.looks).toBe(1);
  follower.tick(4_000);
  expect(await promise).toEqual({ status: 'completed', result: 'late', error: null });
});

it('an end that was announced while the connection was broken is found when it is back', async () => {
  const log = watched(openRunLog(nc));
  const { promise, resolve } = Promise.withResolvers<ClientTaskEnd>();
  const { connection, say } = deaf();
  const runs = new ClientRuns({ nc: connection, seed: undefined, clock: systemClock, logger, log });
  const runId = await beginRun('reconnected');
  const follower = runs.follow(runId, resolve);
  follower.tick(1_000);
  await untilLooked(log, 1);
  await standIn.finish(runId, { result: 'late' });
  say({ type: 'reconnect', server: '' });
  expect(await promise).toMatchObject({ status: 'completed' });
});

it('what is not waited for any more ends without a word', async () => {
  const log = watched(openRunLog(nc));
  const runs = new ClientRuns({ nc, seed: undefined, clock: systemClock, logger, log });
  const runId = await beginRun('stopped');
  let ends = 0;
  const follower = runs.follow(runId, () => void ends++);
  runs.stop(follower);
  await standIn.finish(runId, { result: 'late' });
  follower.tick(1_000);
  follower.look();
  await nc.flush();
  expect([ends, log.looks]).toEqual([0, 0]);
});
