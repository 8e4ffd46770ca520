import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  type AgentProfile,
  type AttemptFinished,
  type AttemptKey,
  BUCKETS,
  type RunCommit,
  type RunEventData,
  type RunId,
} from '#proto';
import { newCommitId, openAttemptLog, readCommits, sealCommit } from '#libs/event-log';
import { Kvm } from '@nats-io/kv';

export interface InstantDeviceOptions {
  /** What an attempt comes to; by default it completes with exit code 0. Undefined: it runs until it is stopped. */
  readonly answer?: (started: RunEventData<'TASK_STARTED'>, runId: RunId) => AttemptFinished | undefined;
  /** Milliseconds that an attempt works before it has its answer; none when absent. */
  readonly worksMs?: number;
  /** What an attempt comes to that runs until it is stopped; by default it is cancelled, with what it had printed. Undefined: it never ends. */
  readonly stopped?: (stop: RunEventData<'TASK_STOP_REQUESTED'>, runId: RunId) => AttemptFinished | undefined;
}

const COMPLETED: AttemptFinished = { status: 'completed', result: { value: { exit_code: 0, stdout: '' } } };
const CANCELLED: AttemptFinished = {
  status: 'failed',
  error: {
    code: 'CANCELLED',
    message: 'the command was stopped',
    outcome: 'cancelled',
    output: { value: { exit_code: 143, stdout: 'so far' } },
  },
};

/**
 * Stands where device agent, gateway and device stand: answers each TASK_STARTED with the end of its attempt, one append to
 * ATTEMPTS. No process, no socket, no journal: what is left is the cost of the engine.
 */
export function instantDevice(nc: NatsConnection, options: InstantDeviceOptions = {}): { stop(): void } {
  const log = openAttemptLog(nc);
  const closed = new AbortController();
  const { answer = () => COMPLETED, stopped = () => CANCELLED, worksMs } = options;
  /** Attempts that were not answered. */
  const open = new Set<string>();
  const end = async ({ runId, taskId, attempt }: AttemptKey, finished: AttemptFinished): Promise<void> => {
    const now = Date.now();
    const commit = sealCommit(
      {
        commit: newCommitId(now),
        runId,
        taskId,
        attempt,
        number: 1,
        at: new Date(now).toISOString(),
        by: { service: 'device-agent', instance: 'instant' },
        causes: [],
        events: [
          {
            id: `${runId}-${taskId}-${attempt}-1`,
            sequence: 1,
            schemaVersion: 1,
            type: 'ATTEMPT_FINISHED' as const,
            data: finished,
          },
        ],
      },
      '0'.repeat(64),
    );
    await log.append({ runId, taskId, attempt, kind: 'end' }, commit, 0);
  };
  const take = (runId: RunId, event: RunCommit['events'][number]): void => {
    if (event.type !== 'TASK_STARTED' && event.type !== 'TASK_STOP_REQUESTED') return;
    const { taskId, attempt } = event.data;
    const key = `${runId}.${taskId}.${attempt}`;
    if (event.type === 'TASK_STOP_REQUESTED' && !open.has(key)) return;
    const finished = event.type === 'TASK_STARTED' ? answer(event.data, runId) : stopped(event.data, runId);
    if (finished === undefined) return void open.add(key);
    open.delete(key);
    if (worksMs === undefined) return void end({ runId, taskId, attempt }, finished);
    const worked = sleep(worksMs, undefined, { signal: closed.signal });
    worked.then(
      () => end({ runId, taskId, attempt }, finished),
      () => undefined, // the device is gone
    );
  };
  const follow = async (): Promise<void> => {
    for await (const { types, data } of readCommits(nc, 'RUNS', { afterSequence: 0, signal: closed.signal })) {
      if (!types.includes('TASK_STARTED') && !types.includes('TASK_STOP_REQUESTED')) continue;
      // Taken as it is: what a schema costs belongs to a device agent, which this leaves out.
      const { runId, events } = JSON.parse(new TextDecoder().decode(data)) as RunCommit;
      for (const event of events) take(runId, event);
    }
  };
  void follow();
  return { stop: () => closed.abort() };
}

/** Writes the profile of a connected device with the tools EXEC_CLI, SYS_INFO and NOOP, as the registry would. */
export async function connectDevice(
  nc: NatsConnection,
  deviceId: string,
  profile: Partial<AgentProfile> = {},
): Promise<AgentProfile> {
  const at = '2026-01-01T00:00:00.000Z';
  const tools = ['EXEC_CLI', 'SYS_INFO', 'NOOP'].map((name) => ({
    name,
    description: '',
    readOnly: name === 'SYS_INFO',
  }));
  const full: AgentProfile = {
    deviceId,
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: deviceId,
    capabilities: ['cli'],
    tags: [],
    tools,
    resources: { cpuCount: 2, memoryMb: 4_096 },
    tasksMax: 1_000,
    held: null,
    session: { sessionId: `${deviceId}-session`, gateway: 'test', journalId: `${deviceId}-journal`, connectedAt: at },
    revision: 1,
    enrolledAt: at,
    changedAt: at,
    ...profile,
  };
  await (await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket)).put(deviceId, JSON.stringify(full));
  return full;
}
