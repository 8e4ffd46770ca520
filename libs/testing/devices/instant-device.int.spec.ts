import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { moment } from '../servers/moment.js';
import type { AttemptFinished, AttemptKey } from '#proto';
import { openAttemptLog, openRunLog } from '#libs/event-log';
import { connectBus } from '#libs/messaging';
import { runCommitsOf } from '../histories/histories.js';
import { generateEditedHistory } from '../histories/edited-histories.js';
import { instantDevice } from './instant-device.js';
import { startTestNats, type TestNats } from '../servers/nats-server.js';

/** A history in which a running task is stopped that is not its first one. */
const STOPPING_SEED = 1;

let server: TestNats;
let nc: NatsConnection;
beforeAll(async () => {
  server = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
});
afterAll(async () => {
  await nc.close();
  await server.stop();
});

/** Looks again until the attempt has ended: the device works beside the test. */
async function endOf(key: AttemptKey): Promise<AttemptFinished> {
  for (;;) {
    const events = (await openAttemptLog(nc).load(key)).flatMap(({ commit }) => commit.events);
    const end = events.find((event) => event.type === 'ATTEMPT_FINISHED');
    if (end?.type === 'ATTEMPT_FINISHED') return end.data;
    await moment();
  }
}

describe('the instant device', () => {
  it('answers what it is told to answer, and ends what it left running when it is stopped', async () => {
    const commits = runCommitsOf(generateEditedHistory({ seed: STOPPING_SEED }));
    const events = commits.flatMap((commit) => commit.events);
    const stop = events.find((event) => event.type === 'TASK_STOP_REQUESTED');
    if (stop?.type !== 'TASK_STOP_REQUESTED') throw new Error('the history stops nothing');
    const { taskId, attempt } = stop.data;
    const device = instantDevice(nc, {
      answer: (started) =>
        started.taskId === taskId && started.attempt === attempt
          ? undefined
          : { status: 'completed', result: { value: started.taskId } },
    });
    let end = 0;
    for (const commit of commits) {
      const appended = await openRunLog(nc).append(commit.runId, commit, end);
      if (appended.kind === 'appended') end = appended.sequence;
    }
    const runId = commits[0]?.runId ?? '';
    const first = events.find((event) => event.type === 'TASK_STARTED');
    if (first?.type !== 'TASK_STARTED') throw new Error('the history starts nothing');
    expect(await endOf({ runId, taskId: first.data.taskId, attempt: 1 })).toEqual({
      status: 'completed',
      result: { value: first.data.taskId },
    });
    expect(await endOf({ runId, taskId, attempt })).toMatchObject({
      status: 'failed',
      error: { outcome: 'cancelled', output: { value: { stdout: 'so far' } } },
    });
    device.stop();
  });
});
