import { describe, expect, it } from '@jest/globals';
import { LIMITS, type RunOptions, type TaskConstellation } from '#proto';
import {
  add,
  ask,
  build,
  completed,
  constellation,
  device,
  failed,
  fleet,
  instant,
  propose,
  remove,
  Story,
  submit,
  T0,
  verb,
  WAKE,
} from '../testing/given.js';
import { checkInvariants } from '../fold/invariants.js';
import { viewOf } from '../views/view.js';

const MINUTE = 60_000;

/** A run whose planner is asked when judgement is needed, unless the options say otherwise. */
function asking(plan: TaskConstellation, options: RunOptions = {}): Story {
  return new Story().when(submit(plan, { options: { editPolicy: 'when-needed', ...options } }));
}

const chain = constellation(['a', 'b', 'c'], ['a->b', 'b->c']);
const three = constellation(['a', 'b', 'c']);

describe('an edit round', () => {
  it('opens in the commit of the failure that makes it necessary', () => {
    const story = asking(chain).when(failed('a'));
    expect(story.told).toEqual(['TASK_FAILED a 1 EXIT_CODE failed', 'EDIT_OPENED e1 a.1 scoped']);
    expect(story.last?.events[1]).toEqual({
      type: 'EDIT_OPENED',
      data: {
        editId: 'e1',
        mode: 'editing',
        triggers: [{ kind: 'task', taskId: 'a', attempt: 1 }],
        revision: 1,
        lockPolicy: 'scoped',
        openedAt: instant(0),
        deadlineAt: instant(90_000),
      },
    });
    expect(story.last?.wakeAt).toBe(T0 + 90_000);
  });

  it('does not open for a failure that is tried again, but for the last one', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }, 'b'], ['a->b']);
    const story = asking(plan).when(failed('a'));
    expect(story.told).toEqual(['TASK_FAILED a 1 EXIT_CODE failed', 'TASK_REOPENED a 1', 'TASK_STARTED a 2 on web-1']);
    expect(story.when(failed('a', 2)).told.at(-1)).toBe('EDIT_OPENED e1 a.2 scoped');
  });

  it('opens for the result of a task that is to be reviewed, and of no other', () => {
    const plan = constellation(['a', { id: 'b', review: true }, 'c'], ['a->b', 'b->c']);
    const story = asking(plan).when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1']);
    expect(story.when(completed('b')).told).toEqual(['TASK_COMPLETED b 1', 'EDIT_OPENED e1 b.1 scoped']);
  });

  it('opens for every result under every-result', () => {
    const story = asking(chain, { editPolicy: 'every-result' }).when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'EDIT_OPENED e1 a.1 scoped']);
    expect(story.when(propose('e1', [])).told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'TASK_STARTED b 1 on web-1',
    ]);
  });

  it('opens for a task that no device can ever satisfy', () => {
    const story = asking(constellation(['a', { id: 'b', target: { device: 'db-1' } }, 'c'], ['a->b', 'b->c']));
    story.on(fleet([device('web-1')])).when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'TASK_FAILED b 0 NO_DEVICE failed', 'EDIT_OPENED e1 b.0 scoped']);
  });

  it('does not open for what is skipped or cancelled', () => {
    const plan = constellation(['a', 'b', 'c', 'd'], ['a?false>b', 'b=>c', 'a->d']);
    expect(asking(plan).when(completed('a')).told).toEqual([
      'TASK_COMPLETED a 1',
      'TASK_SKIPPED b by condition',
      'TASK_SKIPPED c by condition',
      'TASK_STARTED d 1 on web-1',
    ]);
  });

  it.each([
    ['a constellation', submit(three), 'RUN_COMPLETED partially_failed'],
    [
      'a constellation with never',
      submit(three, { options: { editPolicy: 'never' } }),
      'RUN_COMPLETED partially_failed',
    ],
  ])('does not open for %s', (_, request, end) => {
    const story = new Story().when(request).when(failed('a'), completed('b'), completed('c'));
    expect(story.told.at(-1)).toBe(end);
    expect(story.run.rounds).toBe(0);
  });

  it('opens by default for what becomes of a goal', () => {
    const story = new Story()
      .when(ask())
      .when(propose('e1', [build(chain)]))
      .when(failed('a'));
    expect(story.told.at(-1)).toBe('EDIT_OPENED e2 a.1 scoped');
  });

  it('asks once for everything that has happened in one commit', () => {
    const story = asking(three).when(failed('b'), failed('a'));
    expect(story.told.at(-1)).toBe('EDIT_OPENED e1 b.1 a.1 scoped');
  });

  it('takes up what comes meanwhile into one next round, which opens in the commit that ends it', () => {
    const plan = constellation(['a', 'b', { id: 'c', review: true }, 'd', 'e'], ['d->e']);
    const story = asking(plan).when(failed('a')).when(failed('b')).when(completed('c'));
    expect(story.told).toEqual(['TASK_COMPLETED c 1']);
    expect(story.run.queued).toHaveLength(2);
    expect(story.when(propose('e1', [])).told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'EDIT_OPENED e2 b.1 c.1 scoped',
    ]);
    expect(story.when(propose('e2', [])).told).toEqual(['CONSTELLATION_MODIFIED e2 revision 1']);
    expect(story.run.editing).toBeNull();
  });

  it('forgets what was queued about a task that an operator tries again', () => {
    const story = asking(three)
      .when(failed('a'))
      .when(failed('b'))
      .when(verb({ verb: 'RETRY', taskId: 'b' }));
    expect(story.told).toEqual(['TASK_REOPENED b 1 by operator', 'TASK_STARTED b 2 on web-1']);
    expect(story.when(propose('e1', [])).told).toEqual(['CONSTELLATION_MODIFIED e1 revision 1']);
  });

  it('ends with the edit, which is applied to the constellation as it stands by then', () => {
    const story = asking(constellation(['a', 'r', 'b'], ['a->b']))
      .when(failed('a'))
      .when(completed('r'));
    story.when(propose('e1', [add.task('d'), add.line('r=>d'), remove.task('b')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 2', 'TASK_STARTED d 1 on web-1']);
    expect(story.last?.events[0]).toMatchObject({
      data: {
        editId: 'e1',
        try: 1,
        origin: 'planner',
        tasks: 3,
        lines: 1,
        judged: [{ id: 'r-d', satisfied: true }],
        state: 'CONTINUE',
        proposedBy: { kind: 'system', id: 'planner' },
      },
    });
  });

  it('keeps the revision, and records no edits, when nothing changes', () => {
    const story = asking(chain)
      .when(failed('a'))
      .when(propose('e1', [add.task('a')]));
    expect(story.last?.events[0]).toMatchObject({ data: { revision: 1, edits: [], judged: [] } });
    expect(story.run.revision).toBe(1);
  });
});

describe('the end of a plan', () => {
  it('is asked about before the run ends', () => {
    const story = asking(constellation(['a'])).when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'EDIT_OPENED e1 end-of-plan scoped']);
    expect(viewOf(story.run).waitingFor).toMatchObject({
      reason: 'planner',
      detail: 'an edit about the end of the plan (round e1)',
      wokenBy: 'proposal',
      wakesAt: instant(90_000),
    });
    expect(story.when(propose('e1', [])).told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'RUN_COMPLETED succeeded',
    ]);
  });

  it('is asked about once per revision: an edit that changes the plan makes another end', () => {
    const story = asking(constellation(['a'])).when(completed('a'));
    story.when(propose('e1', [add.task('b'), add.line('a->b')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 2', 'TASK_STARTED b 1 on web-1']);
    expect(story.when(completed('b')).told.at(-1)).toBe('EDIT_OPENED e2 end-of-plan scoped');
    expect(story.when(propose('e2', [])).told.at(-1)).toBe('RUN_COMPLETED succeeded');
  });

  it('is not asked about again when a round has looked at the whole plan already', () => {
    const story = asking(constellation(['a', { id: 'b', review: true }]))
      .when(completed('a'))
      .when(completed('b'));
    expect(story.told.at(-1)).toBe('EDIT_OPENED e1 b.1 scoped');
    expect(story.when(propose('e1', [])).told.at(-1)).toBe('RUN_COMPLETED succeeded');
  });

  it('is asked about again when a round before it was about less', () => {
    const story = asking(constellation([{ id: 'a', review: true }, 'b'], ['a->b'])).when(completed('a'));
    story.when(propose('e1', [])).when(completed('b'));
    expect(story.told.at(-1)).toBe('EDIT_OPENED e2 end-of-plan scoped');
  });

  it('is asked about when a paused run goes on', () => {
    const story = asking(constellation(['a']))
      .when(verb({ verb: 'PAUSE' }))
      .when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1']);
    expect(story.when(verb({ verb: 'RESUME' })).told).toEqual([
      'RUN_RESUMED by alice',
      'EDIT_OPENED e1 end-of-plan scoped',
    ]);
  });
});

describe('a proposal', () => {
  const open = () => asking(constellation(['a', 'b', 'c'], ['a=>b', 'b->c'])).when(failed('a'));

  it('that breaks a rule is refused with reasons, which are recorded, and the round goes on', () => {
    const story = open().when(propose('e1', [remove.task('z'), add.task('a', { name: 'other' })]));
    expect(story.told).toEqual(['EDIT_REJECTED e1 try 1 UNKNOWN_TASK DUPLICATE_ID']);
    expect(story.answers.at(-1)).toMatchObject({ kind: 'rejected', recorded: true, reason: { code: 'EDIT_REJECTED' } });
    expect(viewOf(story.run).editing).toMatchObject({
      editId: 'e1',
      tries: 1,
      violations: [{ path: 'edits[0].taskId' }, {}],
    });
    expect(story.when(propose('e1', [remove.task('b')], { try: 2 })).told[0]).toBe(
      'CONSTELLATION_MODIFIED e1 revision 2',
    );
  });

  it('may be repaired three times; the fourth refusal ends the round, and the run goes on without it', () => {
    const story = open();
    for (const number of [1, 2, 3]) {
      story.when(propose('e1', [remove.task('z')], { try: number }));
      expect(story.told).toEqual([`EDIT_REJECTED e1 try ${number} UNKNOWN_TASK`]);
    }
    story.when(propose('e1', [remove.task('z')], { try: 4 }));
    expect(story.told).toEqual([
      'EDIT_REJECTED e1 try 4 UNKNOWN_TASK',
      'EDIT_ABANDONED e1 REPAIRS_EXHAUSTED',
      'TASK_SKIPPED b by failure',
      'TASK_STARTED c 1 on web-1',
    ]);
    expect(story.run.plannerSilent).toBe(false);
  });

  it('counts refusals, not the numbers of tries', () => {
    const story = open().when(propose('e1', [remove.task('z')], { try: 9 }));
    expect(story.when(propose('e1', [remove.task('z')], { try: 10 })).told).toEqual([
      'EDIT_REJECTED e1 try 10 UNKNOWN_TASK',
    ]);
    expect(story.run.editing).toMatchObject({ tries: 10, rejections: 2 });
  });

  it('is judged once per try, in whatever order the tries come', () => {
    const story = open().when(propose('e1', [remove.task('z')], { try: 2 }));
    for (const number of [1, 2]) {
      story.when(propose('e1', [remove.task('b')], { try: number }));
      expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'REPEATED_TRY' });
      expect(story.told).toEqual([]);
    }
  });

  it.each([
    ['that is over', 'e0'],
    ['that never was', 'e7'],
  ])('for a round %s is ignored', (_, editId) => {
    const story = open().when(propose(editId, [remove.task('b')]));
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'ROUND_IS_OVER' });
    expect(story.told).toEqual([]);
  });

  it('that comes twice is applied once', () => {
    const story = open().when(propose('e1', [remove.task('b')]), propose('e1', [remove.task('b')]));
    expect(story.answers.slice(-2)).toEqual([{ kind: 'accepted' }, { kind: 'ignored', reason: 'ROUND_IS_OVER' }]);
    expect(story.told.filter((line) => line.startsWith('CONSTELLATION'))).toHaveLength(1);
  });

  it('made for another revision is refused, so that the planner looks again', () => {
    const story = open().when(propose(null, [add.task('n')]));
    expect(story.run.revision).toBe(2);
    story.when(propose('e1', [], { baseRevision: 1 }));
    expect(story.told).toEqual(['EDIT_REJECTED e1 try 1 STALE_REVISION']);
    expect(story.answers.at(-1)).toMatchObject({
      reason: {
        message: 'baseRevision: it was made for revision 1 and the constellation has revision 2; look at it again',
      },
    });
    expect(story.when(propose('e1', [], { baseRevision: 2, try: 2 })).told[0]).toBe(
      'CONSTELLATION_MODIFIED e1 revision 2',
    );
  });

  it.each([
    ['NO_DEVICE', add.task('n', { target: { device: 'mars' } }), 'edits[0].task.target', 'no device "mars"'],
    [
      'UNKNOWN_TOOL',
      add.task('n', { command: { tool: 'FLY', arguments: {} } }),
      'edits[0].task.command.tool',
      'known are EXEC_CLI, SYS_INFO',
    ],
    ['NO_COMMAND', add.task('n', { command: undefined }), 'edits[0].task.command', 'give it a command'],
    [
      'NO_DEVICE',
      build(constellation([{ id: 'n', target: { tags: ['gpu'] } }])),
      'edits[0].constellation.tasks[0].target',
      'known devices are db-1, web-1',
    ],
  ] as const)('with what no device can ever do is refused: %s', (code, edit, path, message) => {
    const story = open().when(propose('e1', [edit]));
    expect(story.last?.events[0]).toMatchObject({
      data: { violations: [{ code, path, message: expect.stringContaining(message) }] },
    });
  });

  it('may define and remove such a task, and is believed while the view of the fleet is not complete', () => {
    const mars = add.task('n', { target: { device: 'mars' } });
    expect(open().when(propose('e1', [mars, remove.task('n')])).told[0]).toBe('CONSTELLATION_MODIFIED e1 revision 2');
    expect(
      open()
        .on(fleet([], {}, false))
        .when(propose('e1', [mars])).told[0],
    ).toBe('CONSTELLATION_MODIFIED e1 revision 2');
  });

  it('that leaves no task at all is refused', () => {
    const story = new Story().when(ask()).when(propose('e1', []));
    expect(story.last?.events[0]).toMatchObject({
      data: {
        violations: [
          {
            code: 'INVALID_INPUT',
            path: 'edits',
            message: 'a plan needs at least one task; propose some, or FINISH or FAIL',
          },
        ],
      },
    });
  });

  it('beyond the size limit is refused, counted in bytes and not in letters', () => {
    const big = (letter: string) =>
      Array.from({ length: 20 }, (_, index) => add.task(`n${index}`, { description: letter.repeat(15_000) }));
    expect(open().when(propose('e1', big('x'))).told[0]).toBe('CONSTELLATION_MODIFIED e1 revision 2');
    expect(open().when(propose('e1', big('€'))).last?.events[0]).toMatchObject({
      data: {
        violations: [
          {
            code: 'TOO_LARGE',
            path: 'edits',
            message: expect.stringMatching(
              new RegExp(`^the edits have 9\\d{5} bytes as JSON; at most ${LIMITS.editBytesMax}`, 'u'),
            ),
          },
        ],
      },
    });
  });

  it('is refused without a trace before there is a run, when it is over, and when it is about to end', () => {
    expect(new Story().when(propose('e1', [])).answers).toMatchObject([{ reason: { code: 'NOT_FOUND' } }]);
    const over = new Story()
      .when(submit(constellation(['a'])))
      .when(completed('a'))
      .when(propose('e1', []));
    expect(over.answers.at(-1)).toMatchObject({
      reason: { code: 'INVALID_STATE', message: expect.stringMatching(/only a retry, or something said to it/u) },
    });
    const ending = open().when(verb({ verb: 'CANCEL' }), propose('e1', [remove.task('b')]));
    expect(ending.answers.at(-1)).toMatchObject({ kind: 'rejected', reason: { code: 'INVALID_STATE' } });
    expect(ending.told.some((line) => line.startsWith('EDIT_REJECTED'))).toBe(false);
  });
});

describe('a planner that says FINISH', () => {
  it('ends the run: what is pending is cancelled, what runs is stopped, and that is no failure', () => {
    const plan = constellation([{ id: 'a', review: true }, 'b', 'c'], ['b->c']);
    const story = asking(plan).when(completed('a'));
    story.when(propose('e1', [], { state: 'FINISH' }));
    expect(story.told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'TASK_STOP_REQUESTED b 1 finished',
      'TASK_CANCELLED c 0 finished',
    ]);
    expect(story.last?.wakeAt).toBe(T0 + LIMITS.stopGraceMs);
    expect(story.when(failed('b', 1, 'cancelled')).told).toEqual([
      'TASK_CANCELLED b 1 finished',
      'RUN_COMPLETED succeeded',
    ]);
  });

  it('may add to the plan with the same proposal what it then does not need', () => {
    const story = asking(constellation(['a'])).when(completed('a'));
    expect(story.when(propose('e1', [add.task('n')], { state: 'FINISH' })).told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 2',
      'TASK_CANCELLED n 0 finished',
      'RUN_COMPLETED succeeded',
    ]);
  });

  it('of a goal that needs no task completes the run', () => {
    const story = new Story().when(ask()).when(propose('e1', [], { state: 'FINISH' }));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 0', 'RUN_COMPLETED succeeded']);
    expect(viewOf(story.run)).toMatchObject({ status: 'COMPLETED', name: 'look after the disks', tasks: [] });
  });

  it('has partially failed when a task has', () => {
    const story = asking(constellation(['a', 'b'])).when(failed('a'), completed('b'));
    expect(story.when(propose('e1', [], { state: 'FINISH' })).told.at(-1)).toBe('RUN_COMPLETED partially_failed');
  });
});

describe('a planner that says FAIL', () => {
  it('fails the run with what it says, when what runs has ended', () => {
    const story = asking(constellation(['a', 'b', 'c'], ['b->c'])).when(failed('a'));
    story.when(propose('e1', [], { state: 'FAIL', trace: { result: 'the disks are gone' } }));
    expect(story.told.slice(1)).toEqual(['TASK_STOP_REQUESTED b 1 plan_failed', 'TASK_CANCELLED c 0 plan_failed']);
    story.when(completed('b'));
    expect(story.told).toEqual(['TASK_COMPLETED b 1', 'RUN_FAILED PLAN_FAILED']);
    expect(story.last?.events[1]).toMatchObject({ data: { reason: { message: 'the disks are gone' } } });
  });

  it('of a goal fails the run at once', () => {
    const story = new Story().when(ask()).when(propose('e1', [], { state: 'FAIL' }));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 0', 'RUN_FAILED PLAN_FAILED']);
    expect(story.run.reason).toBe('the planner gave the request up');
  });
});

describe('a goal', () => {
  it('is asked about in its first commit', () => {
    const story = new Story().when(ask());
    expect(story.told).toEqual(['RUN_REQUESTED', 'EDIT_OPENED e1 goal scoped']);
    expect(story.last?.events[1]).toMatchObject({ data: { mode: 'creation', revision: 0 } });
    expect(viewOf(story.run)).toMatchObject({
      status: 'PLANNING',
      waitingFor: { reason: 'planner', detail: 'a plan (round e1)', wokenBy: 'proposal' },
    });
  });

  it('is refused when nobody is there who makes plans', () => {
    const story = new Story().withoutPlanner().when(ask());
    expect(story.answers).toMatchObject([
      { kind: 'rejected', reason: { code: 'NO_PLANNER', issues: [{ path: 'goal' }] } },
    ]);
    expect(story.run.phase).toBe('NONE');
  });

  it('is taken without a planner when a program of its own plans for it', () => {
    const story = new Story().withoutPlanner().when(ask({ options: { planner: 'external' } }));
    expect(story.answers).toMatchObject([{ kind: 'accepted' }]);
    expect(story.run.editing).toMatchObject({ mode: 'creation' });
  });

  it('becomes a plan also under never; then nobody is asked any more', () => {
    const story = new Story().when(ask({ options: { editPolicy: 'never' } })).when(propose('e1', [add.task('a')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 1', 'TASK_STARTED a 1 on web-1']);
    expect(story.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'RUN_COMPLETED succeeded']);
  });

  it('without a plan before the deadline fails the run', () => {
    const story = new Story().when(ask({ options: { editDeadlineMs: MINUTE } }));
    expect(story.last?.wakeAt).toBe(T0 + MINUTE);
    expect(story.at(MINUTE).when(WAKE).told).toEqual(['EDIT_ABANDONED e1 DEADLINE', 'RUN_FAILED PLAN_FAILED']);
    expect(story.run.reason).toBe('no plan was proposed before the deadline');
    expect(story.when(propose('e1', [add.task('a')])).answers.at(-1)).toMatchObject({ kind: 'rejected' });
  });

  it('without a plan that holds fails the run at the fourth refusal', () => {
    const story = new Story().when(ask());
    for (const number of [1, 2, 3, 4]) story.when(propose('e1', [add.line('a->b')], { try: number }));
    expect(story.told).toEqual([
      'EDIT_REJECTED e1 try 4 UNKNOWN_TASK UNKNOWN_TASK',
      'EDIT_ABANDONED e1 REPAIRS_EXHAUSTED',
      'RUN_FAILED PLAN_FAILED',
    ]);
  });

  it('has its own name until the plan has one', () => {
    const story = new Story().when(ask()).when(propose('e1', [add.task('a')]));
    expect(viewOf(story.run).name).toBe('look after the disks');
  });

  it('may be cancelled before there is a plan', () => {
    const story = new Story().when(ask()).when(verb({ verb: 'CANCEL' }));
    expect(story.told).toEqual(['EDIT_ABANDONED e1 RUN_ENDING', 'RUN_CANCELLED by alice']);
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('has no constellation that an operator might edit', () => {
    const story = new Story().when(ask()).when(propose(null, [add.task('a')]));
    expect(story.answers.at(-1)).toMatchObject({ reason: { code: 'INVALID_STATE' } });
  });
});
