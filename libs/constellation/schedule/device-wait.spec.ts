import { describe, expect, it } from '@jest/globals';
import { LIMITS, type RunOptions } from '#proto';
import { type RunDecision, decide } from '../decide/decide.js';
import type { Input } from '../decide/input.js';
import { constellation, device, fleet, T0, submit } from '../testing/given.js';
import type { FleetView } from '../edits/fleet-view.js';
import { emptyRun, findTask, type Run } from '../state/run.js';
import { waitingFor } from '../views/view.js';

const MINUTE = 60_000;
const WAIT: RunOptions = { deviceWaitMs: 10 * MINUTE };
const lost = (id: string) => device(id, { status: 'lost', changedAt: '2026-01-01T00:00:00.000Z' });

/** A run over time: what is decided at an instant, minutes after the beginning, with the fleet as it is then. */
class Story {
  run: Run = emptyRun('run-1');

  at(minutes: number, view: FleetView, ...inputs: Input[]): RunDecision {
    const now = T0 + minutes * MINUTE;
    const decision = decide(this.run, inputs.length === 0 ? [{ kind: 'wake' }] : inputs, {
      fleet: view,
      now,
      planner: false,
    });
    this.run = decision.run;
    return decision;
  }
}

function failures({ events }: RunDecision): string[] {
  return events.flatMap(({ type, data }) =>
    type === 'TASK_FAILED' ? `${data.taskId} ${data.error.code}: ${data.error.message}` : [],
  );
}

describe('a ready task that no connected device can take', () => {
  const away = fleet([lost('web-1')]);

  it('fails after the wait that the request names, with the target and why its device cannot', () => {
    const story = new Story();
    story.at(0, away, submit(constellation(['a']), { options: WAIT }));
    expect(story.at(9.99, away).events).toEqual([]);
    expect(failures(story.at(10, away))).toEqual([
      'a DEVICE_UNAVAILABLE: no connected device could take it for 10 min: target device "web-1": web-1 is lost since 2026-01-01T00:00:00.000Z',
    ]);
    expect(story.run).toMatchObject({ phase: 'FAILED', reason: 'no task completed' });
  });

  it('waits until the deadline of its run where the request names no wait: an older one does not', () => {
    const story = new Story();
    story.at(0, away, submit(constellation(['a']), { options: {} }));
    expect(story.at(23 * 60, away).events).toEqual([]);
    expect(story.run.phase).toBe('RUNNING');
  });

  it('is told with since when, and until when', () => {
    const story = new Story();
    const { wakeAt } = story.at(0, away, submit(constellation(['a']), { options: { deviceWaitMs: 3_000 } }));
    expect(wakeAt).toBe(T0 + 3_000);
    const at = (ms: number) => new Date(T0 + ms).toISOString();
    expect(waitingFor(story.run)).toEqual({
      reason: 'device',
      detail: `a device that takes a (target device "web-1": web-1 is lost since 2026-01-01T00:00:00.000Z) since ${at(0)}, given up at ${at(3_000)}`,
      wokenBy: 'fleet',
      wakesAt: at(3_000),
    });
  });

  it('is told at once with what each device lacks of the resources it asks for', () => {
    const small = { cpuCount: 2, memoryMb: 4_096 };
    const view = fleet([
      device('web-1', { resources: small }),
      device('web-2', {
        resources: { cpuCount: 8, memoryMb: 65_536 },
        status: 'lost',
        changedAt: '2026-01-01T00:00:00.000Z',
      }),
    ]);
    const detailOf = (resources: object): string => {
      const story = new Story();
      story.at(0, view, submit(constellation([{ id: 'a', target: { resources } }]), { options: WAIT }));
      return waitingFor(story.run)?.detail ?? '';
    };
    expect(detailOf({ memoryMb: 8_192 })).toContain(
      'a (target {"resources":{"memoryMb":8192}}: web-1 has 4096 MiB of memory; web-2 is lost since 2026-01-01T00:00:00.000Z) since',
    );
    expect(detailOf({ diskFreeMb: 10 })).toContain(
      'web-1 does not say how many MiB free on its disk it has; web-2 is lost',
    );
  });

  it('is told once for all that ask for the same, and of many the first', () => {
    const ids = Array.from({ length: LIMITS.waitReasonsMax + 3 }, (_, index) => `t${index}`);
    const tasks = ids.map((id) => ({ id, target: { device: id === 't1' ? 't0' : id } }));
    const story = new Story();
    const { events } = story.at(0, fleet(ids.map(lost)), submit(constellation(tasks), { options: WAIT }));
    const [data] = events.flatMap((event) => (event.type === 'TASKS_WAITING' ? [event.data] : []));
    expect(data?.began).toEqual(ids);
    expect(data?.why).toHaveLength(LIMITS.waitReasonsMax);
    expect(data?.why?.[0]).toEqual({ tasks: ['t0', 't1'], text: 't0 is lost since 2026-01-01T00:00:00.000Z' });
    expect(findTask(story.run, 't1')?.deviceWait?.why).toContain('t0 is lost');
    expect(findTask(story.run, ids.at(-1) ?? '')?.deviceWait).toMatchObject({ why: null });
  });

  it('says of each device that is meant why it does not take the task, and of many the first ones', () => {
    const target = { tags: ['web'] };
    const devices = [
      device('web-2', { tags: ['web'], status: 'suspect', changedAt: '2026-01-01T00:00:01.000Z' }),
      device('web-1', {
        tags: ['web'],
        held: { by: { kind: 'person', id: 'alice' }, reason: 'a new disk', heldAt: '2026-01-01T00:00:00.000Z' },
      }),
      device('web-3', { tags: ['web'], tools: [] }),
      ...Array.from({ length: 5 }, (_, index) =>
        device(`web-${index + 4}`, { tags: ['web'], status: 'offline', session: null }),
      ),
      device('db-1'),
    ];
    const story = new Story();
    story.at(0, fleet(devices), submit(constellation([{ id: 'a', target }]), { options: WAIT }));
    const [message = ''] = failures(story.at(10, fleet(devices)));
    expect(message).toContain('target {"tags":["web"]}: web-1 is held by alice: a new disk; web-2 is suspect since');
    expect(message).toContain('web-3 does not offer the tool "EXEC_CLI"; web-4 has never connected');
    expect(message).toMatch(/and 3 more$/u);
  });

  it('does not count while a device that would do is connected and busy', () => {
    const full = fleet([device('web-1', { tasksMax: 1 })], { 'web-1': 1 });
    const story = new Story();
    story.at(0, away, submit(constellation(['a']), { options: WAIT }));
    story.at(9, full);
    story.at(500, away);
    expect(failures(story.at(509.9, away))).toEqual([]);
    expect(failures(story.at(510, away))).toHaveLength(1);
  });

  it('is not given up by who has not looked at the fleet for a while, nor by who does not see all of it', () => {
    const story = new Story();
    story.at(0, away, submit(constellation(['a']), { options: WAIT }));
    const blind = { ...fleet([], {}, false) };
    expect(story.at(600, blind).events).toEqual([]);
    expect(story.at(601, { ...away, watchedMs: LIMITS.deviceGraceMs - 1 }).events).toEqual([]);
    expect(failures(story.at(602, { ...away, watchedMs: LIMITS.deviceGraceMs }))).toHaveLength(1);
  });

  it('gives up a whole wide constellation, in as many commits as it needs', () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => `task-${index}`);
    const story = new Story();
    story.at(0, away, submit(constellation(ids), { options: WAIT }));
    let commits = 0;
    for (let more = true; more; commits++) {
      const { events, wakeAt } = story.at(10, away);
      expect(JSON.stringify(events).length).toBeLessThan(LIMITS.commitBytesMax / 2);
      more = wakeAt !== null;
    }
    expect(story.run).toMatchObject({ phase: 'FAILED', counts: { FAILED: 2_000 } });
    expect(commits).toBeLessThan(10);
  });

  it('lets what hangs from it by a line for any end go on', () => {
    const view = fleet([lost('web-1'), device('db-1')]);
    const story = new Story();
    const plan = constellation(
      ['a', { id: 'b', target: { device: 'db-1' } }, { id: 'c', target: { device: 'db-1' } }],
      ['a->b', 'a=>c'],
    );
    story.at(0, view, submit(plan, { options: WAIT }));
    story.at(10, view);
    expect(['a', 'b', 'c'].map((id) => findTask(story.run, id)?.status)).toEqual(['FAILED', 'RUNNING', 'SKIPPED']);
  });
});
