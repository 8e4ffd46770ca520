import { describe, expect, it } from '@jest/globals';
import { LIMITS, RecordedRunEvent, type RunEvent } from '#proto';
import type { Input } from './input.js';
import {
  add,
  ALICE,
  ask,
  completed,
  constellation,
  failed,
  instant,
  propose,
  Story,
  submit,
  T0,
  verb,
  WAKE,
} from '../testing/given.js';
import { checkInvariants } from '../fold/invariants.js';
import { jsonBytes } from '../values/json-bytes.js';
import { viewOf } from '../views/view.js';

const CANCEL = verb({ verb: 'CANCEL', reason: 'not today' });
const PAUSE = verb({ verb: 'PAUSE', reason: 'lunch' });
const RESUME = verb({ verb: 'RESUME' });

/** a has COMPLETED, b runs, c and d are pending. */
const midway = () =>
  new Story().when(submit(constellation(['a', 'b', 'c', 'd'], ['a->b', 'b->c', 'c=>d']))).when(completed('a'));

/** The story's run as it is by its phase: all of them can be asked anything. */
const inPhase = {
  NONE: () => new Story(),
  COMPLETED: () => new Story().when(submit(constellation(['a']))).when(completed('a')),
  FAILED: () => new Story().when(submit(constellation(['a']))).when(failed('a')),
  CANCELLED: () =>
    midway()
      .when(CANCEL)
      .when(failed('b', 1, 'cancelled')),
};

const isRecordable = (event: RunEvent) =>
  RecordedRunEvent.safeParse({ id: 'run-1-1', sequence: 1, schemaVersion: 1, ...event }).error ?? true;

describe('CANCEL', () => {
  it('cancels what is pending and stops what runs, in the words of whoever asked, which are said once', () => {
    const story = midway().when(CANCEL);
    expect(story.last?.events).toEqual([
      {
        type: 'TASK_STOP_REQUESTED',
        data: {
          taskId: 'b',
          attempt: 1,
          reason: 'cancelled',
          by: ALICE,
          note: 'not today',
          requestedAt: instant(0),
          graceUntil: instant(LIMITS.stopGraceMs),
        },
      },
      {
        type: 'TASK_CANCELLED',
        data: {
          taskId: 'c',
          attempt: 0,
          reason: 'cancelled',
          by: ALICE,
          lines: [{ id: 'c-d', satisfied: false, reason: 'c is CANCELLED' }],
          cancelledAt: instant(0),
        },
      },
      {
        type: 'TASK_CANCELLED',
        data: {
          taskId: 'd',
          attempt: 0,
          reason: 'cancelled',
          by: ALICE,
          lines: [],
          cancelledAt: instant(0),
        },
      },
    ]);
    expect(story.last?.wakeAt).toBe(T0 + LIMITS.stopGraceMs);
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('ends the run when the last of what runs has ended, and keeps what it had answered', () => {
    const output = { value: { stdout: 'half of it' } };
    const error = { code: 'CANCELLED', message: 'stopped', outcome: 'cancelled' as const, output };
    const ended: Input = {
      kind: 'attempt-ended',
      taskId: 'b',
      attempt: 1,
      attemptHash: 'b'.repeat(64),
      finished: { status: 'failed', error },
    };
    const story = midway().when(CANCEL).when(ended);
    expect(story.told).toEqual(['TASK_CANCELLED b 1 cancelled', 'RUN_CANCELLED by alice']);
    expect(story.last?.events[0]?.data).toMatchObject({ output, attemptHash: 'b'.repeat(64), by: ALICE });
    expect(story.last?.events[1]?.data).toMatchObject({
      by: ALICE,
      reason: 'not today',
      counts: { completed: 1, failed: 0, skipped: 0, cancelled: 3 },
    });
    expect(story.run.tasks.at(1)).toMatchObject({ status: 'CANCELLED', result: output });
    expect(story.run.tasks.at(0)).toMatchObject({ status: 'COMPLETED', result: { value: { exit_code: 0 } } });
    expect(story.last?.wakeAt).toBeNull();
  });

  it('lets a result count that was there before the stop; the run is cancelled all the same', () => {
    expect(midway().when(CANCEL).when(completed('b')).told).toEqual(['TASK_COMPLETED b 1', 'RUN_CANCELLED by alice']);
  });

  it('does not wait for a device for longer than the grace', () => {
    const story = midway().when(CANCEL).at(LIMITS.stopGraceMs).when(WAKE);
    expect(story.told).toEqual(['TASK_CANCELLED b 1 cancelled', 'RUN_CANCELLED by alice']);
  });

  it('is not tried again, whatever the retry policy says, and triggers no edit', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 3, backoffMs: 0 } }]);
    const story = new Story().when(submit(plan, { options: { editPolicy: 'every-result' } }));
    expect(story.when(CANCEL).when(failed('a')).told).toEqual([
      'TASK_CANCELLED a 1 cancelled',
      'RUN_CANCELLED by alice',
    ]);
  });

  it('goes on with a stop that was requested for another reason, and keeps its grace', () => {
    const plan = constellation([{ id: 'a', timeoutMs: 1_000 }]);
    const story = new Story().when(submit(plan)).at(1_000).when(WAKE).at(2_000).when(CANCEL);
    expect(story.last?.events[0]?.data).toMatchObject({ reason: 'cancelled', graceUntil: instant(1_000 + 10_000) });
    expect(story.when(failed('a', 1, 'cancelled')).told).toEqual([
      'TASK_CANCELLED a 1 cancelled',
      'RUN_CANCELLED by alice',
    ]);
  });

  it('ends at once a run with nothing to stop', () => {
    const story = new Story().when(ask()).when(CANCEL);
    expect(story.told).toEqual(['EDIT_ABANDONED e1 RUN_ENDING', 'RUN_CANCELLED by alice']);
  });

  it('is ignored when it was said before, and refused after another end', () => {
    const again = verb({ verb: 'CANCEL' }, 'another-id');
    expect(midway().when(CANCEL).when(again).answers.at(-1)).toEqual({ kind: 'ignored', reason: 'CANCELLED_BEFORE' });
    expect(inPhase.CANCELLED().when(again).answers.at(-1)).toEqual({ kind: 'ignored', reason: 'CANCELLED_BEFORE' });
    expect(inPhase.COMPLETED().when(again).answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: { code: 'INVALID_STATE', message: 'the run is COMPLETED; there is nothing left to cancel' },
    });
  });

  it('is ignored when the run ends for another reason already', () => {
    const story = new Story().when(submit(constellation(['a', 'b']), { options: { editPolicy: 'when-needed' } }));
    story
      .when(failed('a'))
      .when(propose('e1', [], { state: 'FINISH' }))
      .when(CANCEL);
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'ENDING' });
  });
});

describe('PAUSE and RESUME', () => {
  it('stop starting, and go on', () => {
    const story = midway().when(PAUSE);
    expect(story.last?.events).toEqual([
      { type: 'RUN_PAUSED', data: { by: 'operator', actor: ALICE, reason: 'lunch', pausedAt: instant(0) } },
    ]);
    expect(story.when(completed('b')).told).toEqual(['TASK_COMPLETED b 1']);
    expect(viewOf(story.run)).toMatchObject({
      status: 'PAUSED',
      reason: 'lunch',
      waitingFor: { reason: 'paused', detail: 'lunch', wokenBy: 'operator' },
    });
    expect(story.when(RESUME).last?.events[0]).toEqual({
      type: 'RUN_RESUMED',
      data: { by: ALICE, resumedAt: instant(0) },
    });
    expect(story.told).toEqual(['RUN_RESUMED by alice', 'TASK_STARTED c 1 on web-1']);
    expect(viewOf(story.run).reason).toBeNull();
  });

  it('say who it was when no reason is given', () => {
    const story = midway().when(verb({ verb: 'PAUSE' }));
    expect(viewOf(story.run).reason).toBe('paused by alice');
  });

  it('do not keep what fails from being skipped, tried again, or ending the run', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }, 'b'], ['a=>b']);
    const story = new Story().when(submit(plan)).when(PAUSE).when(failed('a'));
    expect(story.told).toEqual(['TASK_FAILED a 1 EXIT_CODE failed', 'TASK_REOPENED a 1']);
    expect(story.when(RESUME).told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
    story.when(verb({ verb: 'PAUSE' }, 'second')).when(failed('a', 2));
    expect(story.told).toEqual([
      'TASK_FAILED a 2 EXIT_CODE failed',
      'TASK_SKIPPED b by failure',
      'RUN_FAILED NO_TASK_COMPLETED',
    ]);
  });

  it('do not stop the clock: timeouts and deadlines pass', () => {
    const plan = constellation(
      [
        { id: 'a', timeoutMs: 1_000 },
        { id: 'b', deadlineMs: 2_000 },
      ],
      ['a->b'],
    );
    const story = new Story().when(submit(plan)).when(PAUSE);
    expect(story.last?.wakeAt).toBe(T0 + 1_000);
    expect(story.at(1_000).when(WAKE).told).toEqual(['TASK_STOP_REQUESTED a 1 timeout']);
    expect(story.at(2_000).when(WAKE).told).toEqual(['TASK_FAILED b 0 DEADLINE timed_out']);
  });

  it('are ignored when it is so already', () => {
    expect(
      midway()
        .when(PAUSE)
        .when(verb({ verb: 'PAUSE' }, 'other'))
        .answers.at(-1),
    ).toEqual({
      kind: 'ignored',
      reason: 'PAUSED_BEFORE',
    });
    expect(midway().when(RESUME).answers.at(-1)).toEqual({ kind: 'ignored', reason: 'NOT_PAUSED' });
  });

  it('resume what the system has paused', () => {
    const story = midway().when({ kind: 'pause', reason: 'poison' });
    expect(story.last?.events[0]?.data).toEqual({ by: 'system', reason: 'poison', pausedAt: instant(0) });
    expect(story.when(completed('b'), RESUME).told.at(-1)).toBe('TASK_STARTED c 1 on web-1');
  });

  it('by the system is ignored when the run is paused or over', () => {
    expect(midway().when(PAUSE).when({ kind: 'pause', reason: 'x' }).answers.at(-1)).toEqual({
      kind: 'ignored',
      reason: 'NOT_RUNNING',
    });
    expect(inPhase.FAILED().when({ kind: 'pause', reason: 'x' }).told).toEqual([]);
  });
});

describe('ANNOTATE', () => {
  const note = (text: string, taskId?: string) =>
    verb({ verb: 'ANNOTATE', text, ...(taskId === undefined ? {} : { taskId }) }, `note ${text}`);

  it('records who noted what, and about which task', () => {
    const story = midway().when(note('the disk was full', 'a'));
    expect(story.last?.events).toEqual([
      {
        type: 'RUN_ANNOTATED',
        data: { kind: 'note', by: ALICE, text: 'the disk was full', taskId: 'a', annotatedAt: instant(0) },
      },
    ]);
    expect(viewOf(story.when(note('it is new')).run).notes).toEqual([
      { by: ALICE, text: 'the disk was full', taskId: 'a', annotatedAt: instant(0) },
      { by: ALICE, text: 'it is new', annotatedAt: instant(0) },
    ]);
  });

  it.each(['COMPLETED', 'FAILED', 'CANCELLED'] as const)('is taken when the run is %s, which it stays', (phase) => {
    const ended = inPhase[phase]();
    const { endedAt } = ended.run;
    ended.when(note('looked at by two'));
    expect(ended.told).toEqual(['RUN_ANNOTATED']);
    expect(ended.run).toMatchObject({ phase, endedAt });
  });

  it('changes nothing that is done: not in a run that is paused, not what waits in one that goes on', () => {
    expect(midway().when(PAUSE).when(note('lunch')).run.phase).toBe('PAUSED');
    expect(midway().when(note('busy')).last?.wakeAt).toBe(midway().when(WAKE).last?.wakeAt);
  });

  it('is refused about a task that is none of the run, also while it has none', () => {
    const refused = { kind: 'rejected', reason: { code: 'NOT_FOUND', message: expect.stringContaining('"z"') } };
    for (const story of [midway(), new Story().when(ask())]) {
      story.when(note('what?', 'z'));
      expect([story.answers.at(-1), story.told]).toMatchObject([refused, []]);
    }
  });

  it('is refused when the run has as many as it takes', () => {
    const full = midway().when(...Array.from({ length: LIMITS.notesMax }, (_, index) => note(`${index}`)));
    expect(full.run.notes).toHaveLength(LIMITS.notesMax);
    expect(full.when(note('one more')).answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: { code: 'INVALID_STATE', message: `the run has ${LIMITS.notesMax} notes, the most that it takes` },
    });
  });

  it('leaves facts that can be recorded, however much a person says', () => {
    const story = midway().when(note('\u202E\u0000€'.padEnd(LIMITS.noteCharsMax, '€')));
    expect(story.events.map(isRecordable)).toEqual(story.events.map(() => true));
  });
});

describe('every verb', () => {
  it.each([
    ['CANCEL', CANCEL],
    ['PAUSE', PAUSE],
    ['RESUME', RESUME],
    ['RETRY', verb({ verb: 'RETRY', taskId: 'a' })],
    ['ANNOTATE', verb({ verb: 'ANNOTATE', text: 'x' })],
  ])('%s is refused for a run that is not there', (_, input) => {
    const story = inPhase.NONE().when(input);
    expect(story.answers).toEqual([
      { kind: 'rejected', reason: { code: 'NOT_FOUND', message: 'there is no such run', issues: [] } },
    ]);
    expect(story.told).toEqual([]);
  });

  it.each(['COMPLETED', 'FAILED', 'CANCELLED'] as const)('PAUSE and RESUME are refused when the run is %s', (phase) => {
    for (const input of [PAUSE, RESUME]) {
      const story = inPhase[phase]().when(input);
      expect(story.answers.at(-1)).toMatchObject({
        kind: 'rejected',
        reason: { code: 'INVALID_STATE', message: expect.stringContaining(`the run is ${phase}; only a`) },
      });
      expect(story.told).toEqual([]);
    }
  });

  it('is decided once: asked again, it is answered again and appends nothing', () => {
    const story = midway();
    const sequence = story.events.length + 1;
    story.when(PAUSE).when(PAUSE).when(RESUME).when(PAUSE);
    expect(story.answers.slice(-4)).toEqual([
      { kind: 'accepted' },
      { kind: 'accepted', sequence },
      { kind: 'accepted' },
      { kind: 'accepted', sequence },
    ]);
    expect(story.run.phase).toBe('RUNNING');
  });

  it('is decided once, also when it comes twice in what is decided together', () => {
    const story = midway().when(PAUSE, RESUME, PAUSE);
    expect(story.told).toEqual(['RUN_PAUSED', 'RUN_RESUMED by alice']);
    expect(story.answers.slice(-3)).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }, { kind: 'accepted' }]);
    expect(story.run.phase).toBe('RUNNING');
  });

  it('that was refused without a trace is decided anew', () => {
    const story = midway().when(RESUME).when(PAUSE).when(RESUME);
    expect(story.answers.slice(-3)).toEqual([
      { kind: 'ignored', reason: 'NOT_PAUSED' },
      { kind: 'accepted' },
      { kind: 'accepted' },
    ]);
  });

  it('PROPOSE for a round whose refusal is recorded is answered with where it stands', () => {
    const refused: Input = {
      kind: 'verb',
      id: 'p1',
      by: ALICE,
      action: {
        verb: 'PROPOSE',
        proposal: { editId: 'e1', try: 1, baseRevision: 7, state: 'CONTINUE', edits: [] },
        delegated: false,
      },
    };
    const story = new Story().when(ask()).when(refused);
    expect(story.told).toEqual(['EDIT_REJECTED e1 try 1 STALE_REVISION']);
    story.when(refused);
    expect(story.told).toEqual([]);
    expect(story.answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: {
        code: 'EDIT_REJECTED',
        message: 'the edit was refused before; event 3 and those before it say why',
      },
    });
  });

  it('leaves facts that can be recorded, however much the planner says', () => {
    const story = new Story().when(
      submit(constellation(['a', 'b', 'c'], ['b->c']), { options: { editPolicy: 'when-needed' } }),
    );
    story.when(failed('a')).when(propose('e1', [], { state: 'FAIL', trace: { result: 'x'.repeat(20_000) } }));
    story.when(failed('b', 1, 'cancelled'));
    expect(story.run.phase).toBe('FAILED');
    expect(story.events.map(isRecordable)).toEqual(story.events.map(() => true));
  });

  it('leaves a commit that fits, however many tasks there are and however much a person says', () => {
    const plan = constellation(Array.from({ length: LIMITS.tasksMax }, (_, index) => `t${index}`));
    const story = new Story().when(submit(plan)).when(verb({ verb: 'CANCEL', reason: '€'.repeat(1_000) }));
    expect(story.told).toHaveLength(LIMITS.tasksMax);
    expect(jsonBytes(story.last?.events)).toBeLessThan(LIMITS.commitBytesMax / 2);
  });

  it('leaves facts that can be recorded, however much a person says', () => {
    const story = midway()
      .when(verb({ verb: 'CANCEL', reason: 'x'.repeat(1_000) }))
      .when(failed('b', 1, 'cancelled'));
    expect(story.events.map(isRecordable)).toEqual(story.events.map(() => true));
  });
});

describe('an input that comes too late', () => {
  it('is not counted after the end of the run', () => {
    const story = inPhase.CANCELLED().when(completed('b'), propose('e1', [add.task('n')]), WAKE);
    expect(story.answers.slice(-3)).toMatchObject([
      { kind: 'ignored', reason: 'DUPLICATE_RESULT' },
      { kind: 'rejected', reason: { code: 'INVALID_STATE' } },
      { kind: 'accepted' },
    ]);
    expect(story.told).toEqual([]);
  });
});
