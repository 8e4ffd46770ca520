import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AttemptEvent, type TaskResult, WORKSPACE_OUT } from '#proto';
import { attemptOutputs } from '#libs/testing';
import { LineSearch, matcherOf } from './line-search.js';
import { NoSuchOutputError, placeOfOutput, recordedCommands, selectedCommands } from './recorded-commands.js';
import { RecordedLines } from './recorded-lines.js';
import { emptyNote, partNote, taskNotes } from './recorded-notes.js';

const { attemptCommit, finishedCommand, printed, runView, taskView } = attemptOutputs;

const runId = 'r1';
const planned = {
  type: 'STEP_PLANNED',
  data: { step: 1, agent: 'LinuxAgent', status: 'FINISH' },
} as unknown as AttemptEvent;
const finished = (result: TaskResult): AttemptEvent => ({
  type: 'ATTEMPT_FINISHED',
  data: { status: 'completed', result },
});
const tasks = [taskView('backup'), taskView('web'), taskView('late', { status: 'SKIPPED' })];
const view = runView(runId, tasks);
const refusal = { code: 'DENIED', message: 'the policy denies it', outcome: 'failed' } as const;
const commits = [
  attemptCommit({ runId, taskId: 'backup' }, [finishedCommand({ runId, taskId: 'backup' }, printed('one', '', 3))]),
  attemptCommit({ runId, taskId: 'backup', attempt: 2 }, [
    finishedCommand({ runId, taskId: 'backup', attempt: 2 }, printed('two')),
    finished(printed('two')),
  ]),
  attemptCommit({ runId, taskId: 'web' }, [
    planned,
    finishedCommand({ runId, taskId: 'web', step: 1 }, printed('looked')),
    finishedCommand({ runId, taskId: 'web', step: 2 }, null, { state: 'FAILED', refused: true, error: refusal }),
    finishedCommand({ runId, taskId: 'web', step: 3 }, null, { state: 'OUTCOME_UNKNOWN' }),
    finished({ value: 'all is well' }),
  ]),
].map(({ commit }) => commit);
const commands = recordedCommands(commits, view);
const placesOf = (selection: Parameters<typeof selectedCommands>[2]) =>
  selectedCommands(commands, view, selection).map(placeOfOutput);

describe('the commands of a run', () => {
  it('are those that have ended, and what agents answered; of an exact command its output is the answer', () =>
    expect(commands.map(placeOfOutput)).toEqual([
      'backup/1/0.0',
      'backup/2/0.0',
      'web/1/1.0',
      'web/1/2.0',
      'web/1/3.0',
      'web/1/answer',
    ]));

  it.each<[string, Parameters<typeof selectedCommands>[2], string[]]>([
    ['a task', { taskId: 'backup' }, ['backup/1/0.0', 'backup/2/0.0']],
    ['an attempt', { taskId: 'backup', attempt: 2 }, ['backup/2/0.0']],
    ['a step', { step: 1 }, ['web/1/1.0']],
    ['one command of it', { step: 1, index: 0 }, ['web/1/1.0']],
    ['what did not go well', { failed: true }, ['backup/1/0.0', 'web/1/2.0', 'web/1/3.0']],
    ['a task that ran nothing', { taskId: 'late' }, []],
  ])('are found by %s', (_, selection, places) => expect(placesOf(selection)).toEqual(places));

  it.each<[Parameters<typeof selectedCommands>[2], string]>([
    [{ taskId: 'nobody' }, 'Run r1 has no task nobody; see: orrery show r1'],
    [{ taskId: 'backup', attempt: 3 }, 'No output of attempt 3 is recorded; there is backup/1/0.0, backup/2/0.0.'],
    [
      { taskId: 'backup', step: 1, index: 4 },
      'No output of step 1.4 is recorded; there is backup/1/0.0, backup/2/0.0.',
    ],
  ])('%j that is not there is said, with what is', (selection, sentence) =>
    expect(() => placesOf(selection)).toThrow(new NoSuchOutputError(sentence)),
  );

  it('have what their task came to where the attempt lies in another run', () => {
    const forked = runView('r2', [taskView('backup', { result: printed('two') })]);
    expect(recordedCommands([], forked)).toMatchObject([{ taskId: 'backup', commandId: null, result: printed('two') }]);
  });
});

describe('what is said about outputs', () => {
  it('tells who wrote nothing from who was not seen', () => {
    const silent = commands.slice(0, 1).map((command) => ({ ...command, result: printed('') }));
    expect([...silent, ...commands.slice(3, 5)].map(emptyNote)).toEqual([
      'backup/1/0.0 wrote nothing',
      'web/1/2.0 never ran: the policy denies it',
      'web/1/3.0: what it wrote is not known; it ended OUTCOME_UNKNOWN',
    ]);
  });

  it('says of who moves files that it writes nothing, and not that it was not seen', () => {
    const change = { call: { tool: WORKSPACE_OUT, arguments: {} }, error: '"-rf" has no name' };
    expect(commands.slice(4, 5).map((command) => emptyNote({ ...command, ...change }))).toEqual([
      'web/1/3.0 moves files and writes nothing; it ended OUTCOME_UNKNOWN: "-rf" has no name',
    ]);
  });

  it('says how much of a part is missing, and why', () =>
    expect(
      commands
        .slice(0, 1)
        .map((of) => partNote(of, { stream: 'stdout', bytes: 9_000, kept: 'part', why: 'the disk was full' })),
    ).toEqual(['backup/1/0.0 stdout: not all 9000 bytes of it are kept: the disk was full']));

  it('names the tasks that have nothing, and those that still run', () => {
    const going = runView(runId, [
      ...tasks,
      taskView('now', { status: 'RUNNING' }),
      taskView('then', { status: 'PENDING' }),
    ]);
    expect(taskNotes(going, commands, {})).toEqual([
      'late: no command of it has an output that is recorded; it is SKIPPED',
      'now is RUNNING: what runs there now is recorded when it has ended',
      'then is PENDING: nothing ran yet',
    ]);
    const again = runView(runId, [taskView('web', { status: 'RUNNING' })]);
    expect(taskNotes(again, commands, {})).toEqual([
      'web is still running: what runs there now is recorded when it has ended',
    ]);
  });
});

describe('a search in lines', () => {
  it('finds what grep finds, each line once and in order', () => {
    const line = fc.constantFrom('', 'error', 'ok', 'an error here');
    const around = fc.nat({ max: 3 });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), around, around, (lines, before, after) => {
        const search = new LineSearch(matcherOf({ pattern: 'error' }), { before, after });
        const near = (at: number): boolean =>
          lines.some((text, index) => text.includes('error') && at >= index - before && at <= index + after);
        const wanted = lines.flatMap((text, at) =>
          near(at) ? [{ line: at + 1, text, match: text.includes('error') }] : [],
        );
        expect(lines.flatMap((text) => search.push(text))).toEqual(wanted);
      }),
      { seed: 17, numRuns: 200 },
    );
  });

  it.each([
    [{ pattern: 'DISK.*full', ignoreCase: true }, '\u001B[31mdisk\u001B[0m is full', true],
    [{ pattern: 'a.c', fixed: true }, 'abc', false],
    [{ pattern: 'A.C', fixed: true, ignoreCase: true }, 'xa.cx', true],
  ])('%j in %j: %p', (wish, text, found) => expect(matcherOf(wish)(text)).toBe(found));

  it('takes no more time for a pattern that others never end with', () =>
    expect(matcherOf({ pattern: '(a+)+$' })(`${'a'.repeat(30_000)}b`)).toBe(false));

  it('refuses what is no pattern in one sentence', () =>
    expect(() => matcherOf({ pattern: '(' })).toThrow(/^the pattern is no regular expression of RE2: .*missing/u));
});

describe('recorded lines', () => {
  const of = { taskId: 'web', attempt: 1, commandId: 'r1.web.1.1.0' } as const;
  const piece = (stream: 'stdout' | 'stderr', text: string, offset = 0) =>
    ({ type: 'output', ...of, deviceId: 'web-1', stream, offset, text }) as const;
  const found = (line: number, match: boolean) =>
    ({ type: 'line', ...of, stream: 'stdout', line, match, text: `line ${line}` }) as const;
  const said = (lines: RecordedLines, items: readonly Parameters<RecordedLines['push']>[0][]): string[] =>
    [...items.flatMap((item) => lines.push(item)), ...lines.end()].map(({ label, text }) => `${label} ${text}`.trim());

  it('have their place, and half a line ends with its stream', () =>
    expect(
      said(new RecordedLines({ isAlone: false }), [
        piece('stdout', 'one\ntw'),
        piece('stdout', 'o', 6),
        piece('stderr', 'careful'),
        { type: 'note', text: 'not all' },
      ]),
    ).toEqual(['web/1/1.0 stdout | one', 'web/1/1.0 stdout | two', 'web/1/1.0 stderr | careful', 'not all']));

  it('need none where only one command wrote', () =>
    expect(said(new RecordedLines({ isAlone: true }), [piece('stdout', 'one\n')])).toEqual(['one']));

  it('that were looked for have their number, and groups are set apart', () => {
    const items = [found(1, false), found(2, true), found(7, true)];
    expect(said(new RecordedLines({ isAlone: true, hasContext: true }), items)).toEqual([
      '1- line 1',
      '2: line 2',
      '--',
      '7: line 7',
    ]);
    expect(said(new RecordedLines({ isAlone: false }), items.slice(2))).toEqual(['web/1/1.0 stdout 7: line 7']);
  });
});
