import { describe, expect, it } from '@jest/globals';
import type { ResultFile, TaskView } from '#proto';
import { asTyped, kindOfValue, valueTyped, shownJson } from './json-text.js';
import { bytesText } from './sizes.js';
import { filesOfRun, isDropped } from './task-files.js';

describe('a value that is typed', () => {
  it.each([
    ['412', 412, 'number'],
    ['true', true, 'flag'],
    ['null', null, 'nothing'],
    ['["db-1"]', ['db-1'], 'list'],
    ['{"a":1}', { a: 1 }, 'object'],
    ['db-1', 'db-1', 'text'],
    ['{"a":', '{"a":', 'text'],
    ['', '', 'text'],
  ])('%s is what JSON makes of it, or else a text', (typed, value, kind) => {
    expect(valueTyped(typed)).toEqual(value);
    expect(kindOfValue(valueTyped(typed))).toBe(kind);
  });

  it('is a text in any case where that is wanted', () => {
    expect(valueTyped('412', true)).toBe('412');
  });

  it.each([['db-1'], ['412'], ['"quoted"'], [''], [412], [null], [{ hosts: ['a'] }]])(
    '%j is typed so that it stays what it is',
    (value) => {
      expect(valueTyped(asTyped(value))).toEqual(value);
    },
  );

  it('is shown on one line where it is short, and a text as it is', () => {
    expect(shownJson('a\nb')).toBe('a\nb');
    expect(shownJson([1, 2])).toBe('[1,2]');
    expect(shownJson({ text: 'x'.repeat(100) })).toContain('\n');
  });
});

it.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KiB'],
  [12 * 1_024 ** 2, '12 MiB'],
  [3 * 1_024 ** 5, '3072 TiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

describe('the files of a run', () => {
  const file = (name: string, path?: string): ResultFile => ({
    name,
    mediaType: 'text/plain',
    artifact: { sha256: 'a'.repeat(64), bytes: 3 },
    ...(path !== undefined && { path, mode: '644' }),
  });
  const task = (id: string, parts: Partial<TaskView>): TaskView => ({
    id,
    name: `task ${id}`,
    status: 'COMPLETED',
    attempts: 1,
    device: 'web-1',
    result: null,
    error: null,
    reason: null,
    held: false,
    recoveredBy: null,
    startedAt: null,
    endedAt: null,
    ...parts,
  });

  it('are those of all tasks in their order, by their places in the workspace, also of what failed', () => {
    const { files } = filesOfRun({
      tasks: [
        task('one', { result: { value: 'done', files: [file('a.log', 'logs/a.log'), file('image-1.png')] } }),
        task('two', {}),
        task('three', {
          error: {
            code: 'EXIT_CODE',
            message: 'no',
            outcome: 'failed',
            output: { value: null, files: [file('core.txt')] },
          },
        }),
      ],
    });
    expect(files.map(({ taskId, path }) => [taskId, path])).toEqual([
      ['one', 'logs/a.log'],
      ['one', 'image-1.png'],
      ['three', 'core.txt'],
    ]);
  });

  it('are told apart from pictures that are kept no longer', () => {
    const [gone, kept] = ['a', 'b'].map((digit) => ({ sha256: digit.repeat(64), bytes: 9 }));
    const dropped = new Set([gone?.sha256 ?? '']);
    const files = [{ artifact: gone }, { artifact: kept }, {}].map((one) => ({
      name: 'a',
      mediaType: 'image/png',
      ...one,
    }));
    const told = files.map((one) => isDropped(one, dropped));
    expect(told).toEqual([true, false, false]);
  });

  it('are a list elsewhere where a task has left more than its result names', () => {
    const artifact = { sha256: 'b'.repeat(64), bytes: 9_000 };
    const result = { value: null, files: [file('a')], fileList: { files: 400, bytes: 5_000, artifact } };
    expect(filesOfRun({ tasks: [task('many', { result })] }).more).toEqual([
      { taskId: 'many', files: 400, bytes: 5_000, sha256: artifact.sha256 },
    ]);
  });
});
