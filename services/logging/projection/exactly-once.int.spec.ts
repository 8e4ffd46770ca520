import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startPostgres } from '#libs/embedded';
import { foldRun, viewOf } from '#libs/constellation';
import { generateHistory, ownPort, runCommitsOf } from '#libs/testing';
import { openSource, Rig, witnessed } from '../rig.testing.js';

const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});

async function start(databaseUrl?: string): Promise<Rig> {
  const rig = await Rig.start(databaseUrl);
  rigs.push(rig);
  return rig;
}

const HISTORY = generateHistory({ seed: 21, tasks: 5 });
const COMMITS = runCommitsOf(HISTORY);
const FOLDED = viewOf(foldRun(COMMITS) ?? fail());
const POINTS = ['read', 'prepared', 'in transaction', 'written', 'committed'] as const;

describe('every commit takes effect exactly once', () => {
  it.each(POINTS)('when the process dies at every commit: %s', async (point) => {
    const rig = await start();
    await rig.appendAll(HISTORY);
    // Dies at the second commit it meets; when that one is committed by then, it counts.
    const progress = point === 'committed' ? 2 : 1;
    for (let left = COMMITS.length; left >= 2; left -= progress) {
      // A new process: nothing is left of the one before but what is in Postgres and NATS.
      const { promise: dead, resolve: die } = Promise.withResolvers<void>();
      let steps = 0;
      const mortal = witnessed(rig.runs(), (at) => {
        if (at !== point || ++steps < 2) return;
        die();
        throw new Error('killed');
      });
      const follower = rig.follower(mortal, { itemsMax: 1 });
      void follower.begin();
      await dead;
      await follower.end();
    }
    const survivor = rig.follower(witnessed(rig.runs()), { itemsMax: 1 });
    void survivor.begin();
    await rig.checkpointed('RUNS');
    await survivor.end();
    expect(await rig.witnessed()).toEqual(COMMITS.map((_, index) => index + 1));
    expect(await rig.reader.readRun(FOLDED.runId)).toEqual(FOLDED);
  });

  it('when two replicas project at the same time', async () => {
    const rig = await start();
    const histories = [31, 32, 33, 34].map((seed) => generateHistory({ seed, tasks: 8 }));
    const other = await openSource(String((rig.source.options as { url?: string }).url));
    rig.closers.unshift(() => other.destroy());
    const followers = [rig.source, other].map((source) => rig.follower(witnessed(rig.runs()), { itemsMax: 3, source }));
    for (const follower of followers) void follower.begin();
    await Promise.all(histories.map((steps) => rig.appendAll(steps)));
    await rig.caughtUp('RUNS');
    await Promise.all(followers.map((follower) => follower.end()));
    const last = await rig.lastSequence('RUNS');
    expect(await rig.witnessed()).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    for (const steps of histories) {
      const run = foldRun(runCommitsOf(steps)) ?? fail();
      expect(await rig.reader.readRun(run.runId)).toEqual(viewOf(run));
    }
  });

  it('when PostgreSQL is killed while it projects, and comes back', async () => {
    // Under /var/tmp: an unprivileged server has to be able to reach it.
    const folder = await mkdtemp('/var/tmp/orrery-logging-');
    await chmod(folder, 0o755);
    const options = {
      dataDir: join(folder, 'data'),
      user: 'orrery',
      password: 'orrery',
      database: 'orrery',
      // It comes back there: nobody else may be given it meanwhile.
      port: await ownPort(),
      dieWithParent: true,
    };
    let server = await startPostgres(options);
    const rig = await start(server.url);
    rig.closers.push(
      () => server.stop(),
      () => rm(folder, { recursive: true, force: true }),
    );
    let kills = 0;
    let killing: Promise<unknown> | undefined;
    const kill = (at: string) => {
      if (at !== 'written' || kills > 0) return;
      kills++;
      process.kill(server.pid, 'SIGKILL');
      // Its lock counts as long as its process is there.
      killing = server.exited.then(() => startPostgres(options)).then((next) => (server = next));
    };
    const follower = rig.follower(witnessed(rig.runs(), kill), { itemsMax: 1 });
    void follower.begin();
    await rig.appendAll(HISTORY);
    await rig.caughtUp('RUNS');
    await killing;
    await follower.check();
    await follower.end();
    expect(kills).toBe(1);
    expect(await rig.witnessed()).toEqual(COMMITS.map((_, index) => index + 1));
    expect(await rig.reader.readRun(FOLDED.runId)).toEqual(FOLDED);
  });
});

function fail(): never {
  throw new Error('the history has no run');
}
