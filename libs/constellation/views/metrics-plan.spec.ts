import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Edit, TaskConstellation, TaskStar, TaskStarLine } from '#proto';
import {
  add,
  build as rebuild,
  change,
  completed,
  constellation as planned,
  propose,
  remove,
  Story,
  submit,
} from '../testing/given.js';
import { MeasuredPlan, type PlanChange } from './metrics-plan.js';
import { metricsOf } from './metrics.js';

const star = (id: string, change: Partial<TaskStar> = {}): TaskStar => ({
  id,
  name: id,
  description: '',
  tips: [],
  target: { device: 'web-1' },
  ...change,
});
/** `a>b`; its id is `a-b`. */
const line = (id: string, change: Partial<TaskStarLine> = {}): TaskStarLine => {
  const [from = '', to = ''] = id.split('>');
  return { id: `${from}-${to}`, from, to, type: 'unconditional', ...change };
};
const constellation = (tasks: readonly string[], lines: readonly string[] = []): TaskConstellation => ({
  name: 'test',
  tasks: tasks.map((id) => star(id)),
  lines: lines.map((id) => line(id)),
});

/** a -> b -> c; only c is pending. */
function plan(): MeasuredPlan {
  const made = new MeasuredPlan();
  for (const id of ['a', 'b', 'c']) made.addTask(star(id), id === 'c');
  for (const id of ['a>b', 'b>c']) made.addLine(line(id));
  return made;
}

describe('an edit', () => {
  const update = (change: Extract<Edit, { tool: 'update_task' }>['change'], taskId = 'c'): Edit => ({
    tool: 'update_task',
    taskId,
    change,
  });
  const build = (clear: boolean, change: Partial<TaskConstellation>): Edit => ({
    tool: 'build_constellation',
    clear,
    constellation: { name: 'test', tasks: [], lines: [], ...change },
  });

  it.each<[string, Edit, PlanChange[]]>([
    ['that adds a task', { tool: 'add_task', task: star('d') }, ['addedTasks']],
    ['that adds a task which is there', { tool: 'add_task', task: star('c') }, []],
    [
      'that removes a task and with it its lines',
      { tool: 'remove_task', taskId: 'b' },
      ['removedTasks', 'removedDependencies', 'removedDependencies'],
    ],
    ['that removes what is not there', { tool: 'remove_task', taskId: 'x' }, []],
    ['that changes a task', update({ tips: ['t'] }), ['modifiedTasks']],
    ['that changes a task to what it is', update({ tips: [], retry: null, target: { device: 'web-1' } }), []],
    ['that changes a task which is not there', update({ name: 'x' }, 'x'), []],
    ['that adds a line', { tool: 'add_dependency', line: line('a>c') }, ['addedDependencies']],
    ['that adds a line which is there', { tool: 'add_dependency', line: line('a>b') }, []],
    ['that removes a line', { tool: 'remove_dependency', lineId: 'b-c' }, ['removedDependencies']],
    ['that removes a line which is not there', { tool: 'remove_dependency', lineId: 'x' }, []],
    [
      'that changes a line',
      { tool: 'update_dependency', lineId: 'b-c', change: { type: 'success-only' } },
      ['modifiedDependencies'],
    ],
    [
      'that changes a line to what it is',
      { tool: 'update_dependency', lineId: 'b-c', change: { type: 'unconditional', description: null } },
      [],
    ],
    [
      'that changes a line which is not there',
      { tool: 'update_dependency', lineId: 'x', change: { description: 'x' } },
      [],
    ],
    [
      'that replaces what is pending',
      build(true, { tasks: [star('d'), star('e')], lines: [line('b>d'), line('d>e')] }),
      ['removedDependencies', 'removedTasks', 'addedTasks', 'addedTasks', 'addedDependencies', 'addedDependencies'],
    ],
    ['that clears the lines alone', build(true, { tasks: [star('c')] }), ['removedDependencies']],
    [
      'that builds beside what is there',
      build(false, { tasks: [star('c', { name: 'C' }), star('d')], lines: [line('c>d')] }),
      ['modifiedTasks', 'addedTasks', 'addedDependencies'],
    ],
    ['that builds what is there', { ...build(true, constellation(['a', 'b', 'c'], ['a>b', 'b>c'])) }, []],
  ])('%s counts what it changed', (_, edit, changes) => {
    expect(plan().apply(edit)).toEqual(changes);
  });

  it('changes nothing when it is made again', () => {
    const made = plan();
    const edits: Edit[] = [
      update({ tips: ['t'], command: { tool: 'EXEC_CLI', arguments: { cwd: '/', command: 'ls' } } }),
      build(false, { tasks: [star('d')], lines: [line('c>d')] }),
    ];
    expect(edits.flatMap((edit) => made.apply(edit))).toHaveLength(3);
    // The order of fields is no difference.
    const again = update({ tips: ['t'], command: { tool: 'EXEC_CLI', arguments: { command: 'ls', cwd: '/' } } });
    expect([again, ...edits].flatMap((edit) => made.apply(edit))).toEqual([]);
  });

  it('keeps what has started although a plan named it and the next one does not', () => {
    const made = plan();
    expect(made.apply(build(true, constellation(['a', 'b', 'c'], ['a>b', 'b>c'])))).toEqual([]);
    expect(made.apply(build(true, constellation(['d'])))).toEqual([
      'removedDependencies',
      'removedTasks',
      'addedTasks',
    ]);
  });

  it('takes the condition of a line that is conditional no more', () => {
    const made = plan();
    const become = (change: Extract<Edit, { tool: 'update_dependency' }>['change']) =>
      made.apply({ tool: 'update_dependency', lineId: 'b-c', change });
    expect(become({ type: 'conditional', condition: 'true' })).toEqual(['modifiedDependencies']);
    expect(become({ condition: 'true' })).toEqual([]);
    expect(become({ type: 'unconditional' })).toEqual(['modifiedDependencies']);
    expect(made.apply({ tool: 'add_dependency', line: line('b>c') })).toEqual([]);
  });

  it('accounts for every task and line there is afterwards', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const ends = fc.tuple(id, id).map(([from, to]) => line(`${from}>${to}`));
    const edit: fc.Arbitrary<Edit> = fc.oneof(
      id.map((task): Edit => ({ tool: 'add_task', task: star(task) })),
      id.map((taskId): Edit => ({ tool: 'remove_task', taskId })),
      ends.map((added): Edit => ({ tool: 'add_dependency', line: added })),
      ends.map((removed): Edit => ({ tool: 'remove_dependency', lineId: removed.id })),
      fc
        .record({ tasks: fc.uniqueArray(id), lines: fc.array(ends), clear: fc.boolean() })
        .map(({ tasks, lines, clear }) => build(clear, { ...constellation(tasks), lines })),
    );
    fc.assert(
      fc.property(fc.array(edit), (edits) => {
        const made = plan();
        const changes = edits.flatMap((each) => made.apply(each));
        const number = (change: PlanChange) => changes.filter((each) => each === change).length;
        expect(made.size).toEqual({
          tasks: 3 + number('addedTasks') - number('removedTasks'),
          lines: 2 + number('addedDependencies') - number('removedDependencies'),
        });
      }),
      { numRuns: 500, seed: 20_260_301 },
    );
  });
});

describe('beside the run itself', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const pair = fc.uniqueArray(id, { minLength: 2, maxLength: 2 }).map((ids) => ids.toSorted());
  const ends = fc.tuple(pair, fc.constantFrom('->', '=>')).map(([ids, arrow]) => ids.join(arrow));
  const lineId = pair.map((ids) => ids.join('-'));
  const edit = fc.oneof(
    id.map((task) => add.task(task)),
    ends.map((text) => add.line(text)),
    fc.tuple(id, fc.constantFrom('x', 'c')).map(([task, name]) => change.task(task, { name })),
    fc
      .tuple(lineId, fc.constantFrom('success-only', 'unconditional'))
      .map(([line, type]) => change.line(line, { type })),
    id.map((task) => remove.task(task)),
    lineId.map((line) => remove.line(line)),
    fc
      .record({
        tasks: fc.uniqueArray(id, { minLength: 1 }),
        lines: fc.uniqueArray(ends, { maxLength: 3 }),
        clear: fc.boolean(),
      })
      .map(({ tasks, lines, clear }) => rebuild(planned(tasks, lines), clear)),
  );
  const inputs = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }).map((edits) => propose(null, edits)) },
      { weight: 1, arbitrary: id.map((task) => completed(task)) },
    ),
    { minLength: 10, maxLength: 20 },
  );

  it('keeps the same constellation, and finds a change wherever the run has a new revision', () => {
    let revisions = 0;
    fc.assert(
      fc.property(inputs, (steps) => {
        // The last task never ends, so that the run stays open.
        const story = new Story().when(submit(planned(['a', 'b', 'c', 'd', 'open'], ['a->b', 'a->c', 'b=>d', 'c->d'])));
        let before = { revision: story.run.revision, changes: 0 };
        for (const input of steps) {
          story.when(input);
          const { run, events } = story;
          const recorded = events.map((event, index) => ({
            id: `${index}`,
            sequence: index + 1,
            schemaVersion: 1,
            ...event,
          }));
          const shape = { by: { service: 'orchestrator', instance: 'test' }, causes: [], prevHash: '', hash: '' };
          const metrics = metricsOf([{ ...shape, commit: '', runId: 'run-1', number: 1, at: '', events: recorded }]);
          expect(metrics?.final).toEqual({ tasks: run.tasks.length, lines: run.lines.length });
          const now = { revision: run.revision, changes: metrics?.edits.changes.total ?? 0 };
          expect(now.changes > before.changes).toBe(now.revision > before.revision);
          revisions += now.revision - before.revision;
          before = now;
        }
      }),
      { numRuns: 200, seed: 20_260_304 },
    );
    // Not all of it was refused.
    expect(revisions).toBeGreaterThan(100);
  });
});
