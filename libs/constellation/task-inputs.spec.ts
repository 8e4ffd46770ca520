import { describe, expect, it } from '@jest/globals';
import type { RunEventData, TaskConstellation } from '#proto';
import { applyEdits } from './edits/edit.js';
import {
  add,
  change,
  completed,
  constellation,
  device,
  failed,
  fleet,
  insert,
  remove,
  Story,
  submit,
  T0,
  withAgents,
} from './testing/given.js';
import { validateConstellation } from './plan/validate.js';
import { Edit } from '#proto';

const FLEET = withAgents(fleet([device('web-1')]));
type Spec = Partial<TaskConstellation['tasks'][number]>;

/** b is done by an agent, after three others. */
const fanIn = (b: Spec = {}): TaskConstellation => {
  const plan = constellation(['a1', 'a2', 'a3', { id: 'b', ...b }, 'far'], ['a1->b', 'a2->b', 'a3->b']);
  return {
    ...plan,
    tasks: plan.tasks.map((task) => {
      if (task.id !== 'b' || b.command !== undefined) return task;
      const { command: _, ...agent } = task;
      return agent;
    }),
  };
};
const inputsOf = (story: Story) =>
  story.events
    .flatMap((event) => (event.type === 'TASK_STARTED' && event.data.taskId === 'b' ? [event.data] : []))
    .flatMap(({ inputs }: RunEventData<'TASK_STARTED'>) => inputs.map(({ taskId }) => taskId));
const done = ['a1', 'a2', 'a3'].map((id) => completed(id));

describe('the inputs of an agent', () => {
  it('are the results of all predecessors when none is named', () => {
    expect(
      inputsOf(
        new Story()
          .on(FLEET)
          .when(submit(fanIn()))
          .when(...done),
      ),
    ).toEqual(['a1', 'a2', 'a3']);
  });

  it('are fields of results where they are named', () => {
    const inputs = ['a3', { task: 'a1', field: 'stderr' }, { task: 'a1' }, { task: 'a1', field: 'stderr' }];
    const story = new Story()
      .on(FLEET)
      .when(submit(fanIn({ inputs })))
      .when(...done);
    const started = story.events.filter((event) => event.type === 'TASK_STARTED' && event.data.taskId === 'b');
    expect(started).toMatchObject([
      {
        data: {
          inputs: [
            { taskId: 'a3', attempt: 1 },
            { taskId: 'a1', attempt: 1, field: 'stderr' },
            { taskId: 'a1', attempt: 1 },
          ],
        },
      },
    ]);
  });

  it('are those that are named, in that order, each once', () => {
    const story = new Story()
      .on(FLEET)
      .when(submit(fanIn({ inputs: ['a3', 'a1', 'a3'] })))
      .when(...done);
    expect(inputsOf(story)).toEqual(['a3', 'a1']);
  });

  it('are none when none is wanted, and leave out what has no result', () => {
    expect(
      inputsOf(
        new Story()
          .on(FLEET)
          .when(submit(fanIn({ inputs: [] })))
          .when(...done),
      ),
    ).toEqual([]);
    const lost = new Story().on(FLEET).when(submit(fanIn({ inputs: ['a2', 'a1'] })));
    lost.when(completed('a1'), failed('a2', 1, 'unknown'), completed('a3'));
    expect(inputsOf(lost)).toEqual(['a1']);
  });

  it('do not say what an exact command reads, which its stdin does', () => {
    const command = { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { from: ['a2'] } } };
    const story = new Story()
      .on(FLEET)
      .when(submit(fanIn({ command, inputs: ['a1'] })))
      .when(...done);
    expect(inputsOf(story)).toEqual(['a2']);
  });

  it('must be direct predecessors in a request', () => {
    expect(validateConstellation(fanIn({ inputs: ['a1', 'far', 'nobody'] }))).toEqual([
      { path: 'tasks[3].inputs[1]', message: '"far" is not a predecessor of "b"; its predecessors are a1, a2, a3' },
      { path: 'tasks[3].inputs[2]', message: '"nobody" is not a predecessor of "b"; its predecessors are a1, a2, a3' },
    ]);
    expect(validateConstellation(fanIn({ inputs: ['a2', 'a1'] }))).toEqual([]);
  });

  const { run } = new Story().on(FLEET).when(submit(fanIn({ inputs: ['a1'] })));
  const violations = (...edits: readonly unknown[]) => {
    const applied = applyEdits(
      run,
      edits.map((edit) => Edit.parse(edit)),
      T0,
    );
    return applied.ok ? [] : applied.violations;
  };

  it('must be direct predecessors in an edit, wherever the line comes from', () => {
    const message = '"b" takes the output of "far", which is not its predecessor; those are a1, a2, a3';
    expect(violations(change.task('b', { inputs: ['a1', 'far'] }))).toEqual([
      { code: 'INVALID_INPUT', path: 'edits[0].change.inputs', message },
    ]);
    expect(violations(change.task('b', { inputs: ['far'] }), add.line('far->b'))).toEqual([]);
    expect(violations(add.task('n', { inputs: ['b'] }), add.line('b->n'))).toEqual([]);
    expect(violations(add.task('n', { inputs: ['b'] }))).toMatchObject([{ path: 'edits[0].task.inputs' }]);
  });

  it('hold the line that leads to them', () => {
    const gone = { code: 'INVALID_INPUT', path: 'edits' };
    expect(violations(remove.line('a1-b'))).toMatchObject([gone]);
    expect(violations(remove.line('a2-b'))).toEqual([]);
    expect(violations(remove.line('a1-b'), change.task('b', { inputs: null }))).toEqual([]);
  });

  it('change with the task, and null lets it have all of them', () => {
    const story = new Story().on(FLEET).when(submit(fanIn({ inputs: ['a1'] })));
    story.when(insert([change.task('b', { inputs: null })])).when(...done);
    expect(inputsOf(story)).toEqual(['a1', 'a2', 'a3']);
  });
});
