import { describe, expect, it } from '@jest/globals';
import type { RunEvent } from '#proto';
import { changedBesidesPending } from '../edits/edit-locality.js';
import { evolve } from './evolve.js';
import {
  add,
  change,
  completed,
  constellation,
  failed,
  instant,
  propose,
  remove,
  standing,
  Story,
  submit,
} from '../testing/given.js';
import { buildGraph } from '../plan/graph.js';
import { checkEdit, checkInvariants } from './invariants.js';
import { type Run, UNDERWAY } from '../state/run.js';

const ENDED = { ...UNDERWAY, endedAt: instant(0) } as const;
const COMPLETED = { ...ENDED, phase: 'COMPLETED', outcome: 'succeeded' } as const;
const FAILED = { ...ENDED, phase: 'FAILED', reason: 'no task completed' } as const;

/** a has COMPLETED, b runs, c is pending behind it. */
const RUN = new Story().when(submit(constellation(['a', 'b', 'c'], ['a->b', 'b->c']))).when(completed('a')).run;

const withTask = (run: Run, index: number, to: object): Run => ({
  ...run,
  tasks: run.tasks.with(index, { ...run.tasks.at(index), ...to }),
});

const broken = (run: Run) => checkInvariants(run).map(({ invariant, tasks }) => `${invariant} ${tasks.join(' ')}`);

describe('a run is sound', () => {
  it('when the core has made it', () => {
    expect(checkInvariants(RUN)).toEqual([]);
  });

  it.each([
    ['device', { deviceId: null }],
    ['session', { sessionId: null }],
    ['attempt', { attempt: 0 }],
  ])('not when a task runs without a %s (I1)', (_, to) => {
    expect(broken(withTask(RUN, 1, to))).toEqual(['I1_SINGLE_ASSIGNMENT b']);
  });

  it('not when a task that has ended is still being stopped (I1)', () => {
    const stopping = { reason: 'timeout', graceUntil: instant(0), by: null } as const;
    expect(broken(withTask(RUN, 0, { stopping }))).toEqual(['I1_SINGLE_ASSIGNMENT a']);
  });

  it('not when its lines form a cycle (I2)', () => {
    const { graph } = RUN;
    const lines = [...graph.lines, { id: 'back', from: 'c', to: 'b', type: 'unconditional' as const }];
    const cyclic = buildGraph({ name: 'g', taskIds: [...graph.taskIds], lines });
    const run = { ...RUN, graph: cyclic, lines: RUN.lines.push({ satisfied: true, reason: null }) };
    expect(broken(run)).toEqual(['I2_ACYCLIC c b']);
  });

  it('not when it has ended and a task has not (I5)', () => {
    expect(broken(standing(RUN, COMPLETED))).toEqual(['I5_TRANSITIONS b c']);
  });

  it('not when a round is open and the run has ended, or is about to (I5)', () => {
    const asked = new Story().when(submit(constellation(['a', 'b']), { options: { editPolicy: 'when-needed' } }));
    const { run } = asked.when(failed('a'));
    expect(checkInvariants(run)).toEqual([]);
    const ending = { reason: 'cancelled', by: null, note: null, answer: null } as const;
    expect(checkInvariants(standing(run, { ...UNDERWAY, ending }))).toMatchObject([
      { invariant: 'I5_TRANSITIONS', message: 'round e1 is open and the run is about to end' },
    ]);
    expect(checkInvariants(standing(run, FAILED)).map(({ message }) => message)).toContain(
      'round e1 is open and the run is FAILED',
    );
  });

  it.each([
    ['ready', { ready: new Set([2]) }, 'c'],
    ['running', { running: new Set<number>() }, 'b'],
    ['doomed', { doomed: new Set([2]) }, 'c'],
    ['timed', { timed: new Set([0]) }, 'a'],
  ])('not when the set of what is %s disagrees with the tasks', (_, to, task) => {
    expect(broken({ ...RUN, ...to })).toEqual([`INDEX ${task}`]);
  });

  it('not when counted lines or counts disagree with the tasks', () => {
    expect(broken(withTask(RUN, 2, { linesOpen: 0 }))).toEqual(['INDEX c']);
    expect(broken(withTask(RUN, 2, { linesUnsatisfied: 1 }))).toEqual(['INDEX c']);
    expect(broken({ ...RUN, counts: { ...RUN.counts, PENDING: 2 } })).toEqual(['INDEX ']);
  });
});

describe('an edit is sound (I3)', () => {
  const edit = (...edits: readonly unknown[]): { event: RunEvent; after: Run } => {
    const story = new Story().from(RUN).when(propose(null, edits));
    const [event] = story.events;
    if (event === undefined) throw new Error('refused');
    return { event, after: evolve(RUN, event) };
  };

  it('when it changes what is pending, and adds', () => {
    const { event, after } = edit(add.task('d'), add.line('a->d'), change.task('c', { name: 'new' }));
    expect(checkEdit(RUN, event, after)).toEqual([]);
    expect(changedBesidesPending(RUN, after)).toEqual([]);
  });

  it('when a removal has moved what it leaves alone', () => {
    const story = new Story().when(submit(constellation(['x', 'a', 'b'], ['a->b', 'b->x']))).when(completed('a'));
    const moved = new Story().from(story.run).when(propose(null, [remove.task('x')]));
    expect([...moved.run.tasks].map(({ star }) => star.id)).toEqual(['a', 'b']);
    expect(changedBesidesPending(story.run, moved.run)).toEqual([]);
  });

  it.each([
    [
      'the definition of a task that runs',
      (run: Run) => withTask(run, 1, { star: { ...run.tasks.at(1).star, name: 'x' } }),
      'b',
    ],
    ['the result of one that has ended', (run: Run) => withTask(run, 0, { result: { value: 1 } }), 'a'],
    [
      'what a line to it came to',
      (run: Run) => ({ ...run, lines: run.lines.with(0, { satisfied: false, reason: 'so' }) }),
      'a-b',
    ],
  ])('not when it changes %s', (_, to, id) => {
    const { event, after } = edit(add.task('d'));
    expect(checkEdit(RUN, event, to(after))).toEqual([
      { invariant: 'I3_ONLY_PENDING', tasks: [id], message: 'an edit changed what was not PENDING' },
    ]);
  });

  it('not when what has started is gone, or a line to it is', () => {
    const { event, after } = edit(add.task('d'));
    const { graph } = after;
    const without = buildGraph({
      name: 'g',
      taskIds: [...graph.taskIds],
      lines: [...graph.lines].filter(({ id }) => id !== 'a-b'),
    });
    expect(checkEdit(RUN, event, { ...after, graph: without })[0]?.tasks).toEqual(['a-b']);
    const renamed = buildGraph({ name: 'g', taskIds: ['z', 'b', 'c', 'd'], lines: [] });
    expect(checkEdit(RUN, event, { ...after, graph: renamed })[0]?.tasks).toContain('a');
  });

  it('is asked of edits alone', () => {
    const event: RunEvent = { type: 'RUN_RESUMED', data: { by: { kind: 'person', id: 'a' }, resumedAt: instant(0) } };
    expect(checkEdit(RUN, event, withTask(RUN, 0, { attempt: 9 }))).toEqual([]);
  });
});
