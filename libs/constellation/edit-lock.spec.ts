import { describe, expect, it } from '@jest/globals';
import type { RunOptions, TaskConstellation } from '#proto';
import {
  add,
  change,
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
} from './testing/given.js';
import { isHeld } from './schedule/held.js';
import { checkInvariants } from './fold/invariants.js';
import { viewOf } from './views/view.js';

const MINUTE = 60_000;
const ROUND = 90_000;

function asking(plan: TaskConstellation, options: RunOptions = {}): Story {
  return new Story().when(submit(plan, { options: { editPolicy: 'when-needed', ...options } }));
}

const heldIn = ({ run }: Story) =>
  viewOf(run)
    .tasks.filter(({ held }) => held)
    .map(({ id }) => id);

/** a fails and b hangs from it; x ends and y hangs from it: two branches that have nothing to do with each other. */
const branches = constellation(['a', 'x', 'b', 'c', 'y', 'z'], ['a->b', 'b=>c', 'x->y', 'x?false>z']);

describe('under the scoped lock', () => {
  it('what is downstream of the trigger neither starts nor is skipped, everything else does', () => {
    const story = asking(constellation(['a', 'x', 'b', 's', 'y', 'z'], ['a->b', 'a=>s', 'x->y', 'x?false>z']));
    story.when(failed('a')).when(completed('x'));
    expect(story.told).toEqual(['TASK_COMPLETED x 1', 'TASK_SKIPPED z by condition', 'TASK_STARTED y 1 on web-1']);
    expect(heldIn(story)).toEqual(['b', 's']);
    expect(story.when(WAKE).told).toEqual([]);
  });

  it('what is downstream of a queued trigger waits, too', () => {
    const story = asking(branches).when(failed('a')).when(failed('x'));
    expect(story.told).toEqual(['TASK_FAILED x 1 EXIT_CODE failed']);
    expect(heldIn(story)).toEqual(['b', 'c', 'y', 'z']);
    story.when(propose('e1', []));
    expect(story.told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'EDIT_OPENED e2 x.1 scoped',
      'TASK_STARTED b 1 on web-1',
    ]);
    expect(heldIn(story)).toEqual(['y', 'z']);
  });

  it('a doomed task is saved by an edit of its line', () => {
    const story = asking(constellation(['a', 'b', 'c'], ['a=>b', 'b->c'])).when(failed('a'));
    expect(story.status('b')).toBe('PENDING');
    expect([...story.run.doomed]).toEqual([1]);
    story.when(propose('e1', [change.line('a-b', { type: 'unconditional' })]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 2', 'TASK_STARTED b 1 on web-1']);
  });

  it('a doomed task is saved when its line is removed, and hung elsewhere', () => {
    const story = asking(constellation(['a', 'r', 'b'], ['a=>b'])).when(failed('a'));
    story.when(propose('e1', [remove.line('a-b'), add.line('r=>b')])).when(completed('r'));
    expect(story.told.slice(0, 2)).toEqual(['TASK_COMPLETED r 1', 'TASK_STARTED b 1 on web-1']);
  });

  it('a doomed task that the edit leaves as it is is skipped in the commit that ends the round', () => {
    const story = asking(constellation(['a', 'r', 'b', 'c'], ['a=>b', 'b=>c'])).when(failed('a'));
    expect(story.when(propose('e1', [])).told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'TASK_SKIPPED b by failure',
      'TASK_SKIPPED c by failure',
    ]);
  });

  it('what an edit hangs from a trigger of the next round waits for that one', () => {
    const story = asking(constellation(['a', 'b', 'r']))
      .when(failed('a'))
      .when(failed('b'));
    story.when(propose('e1', [add.task('n'), add.line('b->n')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 2', 'EDIT_OPENED e2 b.1 scoped']);
    expect(heldIn(story)).toEqual(['n']);
    expect(story.when(propose('e2', [])).told.at(-1)).toBe('TASK_STARTED n 1 on web-1');
  });

  it('nothing is held by a round about the end of the plan', () => {
    const story = asking(constellation(['a'])).when(completed('a'));
    expect(story.when(propose(null, [add.task('n')])).told).toEqual([
      'CONSTELLATION_MODIFIED unasked revision 2',
      'TASK_STARTED n 1 on web-1',
    ]);
  });

  it('a task that was started meanwhile is refused to the planner, and from then on nothing starts', () => {
    const story = asking(branches).when(failed('a')).when(completed('x'));
    expect(story.told).toContain('TASK_STARTED y 1 on web-1');
    story.when(propose('e1', [remove.task('y')]));
    expect(story.told).toEqual(['EDIT_REJECTED e1 try 1 I3_ONLY_PENDING']);
    expect(story.run.editing?.lockPolicy).toBe('strict');
    story.when(propose(null, [add.task('n')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED unasked revision 2']);
    expect(heldIn(story)).toEqual(['b', 'c', 'n']);
    story.when(propose('e1', [remove.task('b')], { try: 2 }));
    expect(story.told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 3',
      'TASK_STARTED n 1 on web-1',
      'TASK_STARTED c 1 on web-1',
    ]);
  });

  it('is strict for the rest of that round only', () => {
    const plan = constellation(['a', 'x', 'y', 'b', 'd', 'e'], ['a->b', 'x->y', 'd->e']);
    const story = asking(plan).when(failed('a')).when(completed('x'));
    story.when(propose('e1', [remove.task('y')])).when(propose('e1', [remove.task('zz')], { try: 2 }));
    expect(story.run.editing?.lockPolicy).toBe('strict');
    story.when(failed('y')).when(propose('e1', [], { try: 3 }));
    expect(story.told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'EDIT_OPENED e2 y.1 scoped',
      'TASK_STARTED b 1 on web-1',
    ]);
    expect(story.when(completed('d')).told).toEqual(['TASK_COMPLETED d 1', 'TASK_STARTED e 1 on web-1']);
  });
});

describe('under the strict lock', () => {
  const strict = (plan: TaskConstellation) => asking(plan, { lockPolicy: 'strict' });

  it('nothing starts and nothing is skipped while a round is open', () => {
    const story = strict(branches).when(failed('a')).when(completed('x'));
    expect(story.told).toEqual(['TASK_COMPLETED x 1']);
    expect(heldIn(story)).toEqual(['b', 'c', 'y', 'z']);
    expect(story.when(propose('e1', [])).told).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'TASK_SKIPPED z by condition',
      'TASK_STARTED b 1 on web-1',
      'TASK_STARTED y 1 on web-1',
    ]);
  });

  it('nothing starts when the next round opens at once', () => {
    const story = strict(branches)
      .when(failed('a'))
      .when(failed('x'))
      .when(propose('e1', [add.task('n')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 2', 'EDIT_OPENED e2 x.1 strict']);
  });

  it('nothing starts in the commit in which a task turns out to be for no device: the planner is asked first', () => {
    const plan = constellation(['a', { id: 'b', target: { device: 'db-1' } }, 'c'], ['a->b', 'a->c']);
    const story = strict(plan)
      .on(fleet([device('web-1')]))
      .when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'TASK_FAILED b 0 NO_DEVICE failed', 'EDIT_OPENED e1 b.0 strict']);
    expect(story.status('c')).toBe('PENDING');
  });

  it('a round about the end of the plan holds what an operator adds', () => {
    const story = strict(constellation(['a']))
      .when(completed('a'))
      .when(propose(null, [add.task('n')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED unasked revision 2']);
    expect(story.when(propose('e1', [])).told.at(-1)).toBe('TASK_STARTED n 1 on web-1');
  });

  it('what runs goes on, is tried again later, and ends in time', () => {
    const plan = constellation(['a', { id: 'x', retry: { attempts: 2, backoffMs: 0 }, timeoutMs: MINUTE }]);
    const story = strict(plan).when(failed('a')).at(MINUTE).when(WAKE);
    expect(story.told).toEqual(['TASK_STOP_REQUESTED x 1 timeout']);
    expect(story.when(failed('x')).told).toEqual(['TASK_FAILED x 1 EXIT_CODE failed', 'TASK_REOPENED x 1']);
    expect(story.when(propose('e1', [])).told.at(-1)).toBe('TASK_STARTED x 2 on web-1');
  });
});

describe('a planner that does not answer', () => {
  const silent = () => asking(branches).when(failed('a')).at(ROUND).when(WAKE);

  it('is waited for until the deadline of the round, and the run goes on', () => {
    const story = asking(branches).when(failed('a'));
    expect(story.at(ROUND - 1).when(WAKE).told).toEqual([]);
    expect(story.at(ROUND).when(WAKE).told).toEqual(['EDIT_ABANDONED e1 DEADLINE', 'TASK_STARTED b 1 on web-1']);
    expect(story.run.plannerSilent).toBe(true);
  });

  it('is asked again about what comes next, but holds nothing any more', () => {
    const story = silent().when(failed('x'));
    expect(story.told).toEqual([
      'TASK_FAILED x 1 EXIT_CODE failed',
      'EDIT_OPENED e2 x.1 scoped',
      'TASK_SKIPPED z by condition',
      'TASK_STARTED y 1 on web-1',
    ]);
    expect(heldIn(story)).toEqual([]);
  });

  it('holds again as soon as it answers, also with something that is refused', () => {
    const plan = constellation(['a', 'x', 'b', 'c', 'y'], ['a->b', 'b->c', 'x->y']);
    const story = asking(plan).when(failed('a')).at(ROUND).when(WAKE).when(failed('b'));
    expect(story.told.at(-1)).toBe('TASK_STARTED c 1 on web-1');
    story.when(propose('e2', [remove.task('zz')])).when(failed('x'));
    expect(story.told).toEqual(['TASK_FAILED x 1 EXIT_CODE failed']);
    expect(heldIn(story)).toEqual(['y']);
  });

  it('holds again after an answer that ends its round', () => {
    const story = silent().when(failed('x')).when(propose('e2', [])).when(failed('y'), failed('b'));
    expect(story.told.slice(-1)).toEqual(['EDIT_OPENED e3 y.1 b.1 scoped']);
    expect(heldIn(story)).toEqual(['c']);
  });

  it('does not speak with an answer to a round that is over', () => {
    const story = silent().when(propose('e1', []));
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'ROUND_IS_OVER' });
    expect(story.run.plannerSilent).toBe(true);
  });

  it('is not waited for at the end: a round that is open then ends with the run', () => {
    const story = silent().when(completed('x')).when(failed('b'), completed('y'));
    expect(story.told.slice(-4)).toEqual([
      'EDIT_OPENED e2 b.1 scoped',
      'TASK_SKIPPED c by failure',
      'EDIT_ABANDONED e2 RUN_ENDING',
      'RUN_COMPLETED partially_failed',
    ]);
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('is not asked about the end of the plan', () => {
    const story = asking(constellation(['a', 'b']))
      .when(failed('a'))
      .at(ROUND)
      .when(WAKE)
      .when(completed('b'));
    expect(story.told).toEqual(['TASK_COMPLETED b 1', 'RUN_COMPLETED partially_failed']);
  });

  it('does not fall silent by proposals that are refused', () => {
    const story = asking(branches).when(failed('a'));
    for (const number of [1, 2, 3, 4]) story.when(propose('e1', [remove.task('zz')], { try: number }));
    expect(story.told).toContain('EDIT_ABANDONED e1 REPAIRS_EXHAUSTED');
    expect(story.when(failed('x')).told).toEqual(['TASK_FAILED x 1 EXIT_CODE failed', 'EDIT_OPENED e2 x.1 scoped']);
    expect(heldIn(story)).toEqual(['y', 'z']);
  });

  it('has as long as the options say', () => {
    const story = asking(branches, { editDeadlineMs: MINUTE }).when(failed('a'));
    expect(story.last?.wakeAt).toBe(T0 + MINUTE);
    expect(viewOf(story.run).editing?.deadlineAt).toBe(instant(MINUTE));
    expect(story.at(MINUTE).when(WAKE).told[0]).toBe('EDIT_ABANDONED e1 DEADLINE');
  });
});

describe("an operator's edit", () => {
  it('is applied at once, and starts what it frees', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a->b'])));
    story.when({ kind: 'verb', id: 'v1', by: { kind: 'person', id: 'alice' }, action: byHand([add.task('n')]) });
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED unasked revision 2', 'TASK_STARTED n 1 on web-1']);
    expect(story.last?.events[0]).toMatchObject({
      data: { origin: 'operator', proposedBy: { kind: 'person', id: 'alice' }, planHash: null },
    });
    expect(story.last?.events[0]?.data).not.toHaveProperty('editId');
  });

  it('that changes nothing is ignored, and leaves no trace', () => {
    const story = new Story().when(submit(constellation(['a']))).when(propose(null, [add.task('a')]));
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'NO_CHANGE' });
    expect(story.told).toEqual([]);
  });

  it('that breaks a rule is refused with what would be valid, and leaves no trace', () => {
    const story = new Story().when(submit(constellation(['a']))).when(propose(null, [remove.task('z')]));
    expect(story.answers.at(-1)).toEqual({
      kind: 'rejected',
      reason: {
        code: 'EDIT_REJECTED',
        message: 'edits[0].taskId: there is no task "z"; known are a',
        issues: [{ path: 'edits[0].taskId', message: 'there is no task "z"; known are a' }],
      },
    });
    expect(story.told).toEqual([]);
  });

  it.each(['FINISH', 'FAIL'] as const)('may not say %s: only an answer to a round ends a run', (state) => {
    const story = new Story().when(submit(constellation(['a']))).when(propose(null, [], { state }));
    expect(story.answers.at(-1)).toMatchObject({ reason: { code: 'INVALID_STATE' } });
    expect(story.run.phase).toBe('RUNNING');
  });

  it('may come during a round, which stays open and holds what it held', () => {
    const story = asking(branches)
      .when(failed('a'))
      .when(propose(null, [add.task('n'), add.line('b->n')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED unasked revision 2']);
    expect(story.run.editing).toMatchObject({ editId: 'e1', tries: 0 });
    expect(heldIn(story)).toEqual(['b', 'c', 'n']);
    expect(story.when(propose('e1', [remove.task('n')])).told[0]).toBe('CONSTELLATION_MODIFIED e1 revision 3');
  });

  it('does not make a silent planner speak', () => {
    const story = asking(branches)
      .when(failed('a'))
      .at(ROUND)
      .when(WAKE)
      .when(propose(null, [add.task('n')]));
    expect(story.run.plannerSilent).toBe(true);
  });

  it('may be made for a revision, and is refused when another was faster', () => {
    const story = new Story().when(submit(constellation(['a']))).when(propose(null, [add.task('b')]));
    story.when(propose(null, [add.task('c')], { baseRevision: 1 }));
    expect(story.answers.at(-1)).toMatchObject({ reason: { issues: [{ path: 'baseRevision' }] } });
    story.when(propose(null, [add.task('c')], { baseRevision: 2 }));
    expect(story.answers.at(-1)).toEqual({ kind: 'accepted' });
  });
});

describe('a run that is paused during a round', () => {
  const paused = () =>
    asking(branches)
      .when(failed('a'))
      .when(verb({ verb: 'PAUSE' }));

  it('takes the edit, and starts nothing of it until it goes on', () => {
    const story = paused().when(propose('e1', [add.task('n')]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 2']);
    expect(story.when(verb({ verb: 'RESUME' })).told).toEqual([
      'RUN_RESUMED by alice',
      'TASK_STARTED b 1 on web-1',
      'TASK_STARTED n 1 on web-1',
    ]);
  });

  it('opens the next round when it goes on', () => {
    const story = paused().when(failed('x')).when(propose('e1', []));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 1']);
    expect(heldIn(story)).toEqual(['y', 'z']);
    expect(story.when(verb({ verb: 'RESUME' })).told).toEqual([
      'RUN_RESUMED by alice',
      'EDIT_OPENED e2 x.1 scoped',
      'TASK_STARTED b 1 on web-1',
    ]);
  });

  it('lets the round pass its deadline', () => {
    expect(paused().at(ROUND).when(WAKE).told).toEqual(['EDIT_ABANDONED e1 DEADLINE']);
  });

  it('may be cancelled, which ends the round', () => {
    const story = paused().when(verb({ verb: 'CANCEL' }));
    expect(story.told[0]).toBe('EDIT_ABANDONED e1 RUN_ENDING');
    expect(story.when(failed('x', 1, 'cancelled')).told.at(-1)).toBe('RUN_CANCELLED by alice');
  });
});

describe('what is held', () => {
  it('is nothing without a round', () => {
    const { run } = asking(branches);
    expect([...run.tasks].map((_, index) => isHeld(run)(index))).not.toContain(true);
  });

  it('is what can be reached from a trigger through any number of lines, not the trigger itself', () => {
    const plan = constellation(['a', 'b', 'c', 'd', 'e'], ['a->b', 'b->c', 'd->c', 'd->e']);
    const story = asking(plan).when(failed('a'));
    expect(heldIn(story)).toEqual(['b', 'c']);
    story.when(verb({ verb: 'RETRY', taskId: 'a' }));
    expect(story.told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
    expect(heldIn(story)).toEqual(['b', 'c']);
  });
});

function byHand(edits: readonly unknown[]) {
  const { proposal } = propose(null, edits);
  return { verb: 'PROPOSE' as const, proposal, delegated: false };
}
