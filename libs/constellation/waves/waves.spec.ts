import { describe, expect, it } from '@jest/globals';
import type { ForEach, RunEvent, TaskStar } from '#proto';
import { forkedFrom } from '../fold/fork.js';
import { checkInvariants } from '../fold/invariants.js';
import { viewOf } from '../views/view.js';
import {
  add,
  ALICE,
  change,
  completed,
  constellation,
  device,
  failed,
  fleet,
  imagine,
  insert,
  instant,
  Story,
  submit,
  T0,
  verb,
  WAKE,
} from '../testing/given.js';

const MANY = 6;
const WEB = fleet(
  Array.from({ length: MANY }, (_, at) => device(`w${at + 1}`, { tags: ['web'] })).concat(
    device('db-1', { tags: ['db'] }),
  ),
);
const DEVICES = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6'];
const parts = (...devices: string[]): string[] => devices.map((id) => `update-${id}`);

const update = (forEach: ForEach, more: Partial<TaskStar> = {}) => ({
  id: 'update',
  target: { tags: ['web'] },
  forEach,
  ...more,
});

const story = (forEach: ForEach, more: Partial<TaskStar> = {}, after: readonly string[] = []): Story =>
  new Story()
    .on(WEB)
    .when(submit(constellation([update(forEach, more), { id: 'after', target: { device: 'db-1' } }], [...after])));

const devicesOf = (story: Story): string[] =>
  story.events.flatMap(({ type, data }) => (type === 'TASK_STARTED' && data.taskId !== 'after' ? [data.deviceId] : []));

const sound = (story: Story): void => expect(checkInvariants(story.run)).toEqual([]);

const waves = (events: readonly RunEvent[]): number => events.filter(({ type }) => type === 'WAVE_STARTED').length;

describe('a task on several devices', () => {
  it('says which ones they are before it does anything, and starts each of them as a task of its own', () => {
    const all = story({ wave: 2, maxFailures: 1 });
    expect(all.told.slice(2)).toEqual([
      `FAN_OUT_STARTED update ${DEVICES.join(' ')}`,
      'WAVE_STARTED update 1 w1 w2',
      'TASK_STARTED after 1 on db-1',
      'TASK_STARTED update-w1 1 on w1',
      'TASK_STARTED update-w2 1 on w2',
    ]);
    expect(all.status('update')).toBe('PENDING');
    sound(all);
  });

  it('begins a wave when the one before it has ended, whoever comes and goes meanwhile', () => {
    const all = story({ wave: 4 }).when(...parts('w1', 'w2', 'w3').map((id) => completed(id)));
    expect(waves(all.events)).toBe(1);
    const others = fleet([...WEB.devices.values(), device('w7', { tags: ['web'] })]);
    all.on(others).when(completed('update-w4'));
    expect(all.told.at(1)).toBe('WAVE_STARTED update 2 w5 w6');
    all.when(...parts('w5', 'w6').map((id) => completed(id)));
    expect(all.told.slice(-2)).toEqual(['TASK_COMPLETED update-w6 1', 'TASK_COMPLETED update 0']);
    expect(devicesOf(all)).toEqual(DEVICES);
    sound(all);
  });

  it.each([
    [{}, 6],
    [{ wave: '50%' }, 3],
    [{ wave: '1%' }, 1],
    [{ wave: 100 }, 6],
  ] as const)('%j begins with %d of 6', (forEach, size) => {
    expect(devicesOf(story(forEach))).toHaveLength(size);
  });

  it('pauses between two waves, also over a restart that knows only what is stored', () => {
    const all = story({ wave: 3, pauseMs: 60_000 }).at(5_000);
    all.when(...parts('w1', 'w2', 'w3').map((id) => completed(id)), completed('after'));
    expect(waves(all.events)).toBe(1);
    expect(all.last?.wakeAt).toBe(T0 + 65_000);
    expect(viewOf(all.run).waitingFor).toEqual({
      reason: 'next_wave',
      detail: 'update, wave 2 of 2',
      wokenBy: 'timer',
      wakesAt: instant(65_000),
    });
    const again = new Story().on(WEB).from(all.run).at(64_999).when(WAKE);
    expect(waves(again.events)).toBe(0);
    expect(again.at(65_000).when(WAKE, WAKE).told[0]).toBe('WAVE_STARTED update 2 w4 w5 w6');
    again.when(WAKE);
    expect(again.told).toEqual([]);
  });

  it('begins no other wave and no other device after the failure that is one too many', () => {
    const all = story({ wave: 3, maxFailures: 1 }, {}, ['update=>after']);
    all.when(failed('update-w1'), failed('update-w2'));
    expect(waves(all.events)).toBe(1);
    all.when(completed('update-w3'));
    expect(all.told).toEqual([
      'TASK_COMPLETED update-w3 1',
      'TASK_FAILED update 0 TOO_MANY_FAILURES failed',
      'TASK_SKIPPED after by failure',
      'RUN_COMPLETED partially_failed',
    ]);
    const { error } = all.run.tasks.at(0);
    expect(error?.message).toBe(
      '2 of 6 devices failed, and 1 may: w1 (EXIT_CODE), w2 (EXIT_CODE); 3 of them did not begin',
    );
    sound(all);
  });

  it('gives up devices of the wave that wait for a slot, and lets those that run end', () => {
    const busy = fleet([...WEB.devices.values()], { w3: 8 });
    const all = new Story().on(busy).when(submit(constellation([update({ wave: 3 })])));
    expect(devicesOf(all)).toEqual(['w1', 'w2']);
    all.when(failed('update-w1'));
    expect(all.told).toEqual([
      'TASK_FAILED update-w1 1 EXIT_CODE failed',
      'TASK_CANCELLED update-w3 0 fan_out_stopped',
    ]);
    expect(all.when(completed('update-w2')).told).toContain('TASK_FAILED update 0 TOO_MANY_FAILURES failed');
    sound(all);
  });

  it('goes on with as many failures as may be, and says so', () => {
    const all = story({ wave: 3, maxFailures: '34%' }, {}, ['update=>after']);
    all.when(failed('update-w1'), failed('update-w2'), completed('update-w3'));
    expect(all.told.at(-4)).toBe('WAVE_STARTED update 2 w4 w5 w6');
    all.when(...parts('w4', 'w5', 'w6').map((id) => completed(id)));
    expect(all.told.slice(-2)).toEqual(['TASK_COMPLETED update 0', 'TASK_STARTED after 1 on db-1']);
    expect(all.when(completed('after')).told.at(-1)).toBe('RUN_COMPLETED partially_failed');
    expect(all.run.tasks.at(0).result?.value).toMatchObject({
      devices: 6,
      waves: 2,
      completed: 4,
      failed: 2,
      not_started: 0,
      left_out: 0,
    });
  });

  it('tries a device again by the policy of the task before it counts as failed', () => {
    const all = story({ wave: 6 }, { retry: { attempts: 2, backoffMs: 0 } });
    all.when(failed('update-w1'));
    expect(all.told).toContain('TASK_STARTED update-w1 2 on w1');
    expect(all.run.tasks.at(0).status).toBe('PENDING');
  });

  it('waits for a device that went away between the choice and its wave, and stops at its end like every task', () => {
    const all = story({ wave: 3 });
    const gone = fleet(
      [...WEB.devices.values()].map((one) => (one.deviceId === 'w5' ? { ...one, status: 'lost' as const } : one)),
    );
    all.on(gone).when(...parts('w1', 'w2', 'w3').map((id) => completed(id)));
    expect(devicesOf(all)).toEqual(['w1', 'w2', 'w3', 'w4', 'w6']);
    const revoked = { by: ALICE, reason: 'stolen', revokedAt: instant(0) };
    const without = fleet([...WEB.devices.values()].map((one) => (one.deviceId === 'w5' ? { ...one, revoked } : one)));
    expect(all.on(without).when(WAKE).told).toContain('TASK_FAILED update-w5 0 NO_DEVICE failed');
  });

  it.each([
    ['no device that satisfies it now', { target: { where: 'profile.disk.free_gb > 9000' } }, 'NO_DEVICE'],
  ] as const)('fails at once with %s, and says why', (_, more, code) => {
    const all = new Story().on(WEB).when(submit(constellation([update({}, more)])));
    expect(all.told).toContain(`TASK_FAILED update 0 ${code} failed`);
    expect(all.run.tasks.at(0).error?.message).toContain('lack profile.disk.free_gb');
  });

  it('waits while nobody knows all devices', () => {
    const all = new Story().on(fleet([...WEB.devices.values()], {}, false)).when(submit(constellation([update({})])));
    expect(waves(all.events)).toBe(0);
    expect(all.last?.starvedOf).toEqual(new Set(['*']));
    expect(waves(all.on(WEB).when(WAKE).events)).toBe(1);
  });

  it('leaves out a device that has never connected, and takes one that is away', () => {
    const some = fleet([
      device('w1', { tags: ['web'], status: 'offline', session: null }),
      device('w2', { tags: ['web'], status: 'lost' }),
      device('w3', { tags: ['web'] }),
    ]);
    const all = new Story().on(some).when(submit(constellation([update({})])));
    expect(all.told[2]).toBe('FAN_OUT_STARTED update w2 w3');
  });

  it('gives its results to what comes after it: counts to conditions, every device to inputs', () => {
    const all = new Story().on(WEB).when(
      submit(
        constellation(
          [
            update({ maxFailures: 6 }),
            {
              id: 'table',
              target: { device: 'db-1' },
              command: { tool: 'EXEC_CLI', arguments: { command: 'sort', stdin: { from: ['update'] } } },
            },
          ],
          ['update?result.failed == 1 && result.results.exists(r, r.device == "w2" && r.status == "FAILED")>table'],
        ),
      ),
    );
    all.when(failed('update-w2'), ...parts('w1', 'w3', 'w4', 'w5', 'w6').map((id) => completed(id)));
    const started = all.events.findLast(({ type }) => type === 'TASK_STARTED');
    expect(started?.type === 'TASK_STARTED' && started.data.inputs).toEqual(
      DEVICES.map((id) => ({ taskId: `update-${id}`, attempt: 1, of: 'update' })),
    );
  });

  it('cannot be changed once it has begun, nor can one of its devices', () => {
    const all = story({ wave: 2 });
    for (const edit of [
      change.task('update', { name: 'other' }),
      change.task('update-w1', { name: 'other' }),
      { tool: 'remove_task', taskId: 'update' },
      add.line('after->update'),
    ]) {
      all.when(insert([edit]));
      expect(all.answers.at(-1)).toMatchObject({ kind: 'rejected' });
    }
    expect(all.run.tasks.at(0).star.name).toBe('update');
    // The ids of waves that are still to come are taken, too.
    all.when(insert([add.task('update-w6')]));
    expect(all.answers.at(-1)).toMatchObject({ kind: 'rejected' });
    sound(all);
  });

  it('asks the planner about its end, and not about each of its devices', () => {
    const all = new Story()
      .on(WEB)
      .when(submit(constellation([update({ maxFailures: 1 })]), { options: { editPolicy: 'when-needed' } }));
    all.when(failed('update-w1'), failed('update-w2'));
    expect(all.told.filter((line) => line.startsWith('EDIT_OPENED'))).toEqual([]);
    all.when(...parts('w3', 'w4', 'w5', 'w6').map((id) => completed(id)));
    expect(all.told.filter((line) => line.startsWith('EDIT_OPENED'))).toEqual(['EDIT_OPENED e1 update.0 scoped']);
  });

  it('begins no wave while the run is paused, and ends with it when it is cancelled', () => {
    const all = story({ wave: 3 });
    all.when(verb({ verb: 'PAUSE' })).when(...parts('w1', 'w2', 'w3').map((id) => completed(id)));
    expect(waves(all.events)).toBe(1);
    all.when(verb({ verb: 'RESUME' }));
    expect(waves(all.events)).toBe(2);
    all.when(verb({ verb: 'CANCEL' }));
    all.when(...parts('w4', 'w5', 'w6').map((id) => failed(id, 1, 'cancelled')), failed('after', 1, 'cancelled'));
    expect(all.run.phase).toBe('CANCELLED');
    sound(all);
  });

  it('is tried again on those of its devices that have not completed, and goes on from there', () => {
    const all = story({ wave: 3 }, {}, ['update=>after']);
    all.when(failed('update-w1'), failed('update-w3'), completed('update-w2'));
    expect(all.run.phase).toBe('COMPLETED');
    all.when(verb({ verb: 'RETRY', taskId: 'update' }));
    expect(all.told.filter((line) => line.startsWith('TASK_STARTED'))).toEqual([
      'TASK_STARTED update-w1 2 on w1',
      'TASK_STARTED update-w3 2 on w3',
    ]);
    all.when(completed('update-w1', 2), completed('update-w3', 2));
    expect(all.told).toContain('WAVE_STARTED update 2 w4 w5 w6');
    all.when(...parts('w4', 'w5', 'w6').map((id) => completed(id)));
    expect(all.when(completed('after')).told.at(-1)).toBe('RUN_COMPLETED succeeded');
    sound(all);
  });

  it('is tried again on those that failed and might, and on one of them alone while it goes on', () => {
    const all = story({ maxFailures: 2 }).when(failed('update-w1'));
    all.when(verb({ verb: 'RETRY', taskId: 'update-w1' }));
    expect(all.told).toContain('TASK_STARTED update-w1 2 on w1');
    all.when(failed('update-w1', 2), ...parts('w2', 'w3', 'w4', 'w5', 'w6').map((id) => completed(id)));
    expect(all.status('update')).toBe('COMPLETED');
    all.when(verb({ verb: 'RETRY', taskId: 'update-w1' }, 'late'));
    expect(all.answers.at(-1)).toMatchObject({ kind: 'rejected' });
    all.when(verb({ verb: 'RETRY', taskId: 'update' }));
    expect(all.told).toContain('TASK_STARTED update-w1 3 on w1');
    sound(all);
  });

  it('ends at its deadline: those that run are stopped, no other one begins', () => {
    const all = story({ wave: 3, pauseMs: 60_000 }, { deadlineMs: 30_000 });
    all.at(1_000).when(...parts('w1', 'w2', 'w3').map((id) => completed(id)));
    expect(all.last?.wakeAt).toBe(T0 + 30_000);
    expect(all.at(30_000).when(WAKE).told).toEqual(['TASK_FAILED update 0 DEADLINE timed_out']);
  });

  it('is judged on each device where a model has made it go over all of them', () => {
    const plan = constellation(
      [
        { id: 'update', target: { tags: ['web'] } },
        { id: 'first', target: { device: 'db-1' } },
      ],
      ['first=>update'],
    );
    const all = new Story().on(WEB).when(submit(plan, { options: { editPolicy: 'every-result' } }));
    all.when(completed('first'));
    all.when(imagine('e1', [change.task('update', { forEach: { wave: 2 } })]));
    const started = all.events.filter(({ type, data }) => type === 'TASK_STARTED' && data.judge === true);
    expect(started).toHaveLength(2);
  });

  it('goes on in a fork where it stood, and does nothing twice there', () => {
    const all = story({ wave: 3 }).when(completed('update-w1'), completed('update-w2'), completed('after'));
    const forked = forkedFrom({ run: all.run, by: ALICE, requestId: 'again', now: T0 + 1_000 });
    const again = new Story().on(WEB).at(1_000).when({ kind: 'fork', id: 'f', forked });
    // What ran in the parent is known to nobody here: that is a failure, and none may be.
    expect(again.told).toContain('TASK_FAILED update 0 TOO_MANY_FAILURES failed');
    again.when(verb({ verb: 'RETRY', taskId: 'update' }));
    again.when(completed('update-w3', 2));
    expect(devicesOf(again)).toEqual(['w3', 'w4', 'w5', 'w6']);
    sound(again);
  });

  it('is refused for one device, with the words of what would do', () => {
    const all = story({ wave: 2 });
    all.when(insert([add.task('x', { target: { device: 'w1' }, forEach: {} })]));
    expect(JSON.stringify(all.answers.at(-1))).toContain('give target a selector, or leave forEach out');
    all.when(insert([add.task('x', { target: { tags: ['web'] }, forEach: {}, board: [{ name: 'x' }] })]));
    expect(JSON.stringify(all.answers.at(-1))).toContain('writes none of them on the board');
  });

  it('fits into its commits with as many devices as a run takes', () => {
    const many = fleet(Array.from({ length: 1_990 }, (_, at) => device(`${'d'.repeat(56)}${at}`, { tags: ['web'] })));
    const all = new Story().on(many).when(submit(constellation([update({ maxFailures: '100%' })])));
    const value = { exit_code: 0, stdout: 'x'.repeat(1_000) };
    while (waves(all.events) === 0 || [...all.run.tasks].some(({ status }) => status !== 'COMPLETED')) {
      const running = [...all.run.running].map((index) => all.run.tasks.at(index).star.id).slice(0, 500);
      all.when(...running.map((id) => completed(id, 1, value)), WAKE);
      expect(JSON.stringify(all.last?.events).length).toBeLessThan(2 * 1024 * 1024);
      if (all.last?.events.length === 0) break;
    }
    const { status, result } = all.run.tasks.at(0);
    expect(status).toBe('COMPLETED');
    expect(JSON.stringify(result).length).toBeLessThan(16 * 1024);
    expect(result?.value).toMatchObject({ devices: 1_990, completed: 1_990, failed: 0 });
    sound(all);
  });
});
