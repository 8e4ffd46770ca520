import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { RunOptions } from '#proto';
import {
  ALICE,
  add,
  ask,
  change,
  completed,
  constellation,
  failed,
  imagine,
  insert,
  Story,
  submit,
} from '../testing/given.js';

const CHECK = { verify: { condition: 'result.exit_code == 0' } };
const REPLACES_A = { replaces: ['a'] };
const PLANNED: RunOptions = { editPolicy: 'when-needed' };

const given = (
  tasks: Parameters<typeof constellation>[0],
  lines: readonly string[] = [],
  options: RunOptions = {},
): Story => new Story().when(submit(constellation(tasks, lines), { options }));
const finish = (round: string) => imagine(round, [], { state: 'FINISH' });
/** Task a, which has a check, has failed, and a model has put b in its place. */
const replaced = (check: object = CHECK): Story =>
  given([{ id: 'a', ...check }, 'c'], [], PLANNED)
    .when(completed('c'), failed('a'))
    .when(imagine('e1', [add.task('b', REPLACES_A)]));

const SUCCEEDED = 'COMPLETED, succeeded';
const PARTIALLY = 'COMPLETED, partially_failed';

const ROWS: readonly (readonly [what: string, story: () => Story, end: string])[] = [
  ['Every task completed', () => given(['a']).when(completed('a')), SUCCEEDED],
  [
    'A condition passed a branch by',
    () => given(['a', 'b'], ['a?result.exit_code == 1>b']).when(completed('a')),
    SUCCEEDED,
  ],
  [
    'Nothing failed, and what cleans up after a failure was skipped',
    () => given(['a', 'b'], ['a!>b']).when(completed('a')),
    SUCCEEDED,
  ],
  [
    'The planner says FINISH, and something pending was not needed',
    () =>
      given([{ id: 'a', review: true }, 'b'], ['a=>b'], PLANNED)
        .when(completed('a'))
        .when(finish('e1')),
    SUCCEEDED,
  ],
  ['A goal for which nothing is to be done', () => new Story().when(ask()).when(finish('e1')), SUCCEEDED],
  ['A task failed, another one completed', () => given(['a', 'b']).when(failed('a'), completed('b')), PARTIALLY],
  [
    'A task failed, and what cleans up after it completed',
    () => given(['a', 'b'], ['a!>b']).when(failed('a')).when(completed('b')),
    PARTIALLY,
  ],
  [
    'What needed a failed task was skipped',
    () => given(['a', 'b', 'c'], ['a=>b']).when(failed('a'), completed('c')),
    PARTIALLY,
  ],
  [
    'A failed task was replaced, and the replacement met its `verify`',
    () => replaced().when(completed('b')).when(finish('e2')),
    SUCCEEDED,
  ],
  [
    'The replacement failed, and was replaced by one that met it',
    () =>
      replaced()
        .when(failed('b'))
        .when(imagine('e2', [add.task('d', { replaces: ['b'] })]))
        .when(completed('d'))
        .when(finish('e3')),
    SUCCEEDED,
  ],
  ['The replacement failed', () => replaced().when(failed('b')).when(finish('e2')), PARTIALLY],
  [
    'What waited for a failed task was skipped, though the task itself was replaced',
    () =>
      given([{ id: 'a', ...CHECK }, 'c'], ['a=>c'], PLANNED)
        .when(failed('a'))
        .when(imagine('e1', [add.task('b', REPLACES_A)]))
        .when(completed('b'))
        .when(finish('e2')),
    PARTIALLY,
  ],
  [
    'A model put a replacement in the place of a task without `verify`',
    () => replaced({}).when(completed('b')).when(finish('e2')),
    PARTIALLY,
  ],
  [
    'The same, and a person agreed to it',
    () =>
      replaced({})
        .when(insert([change.task('b', REPLACES_A)], { by: ALICE }))
        .when(completed('b'))
        .when(finish('e2')),
    SUCCEEDED,
  ],
  [
    'The same, named by a person or in the request',
    () =>
      given(['a', { id: 'b', replaces: ['a'] }], ['a?status == "FAILED">b'])
        .when(failed('a'))
        .when(completed('b')),
    SUCCEEDED,
  ],
  ['No task completed', () => given(['a']).when(failed('a')), 'FAILED, NO_TASK_COMPLETED'],
  [
    'The planner says FAIL',
    () => new Story().when(ask()).when(imagine('e1', [], { state: 'FAIL' })),
    'FAILED, PLAN_FAILED',
  ],
  [
    'The deadline of the run passed',
    () =>
      given(['a', 'b'], ['a->b'])
        .at(24 * 60 * 60_000)
        .when({ kind: 'wake' })
        .when(failed('a', 1, 'cancelled')),
    'FAILED, DEADLINE',
  ],
  [
    'Nothing was left of the budget',
    () => given(['a', 'b'], ['a->b'], { budget: { commands: 1 } }).when(completed('a')),
    'FAILED, BUDGET_EXHAUSTED',
  ],
  [
    'Somebody cancelled it',
    () =>
      given(['a'])
        .when({ kind: 'verb', id: 'v', by: ALICE, action: { verb: 'CANCEL' } })
        .when(failed('a', 1, 'cancelled')),
    'CANCELLED',
  ],
];

function endOf({ run, events }: Story): string {
  const last = events.at(-1);
  if (last?.type === 'RUN_FAILED') return `${run.phase}, ${last.data.reason.code}`;
  return run.outcome === null ? run.phase : `${run.phase}, ${run.outcome}`;
}

describe('what a run comes to', () => {
  it.each(ROWS)('%s', (_, story, end) => expect(endOf(story())).toBe(end));

  it('stands in the documentation, row by row', async () => {
    const text = await readFile(new URL('../../../docs/constellation.md', import.meta.url), 'utf8');
    const section = text.slice(text.indexOf('## What a run comes to'));
    const rows = [...section.matchAll(/^\| (?<what>[^|]+?) +\| (?<end>`[^|]+`) +\| (?<exit>\d) +\|$/gmu)];
    expect(rows.map(({ groups }) => [groups?.['what'], groups?.['end'], groups?.['exit']])).toEqual(
      ROWS.map(([what, , end]) => [what, `\`${end}\``, end === SUCCEEDED ? '0' : '2']),
    );
  });
});
