import { describe, expect, it } from '@jest/globals';
import { AttemptCommit, GENESIS_HASH, type AttemptEvent, type StopReason } from '#proto';
import { verifyChain } from '#libs/event-log';
import { emptyAttempt, evolveAttempt, findOrder, foldAttempt, isExact, nextCommit, ordersOf } from './attempt.js';
import { eventsOf } from './ending.js';
import { NOW, RUN_ID, TestRun } from '../testing/run.js';

const key = { runId: RUN_ID, taskId: 'a', attempt: 1 };
const resumed = (instance: string): AttemptEvent => ({ type: 'ATTEMPT_RESUMED', data: { instance } });
const stop = (reason: StopReason): AttemptEvent => ({
  type: 'ATTEMPT_SIGNALLED',
  data: { signal: 'stop', reason, graceUntil: '2026-11-20T10:00:10.000Z' },
});
const stopped = stop('timeout');
const stamp = (number: number) => ({
  commit: `01HZZZZZZZZZZZZZZZZZZZZ00${number}`,
  now: NOW,
  by: { service: 'device-agent', instance: 'i1' },
  causes: [{ kind: 'run' as const, id: 'c1' }],
});
const fold = (...events: AttemptEvent[]) => evolveAttempt(emptyAttempt(key), events);

describe('an attempt as its events tell it', () => {
  it('belongs to the instance that resumed it last', () => {
    expect(fold(resumed('i1'), resumed('i2')).owner).toBe('i2');
  });

  it('keeps the first stop', () => {
    expect(fold(stopped, stop('cancelled')).stop?.reason).toBe('timeout');
  });

  it('knows whether the outcome of its command is recorded', () => {
    const [order] = ordersOf(new TestRun([{ id: 'a' }]).start({ id: 'a' }));
    if (order === undefined || !isExact(order)) throw new Error('no order');
    const lost = fold(...eventsOf(order, { kind: 'lost', sent: true }));
    expect(lost).toMatchObject({ commandFinished: false, finished: { status: 'failed' } });
    const outcome = { state: 'COMPLETED' as const, result: 1, error: null, startedAt: null, durationMs: null };
    expect(fold(...eventsOf(order, { kind: 'outcome', outcome, result: { value: 1 } })).commandFinished).toBe(true);
  });
});

describe('the chain of an attempt', () => {
  it('is contiguous, hashed and valid, from the first commit to the last', () => {
    const first = nextCommit(emptyAttempt(key), [resumed('i1'), stopped], stamp(1));
    const between = foldAttempt(key, [{ commit: first, sequence: 17 }]);
    const second = nextCommit(between, [resumed('i2')], stamp(2));
    expect(verifyChain([first, second])).toEqual([]);
    expect(first.prevHash).toBe(GENESIS_HASH);
    expect([first, second].map((commit) => AttemptCommit.safeParse(commit).success)).toEqual([true, true]);
    expect(foldAttempt(key, [{ commit: second, sequence: 23 }], between).end).toEqual({
      sequence: 23,
      number: 2,
      events: 3,
      hash: second.hash,
    });
  });
});

describe('orders', () => {
  it('are all starts of a commit', () => {
    const run = new TestRun([{ id: 'a' }, { id: 'b' }]);
    const orders = ordersOf(run.start({ id: 'a' }, { id: 'b' }));
    expect(orders.map((order) => order.key.taskId)).toEqual(['a', 'b']);
    expect(ordersOf(run.stop('a'))).toEqual([]);
  });

  it('are found again by their attempt', () => {
    const run = new TestRun([{ id: 'a' }]);
    run.start({ id: 'a' });
    const second = run.start({ id: 'a', attempt: 2 });
    expect(findOrder(run.commits, { ...key, attempt: 2 })?.commit).toBe(second.commit);
    expect(findOrder(run.commits, { ...key, attempt: 3 })).toBeUndefined();
  });
});
