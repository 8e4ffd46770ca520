import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import type { StreamName } from '#proto';
import { connectBus, natsUsers } from '#libs/messaging';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { openAttemptLog, openFleetLog, openPlanLog, openRunLog } from './jetstream-event-log.adapter.js';
import { readCommits } from './read-commits.adapter.js';
import {
  sampleAttemptCommit,
  sampleFleetCommit,
  sampleId,
  samplePlanCommit,
  sampleRunCommit,
  START,
} from './sample-commits.testing.js';

const ATTEMPT = { runId: 'run-1', taskId: 'task-1', attempt: 1 };

describe('with the permissions of its user', () => {
  let server: TestNats;
  let directory: string;
  const connections: NatsConnection[] = [];
  const as = async (user: string): Promise<NatsConnection> => {
    const seedFile = join(directory, `${user}.seed`);
    const nc = await connectBus({ url: server.url, name: user, inboxPrefix: `_INBOX_${user}`, seedFile });
    connections.push(nc);
    return nc;
  };
  const firstOf = async (user: string, stream: StreamName) => {
    for await (const { subject } of readCommits(await as(user), stream, { afterSequence: 0 })) return subject;
    return undefined;
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-test-keys-'));
    const users = [];
    for (const spec of natsUsers()) {
      const keys = createUser();
      await writeFile(join(directory, `${spec.name}.seed`), keys.getSeed(), { mode: 0o600 });
      users.push({ ...spec, nkeyPublic: keys.getPublicKey() });
    }
    server = await startTestNats({ users, provisioned: true });
  });
  afterAll(async () => {
    for (const nc of connections) await nc.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('the orchestrator writes runs, the device agent loads them', async () => {
    const log = openRunLog(await as('orchestrator'));
    const commit = sampleRunCommit('run-1', START, sampleId(1));
    expect(await log.append('run-1', commit, 0)).toMatchObject({ kind: 'appended' });
    // Read back: the second answer comes from what is stored.
    expect(await log.append('run-1', commit, 0)).toMatchObject({ kind: 'appended' });
    expect(await openRunLog(await as('device-agent')).load('run-1')).toHaveLength(1);
  });

  it('the device agent writes attempts, the orchestrator loads them', async () => {
    const commit = sampleAttemptCommit(ATTEMPT, START, sampleId(2));
    const log = openAttemptLog(await as('device-agent'));
    expect(await log.append({ ...ATTEMPT, kind: 'end' }, commit, 0)).toMatchObject({ kind: 'appended' });
    expect(await openAttemptLog(await as('orchestrator')).load(ATTEMPT)).toHaveLength(1);
  });

  it('the planner writes plans and loads runs, the orchestrator loads plans', async () => {
    const commit = samplePlanCommit('run-1', START, sampleId(4));
    const [planner, orchestrator] = [await as('planner'), await as('orchestrator')];
    expect(await openPlanLog(planner).append('run-1', commit, 0)).toMatchObject({ kind: 'appended' });
    expect(await openPlanLog(planner).append('run-1', commit, 0)).toMatchObject({ kind: 'appended' });
    expect(await openPlanLog(orchestrator).load('run-1')).toHaveLength(1);
    expect(await openRunLog(planner).load('run-1')).toHaveLength(1);
  });

  it('the registry writes the fleet', async () => {
    const log = openFleetLog(await as('registry'));
    await log.append('web-1', sampleFleetCommit('web-1', START, sampleId(3)), 0);
    expect(await log.load('web-1')).toHaveLength(1);
  });

  it.each(['cli', 'auditor'])('%s follows all of them', async (user) => {
    expect(await firstOf(user, 'RUNS')).toBe('orrery.run.run-1');
    expect(await firstOf(user, 'ATTEMPTS')).toMatch(/^orrery\.attempt\..*\.end$/u);
    expect(await firstOf(user, 'PLANS')).toMatch(/^orrery\.plan\..*\.run-1$/u);
    expect(await firstOf(user, 'FLEET')).toBe('orrery.fleet.web-1');
  });
});
