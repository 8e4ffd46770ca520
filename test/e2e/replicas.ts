import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, LIMITS, Member, PARTITIONS } from '#proto';
import { BusProxy, type HeldCommit } from './bus-proxy.js';
import { CommitWatch, type SeenCommit } from './commit-watch.js';
import { LoadDevices } from './load-devices.js';
import { Replica } from './replica.js';
import { LINES, RunLoad, TASKS } from './run-load.js';
import { type TestSystem, until } from './system.js';

const DEVICES = ['load-1', 'load-2', 'load-3', 'load-4'];
const RUNS_PER_PARTITION = 1;
/** Commits that are on their way when their author is frozen, at least. */
const ON_THE_WAY = 5;
/** Aimed at: others serve within the time to live of a membership and three seconds. Ten times that is no delay but a hang. */
const TAKEOVER_MS_MAX = 10 * (LIMITS.memberTtlMs + 3_000);

/** What a replica said of itself, and when that was stored, by the clock of the server (milliseconds since the epoch). */
interface Heartbeat {
  readonly member: Member;
  readonly storedAt: number;
}

/** Commits that one has sent and nobody has been given, and what it owned then. */
interface HeldBack {
  readonly late: readonly HeldCommit[];
  readonly partitions: readonly number[];
  /** By `performance.now()`. */
  readonly since: number;
  /** The same instant, in milliseconds since the epoch. */
  readonly heldAt: number;
}

/** Of one system, in which no others have runs. */
export function testsOfReplicas(given: () => TestSystem): void {
  let system: TestSystem;
  let nc: NatsConnection;
  let watch: CommitWatch;
  let devices: LoadDevices;
  let load: RunLoad;
  let killed: Replica;
  let frozen: Replica;
  let proxy: BusProxy;
  let shares: readonly (readonly number[])[];
  const heartbeats: Heartbeat[] = [];
  /** How to end what was started, the last one first. */
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    system = given();
    const { nats, aip } = await system.endpoints();
    nc = await system.bus();
    // The load is as much as there can be: nobody looks at its commands.
    expect(await system.cli('people', 'role', 'external', '--give', 'operator')).toMatchObject({ code: 0 });
    void followMembers();
    devices = await LoadDevices.connect(nc, aip, DEVICES);
    ends.unshift(() => devices.close());
    watch = await CommitWatch.start(nc);
    ends.unshift(() => watch.stop());
    load = new RunLoad(nc, watch, DEVICES);
    proxy = await BusProxy.start(nats);
    ends.unshift(() => proxy.close());
    killed = await Replica.start(system, 'killed');
    ends.unshift(() => killed.kill9());
    frozen = await Replica.start(system, 'frozen', proxy.url);
    ends.unshift(() => frozen.kill9());
    shares = await untilServed('orchestrator', 'killed', 'frozen');
    load.start(RUNS_PER_PARTITION);
    await Promise.all(
      Array.from({ length: PARTITIONS }, (_, wanted) => watch.first(({ partition }) => partition === wanted)),
    );
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  async function followMembers(): Promise<void> {
    const bucket = await new Kvm(nc).open(BUCKETS.MEMBERS.bucket);
    for await (const entry of await bucket.watch()) {
      if (entry.operation !== 'PUT') continue;
      heartbeats.push({ member: Member.parse(entry.json()), storedAt: entry.created.getTime() });
    }
  }

  const sharesOf = (instances: readonly string[]): (readonly number[])[] =>
    instances.map((one) => heartbeats.findLast(({ member }) => member.instance === one)?.member.partitions ?? []);

  /** The partitions of each, as soon as these replicas say that they share out everything. */
  function untilServed(...instances: readonly string[]): Promise<(readonly number[])[]> {
    return until(`the service of ${instances.join(', ')}`, async () => {
      const found = sharesOf(instances);
      const served = found.flat();
      const whole = served.length === PARTITIONS && new Set(served).size === PARTITIONS;
      return whole && found.every((share) => share.length > 0) ? found : undefined;
    });
  }

  /** The first commit in each of these partitions by somebody else, after an instant of `performance.now()`. */
  function untilServedWithout(instance: string, partitions: readonly number[], since: number): Promise<SeenCommit[]> {
    const first = (wanted: number): Promise<SeenCommit> =>
      watch.first(({ partition, by, seenAt }) => partition === wanted && by !== instance && seenAt > since);
    return Promise.all(partitions.map(first));
  }

  /**
   * Who cannot renew its membership writes no more: one that had no time for that many commits by then is heard again, and it
   * begins anew.
   */
  async function heldBack(): Promise<HeldBack> {
    for (;;) {
      const [, partitions = []] = await untilServed('orchestrator', 'frozen');
      const [since, heldAt] = [performance.now(), Date.now()];
      proxy.hold();
      const late = await until('commits on their way', async () => {
        const held = proxy.heldCommits();
        const isOver = performance.now() - since > LIMITS.memberTtlMs;
        return held.length >= ON_THE_WAY || isOver ? held : undefined;
      });
      if (late.length >= ON_THE_WAY) return { late, partitions, since, heldAt };
      proxy.release();
    }
  }

  it('share them evenly', () => {
    expect(Math.max(...shares.map((share) => share.length))).toBeLessThanOrEqual(Math.ceil(PARTITIONS / 3) + 1);
  });

  it('serve the partitions of one that is killed', async () => {
    const [partitions = []] = sharesOf(['killed']);
    const since = performance.now();
    await killed.kill9();
    const firsts = await untilServedWithout('killed', partitions, since);
    expect(print('killed to first commit by another', firsts, since)).toBeLessThan(TAKEOVER_MS_MAX);
    await untilServed('orchestrator', 'frozen');
  });

  it('serve the partitions of one that is frozen, and what it had sent last comes too late', async () => {
    const { late, partitions, since, heldAt } = await heldBack();
    frozen.freeze();
    const firsts = await untilServedWithout('frozen', partitions, since);
    expect(print('frozen to first commit by another', firsts, since)).toBeLessThan(TAKEOVER_MS_MAX);
    // By whom is not asked: a replica that came late before this, too, may have been overtaken already.
    const inTheirPlace = late.map(({ runId, number }) =>
      watch.first(({ commit }) => commit.runId === runId && commit.number === number),
    );
    await Promise.all(inTheirPlace);
    await untilServed('orchestrator');

    const [linesBefore, thawed, thawedAt] = [(await frozen.log()).length, performance.now(), Date.now()];
    frozen.thaw();
    proxy.release();
    const [, again = []] = await untilServed('orchestrator', 'frozen');
    print('thawed to first commit by itself', await untilServedWithout('orchestrator', again, thawed), thawed);

    // Who could not renew its membership for that long serves nothing until it has.
    const expired = heldAt + LIMITS.memberTtlMs;
    const lateIds = new Set(late.map(({ commit }) => commit));
    expect(watch.seen.filter(({ commit, storedAt }) => lateIds.has(commit.commit) && storedAt > expired)).toEqual([]);
    const back = heartbeats.find(({ member, storedAt }) => member.instance === 'frozen' && storedAt >= thawedAt);
    const between = ({ storedAt }: SeenCommit): boolean =>
      storedAt > expired && storedAt < (back?.storedAt ?? Infinity);
    expect(watch.seen.filter((seen) => seen.by === 'frozen' && between(seen))).toEqual([]);
    const said = await until('a conflict', async () => {
      const lines = (await frozen.log()).slice(linesBefore).map(({ msg }) => String(msg));
      return lines.some((line) => line.startsWith('conflict:')) ? lines : undefined;
    });
    const [conflicts, handedBack] = ['conflict:', 'handed back:'].map(
      (what) => said.filter((line) => line.startsWith(what)).length,
    );
    say(`thawed: ${late.length} commits came too late; ${conflicts} conflicts, ${handedBack} times inputs handed back`);
  });

  it('lose nothing, do nothing twice, and keep the order of every line', async () => {
    await load.stop();
    const runs = watch.runs();
    expect(runs.size).toBeGreaterThan(PARTITIONS * RUNS_PER_PARTITION);
    expect([...runs.keys()].toSorted()).toEqual(load.acknowledged.toSorted());
    for (const commits of runs.values()) {
      expect(commits.map(({ commit }) => commit.number)).toEqual(commits.map((_, index) => index + 1));
      const succeeded = { type: 'RUN_COMPLETED', data: { outcome: 'succeeded' } };
      expect(commits.at(-1)?.commit.events.at(-1)).toMatchObject(succeeded);
    }
    const byRun = Map.groupBy(devices.effects, ({ runId }) => runId);
    expect([...byRun.keys()].toSorted()).toEqual(load.acknowledged.toSorted());
    for (const effects of byRun.values()) {
      const starts = effects
        .filter(({ what }) => what === 'start')
        .map(({ taskId, attempt }) => `${taskId}.${attempt}`);
      expect(starts.toSorted()).toEqual(TASKS.map((id) => `${id}.1`));
      const at = (what: 'start' | 'end', id: string): number =>
        effects.findIndex((effect) => effect.what === what && effect.taskId === id);
      expect(LINES.filter(([before, after]) => at('end', before) > at('start', after))).toEqual([]);
    }
    const verified = await system.json<{ ok: boolean; runs: unknown[] }>('verify', '--all');
    expect(verified.ok).toBe(true);
    expect(verified.runs).toHaveLength(runs.size);
    const executions = devices.effects.length / 2;
    say(`${runs.size} runs, ${executions} executions, ${watch.seen.length} commits`);
  });
}

/** Figures, for people; the longest is given back. */
function print(what: string, commits: readonly SeenCommit[], since: number): number {
  const times = commits.map(({ seenAt }) => Math.round(seenAt - since)).toSorted((a, b) => a - b);
  const [median = 0, max = 0] = [times[Math.floor(times.length / 2)], times.at(-1)];
  say(`${what}: ${times.length} partitions, p50 ${median} ms, max ${max} ms`);
  return max;
}

function say(figures: string): void {
  process.stderr.write(`${figures}\n`);
}
