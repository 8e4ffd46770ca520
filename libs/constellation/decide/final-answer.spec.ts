import { describe, expect, it } from '@jest/globals';
import { type Evaluation, FinalAnswer, LIMITS, NO_USAGE, RunCommit } from '#proto';
import { jsonBytes } from '../values/json-bytes.js';
import {
  ask,
  build,
  completed,
  constellation,
  failed,
  giveUp,
  HASH,
  imagine,
  instant,
  propose,
  Story,
  submit,
  verb,
} from '../testing/given.js';
import type { Input } from './input.js';
import { collectAnswer } from './final-answer.js';
import { viewOf } from '../views/view.js';

const PLAN = constellation(['a', 'b', 'c'], ['a->b', 'b=>c']);
const planned = () => new Story().when(ask()).when(propose('e1', [build(PLAN)]));
const shell = (stdout: string, stderr = '') => ({ stdout, stderr, exit_code: 0 });
const endOf = (story: Story) => story.events.findLast(({ type }) => type.startsWith('RUN_'))?.data;

/** a and b are done, c waits for the planner. */
const halfway = () => {
  const story = planned().when(completed('a', 1, shell('12 GB free\n')));
  return story.when(failed('b'));
};

describe('the answer of a run', () => {
  it('is what the planner wrote, with the attempts it rests on and what was not done', () => {
    const story = halfway();
    const answer = { text: 'The disk has room; the update failed.', evidence: ['b', 'a', 'a', 'nobody', 'c'] };
    story.when(imagine('e2', [], { state: 'FINISH', answer }));
    const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
    const expected = {
      text: answer.text,
      by: 'model',
      evidence: [
        { taskId: 'b', attempt: 1, deviceId: 'web-1', command },
        { taskId: 'a', attempt: 1, deviceId: 'web-1', command },
      ],
      failures: [
        { taskId: 'b', status: 'FAILED', message: 'exit code 1' },
        { taskId: 'c', status: 'CANCELLED', message: 'the run was finished before it was done' },
      ],
    };
    expect(story.last?.events[0]).toMatchObject({
      data: { answer: { ...expected, failures: [expected.failures[0]] } },
    });
    expect(endOf(story)).toMatchObject({ outcome: 'partially_failed', answer: expected });
    expect(viewOf(story.run)).toMatchObject({ goal: 'look after the disks', answer: expected });
  });

  it('never makes an outcome better than what the tasks came to', () => {
    const story = new Story().when(ask()).when(propose('e1', [build(constellation(['a']))]));
    story.when(failed('a'));
    const [round] = [story.run.editing?.editId ?? ''];
    story.when(imagine(round, [], { state: 'FINISH', answer: { text: 'All is done and well.', evidence: ['a'] } }));
    expect(endOf(story)).toMatchObject({
      reason: { code: 'NO_TASK_COMPLETED' },
      answer: { text: 'All is done and well.', failures: [{ taskId: 'a', status: 'FAILED' }] },
    });
  });

  it('is the reason of a run that the planner gives up', () => {
    const story = halfway();
    story.when(imagine('e2', [], { state: 'FAIL', answer: { text: 'The disk is read-only.', evidence: ['b'] } }));
    expect(endOf(story)).toMatchObject({
      reason: { code: 'PLAN_FAILED', message: 'The disk is read-only.' },
      answer: { by: 'model', text: 'The disk is read-only.' },
    });
  });

  it('says at the end what was not done by then, also when something ran on', () => {
    const story = new Story().when(ask({ options: { editPolicy: 'every-result' } }));
    story.when(propose('e1', [build(constellation(['a', 'b']))])).when(completed('a'));
    story.when(imagine('e2', [], { state: 'FINISH', answer: { text: 'Enough.', evidence: ['a', 'b'] } }));
    expect(story.told.at(-1)).toBe('TASK_STOP_REQUESTED b 1 finished');
    expect(viewOf(story.run).answer).toBeNull();
    story.when(failed('b', 1, 'cancelled'));
    expect(viewOf(story.run).answer).toMatchObject({
      text: 'Enough.',
      evidence: [{ taskId: 'a' }],
      failures: [{ taskId: 'b', status: 'CANCELLED' }],
    });
  });

  it('is collected when nobody wrote one: failures said plainly, then what the last tasks said', () => {
    const story = halfway().when(propose('e2', []));
    story.when(propose('e3', []));
    expect(viewOf(story.run).answer).toEqual({
      text: [
        '1 of 3 tasks completed, 1 failed, 1 skipped.',
        'b: FAILED: exit code 1',
        'c: SKIPPED: line b-c: b is FAILED',
        'a: 12 GB free',
      ].join('\n'),
      by: 'collected',
      evidence: [
        { taskId: 'a', attempt: 1, deviceId: 'web-1', command: { tool: 'EXEC_CLI', arguments: { command: 'true' } } },
      ],
      failures: [
        { taskId: 'b', status: 'FAILED', message: 'exit code 1' },
        { taskId: 'c', status: 'SKIPPED', message: 'line b-c: b is FAILED' },
      ],
    });
    expect(FinalAnswer.parse(viewOf(story.run).answer)).toEqual(viewOf(story.run).answer);
  });

  it('is collected, too, when a rule says the words', () => {
    const story = planned().when(completed('a')).when(completed('b')).when(completed('c'));
    story.when(propose('e2', [], { state: 'FINISH', answer: { text: 'Three of three.', evidence: ['c'] } }));
    expect(viewOf(story.run).answer).toMatchObject({
      by: 'collected',
      text: 'Three of three.',
      evidence: [{ taskId: 'c' }],
    });
  });

  it('is not there of a constellation that was given, and not before the end', () => {
    const given = new Story().when(submit(constellation(['a']))).when(completed('a'));
    expect(endOf(given)).not.toHaveProperty('answer');
    expect(viewOf(given.run)).toMatchObject({ goal: null, answer: null });
    expect(viewOf(halfway().run).answer).toBeNull();
  });

  it('is not there of a run that was cancelled', () => {
    expect(viewOf(halfway().when(verb({ verb: 'CANCEL' })).run).answer).toBeNull();
  });

  it('is taken back with the end, and given anew', () => {
    const story = halfway().when(imagine('e2', [], { state: 'FINISH', answer: { text: 'Enough.', evidence: [] } }));
    story.when(verb({ verb: 'RETRY', taskId: 'b' }));
    expect(viewOf(story.run).answer).toBeNull();
    // What the end had cancelled behind it is open again as well.
    story.when(completed('b', 2)).when(completed('c'));
    story.when(propose(story.run.editing?.editId ?? '', []));
    expect(viewOf(story.run).answer).toMatchObject({ by: 'collected' });
  });

  it('does not pass by a branch that a condition did not choose as something that was not done', () => {
    const story = new Story().when(ask());
    story.when(propose('e1', [build(constellation(['a', 'b'], ['a?result.exit_code == 7>b']))])).when(completed('a'));
    story.when(propose('e2', []));
    expect(viewOf(story.run).answer).toMatchObject({ failures: [] });
    expect(viewOf(story.run).answer?.text).toContain('b: SKIPPED');
  });

  it.each([
    { what: 'the output of a command', value: shell('one\n  two\n'), lines: ['a:', 'one', '  two'] },
    {
      what: 'its errors when there is nothing else',
      value: shell(' \n', 'warning: old\n'),
      lines: ['a: warning: old'],
    },
    { what: 'the text of an agent', value: 'All is well.', lines: ['a: All is well.'] },
    { what: 'JSON of anything else', value: { free: 12 }, lines: ['a: {"free":12}'] },
    { what: 'nothing', value: null, lines: ['a: null'] },
  ])('holds $what', ({ value, lines }) => {
    const story = new Story().when(submit(constellation(['a']))).when(completed('a', 1, value));
    expect(collectAnswer(story.run).text.split('\n').slice(1)).toEqual(lines);
  });

  it('says what the last tasks said, and nothing of those whose results went into them', () => {
    const story = new Story().when(submit(constellation(['a', 'b', 'c'], ['a->c', 'b->c'])));
    story
      .when(completed('a', 1, 'raw'))
      .when(completed('b', 1, 'raw, too'))
      .when(completed('c', 1, 'The report.'));
    expect(collectAnswer(story.run).text).toBe('3 of 3 tasks completed.\nc: The report.');
  });

  it('shares its room among the last tasks, and never cuts in the middle of a character', () => {
    const story = new Story().when(submit(constellation(['a', 'b'])));
    story.when(completed('a', 1, '😀'.repeat(9_000)), completed('b', 1, 'short'));
    const { text } = collectAnswer(story.run);
    expect(text.length).toBeLessThanOrEqual(LIMITS.answerCharsMax);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/😀…\nb: short$/u);
  });
});

describe('the answer of a large run', () => {
  const command = { tool: 'EXEC_CLI', arguments: { command: 'x'.repeat(1_500) } };
  const tasks = Array.from({ length: 230 }, (_, index) => ({
    id: `t${index}`,
    name: 'n'.repeat(190),
    ...(index < 225 ? { command } : {}),
  }));

  it('stays within its bounds, and its end fits into a commit', () => {
    const story = new Story().when(ask()).when(propose('e1', [build(constellation(tasks))]));
    for (let rounds = 0; story.run.running.size > 0 && rounds < 100; rounds++) {
      const running = [...story.run.running].map((index) => story.run.tasks.at(index).star.id);
      story.when(...running.map((id, at): Input => (at % 8 === 0 ? failed(id) : completed(id, 1, 'y'.repeat(3_000)))));
    }
    const collected = collectAnswer(story.run);
    expect(FinalAnswer.parse(collected)).toEqual(collected);
    expect(collected.text).toMatch(/\.\.\. and \d+ more tasks$/u);
    expect(collected.evidence.length).toBe(LIMITS.evidenceMax);
    expect(collected.evidence.every((one) => one.command === undefined || jsonBytes(one.command) < 1_024)).toBe(true);
    const evidence = tasks.map(({ id }) => id);
    const round = story.run.editing?.editId ?? '';
    story.when(imagine(round, [], { state: 'FINISH', answer: { text: 'z'.repeat(LIMITS.answerCharsMax), evidence } }));
    expect(endOf(story)).toMatchObject({ answer: { by: 'model' } });
    expect(jsonBytes(story.last?.events)).toBeLessThan(LIMITS.commitBytesMax / 4);
  });
});

describe('a plan that is never made', () => {
  it('says why: the first thing that was wrong with the last proposal', () => {
    const story = new Story().when(ask());
    for (const number of [1, 2, 3, 4])
      story.when(imagine('e1', [{ tool: 'remove_task', taskId: 'x' }], { try: number }));
    expect(story.told).toEqual([
      'EDIT_REJECTED e1 try 4 UNKNOWN_TASK',
      'EDIT_ABANDONED e1 REPAIRS_EXHAUSTED',
      'RUN_FAILED PLAN_FAILED',
    ]);
    expect(viewOf(story.run).reason).toBe(
      'no valid plan was proposed: edits[0].taskId: there is no task "x"; known are none',
    );
  });

  it('says so when the deadline came first', () => {
    const late = () => new Story().when(ask({ options: { editDeadlineMs: 1_000 } }));
    expect(viewOf(late().at(1_000).when({ kind: 'wake' }).run).reason).toBe('no plan was proposed before the deadline');
    const refused = late().when(imagine('e1', [{ tool: 'remove_task', taskId: 'x' }]));
    expect(viewOf(refused.at(1_000).when({ kind: 'wake' }).run).reason).toBe(
      'no valid plan was proposed before the deadline: edits[0].taskId: there is no task "x"; known are none',
    );
  });

  it('ends with the words of the planner that comes to none', () => {
    const message = 'no model is configured; set OPENAI_BASE_URL, OPENAI_API_KEY and ORRERY_MODEL';
    const story = new Story().when(ask()).when(giveUp('e1', message));
    expect(story.told).toEqual(['EDIT_ABANDONED e1 PLANNER_FAILED', 'RUN_FAILED PLAN_FAILED']);
    expect(story.last?.events[0]).toMatchObject({ data: { planHash: HASH, used: NO_USAGE, reason: { message } } });
    expect(viewOf(story.run)).toMatchObject({
      reason: message,
      answer: { text: 'Nothing was done.', by: 'collected', evidence: [], failures: [] },
    });
  });
});

describe('a round that fails', () => {
  const asked = () => halfway();

  it('ends, and the run goes on without it', () => {
    const story = asked().when(giveUp('e2', 'the model is away'));
    expect(story.told).toEqual([
      'EDIT_ABANDONED e2 PLANNER_FAILED',
      'TASK_SKIPPED c by failure',
      'EDIT_OPENED e3 end-of-plan scoped',
    ]);
    expect(story.when(giveUp('e3', 'the model is away')).told).toEqual([
      'EDIT_ABANDONED e3 PLANNER_FAILED',
      'RUN_COMPLETED partially_failed',
    ]);
  });

  it('is a word of the planner: it is not silent any more', () => {
    const story = new Story().when(ask({ options: { editDeadlineMs: 1_000, editPolicy: 'every-result' } }));
    story.when(propose('e1', [build(constellation(['a', 'b', 'c'], ['a->b', 'b->c']))])).when(completed('a'));
    story.at(1_000).when({ kind: 'wake' });
    expect(story.run.plannerSilent).toBe(true);
    story.when(completed('b'));
    expect(story.when(giveUp(story.run.editing?.editId ?? '', 'no idea')).run.plannerSilent).toBe(false);
  });

  it.each([
    { what: 'a round that is over', input: giveUp('e1', 'late'), reason: 'ROUND_IS_OVER' },
    { what: 'a round that never was', input: giveUp('e9', 'early'), reason: 'ROUND_IS_OVER' },
  ])('is ignored of $what', ({ input, reason }) => {
    const story = asked().when(input);
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason });
    expect(story.told).toEqual([]);
  });

  it('is ignored of a try that was judged, and of a run that has ended or never was', () => {
    const story = asked().when(imagine('e2', [{ tool: 'remove_task', taskId: 'x' }]));
    expect(story.when(giveUp('e2', 'late')).answers.at(-1)).toEqual({ kind: 'ignored', reason: 'REPEATED_TRY' });
    expect(story.when(giveUp('e2', 'indeed', { try: 2 })).answers.at(-1)).toEqual({ kind: 'accepted' });
    const over = asked()
      .when(verb({ verb: 'CANCEL' }))
      .when(giveUp('e2', 'late'));
    expect(over.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'ROUND_IS_OVER' });
    expect(new Story().when(giveUp('e1', 'x')).answers).toEqual([{ kind: 'ignored', reason: 'ROUND_IS_OVER' }]);
  });
});

describe('the evaluation of a run', () => {
  const evaluation: Evaluation = {
    reason: 'the update failed',
    sub_scores: [{ name: 'update', evaluation: 'no' }],
    complete: 'no',
  };
  const used = { llmCalls: 1, tokens: 900, commands: 0, costUsd: 0.01 };
  const evaluated: Input = { kind: 'evaluated', evaluation, used, planHash: HASH };
  const ended = () => halfway().when(imagine('e2', [], { state: 'FINISH' }));

  it('is added to what has ended, once', () => {
    const story = ended().at(500).when(evaluated);
    expect(story.last?.events).toEqual([
      {
        type: 'RUN_ANNOTATED',
        data: { kind: 'evaluation', evaluation, used, planHash: HASH, annotatedAt: instant(500) },
      },
    ]);
    expect(viewOf(story.run)).toMatchObject({ status: 'COMPLETED', evaluation });
    const again = { ...evaluation, complete: 'yes' as const };
    story.when({ ...evaluated, evaluation: again });
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'EVALUATED_BEFORE' });
    expect(viewOf(story.run).evaluation).toEqual(evaluation);
  });

  it('comes too early before the end', () => {
    const story = halfway().when(evaluated);
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'NOT_ENDED' });
    expect(viewOf(story.run).evaluation).toBeNull();
  });

  it('is of the end that a retry takes back, and of no other', () => {
    const story = ended()
      .when(evaluated)
      .when(verb({ verb: 'RETRY', taskId: 'b' }));
    expect(viewOf(story.run).evaluation).toBeNull();
  });

  it('changes nothing but itself', () => {
    const [before, after] = [ended(), ended().when(evaluated)];
    expect({ ...viewOf(after.run), evaluation: null }).toEqual(viewOf(before.run));
  });
});

it('an end with its answer can be recorded and read again', () => {
  const story = halfway().when(imagine('e2', [], { state: 'FINISH', answer: { text: 'Enough.', evidence: ['a'] } }));
  const events = story.events.map((event, index) => ({
    id: `e-${index + 1}`,
    sequence: index + 1,
    schemaVersion: 1,
    ...event,
  }));
  const commit = {
    commit: '0'.repeat(26),
    number: 1,
    at: instant(0),
    by: { service: 's', instance: 'i' },
    causes: [{ kind: 'plan', id: 'e2.1' }],
    prevHash: HASH,
    hash: HASH,
    runId: 'r'.repeat(26),
    events,
  };
  expect(RunCommit.safeParse(JSON.parse(JSON.stringify(commit))).error?.issues ?? []).toEqual([]);
});
