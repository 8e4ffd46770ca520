import { describe, expect, it } from '@jest/globals';
import { mayHold, parseCommit } from '#libs/messaging';
import { subjects } from '#proto';
import { emptyAttempt, ordersOf, type AttemptOrder } from '#libs/attempt';
import { hasLost, type DeviceState } from '../devices/session.js';
import { LiveAttempts, type Carried, type LiveAttempt } from './live-attempts.js';
import { DEVICE_ID, RUN_ID, SESSION_ID, startOf, TestRun } from '../testing/run.js';

const [order] = ordersOf(new TestRun([{ id: 'a' }]).start({ id: 'a' })) as [AttemptOrder];
const stop = { reason: 'timeout' as const, graceUntil: '2026-11-20T10:00:10.000Z' };

/** Work that ends when it is told to. */
function held(): { work: (live: LiveAttempt) => Promise<Carried>; end: (carried: Carried) => void; begun: number[] } {
  const { promise, resolve } = Promise.withResolvers<Carried>();
  const begun: number[] = [];
  const work = (): Promise<Carried> => {
    begun.push(1);
    return promise;
  };
  return { work, end: resolve, begun };
}

describe('live attempts', () => {
  it('joins a second delivery to the first', async () => {
    const live = new LiveAttempts();
    const { work, end, begun } = held();
    const both = [live.carryOut(order, work), live.carryOut(order, work)];
    end('ended');
    expect(await Promise.all(both)).toEqual(['ended', 'ended']);
    expect(begun).toHaveLength(1);
    expect(live.size).toBe(0);
  });

  it('forgets an attempt that failed, so that the next delivery begins it again', async () => {
    const live = new LiveAttempts();
    await expect(live.carryOut(order, () => Promise.reject(new Error('log away')))).rejects.toThrow('log away');
    expect(live.find(order.key)).toBeUndefined();
  });

  it('is found by its key and by its device', () => {
    const live = new LiveAttempts();
    void live.carryOut(order, held().work);
    expect(live.find(order.key)?.order).toBe(order);
    expect(live.onDevice(DEVICE_ID)).toHaveLength(1);
    expect(live.onDevice('other')).toEqual([]);
  });

  it('obeys the first interruption only', () => {
    const live = new LiveAttempts();
    void live.carryOut(order, held().work);
    const attempt = live.find(order.key);
    attempt?.interrupt('lost');
    attempt?.interrupt('foreign');
    expect(attempt?.interruption).toBe('lost');
    expect(attempt?.signal.aborted).toBe(true);
  });

  it('learns a stop without being interrupted, an end and a foreign owner with', () => {
    const learnt = (change: object) => {
      const live = new LiveAttempts();
      void live.carryOut(order, held().work);
      live.find(order.key)?.learn({ ...emptyAttempt(order.key), ...change }, 'me');
      const attempt = live.find(order.key);
      return [attempt?.stop ?? null, attempt?.interruption];
    };
    expect(learnt({ stop })).toEqual([stop, null]);
    expect(learnt({ owner: 'me' })).toEqual([null, null]);
    expect(learnt({ owner: 'you' })).toEqual([null, 'foreign']);
    expect(learnt({ owner: 'you', finished: { status: 'completed', result: { value: 1 } } })).toEqual([
      null,
      'finished',
    ]);
  });

  it('interrupts what runs and what comes when the process is about to end', async () => {
    const live = new LiveAttempts();
    const work = (attempt: LiveAttempt): Promise<Carried> =>
      Promise.resolve(attempt.interruption === 'shutdown' ? 'left' : 'ended');
    const running = live.carryOut(order, work);
    live.leave();
    expect(await running).toBe('left');
    expect(await live.carryOut(order, work)).toBe('left');
  });
});

describe('a lost device', () => {
  const state = (change: Partial<DeviceState>): DeviceState => ({
    deviceId: DEVICE_ID,
    lost: true,
    connected: false,
    sessionId: SESSION_ID,
    connectedAt: '2026-11-20T09:00:00.000Z',
    ...change,
  });
  const start = startOf({ id: 'a' });

  it('is lost to the attempts of its session and of the sessions before', () => {
    expect(hasLost(state({}), start)).toBe(true);
    expect(hasLost(state({ sessionId: 'later', connectedAt: '2026-11-20T10:05:00.000Z' }), start)).toBe(true);
  });

  it('is not lost while it is only suspect, for another device, or when the profile is older than the start', () => {
    expect(hasLost(state({ lost: false }), start)).toBe(false);
    expect(hasLost(state({ deviceId: 'other' }), start)).toBe(false);
    expect(hasLost(state({ sessionId: 'older' }), start)).toBe(false);
  });
});

describe('a message of RUNS', () => {
  const message = (data: string, types?: string, subject = subjects.run(RUN_ID)) => ({
    subject,
    data: new TextEncoder().encode(data),
    header: () => types,
  });

  it('is passed over by its header, without a look at its body', () => {
    expect(mayHold(message('', 'RUN_REQUESTED,TASK_COMPLETED'), ['TASK_STARTED'])).toBe(false);
    expect(mayHold(message('', 'RUN_REQUESTED,TASK_STARTED'), ['TASK_STARTED'])).toBe(true);
    expect(mayHold(message(''), ['TASK_STARTED'])).toBe(true);
  });

  it('is a commit, or says why not', () => {
    const commit = new TestRun([{ id: 'a' }]).start({ id: 'a' });
    expect(parseCommit(message(JSON.stringify(commit)))).toEqual({ ok: true, commit });
    expect(parseCommit(message('{'))).toMatchObject({ ok: false, reason: 'it is not JSON in UTF-8' });
    expect(parseCommit(message(JSON.stringify({ ...commit, events: [] })))).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^events: /u),
    });
  });

  it('is refused under the subject of another run', () => {
    const commit = new TestRun([{ id: 'a' }]).start({ id: 'a' });
    expect(parseCommit(message(JSON.stringify(commit), undefined, subjects.run('other')))).toMatchObject({ ok: false });
  });
});
