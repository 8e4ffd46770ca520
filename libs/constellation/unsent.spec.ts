import { describe, expect, it } from '@jest/globals';
import { LIMITS, type TaskError } from '#proto';
import { constellation, device, failed, fleet, HASH, instant, Story, submit, WAKE } from './testing/given.js';
import type { Input } from './decide/input.js';

const unsent = (attempt: number, change: Partial<TaskError> = {}): Input => ({
  kind: 'attempt-ended',
  taskId: 'a',
  attempt,
  attemptHash: HASH,
  finished: {
    status: 'failed',
    error: { code: 'NOT_SENT', message: 'the session ended', outcome: 'failed', sent: false, ...change },
  },
});

/** The device with this session, the `n`th of its life. */
const web = (n: number) =>
  fleet([
    device('web-1', {
      session: { sessionId: `s${n}`, gateway: 'g', journalId: null, connectedAt: instant(n) },
      tasksMax: 1,
    }),
  ]);

describe('an attempt of which nothing was sent', () => {
  it('is made again on the next session of its device, and not on the one that is over', () => {
    const story = new Story()
      .on(web(1))
      .when(submit(constellation(['a'])))
      .when(unsent(1));
    expect(story.told).toEqual(['TASK_FAILED a 1 NOT_SENT failed', 'TASK_REOPENED a 1']);
    expect(story.run.tasks.at(0)).toMatchObject({ status: 'PENDING', unsent: 1 });
    expect(story.when(WAKE).told).toEqual([]);
    expect(story.on(web(2)).when(WAKE).told).toEqual(['TASK_STARTED a 2 on web-1']);
  });

  it('is none of the tries that a policy counts', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 1_000 } }]);
    const story = new Story().on(web(1)).when(submit(plan)).when(unsent(1)).on(web(2)).when(WAKE);
    expect(story.when(failed('a', 2)).told).toEqual(['TASK_FAILED a 2 EXIT_CODE failed', 'TASK_REOPENED a 2']);
    const [, reopened] = story.last?.events ?? [];
    // The first wait of its policy, as if it had been tried once.
    expect(reopened?.data).toMatchObject({ reason: 'retry_policy' });
    expect(Date.parse(story.run.tasks.at(0).notBefore ?? '')).toBeLessThanOrEqual(Date.parse(instant(1_000)));
    story.at(1_000).when(WAKE).when(failed('a', 3));
    expect(story.told).toEqual(['TASK_FAILED a 3 EXIT_CODE failed', 'RUN_FAILED NO_TASK_COMPLETED']);
  });

  it('has not used up its time where it ran in a queue', () => {
    const plan = constellation([{ id: 'a', timeoutMs: 60_000 }]);
    const story = new Story().on(web(1)).when(submit(plan)).at(60_000).when(WAKE);
    expect(story.told).toEqual(['TASK_STOP_REQUESTED a 1 timeout']);
    story.when(unsent(1, { code: 'CANCELLED', outcome: 'cancelled' }));
    expect(story.told).toEqual(['TASK_FAILED a 1 TIMEOUT timed_out', 'TASK_REOPENED a 1', 'TASK_STARTED a 2 on web-1']);
    expect(story.run.tasks.at(0).timeoutAt).toBe(instant(120_000));
  });

  it('counts as a failure when that goes on and on', () => {
    const story = new Story().on(web(1)).when(submit(constellation(['a'])));
    for (let attempt = 1; attempt <= LIMITS.unsentAttemptsMax; attempt++) {
      expect(story.when(unsent(attempt)).run.tasks.at(0).status).toBe('PENDING');
      story.on(web(attempt + 1)).when(WAKE);
    }
    expect(story.when(unsent(LIMITS.unsentAttemptsMax + 1)).told.at(-1)).toBe('RUN_FAILED NO_TASK_COMPLETED');
  });

  it('of a device that is given up is a loss, for which the tries that are left are used', () => {
    const lost = unsent(1, { code: 'DEVICE_LOST', outcome: 'device_lost' });
    const once = new Story()
      .on(web(1))
      .when(submit(constellation(['a'])))
      .when(lost);
    expect(once.told.at(-1)).toBe('RUN_FAILED NO_TASK_COMPLETED');
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }]);
    const twice = new Story().on(web(1)).when(submit(plan)).when(lost);
    expect(twice.told).toEqual(['TASK_FAILED a 1 DEVICE_LOST device_lost', 'TASK_REOPENED a 1']);
  });

  it('is not made again when its run ends', () => {
    const story = new Story().on(web(1)).when(submit(constellation(['a'])));
    story.at(24 * 3_600_000).when(WAKE);
    expect(story.when(unsent(1, { code: 'CANCELLED', outcome: 'cancelled' })).told).not.toContain('TASK_REOPENED a 1');
  });
});
