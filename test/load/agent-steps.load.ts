import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, subjects, type DeviceRequest } from '#proto';
import { openRunLog, readCommits } from '#libs/event-log';
import { startTestBus, type TestBus } from '#libs/testing';
import { ScriptedDevice } from '../../services/device-agent/testing/device.js';
import { profileOf } from '../../services/device-agent/testing/profile.js';
import { DEVICE_ID, TestRun } from '../../services/device-agent/testing/run.js';
import { heapFlags } from '../../services/cli/processes/plan.js';
import { spreadOf } from '../bench/statistics.js';
import { rssMib, say, scaled } from './load-system.js';

const STEPS = 20;
const ALONE = scaled(10, 2);
const TOGETHER = scaled(200, 50);
const MODEL_MS = 250;
const STEP_MS_AIM = 15;
const MEMORY_MIB_AIM = 300;
/** A machine that is busy with other things is slower, not wrong. */
const STEP_MS_MAX = 100;
const MIB_MAX = 600;

/** The service as built and as it is started, a server, and a device that answers at once: what a step costs besides model and device. */
describe('steps of agents', () => {
  let bus: TestBus;
  let nc: NatsConnection;
  let runs = 0;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    bus = await startTestBus();
    nc = await bus.as('admin');
    await (await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket)).put(DEVICE_ID, JSON.stringify(profileOf()));
    const device = new ScriptedDevice();
    nc.subscribe(subjects.anyDeviceCommand, {
      callback: (error, message) => {
        if (error === null) message.respond(JSON.stringify(device.answer(message.json<DeviceRequest>())));
      },
    });
  });

  afterAll(async () => {
    for (const child of children) child.disconnect();
    await bus.stop();
  });

  async function serve(modelMs: number): Promise<ChildProcess> {
    const program = join(import.meta.dirname, '../../dist/test/bench/agent-steps.main.js');
    const child = fork(program, {
      execArgv: ['--no-warnings', ...heapFlags('device-agent')],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.push(child);
    child.send({ url: bus.server.url, seedFile: bus.seedFile('device-agent'), steps: STEPS, modelMs });
    await once(child, 'message');
    return child;
  }

  async function begin(): Promise<string> {
    const startedAt = new Date().toISOString();
    const timeoutAt = new Date(Date.now() + 600_000).toISOString();
    const task = { id: 'a', agent: true, startedAt, start: { timeoutAt } };
    const run = new TestRun([task], `load-${++runs}`);
    run.start(task);
    const log = openRunLog(nc);
    let end = 0;
    for (const commit of run.commits) {
      const appended = await log.append(run.runId, commit, end);
      if (appended.kind === 'appended') end = appended.sequence;
    }
    return run.runId;
  }

  async function ended(runIds: readonly string[]): Promise<void> {
    const open = new Set(runIds);
    for await (const entry of readCommits(nc, 'ATTEMPTS', { afterSequence: 0 })) {
      if (entry.types.includes('ATTEMPT_FINISHED')) open.delete(entry.subject.split('.')[3] ?? '');
      if (open.size === 0) return;
    }
  }

  async function gapsOf(child: ChildProcess): Promise<number[]> {
    child.send('gaps');
    const [gaps] = (await once(child, 'message')) as [number[]];
    return gaps;
  }

  it(`cost few milliseconds besides model and device`, async () => {
    const child = await serve(0);
    await ended([await begin()]); // unmeasured: code is loaded
    await gapsOf(child);
    for (let times = 0; times < ALONE; times++) await ended([await begin()]);
    const { median, p99 } = spreadOf(await gapsOf(child));
    say('a step of an agent besides model and device', `p50 ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    say(`  aim: p50 below ${STEP_MS_AIM} ms`, median < STEP_MS_AIM ? 'met' : 'missed');
    expect(median).toBeLessThan(STEP_MS_MAX);
    child.disconnect();
    children.pop();
    await once(child, 'exit');
  });

  it(`of ${TOGETHER} attempts at once fit into one process`, async () => {
    const child = await serve(MODEL_MS);
    const begun = performance.now();
    const ids: string[] = [];
    for (let index = 0; index < TOGETHER; index++) ids.push(await begin());
    await ended(ids);
    const seconds = (performance.now() - begun) / 1_000;
    const mib = rssMib(child.pid ?? 0);
    const { median } = spreadOf(await gapsOf(child));
    say(
      `${TOGETHER} attempts of ${STEPS} steps at once`,
      `${seconds.toFixed(1)} s, p50 ${median.toFixed(1)} ms per step`,
    );
    say(`  the largest the process was`, `${mib.toFixed(0)} MiB`);
    say(`  aim: below ${MEMORY_MIB_AIM} MiB`, mib < MEMORY_MIB_AIM ? 'met' : 'missed');
    expect(mib).toBeLessThan(MIB_MAX);
  });
});
