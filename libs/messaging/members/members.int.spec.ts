import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, PARTITIONS } from '#proto';
import type { Member } from '#proto';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { connectBus } from '../connection/bus.client.js';
import { Members, readMembers } from './members.adapter.js';

const AT = '2026-11-20T15:40:40.489Z';

describe('Members', () => {
  let server: TestNats;
  let started: { members: Members; nc: NatsConnection }[];
  beforeAll(async () => {
    server = await startTestNats({ provisioned: true });
    const nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
    await nc.close();
  });
  beforeEach(() => {
    started = [];
  });
  afterEach(async () => {
    for (const { members, nc } of started) {
      await members.end();
      await nc.close();
    }
  });
  afterAll(() => server.stop());

  /** A replica, and a way to wait until it has what it should have. */
  const replica = async (instance: string, running: Record<string, number> = {}) => {
    const nc = await connectBus({ url: server.url, name: instance, inboxPrefix: '_INBOX_test' });
    const waiting = new Set<() => void>();
    const wake = () => waiting.forEach((check) => check());
    let seen: readonly Member[] = [];
    const members = new Members(nc, {
      service: 'orchestrator',
      instance,
      clock: { now: () => Date.parse(AT) },
      running: () => running,
      changed: wake,
      seen: (all) => {
        seen = all;
        wake();
      },
    });
    const until = (condition: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
    members.begin();
    started.push({ members, nc });
    return { nc, members, until, seen: () => seen, owned: () => members.partitions().size };
  };

  it('serves everything alone', async () => {
    const alone = await replica('alone');
    await alone.until(() => alone.owned() === PARTITIONS);
  });

  it('shares without overlap or gap when another comes, and takes back when it leaves', async () => {
    const a = await replica('a');
    await a.until(() => a.owned() === PARTITIONS);
    const b = await replica('b');
    await b.until(() => b.owned() > 0);
    await a.until(() => a.owned() + b.owned() === PARTITIONS);
    expect([...a.members.partitions()].filter((partition) => b.members.partitions().has(partition))).toEqual([]);
    await b.members.end();
    expect(b.owned()).toBe(0);
    await a.until(() => a.owned() === PARTITIONS);
  });

  it('takes over from a member that says nothing any more', async () => {
    const a = await replica('a');
    const b = await replica('b');
    await a.until(() => a.owned() > 0 && a.owned() < PARTITIONS);
    await b.nc.close();
    await a.until(() => a.owned() === PARTITIONS);
  });

  it('tells the others what it is running', async () => {
    const a = await replica('a', { 'web-1': 3 });
    const b = await replica('b', { 'web-2': 1 });
    await b.until(() => b.seen().length === 2);
    const byInstance = (left: Member, right: Member) => left.instance.localeCompare(right.instance);
    expect(b.seen().toSorted(byInstance)).toMatchObject([
      { instance: 'a', running: { 'web-1': 3 }, at: AT },
      { instance: 'b', running: { 'web-2': 1 }, at: AT },
    ]);
    expect(await readMembers(a.nc, 'registry')).toEqual([]);
  });

  it('knows that its membership is over in the first instant after it was frozen', async () => {
    const a = await replica('a');
    await a.until(() => a.owned() === PARTITIONS);
    expect(a.members.alive()).toBe(true);
    freeze(BUCKETS.MEMBERS.ttlMs);
    expect([a.members.alive(), a.owned()]).toEqual([false, PARTITIONS]);
    await a.until(() => a.owned() === 0);
    await a.until(() => a.owned() === PARTITIONS);
    expect(a.members.alive()).toBe(true);
  });

  it('serves nothing when it could not renew in time, and everything again afterwards', async () => {
    const a = await replica('a');
    await a.until(() => a.owned() === PARTITIONS);
    await server.kill9();
    await a.until(() => a.owned() === 0);
    await server.restart();
    await a.until(() => a.owned() === PARTITIONS);
  });
});

/** Nothing of this process runs for so long, as under SIGSTOP: no timer, no socket. */
function freeze(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
