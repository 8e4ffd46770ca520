import { describe, expect, it } from '@jest/globals';
import { RecordedRunEvent, type RunEventData } from '#proto';
import { foldEvents } from './evolve.js';
import { forkedFrom } from './fork.js';
import {
  add,
  ALICE,
  ask,
  build,
  completed,
  constellation,
  device,
  failed,
  fleet,
  giveUp,
  HASH,
  instant,
  propose,
  remove,
  Story,
  submit,
  T0,
  verb,
  WAKE,
} from '../testing/given.js';
import { checkInvariants } from './invariants.js';
import { emptyRun, type Run } from '../state/run.js';
import type { TaskState } from '../state/task.js';
import { viewOf } from '../views/view.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A story's run as its log tells it after its last commit. */
function recorded({ run, events }: Story, runId = run.runId): Run {
  return { ...run, runId, sequence: events.length, number: events.length, hash: HASH };
}

function forkedAt(story: Story, offsetMs = 0, runId?: string): RunEventData<'RUN_FORKED'> {
  return forkedFrom({ run: recorded(story, runId), by: ALICE, requestId: 'fork-1', now: T0 + offsetMs });
}

/** The story of the fork: its run has an id of its own. */
function forked(story: Story, offsetMs = 0, runId?: string): Story {
  const fork = { kind: 'fork' as const, id: 'f1', forked: forkedAt(story, offsetMs, runId) };
  return new Story().from(emptyRun('run-2')).at(offsetMs).when(fork);
}

/** b has COMPLETED, f FAILED, s is SKIPPED, r runs, p and q are pending. */
const plan = constellation(['a', 'b', 'f', 's', 'r', 'p', 'q'], ['a->b', 'f=>s', 'b->r', 'r->p', 'p=>q']);
const midway = () => new Story().when(submit(plan)).when(completed('a'), failed('f')).when(completed('b'));

/** What a fork does not take over: what it needs no more. */
const facts = (task: TaskState) => ({
  ...task,
  timeoutAt: null,
  failedOn: [],
  stopping: null,
  ranIn: null,
  slice: null,
});

describe('a fork', () => {
  it('begins with the state of its parent, and goes on from there', () => {
    const fork = forked(midway());
    expect(fork.answers).toEqual([{ kind: 'accepted' }]);
    expect(fork.told).toEqual(['RUN_FORKED', 'TASK_FAILED r 1 OUTCOME_UNKNOWN unknown', 'TASK_STARTED p 1 on web-1']);
    expect(viewOf(fork.run)).toMatchObject({
      runId: 'run-2',
      requestId: 'fork-1',
      name: 'test',
      status: 'RUNNING',
      revision: 1,
      requestedBy: 'alice',
      parent: { runId: 'run-1', sequence: 10 },
    });
    expect(checkInvariants(fork.run)).toEqual([]);
  });

  it('folds to what its parent was: tasks, lines, revision, ids that are used', () => {
    const story = midway().when(propose(null, [remove.task('q'), add.task('n'), add.line('r->n')]));
    const parent = story.run;
    const fork = foldEvents(emptyRun('run-2'), [{ type: 'RUN_FORKED', data: forkedAt(story) }]);
    expect([...fork.tasks].map(facts)).toEqual([...parent.tasks].map(facts));
    expect([...fork.lines]).toEqual([...parent.lines]);
    expect([...fork.graph.lines]).toEqual([...parent.graph.lines]);
    expect(fork.graph.name).toBe(parent.graph.name);
    expect(fork.revision).toBe(2);
    expect(fork.usedIds).toEqual(parent.usedIds);
    expect(fork.counts).toEqual(parent.counts);
    expect([fork.ready, fork.running, fork.doomed]).toEqual([parent.ready, parent.running, parent.doomed]);
    expect(checkInvariants(fork)).toEqual([]);
  });

  it('is the same after its first event went over the wire', () => {
    const story = midway().when(verb({ verb: 'RETRY', taskId: 'f' }));
    const data = forkedAt(story);
    const stored = {
      id: 'e',
      sequence: 1,
      schemaVersion: 1,
      type: 'RUN_FORKED',
      data: JSON.parse(JSON.stringify(data)),
    };
    const parsed = RecordedRunEvent.parse(stored).data as RunEventData<'RUN_FORKED'>;
    expect(parsed).toEqual(data);
    const [direct, read] = [data, parsed].map((each) =>
      foldEvents(emptyRun('run-2'), [{ type: 'RUN_FORKED', data: each }]),
    );
    expect(read).toEqual(direct);
  });

  it('does not try again what was running, whatever the policy says: nobody here knows what it has done', () => {
    const tried = constellation([{ id: 'a', idempotent: true, retry: { attempts: 5, backoffMs: 0 } }, 'b'], ['a->b']);
    const fork = forked(new Story().when(submit(tried)));
    expect(fork.told).toEqual(['RUN_FORKED', 'TASK_FAILED a 1 OUTCOME_UNKNOWN unknown', 'TASK_STARTED b 1 on web-1']);
    expect(fork.run.tasks.at(0).error?.message).toBe(
      'it was running in run run-1 when this one was forked; nobody here knows what it has done',
    );
    expect(fork.when(verb({ verb: 'RETRY', taskId: 'a' })).told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
  });

  it('ignores what the attempts of its parent still say', () => {
    const fork = forked(midway()).when(completed('r', 1));
    expect(fork.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'DUPLICATE_RESULT' });
    expect(fork.told).toEqual([]);
  });

  it('knows what the plan of its parent came from, and hands it on', () => {
    const plan = build(constellation(['a', 'b'], ['a->b']));
    const story = new Story().when(ask()).when(propose('e1', [plan], {}, { source: 'runbook' }));
    expect(forkedAt(story).planSource).toBe('runbook');
    const fork = forked(story);
    expect(fork.run.planSource).toBe('runbook');
    expect(forkedAt(fork).planSource).toBe('runbook');
    expect(forkedAt(midway())).not.toHaveProperty('planSource');
    const { planSource: _, ...before } = forkedAt(story); // as it was written in earlier days
    expect(foldEvents(emptyRun('run-2'), [{ type: 'RUN_FORKED', data: before }]).planSource).toBeNull();
  });

  it('may ask its planner again, as often as its parent might', () => {
    const story = new Story()
      .when(ask())
      .when(propose('e1', [build(constellation(['a', 'b']))]))
      .when(failed('a'));
    const error = { code: 'TOO_MANY_ROUNDS', message: 'enough' };
    story.when(giveUp('e2', 'enough', { error }));
    const fork = forked(story);
    expect(fork.run.noMoreRounds).toBeNull();
    expect(fork.told.at(-1)).toBe('EDIT_OPENED e1 b.1 scoped');
  });

  it('goes on from a run that had ended, with its own end', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a=>b']))).when(failed('a'));
    const fork = forked(story);
    expect(fork.told).toEqual(['RUN_FORKED', 'RUN_FAILED NO_TASK_COMPLETED']);
    expect(fork.when(verb({ verb: 'RETRY', taskId: 'a' })).told.slice(0, 3)).toEqual([
      'RUN_REOPENED by alice',
      'TASK_REOPENED a 1 by operator',
      'TASK_REOPENED b 0 by operator',
    ]);
  });

  it('goes on from a run that was paused, or about to end', () => {
    expect(forked(midway().when(verb({ verb: 'PAUSE' }))).run.phase).toBe('RUNNING');
    const ending = forked(midway().when(verb({ verb: 'CANCEL' })));
    expect(ending.told.at(-1)).toBe('RUN_COMPLETED partially_failed');
  });

  it('counts its deadline, and those of what is still to be done, from now', () => {
    const timed = constellation(
      [
        { id: 'a', deadlineMs: HOUR },
        { id: 'b', deadlineMs: 2 * HOUR },
      ],
      ['a->b'],
    );
    const story = new Story().when(submit(timed, { options: { deadlineMs: DAY } })).when(completed('a'));
    const begun = new Story().when(submit(timed, { options: { deadlineMs: DAY } }));
    const fork = forked(begun, 3 * DAY);
    expect(fork.run.deadlineAt).toBe(instant(4 * DAY));
    expect(fork.run.tasks.at(1).deadlineAt).toBe(instant(3 * DAY + 2 * HOUR));
    expect(fork.told.at(-1)).toBe('TASK_STARTED b 1 on web-1');
    expect(forkedAt(story, 3 * DAY).tasks[0]?.deadlineAt).toBe(instant(HOUR));
  });

  it('keeps when a try that was put off may begin', () => {
    const later = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: HOUR } }]);
    const fork = forked(new Story().when(submit(later)).when(failed('a')));
    expect(fork.told).toEqual(['RUN_FORKED']);
    const wakeAt = fork.last?.wakeAt ?? 0;
    expect(wakeAt).toBeGreaterThanOrEqual(T0 + HOUR / 2);
    expect(fork.at(HOUR).when(WAKE).told).toEqual(['TASK_STARTED a 2 on web-1']);
  });

  it('starts by priority as its parent would', () => {
    const wide = constellation(['a', 'b', { id: 'c', priority: 3 }], ['a->b', 'a->c']);
    const story = new Story().on(fleet([device('web-1', { tasksMax: 1 })])).when(submit(wide));
    const fork = new Story().from(emptyRun('run-2')).on(fleet([device('web-1', { tasksMax: 1 })]));
    fork.when({ kind: 'fork', id: 'f1', forked: forkedAt(story) });
    expect(fork.told.at(-1)).toBe('TASK_STARTED c 1 on web-1');
  });

  it('that is asked for twice begins once', () => {
    const fork = forked(midway());
    const events = fork.events.length;
    fork.run = { ...fork.run, sequence: events };
    fork.when({ kind: 'fork', id: 'f1', forked: forkedAt(midway()) });
    expect(fork.answers.at(-1)).toEqual({ kind: 'accepted', sequence: events });
    expect(fork.told).toEqual([]);
  });

  it('needs a constellation: before there is a plan there is nothing to go on from', () => {
    expect(() => forkedAt(new Story().when(ask()))).toThrow('has no constellation yet');
    expect(() => forkedAt(new Story())).toThrow('has no request');
  });
});

describe('a task of a fork that takes outputs', () => {
  const reads = {
    id: 'z',
    command: { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { from: ['a', 'b'] } } },
  };
  const readers = constellation(['a', 'b', reads], ['a->z', 'b->z']);

  function inputsOf(story: Story, taskId: string): unknown {
    const event = story.events.findLast((each) => each.type === 'TASK_STARTED' && each.data.taskId === taskId);
    return event?.type === 'TASK_STARTED' ? event.data.inputs : undefined;
  }

  it('names the run in which they were made, where that is another one', () => {
    const fork = forked(new Story().when(submit(readers)).when(completed('a'), failed('b')));
    expect(fork.when(verb({ verb: 'RETRY', taskId: 'z' })).told.at(-1)).toBe('TASK_STARTED z 2 on web-1');
    expect(inputsOf(fork, 'z')).toEqual([
      { taskId: 'a', attempt: 1, runId: 'run-1' },
      { taskId: 'b', attempt: 1, runId: 'run-1' },
    ]);
  });

  it('takes nothing of what was running: that attempt is none of its own, and may not have ended', () => {
    const fork = forked(new Story().when(submit(readers)).when(completed('a')));
    expect(inputsOf(fork, 'z')).toEqual([{ taskId: 'a', attempt: 1, runId: 'run-1' }]);
  });

  it('names its own attempt when the fork has tried again', () => {
    const story = new Story().when(submit(readers)).when(failed('a'), completed('b'));
    const fork = forked(story)
      .when(verb({ verb: 'RETRY', taskId: 'a' }))
      .when(completed('a', 2))
      .when(verb({ verb: 'RETRY', taskId: 'z' }));
    expect(fork.told.at(-1)).toBe('TASK_STARTED z 2 on web-1');
    expect(inputsOf(fork, 'z')).toEqual([
      { taskId: 'a', attempt: 2 },
      { taskId: 'b', attempt: 1, runId: 'run-1' },
    ]);
  });

  it('names each ancestor by itself in a fork of a fork', () => {
    const first = new Story()
      .on(fleet([device('web-1', { tasksMax: 1 })]))
      .when(submit(readers))
      .when(completed('a'));
    expect(first.told.at(-1)).toBe('TASK_STARTED b 1 on web-1');
    const second = forked(first).when(verb({ verb: 'RETRY', taskId: 'b' }));
    expect(second.told.at(-1)).toBe('TASK_STARTED b 2 on web-1');
    expect(second.run.tasks.at(1).ranIn).toBeNull();
    const third = new Story().from(emptyRun('run-3'));
    third.when({ kind: 'fork', id: 'f2', forked: forkedAt(second.when(completed('b', 2))) });
    expect([...third.run.tasks].map(({ ranIn }) => ranIn)).toEqual(['run-1', 'run-2', 'run-2']);
  });
});

describe('a fork and the planner', () => {
  const asking = () => new Story().when(submit(plan, { options: { editPolicy: 'when-needed' } }));

  it('is asked by the fork what it had not answered in the parent, and about what was running', () => {
    const story = asking().when(failed('a')).when(failed('f'));
    expect(story.run.editing?.triggers).toHaveLength(1);
    expect(story.run.queued).toHaveLength(1);
    const fork = forked(story);
    expect(fork.told).toEqual(['RUN_FORKED', 'EDIT_OPENED e1 a.1 f.1 scoped']);
    expect(fork.when(propose('e1', [])).told.slice(0, 2)).toEqual([
      'CONSTELLATION_MODIFIED e1 revision 1',
      'TASK_SKIPPED s by failure',
    ]);
  });

  it('is asked about what was running when the parent was left', () => {
    const fork = forked(asking());
    expect(fork.told.at(-1)).toBe('EDIT_OPENED e1 a.1 f.1 scoped');
  });

  it('is asked about the end of the plan once more: it is another run', () => {
    const story = new Story().when(submit(constellation(['a']), { options: { editPolicy: 'when-needed' } }));
    const fork = forked(story.when(completed('a')));
    expect(fork.told).toEqual(['RUN_FORKED', 'EDIT_OPENED e1 end-of-plan scoped']);
  });

  it('has its own numbers of rounds, and takes no answer to those of its parent', () => {
    const story = asking().when(failed('a'));
    const fork = forked(story).when(propose('e7', []));
    expect(fork.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'ROUND_IS_OVER' });
  });

  it('keeps the ids that were removed in its parent out of use', () => {
    const story = asking().when(propose(null, [remove.task('q')]));
    const fork = forked(story).when(propose(null, [add.task('q')]));
    expect(fork.answers.at(-1)).toMatchObject({ reason: { message: expect.stringContaining('was removed before') } });
  });
});

it('is one fork when it waits twice: both are answered with the commit that follows', () => {
  const forked = forkedAt(new Story().when(submit(constellation(['a']))));
  const twice = new Story()
    .from(emptyRun('run-2'))
    .when({ kind: 'fork', id: 'f', forked }, { kind: 'fork', id: 'f', forked });
  expect(twice.events.filter(({ type }) => type === 'RUN_FORKED')).toHaveLength(1);
  expect(twice.answers).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
});
