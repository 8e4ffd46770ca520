import { describe, expect, it } from '@jest/globals';
import type { AttemptEvent, StopReason } from '#proto';
import { NO_COMMITS, sealNext } from '#libs/event-log';
import { emptyAttempt, evolveAttempt, findOrder, foldAttempt, isExact, ordersOf } from './attempt.js';
import { eventsOf } from './ending.js';
import { commitOf, NOW, RUN_ID, startOf } from './given.testing.js';

const key = { runId: RUN_ID, taskId: 'a', attempt: 1 };
const resumed = (instance: string): AttemptEvent => ({ type: 'ATTEMPT_RESUMED', data: { instance } });
const stop = (reason: StopReason): AttemptEvent => ({
  type: 'ATTEMPT_SIGNALLED',
  data: { signal: 'stop', reason, graceUntil: '2026-11-20T10:00:10.000Z' },
});
const stopped = stop('timeout');
const stamp = { commit: '01HZZZZZZZZZZZZZZZZZZZZ001', now: NOW, causes: [{ kind: 'run' as const, id: 'c1' }] };
const fold = (...events: AttemptEvent[]) => evolveAttempt(emptyAttempt(key), events);

describe('an attempt as its events tell it', () => {
  it('belongs to the instance that resumed it last', () => {
    expect(fold(resumed('i1'), resumed('i2')).owner).toBe('i2');
  });

  it('keeps the first stop', () => {
    expect(fold(stopped, stop('cancelled')).stop?.reason).toBe('timeout');
  });

  it('knows whether the outcome of its command is recorded', () => {
    const [order] = ordersOf(commitOf(1, startOf('a')));
    if (order === undefined || !isExact(order)) throw new Error('no order');
    const lost = fold(...eventsOf(order, { kind: 'lost', sent: true }));
    expect(lost).toMatchObject({ commandFinished: false, finished: { status: 'failed' } });
    const outcome = { state: 'COMPLETED' as const, result: 1, error: null, startedAt: null, durationMs: null };
    expect(fold(...eventsOf(order, { kind: 'outcome', outcome, result: { value: 1 } })).commandFinished).toBe(true);
  });
});

describe('an attempt as its commits tell it', () => {
  it('was written last by who wrote more than a signal', () => {
    const by = (instance: string) => ({ service: 'device-agent', instance });
    const first = sealNext(NO_COMMITS, key, [resumed('i1')], { ...stamp, by: by('i1') });
    const second = sealNext({ number: 1, events: 1, hash: first.hash }, key, [stopped], { ...stamp, by: by('i2') });
    const folded = foldAttempt(emptyAttempt(key), [first]);
    expect(foldAttempt(folded, [second])).toMatchObject({ owner: 'i1', writer: 'i1', stop: { reason: 'timeout' } });
  });
});

describe('orders', () => {
  it('are all starts of a commit', () => {
    const orders = ordersOf(commitOf(1, startOf('a'), startOf('b')));
    expect(orders.map((order) => order.key.taskId)).toEqual(['a', 'b']);
    expect(ordersOf(commitOf(2))).toEqual([]);
  });

  it('are found again by their attempt', () => {
    const commits = [commitOf(1, startOf('a')), commitOf(2, startOf('a', 2))];
    expect(findOrder(commits, { ...key, attempt: 2 })?.commit).toBe(commits[1]?.commit);
    expect(findOrder(commits, { ...key, attempt: 3 })).toBeUndefined();
  });
});
