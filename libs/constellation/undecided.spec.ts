import { describe, expect, it } from '@jest/globals';
import { type Json, LIMITS, type RunEventData } from '#proto';
import { decide } from './decide/decide.js';
import { forkedFrom, restored } from './fold/fork.js';
import {
  add,
  completed,
  constellation,
  failed,
  propose,
  remove,
  Story,
  submit,
  T0,
  TWO_DEVICES,
  verb,
} from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';
import { KnownTruths, type Question } from './plan/truth.js';

const NUMBER = 'a?int(result.stdout) > 200>b';
const UNREADABLE = 'int() type error: cannot convert to int; trim() takes line ends off';
const shell = (stdout: string): Json => ({ exit_code: 0, stdout, stderr: '' });
const PLAN = constellation(['a', 'b', 'c', 'o'], [NUMBER, 'b=>c', 'a->o']);
const EDITED = { options: { editPolicy: 'when-needed' } } as const;

const error = (story: Story, taskId: string) => story.run.tasks.at(story.run.graph.taskIndex.get(taskId) ?? -1).error;

describe('a line of which nobody can say whether it holds', () => {
  it('fails its target, with the reason, where nobody is asked: the run has not succeeded', () => {
    const story = new Story().when(submit(PLAN)).when(completed('a', 1, shell('16627\n')));
    expect(story.status('b')).toBe('FAILED');
    expect(error(story, 'b')).toEqual({
      code: 'CONDITION_UNDECIDABLE',
      message: `nobody can say whether line a-b lets it run: ${UNREADABLE}`,
      outcome: 'failed',
    });
    expect(story.status('c')).toBe('SKIPPED');
    expect(story.when(completed('o')).told.at(-1)).toBe('RUN_COMPLETED partially_failed');
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('is recorded as what it is, not as a no', () => {
    const { events } = new Story().when(submit(PLAN)).when(completed('a', 1, shell('16627\n')));
    const ended = events.find(({ type }) => type === 'TASK_COMPLETED')?.data as RunEventData<'TASK_COMPLETED'>;
    expect(ended.lines[0]).toEqual({ id: 'a-b', satisfied: false, undecided: true, reason: UNREADABLE });
  });

  it('opens a round about its task, and what is behind it waits; an edit that says it better lets it run', () => {
    const story = new Story().when(submit(PLAN, EDITED)).when(completed('a', 1, shell('16627\n')));
    expect(story.told).toContain('EDIT_OPENED e1 a.1 scoped');
    expect([story.status('b'), story.status('c')]).toEqual(['PENDING', 'PENDING']);
    const change = { condition: 'int(result.stdout.trim()) > 200' };
    story.when(propose('e1', [{ tool: 'update_dependency', lineId: 'a-b', change }]));
    expect(story.status('b')).toBe('RUNNING');
  });

  it.each([
    ['changes nothing', propose('e1', [])],
    ['fails', { kind: 'round-failed', editId: 'e1', try: 1, planHash: null } as const],
  ])('fails its target when the round about it %s', (_, input) => {
    const story = new Story().when(submit(PLAN, EDITED)).when(completed('a', 1, shell('16627\n')));
    const used = { llmCalls: 0, tokens: 0, commands: 0, costUsd: 0 };
    story.when(
      input.kind === 'proposal' ? input : { ...input, used, error: { code: 'MODEL_UNAVAILABLE', message: 'away' } },
    );
    expect(error(story, 'b')?.code).toBe('CONDITION_UNDECIDABLE');
  });

  it('owes the planner a round about the target that it failed: what is behind that waits, in the same commit', () => {
    const story = new Story().when(submit(PLAN, EDITED)).when(completed('a', 1, shell('16627\n')));
    story.when(propose('e1', []));
    expect(story.told.filter((text) => text.startsWith('EDIT_OPENED'))).toEqual(['EDIT_OPENED e2 b.0 scoped']);
    expect([story.status('b'), story.status('c')]).toEqual(['FAILED', 'PENDING']);
    story.when(propose('e2', [add.task('n'), add.line('n->c'), remove.line('b-c')]));
    expect([story.status('n'), story.status('c')]).toEqual(['RUNNING', 'PENDING']);
  });

  it('is owed a round still when the failure comes while another one is open', () => {
    const plan = constellation(['a', 'b', 'c', { id: 'r', review: true }], [NUMBER, 'b=>c']);
    const story = new Story()
      .when(submit(plan, EDITED))
      .when(completed('r'))
      .when(completed('a', 1, shell('x')));
    expect(story.told).not.toContain('TASK_FAILED b 0 CONDITION_UNDECIDABLE failed');
    story.when(propose('e1', []));
    expect(story.told).toContain('EDIT_OPENED e2 a.1 scoped');
    story.when(propose('e2', []));
    expect(story.told).toContain('EDIT_OPENED e3 b.0 scoped');
    expect([story.status('b'), story.status('c')]).toEqual(['FAILED', 'PENDING']);
  });

  it('is outweighed by one that is known to say no, whichever ends first', () => {
    const plan = constellation(['a', 'b', 'x', 'o'], [NUMBER, 'x?false>b']);
    const [a, x] = [completed('a', 1, shell('no number')), completed('x')];
    for (const ends of [
      [a, x],
      [x, a],
    ]) {
      const story = ends.reduce((before, end) => before.when(end), new Story().when(submit(plan)));
      expect(story.status('b')).toBe('SKIPPED');
    }
    const open = new Story().when(submit(plan)).when(a);
    expect(open.status('b')).toBe('PENDING');
  });

  it('is judged once more when a person retries what it failed', () => {
    const plan = constellation(['a', 'b', 'o'], ['a?result.stdout.lines().exists(l, l == "x")>b']);
    const story = new Story().when(submit(plan)).when(completed('a', 1, { exit_code: 0, stdout: 5 }));
    expect(story.status('b')).toBe('FAILED');
    story.when(verb({ verb: 'RETRY', taskId: 'b' }));
    const reopened = story.events.find(({ type }) => type === 'TASK_REOPENED')?.data as RunEventData<'TASK_REOPENED'>;
    expect(reopened).toMatchObject({ lines: ['a-b'], judged: [{ id: 'a-b', undecided: true }] });
    expect(story.status('b')).toBe('FAILED');
  });

  it('is open again when its task is tried again, and its target with it', () => {
    const plan = constellation(['a', 'b', 'o'], ['a?result.exit_code > 0>b']);
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(error(story, 'b')?.code).toBe('CONDITION_UNDECIDABLE');
    story.when(verb({ verb: 'RETRY', taskId: 'a' }));
    expect([story.status('a'), story.status('b')]).toEqual(['RUNNING', 'PENDING']);
    expect(story.when(completed('a', 2, { exit_code: 3 })).status('b')).toBe('RUNNING');
  });

  it('is not one from a task that never ran: that has no result, and no condition holds over it', () => {
    const plan = constellation(['a', 'b', 'c', 'o'], ['a?false>b', 'b?result.exit_code == 0>c']);
    const story = new Story().when(submit(plan)).when(completed('a'), completed('o'));
    expect(story.status('c')).toBe('SKIPPED');
    expect(story.told.at(-1)).toBe('RUN_COMPLETED succeeded');
  });

  it('may come from an edit behind a task that has ended', () => {
    const plan = constellation(['a', 'o']);
    const story = new Story().when(submit(plan, EDITED)).when(completed('a', 1, shell('x')));
    story.when(propose(null, [add.task('n'), add.line('a?int(result.stdout) > 1>n')]));
    expect(story.told).toContain('EDIT_OPENED e1 a.1 scoped');
    expect(story.status('n')).toBe('PENDING');
  });

  it('is carried by a fork', () => {
    const story = new Story().when(submit(PLAN, EDITED)).when(completed('a', 1, shell('x')));
    const by = { kind: 'person', id: 'anna' } as const;
    const { shape } = restored(forkedFrom({ run: story.run, by, requestId: 'f', now: T0 }));
    expect(shape.lines.at(0)).toMatchObject({ satisfied: false, undecided: true });
  });

  it('was a plain no in what is stored from before', () => {
    const story = new Story().when(submit(constellation(['a', 'b', 'o'], ['a?false>b']))).when(completed('a'));
    expect(story.status('b')).toBe('SKIPPED');
  });
});

describe('a decision that has to know more than an event holds', () => {
  const CONDITION = 'result.stdout.contains("NEEDLE")';
  const plan = constellation(['a', 'b'], [`a?${CONDITION}>b`]);
  const artifact = { sha256: 'd'.repeat(64), bytes: 50_000 };
  const cut = { value: shell('head [... cut ...] tail'), cut: ['stdout'], artifact };
  const given = (result: typeof cut, truths: KnownTruths) => {
    const { run } = new Story().when(submit(plan));
    const finished = { status: 'completed', result } as const;
    const input = { kind: 'attempt-ended', taskId: 'a', attempt: 1, attemptHash: 'a'.repeat(64), finished } as const;
    return decide(run, [input], { fleet: TWO_DEVICES, now: T0, planner: false, truths });
  };

  it('says what, and takes it as part of what it is given', () => {
    const truths = new KnownTruths();
    const { wanted } = given(cut, truths);
    const question: Question = { condition: CONDITION, status: 'COMPLETED', result: { artifact }, streams: {} };
    expect(wanted).toEqual([question]);
    truths.add(question, { truth: 'satisfied' });
    const decision = given(cut, truths);
    expect(decision.wanted).toEqual([]);
    expect(decision.events[0]).toMatchObject({ data: { lines: [{ id: 'a-b', satisfied: true }] } });
  });

  it('asks for the whole output where the device has cut it', () => {
    const whole = { sha256: 'e'.repeat(64), bytes: 3_000_000 };
    const value = { exit_code: 0, stdout: 'head', stderr: '', stdout_bytes: 3_000_000, stdout_artifact: { ...whole } };
    const { wanted } = given({ value } as never, new KnownTruths());
    expect(wanted).toMatchObject([{ result: { value }, streams: { stdout: whole } }]);
  });

  it('does not know of what is too large, and does not ask', () => {
    const large = { ...cut, artifact: { ...artifact, bytes: LIMITS.conditionBytesMax + 1 } };
    const { wanted, events } = given(large, new KnownTruths());
    expect(wanted).toEqual([]);
    const reason = `it is about ${LIMITS.conditionBytesMax + 1} bytes; at most ${LIMITS.conditionBytesMax} are judged`;
    expect(events[0]).toMatchObject({ data: { lines: [{ undecided: true, reason }] } });
  });

  it('needs nothing for what the event holds, however much was cut beside it', () => {
    const { run } = new Story().when(submit(constellation(['a', 'b'], ['a?result.exit_code == 0>b'])));
    const finished = { status: 'completed', result: cut } as const;
    const input = { kind: 'attempt-ended', taskId: 'a', attempt: 1, attemptHash: 'a'.repeat(64), finished } as const;
    const decision = decide(run, [input], { fleet: TWO_DEVICES, now: T0, planner: false, truths: new KnownTruths() });
    expect(decision.wanted).toEqual([]);
    expect(decision.run.lines.at(0).satisfied).toBe(true);
  });
});
