import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { foldRun, viewOf } from '#libs/constellation';
import { RunTimers, StoreWatch } from '#libs/messaging';
import { Metrics } from '#libs/platform';
import { generateAskedHistory, generateHistory, moment, valueOf, type HistoryStep, type Replica } from '#libs/testing';
import { DURABLES, subjects } from '#proto';
import { CheckpointEntity } from '../entities/index.js';
import { Rig } from '../rig.testing.js';

let rig: Rig;
let service: Replica;
beforeAll(async () => {
  rig = await Rig.start();
  service = await rig.service();
});
afterAll(async () => {
  await service.stop();
  await rig.stop();
});

const collected = (): Promise<string> => service.get(Metrics).text();
const requests = { stream: DURABLES.requests.stream, durable: DURABLES.requests.durable };

/** Collected again until it is so: others hear of what is stored each in their own time. */
async function collectedWhen(isSo: (text: string) => boolean): Promise<string> {
  for (;;) {
    const text = await collected();
    if (isSo(text)) return text;
    await moment();
  }
}

/** What is said when no projection is behind, of any stream. */
const caughtUp = (): Promise<string> => collectedWhen((text) => valueOf(text, 'orrery_logging_lag_messages') === 0);

it('says what waits on the bus, of whomever: in messages, in seconds, as timers, as dead letters', async () => {
  const before = await collected();
  expect(valueOf(before, 'orrery_durable_lag_messages', requests)).toBe(0);
  expect(valueOf(before, 'orrery_durable_lag_seconds', requests)).toBe(0);
  expect(valueOf(before, 'orrery_timers_armed', { of: 'runs' })).toBe(0);
  expect(valueOf(before, 'orrery_dead_letters')).toBe(0);

  await jetstream(rig.nc).publish(subjects.requests, 'one');
  await jetstream(rig.nc).publish(subjects.requests, 'two');
  await jetstream(rig.nc).publish(subjects.dlq('orchestrator'), '{}');
  const timers = new RunTimers(rig.nc);
  for (const runId of ['run-1', 'run-2', 'run-3']) await timers.arm(runId, Date.now() + 3_600_000);

  const after = await collectedWhen((text) => valueOf(text, 'orrery_durable_lag_messages', requests) === 2);
  expect(valueOf(after, 'orrery_durable_lag_seconds', requests)).toBeGreaterThan(0);
  expect(valueOf(after, 'orrery_timers_armed', { of: 'runs' })).toBe(3);
  expect(valueOf(after, 'orrery_timers_armed', { of: 'devices' })).toBe(0);
  expect(valueOf(after, 'orrery_dead_letters', { owner: 'orchestrator' })).toBe(1);
  expect(valueOf(after, 'orrery_look_failed')).toBe(0);

  expect(valueOf(after, 'orrery_durable_redelivered_messages', requests)).toBe(0);
  const consumer = await jetstream(rig.nc).consumers.get(requests.stream, requests.durable);
  (await consumer.next())?.nak();
  while ((await consumer.next())?.redelivered !== true);
  expect(valueOf(await collected(), 'orrery_durable_redelivered_messages', requests)).toBeGreaterThan(0);
});

it('says how full the disks are, and whether the bus can store', async () => {
  StoreWatch.of(rig.nc).asks(rig.server.monitorUrl);
  const text = await collected();
  for (const store of ['nats_disk', 'nats_streams', 'postgres_disk']) {
    const limit = valueOf(text, 'orrery_storage_limit_bytes', { store }) ?? Number.NaN;
    expect(limit).toBeGreaterThan(valueOf(text, 'orrery_storage_used_bytes', { store }) ?? Number.NaN);
  }
  expect(valueOf(text, 'orrery_storage_writable')).toBe(1);
});

it('says which runs are open and what waits for a person', async () => {
  const { steps, view } = waitingForSomebody();
  await rig.appendAll(steps);
  await rig.checkpointed('RUNS');
  const text = await collected();
  expect(valueOf(text, 'orrery_runs_open', { status: view.status })).toBe(1);
  expect(valueOf(text, 'orrery_runs_open')).toBe(1);
  expect(valueOf(text, 'orrery_approvals_waiting')).toBe(view.approvals.filter(({ state }) => state === 'open').length);
  expect(valueOf(text, 'orrery_approvals_oldest_seconds')).toBeGreaterThan(0);
});

it('says how far a projection is behind that stands still', async () => {
  const steps = generateHistory({ seed: 7, tasks: 3 }).filter(({ kind }) => kind === 'run');
  await caughtUp();
  await rig.source.transaction(async (manager) => {
    await manager.query(`lock table ${rig.source.getMetadata(CheckpointEntity).tablePath} in exclusive mode`);
    await rig.appendAll(steps);
    const text = await collected();
    expect(valueOf(text, 'orrery_logging_lag_messages', { stream: 'RUNS' })).toBe(steps.length);
    expect(valueOf(text, 'orrery_logging_lag_seconds', { stream: 'RUNS' })).toBeGreaterThan(0);
    expect(valueOf(text, 'orrery_logging_lag_seconds', { stream: 'ATTEMPTS' })).toBe(0);
  });
  expect(valueOf(await caughtUp(), 'orrery_logging_lag_seconds')).toBe(0);
});

/** A history up to where a person is asked. */
function waitingForSomebody() {
  const steps: HistoryStep[] = [];
  for (const step of generateAskedHistory({ seed: 1 })) {
    steps.push(step);
    const commits = steps.flatMap((one) => (one.kind === 'run' ? [one.commit] : []));
    const run = foldRun(commits);
    const view = run && viewOf(run);
    if (view?.approvals.some(({ state }) => state === 'open') === true) return { steps, view };
  }
  throw new Error('nobody is asked in this history');
}
