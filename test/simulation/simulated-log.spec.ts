import { expect, it } from '@jest/globals';
import type { RunCommit } from '#proto';
import { sealCommit } from '#libs/event-log';
import { Faults } from './faults.js';
import { Process } from './process.js';
import { Dice } from './random.js';
import { Scheduler, START_MS } from './scheduler.js';
import { LogClient, LogServer } from './simulated-log.js';

const RUN = 'run-1';

/** A log without faults but for those that a test makes. */
function setUp() {
  const scheduler = new Scheduler();
  const stored: string[] = [];
  const server = new LogServer(scheduler, ({ commit }) => void stored.push(commit.commit));
  const faults = new Faults(1, scheduler, new Set());
  const client = () => {
    const parts = { server, scheduler, faults, process: new Process(scheduler), dice: new Dice(1) };
    return new LogClient(parts);
  };
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    const [outcome] = await Promise.all([promise, scheduler.run(10_000)]);
    return outcome;
  };
  return { scheduler, server, client, settle, stored };
}

function commit(id: string): RunCommit {
  const at = new Date(START_MS).toISOString();
  const by = { service: 'orchestrator', instance: 'test' };
  return sealCommit({ commit: id, runId: RUN, number: 1, at, by, causes: [], events: [] }, '0'.repeat(64));
}

it('appends where the log ends, and refuses what was decided on an older state', async () => {
  const { client, settle, stored } = setUp();
  expect(await settle(client().append(RUN, commit('one'), 0))).toEqual({ kind: 'appended', sequence: 1 });
  expect(await settle(client().append(RUN, commit('other'), 0))).toEqual({ kind: 'conflict' });
  expect(await settle(client().endsAt(RUN))).toBe(1);
  expect(stored).toEqual(['one']);
});

it('recognises its own commit when the server was away while it answered', async () => {
  const { client, server, scheduler, settle, stored } = setUp();
  const again = client();
  server.publish(RUN, commit('one'), 0);
  server.leave(2_000);
  expect(await settle(again.append(RUN, commit('one'), 0))).toEqual({ kind: 'appended', sequence: 1 });
  expect(stored).toEqual(['one']);
  expect(scheduler.elapsed).toBeGreaterThan(2_000);
});

it('says that nobody knows when the server is away for longer than anybody waits', async () => {
  const { client, server, settle } = setUp();
  server.leave(60_000);
  const appended = client().append(RUN, commit('one'), 0);
  await expect(settle(appended)).rejects.toThrow('could not be appended');
});
