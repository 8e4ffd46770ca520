import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ConstellationSnapshot, type ResultFile } from '#proto';
import { add, ask, completed, constellation, failed, propose, Story, submit } from '../testing/given.js';
import { PersistentArray } from '../values/index.js';
import { excerptOf, resultText, SNAPSHOT_RESULT_CHARS, snapshotOf } from './snapshot.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

const plan = constellation(
  [
    'a',
    { id: 'b', target: { tags: ['db'] }, description: 'say it', tips: ['short'], inputs: ['a'], review: true },
    'c',
    'd',
  ],
  ['a->b', 'b=>c', 'a?result.exit_code == 1>d'],
);

function taskOf(snapshot: ConstellationSnapshot, id: string) {
  return snapshot.tasks.find(({ task_id }) => task_id === id);
}

describe('a snapshot', () => {
  const story = new Story().when(submit(plan)).when(completed('a', 1, 'fine'));

  it('shows each task with what it is and what has become of it', () => {
    const snapshot = snapshotOf(story.run);
    expect(taskOf(snapshot, 'a')).toStrictEqual({
      task_id: 'a',
      name: 'a',
      description: '',
      tips: [],
      target_device_id: 'web-1',
      command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
      status: 'COMPLETED',
      attempts: 1,
      device_id: 'web-1',
      result: 'fine',
      error: null,
      modifiable: false,
    });
    expect(taskOf(snapshot, 'b')).toMatchObject({
      target: { tags: ['db'] },
      tips: ['short'],
      inputs: ['a'],
      review: true,
      status: 'RUNNING',
      result: null,
      modifiable: false,
    });
    expect(taskOf(snapshot, 'b')).not.toHaveProperty('target_device_id');
    expect(taskOf(snapshot, 'c')).toMatchObject({ status: 'PENDING', attempts: 0, device_id: null, modifiable: true });
  });

  it('shows each dependency with what it came to, and whether it may still change', () => {
    expect(snapshotOf(story.run).dependencies).toStrictEqual([
      {
        dependency_id: 'a-b',
        from_task_id: 'a',
        to_task_id: 'b',
        type: 'unconditional',
        satisfied: true,
        modifiable: false,
      },
      {
        dependency_id: 'b-c',
        from_task_id: 'b',
        to_task_id: 'c',
        type: 'success-only',
        satisfied: null,
        modifiable: true,
      },
      {
        dependency_id: 'a-d',
        from_task_id: 'a',
        to_task_id: 'd',
        type: 'conditional',
        condition: 'result.exit_code == 1',
        satisfied: false,
        modifiable: false,
      },
    ]);
  });

  it('says of which run, of which revision and as of which event it is', () => {
    const { run } = new Story().when(submit(plan));
    const at = { ...run, sequence: 7 };
    expect(snapshotOf(at)).toMatchObject({
      run_id: 'run-1',
      name: 'test',
      status: 'RUNNING',
      revision: 1,
      sequence: 7,
    });
  });

  it('says why a task failed, was skipped or cancelled', () => {
    const over = new Story().when(submit(plan)).when(failed('a', 1, 'unknown'));
    const snapshot = snapshotOf(over.run);
    expect(taskOf(snapshot, 'a')?.error).toBe('EXIT_CODE (unknown): exit code 1');
    expect(taskOf(snapshot, 'd')?.error).toMatch(/^CONDITION_UNDECIDABLE: .*line a-d/u);
    expect(taskOf(snapshotOf(new Story().when(submit(plan)).when(failed('a')).run), 'a')?.error).toBe(
      'EXIT_CODE: exit code 1',
    );
  });

  it('is what the schema says, also of a goal without a plan', () => {
    expect(ConstellationSnapshot.parse(snapshotOf(story.run))).toEqual(snapshotOf(story.run));
    const goal = snapshotOf(new Story().when(ask()).run);
    expect(goal).toMatchObject({ status: 'PLANNING', tasks: [], dependencies: [], revision: 0 });
    expect(ConstellationSnapshot.parse(goal)).toEqual(goal);
  });

  it('has room for so many characters of a result and no more', () => {
    const long = new Story().when(submit(plan)).when(completed('a', 1, 'x'.repeat(2_000)));
    expect(taskOf(snapshotOf(long.run), 'a')?.result).toHaveLength(SNAPSHOT_RESULT_CHARS);
    expect(taskOf(snapshotOf(long.run, { resultChars: 30 }), 'a')?.result).toHaveLength(30);
  });

  it('says what tasks write on the board', () => {
    const board = [{ name: 'free', field: 'stdout' }];
    const { run } = new Story().when(submit(constellation(['a', { id: 'b', board }])));
    expect(snapshotOf(run).tasks.map((task) => task.board)).toEqual([undefined, board]);
    expect(ConstellationSnapshot.parse(snapshotOf(run))).toEqual(snapshotOf(run));
  });

  it('names what tasks left for others, the first of many', () => {
    const left = Array.from({ length: 50 }, (_, index) => ({
      name: `${index}.log`,
      mediaType: 'text/plain',
      path: `logs/${index}.log`,
      mode: '640',
      artifact: { sha256: 'a'.repeat(64), bytes: index },
    }));
    const image = { name: 'image-1.png', mediaType: 'image/png', problem: 'not kept' };
    const { run } = new Story().when(submit(plan)).when(completed('a', 1, 'done'));
    const withFiles = (files: ResultFile[], all?: number): string[] | undefined => {
      const fileList = all && { files: all, bytes: 9, artifact: { sha256: 'b'.repeat(64), bytes: 9 } };
      const tasks = [...run.tasks].map((task) =>
        task.result === null ? task : { ...task, result: { ...task.result, files, ...(fileList && { fileList }) } },
      );
      const snapshot = snapshotOf({ ...run, tasks: PersistentArray.from(tasks) });
      expect(ConstellationSnapshot.parse(snapshot)).toEqual(snapshot);
      return taskOf(snapshot, 'a')?.files_left;
    };
    expect(withFiles([image])).toBeUndefined();
    expect(withFiles([...left.slice(0, 1), image])).toEqual([
      `logs/0.log: mode 640, 0 bytes, SHA-256 ${'a'.repeat(64)}`,
    ]);
    const many = withFiles(left, 62);
    expect(many?.length).toBe(11);
    expect(many?.at(-1)).toBe('and 52 more');
  });

  it('shows a description of a dependency', () => {
    const described = { tool: 'update_dependency', lineId: 'b-c', change: { description: 'when b went well' } };
    const edited = new Story().when(submit(plan)).when(propose(null, [described, add.task('e')]));
    expect(snapshotOf(edited.run).dependencies[1]).toMatchObject({ condition_description: 'when b went well' });
    expect(snapshotOf(edited.run).revision).toBe(2);
  });
});

describe('the text of a result', () => {
  const shell = { stdout: 'one\n', stderr: '', exit_code: 0, command: 'x' };

  it.each([
    ['a text as it is', 'done', 'done'],
    ['what a command wrote', shell, 'one'],
    ['how it ended when it did not end well', { ...shell, exit_code: 3 }, 'exit code 3\none'],
    ['that it ended well when it wrote nothing', { ...shell, stdout: '\n' }, 'exit code 0'],
    ['what it complained about', { ...shell, stderr: 'oh\n' }, 'one\nstderr: oh'],
    ['anything else as JSON', { free: [1, 2] }, '{"free":[1,2]}'],
    ['what only looks like a command', { stdout: 'x', stderr: 'y' }, '{"stdout":"x","stderr":"y"}'],
    ['nothing', null, 'null'],
    ['a list', ['a'], '["a"]'],
  ])('is %s', (_, value, text) => expect(resultText(value)).toBe(text));
});

describe('an excerpt', () => {
  it('is the text itself when it fits', () => expect(excerptOf('  a\n\tb\r\nc  ', 10)).toBe('a\n\tb\nc'));

  it('is head and tail when it does not', () => {
    const text = `${'a'.repeat(50)}${'z'.repeat(50)}`;
    expect(excerptOf(text, 20)).toBe(`${'a'.repeat(12)} [...] z`);
  });

  it('has no escape sequence, no change of direction and no half of a character', () => {
    expect(excerptOf('\u001b[2Jred\u202e\u0000', 100)).toBe(String.raw`\u001b[2Jred\u202e\u0000`);
    expect(excerptOf(`${'a'.repeat(11)}${'😀'.repeat(20)}`, 20).isWellFormed()).toBe(true);
  });

  it('never exceeds its room, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 300 }),
        fc.integer({ min: 0, max: 120 }),
        (text, chars) => {
          const shown = excerptOf(text, chars);
          expect(shown.length).toBeLessThanOrEqual(chars);
          expect(shown.isWellFormed()).toBe(true);
          expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u);
        },
      ),
      { seed: 20_262, numRuns: 300 },
    );
  });
});
