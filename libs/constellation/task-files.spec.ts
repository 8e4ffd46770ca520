import { describe, expect, it } from '@jest/globals';
import { Edit, HAS_WORKSPACES, parseWith, type RunEventData, TaskFiles, type TaskConstellation } from '#proto';
import { applyEdits } from './edits/edit.js';
import { checkTargets } from './edits/fleet-view.js';
import { validateConstellation } from './plan/validate.js';
import {
  ALICE,
  change,
  completed,
  constellation,
  device,
  failed,
  fleet,
  insert,
  instant,
  remove,
  Story,
  submit,
  T0,
  verb,
} from './testing/given.js';

const CAPABLE = { capabilities: ['cli', HAS_WORKSPACES] };
const FLEET = fleet([device('web-1', CAPABLE), device('db-1', CAPABLE)]);

/** Two tasks that collect, and one that makes a table of what they leave. */
const plan = (into: unknown, left: readonly (readonly string[])[] = [['a.log'], ['b.log']]): TaskConstellation =>
  constellation(
    [
      { id: 'a', files: { out: [...(left[0] ?? [])] } },
      { id: 'b', target: { device: 'db-1' }, ...(left[1] && { files: { out: [...left[1]] } }) },
      { id: 'table', files: TaskFiles.parse({ in: into, out: ['table.csv'] }) },
      'far',
    ],
    ['a=>table', 'b=>table'],
  );
const issues = (into: unknown, left?: readonly (readonly string[])[]) => validateConstellation(plan(into, left));
const startOf = (story: Story, taskId: string): RunEventData<'TASK_STARTED'>[] =>
  story.events.flatMap((event) => (event.type === 'TASK_STARTED' && event.data.taskId === taskId ? [event.data] : []));

describe('files of a task', () => {
  it.each([
    ['nothing', {}, ''],
    ['a list without an entry', { out: [] }, 'files.out'],
    ['a path from the root', { out: ['/etc/passwd'] }, 'files.out[0]'],
    ['a way out of the workspace', { out: ['../x'] }, 'files.out[0]'],
    ['a name that begins with a dot', { out: ['.ssh/*'] }, 'files.out[0]'],
    ['braces', { out: ['{a,b}'] }, 'files.out[0]'],
    ['a new line', { out: ['a\nb'] }, 'files.out[0]'],
    ['a pattern of 257 characters', { out: ['x/'.repeat(128) + 'y'] }, 'files.out[0]'],
    ['21 patterns', { out: Array.from({ length: 21 }, (_, index) => `f${index}`) }, 'files.out'],
    ['a place outside of the workspace', { in: [{ from: 'a', to: '/tmp/' }] }, 'files.in[0].to'],
    ['a field that is none', { in: [{ from: 'a', files: '*' }] }, 'files.in[0].files'],
  ])('are not %s', (_, files, path) => {
    const parsed = parseWith(TaskFiles, files);
    const paths = parsed.ok ? [] : parsed.issues.map((issue) => issue.path);
    expect([...new Set(paths)]).toEqual([path.replace(/^files\.?/u, '')]);
  });

  it('come from predecessors that leave some, said names among those', () => {
    expect(issues(['a', { from: 'b', file: 'b.log', to: 'b/' }])).toEqual([]);
    expect(issues(['a', 'far', { from: 'nobody' }])).toEqual([
      { path: 'tasks[2].files.in[1]', message: '"far" is not a predecessor of "table"; its predecessors are a, b' },
      {
        path: 'tasks[2].files.in[2].from',
        message: '"nobody" is not a predecessor of "table"; its predecessors are a, b',
      },
    ]);
    expect(issues(['b'], [['a.log']])).toMatchObject([
      { path: 'tasks[2].files.in[0]', message: expect.stringContaining('"b" leaves no files; name them there') },
    ]);
    expect(issues([{ from: 'a', file: 'reprot.csv' }], [['report.csv', 'logs/*'], ['x']])).toEqual([
      {
        path: 'tasks[2].files.in[0].file',
        message: '"a" leaves no "reprot.csv"; it leaves report.csv, logs/*; did you mean "report.csv"?',
      },
    ]);
    expect(issues([{ from: 'a', file: 'logs/x.log' }], [['report.csv', 'logs/*'], ['x']])).toEqual([]);
  });

  it('do not land at one place, as far as their names are said', () => {
    const clash = (into: unknown, left: readonly string[][]) => issues(into, left).map(({ path }) => path);
    expect(issues(['a', 'b'], [['x.log'], ['x.log']])).toEqual([
      {
        path: 'tasks[2].files.in[1]',
        message:
          '"x.log" of "a" and "x.log" of "b" would both land at "x.log"; give one another place, e.g. {"from": "b", "to": "b/"}',
      },
    ]);
    expect(clash(['a', { from: 'b', to: 'b/' }], [['x.log'], ['x.log']])).toEqual([]);
    expect(clash(['a', 'b'], [['x'], ['x/y.log']])).toEqual(['tasks[2].files.in[1]']);
    expect(clash(['a', { from: 'a', file: 'x.log' }], [['x.log'], ['y']])).toEqual([]);
    expect(
      clash(
        [
          { from: 'a', to: 'one.log' },
          { from: 'b', to: 'one.log' },
        ],
        [['x'], ['y']],
      ),
    ).toEqual(['tasks[2].files.in[1].to']);
    // Globs find what they find: that is told when it is found.
    expect(clash(['a', 'b'], [['*.log'], ['*.log']])).toEqual([]);
  });

  it('have the path of one file for one file alone', () => {
    expect(issues([{ from: 'a', file: '*.log', to: 'one.log' }])).toMatchObject([
      { path: 'tasks[2].files.in[0].to', message: expect.stringContaining('more than one may come') },
    ]);
    expect(
      issues([
        { from: 'a', file: '*.log', to: 'logs/' },
        { from: 'b', to: 'b.txt' },
      ]),
    ).toEqual([]);
  });

  it('are not moved by a command of the plan', () => {
    const [task] = constellation([
      { id: 'a', command: { tool: 'WORKSPACE_OUT', arguments: { patterns: ['x'] } } },
    ]).tasks;
    expect(validateConstellation({ name: 'n', tasks: task === undefined ? [] : [task], lines: [] })).toMatchObject([
      { path: 'tasks[0].command.tool', message: expect.stringContaining('name the files of the task') },
    ]);
  });

  it('name the attempts that made them when the task starts, and every command works in the workspace', () => {
    const story = new Story()
      .on(FLEET)
      .when(submit(plan(['b', { from: 'a', to: 'web/' }])))
      .when(completed('a'), completed('b'));
    expect(startOf(story, 'table')).toMatchObject([
      {
        workspace: true,
        files: {
          in: [
            { taskId: 'b', attempt: 1 },
            { taskId: 'a', attempt: 1, to: 'web/' },
          ],
          out: ['table.csv'],
        },
      },
    ]);
    const [far] = startOf(story, 'far');
    expect(far).toMatchObject({ workspace: true });
    expect(far?.files).toBeUndefined();
  });

  it('lie in a directory that somebody may discard where the run had it, when the run has ended; it is recorded who', () => {
    const discard = (deviceId: string) => verb({ verb: 'DISCARD', deviceId }, `v-${deviceId}`);
    const story = new Story()
      .on(FLEET)
      .when(submit(constellation(['a']), { options: { workspace: true, keepWorkspace: true } }));
    const [{ deviceId } = { deviceId: '?' }] = startOf(story, 'a');
    expect(story.when(discard(deviceId)).answers.at(-1)).toMatchObject({ reason: { code: 'INVALID_STATE' } });
    story.when(completed('a'));
    expect(story.when(discard('nowhere')).answers.at(-1)).toMatchObject({ reason: { code: 'NOT_FOUND' } });
    story.when(verb({ verb: 'DISCARD', deviceId }, 'v-again'));
    expect(story.last?.events).toEqual([
      { type: 'WORKSPACE_DISCARDED', data: { deviceId, by: ALICE, discardedAt: instant(0) } },
    ]);
    expect(story.run.phase).toBe('COMPLETED');
  });

  it('make no workspace where none are named, unless the request wants one', () => {
    const [plain] = startOf(new Story().on(FLEET).when(submit(constellation(['a']))), 'a');
    expect(plain).not.toHaveProperty('workspace');
    const [wanted] = startOf(
      new Story().on(FLEET).when(submit(constellation(['a']), { options: { workspace: true } })),
      'a',
    );
    expect(wanted).toMatchObject({ workspace: true });
  });

  it('of one who failed are taken of its last attempt, and of one who was skipped of none', () => {
    const lines = ['a->table', 'b->table'];
    const base = plan(['a', 'b']);
    const unconditional = {
      ...base,
      lines: constellation(
        base.tasks.map(({ id }) => id),
        lines,
      ).lines,
    };
    const story = new Story()
      .on(FLEET)
      .when(submit(unconditional))
      .when(failed('a', 1, 'unknown'), failed('b'));
    expect(startOf(story, 'table')).toMatchObject([{ files: { in: [{ taskId: 'b', attempt: 1 }] } }]);
  });

  it('are given to devices that move files, and who has none is told why', () => {
    const old = fleet([device('web-1'), device('db-1', CAPABLE)]);
    expect(checkTargets(plan(['a', 'b']), old)).toMatchObject([
      {
        path: 'tasks[0].files',
        message:
          'no device that satisfies the target moves files (it has the capability "workspaces"): web-1 does not; a client of this version does',
      },
      { path: 'tasks[2].files' },
    ]);
    const anywhere = constellation([{ id: 'a', target: { os: 'linux' }, files: { out: ['x'] } }]);
    expect(checkTargets(anywhere, old)).toEqual([]);
    expect(startOf(new Story().on(old).when(submit(anywhere)), 'a')).toMatchObject([{ deviceId: 'db-1' }]);
  });

  it('are changed by edits that leave every name that is taken, and else are refused', () => {
    const { run } = new Story().on(FLEET).when(submit(plan(['a', { from: 'b', to: 'b/' }])));
    const violations = (...edits: readonly unknown[]) => {
      const applied = applyEdits(
        run,
        edits.map((edit) => Edit.parse(edit)),
        T0,
      );
      return applied.ok ? [] : applied.violations.map(({ path, message }) => `${path}: ${message}`);
    };
    expect(violations(change.task('table', { files: { in: ['far'] } }))).toEqual([
      'edits[0].change.files.in[0]: "far" is not a predecessor of "table"; its predecessors are a, b',
    ]);
    expect(violations(remove.line('a-table'))).toEqual([
      'edits: "a" is not a predecessor of "table"; its predecessors are b',
    ]);
    expect(violations(change.task('table', { files: null }), remove.line('a-table'))).toEqual([]);
    const later = new Story().on(FLEET).when(submit(constellation(['a', 'c'], ['a=>c'])));
    later.when(insert([change.task('c', { files: { out: ['x'] } })])).when(completed('a'));
    expect(startOf(later, 'c')).toMatchObject([{ workspace: true, files: { out: ['x'] } }]);
  });

  it('of what has not begun may not be taken away from who takes them', () => {
    const { tasks } = plan([{ from: 'a', file: 'a.log' }]);
    const behind = constellation(['first', ...tasks], ['first->a', 'a=>table']);
    const { run } = new Story().on(FLEET).when(submit(behind));
    const applied = applyEdits(run, [Edit.parse(change.task('a', { files: { out: ['other.log'] } }))], T0);
    expect(applied).toMatchObject({ ok: false, violations: [{ path: 'edits[0].change.files' }] });
  });
});
