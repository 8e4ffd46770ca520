import { describe, expect, it } from '@jest/globals';
import { type Evaluation, LIMITS } from '#proto';
import { completed, failed, plan, Story } from './given.testing.js';
import { problemsOfVerdicts, subtasksOf, withAllSubtasks } from './subtasks.js';

const said = (subtasks?: Evaluation['subtasks']): Evaluation => ({
  reason: 'seen',
  sub_scores: [{ name: 'all', evaluation: 'yes' }],
  ...(subtasks && { subtasks }),
  complete: 'yes',
});

describe('the subtasks of a run', () => {
  it('are the tasks that were tried: what was skipped has nothing to be judged', () => {
    const { run } = Story.of(plan(['a', 'b', 'c'], ['a=>b']), { editPolicy: 'never' }).when(failed('a'));
    expect(subtasksOf(run)).toEqual(['a', 'c']);
    expect(problemsOfVerdicts(said([{ task_id: 'b', evaluation: 'no' }]), run)).toEqual([
      'subtasks[0].task_id: task "b" was never tried; those that were tried are "a", "c"',
    ]);
  });

  it('are judged as far as there is room, what was judged first', () => {
    const ids = Array.from({ length: LIMITS.subtasksJudgedMax + 20 }, (_, index) => `t${index}`);
    const story = Story.of(plan(ids), { editPolicy: 'never' });
    for (const id of ids) story.when(completed(id));
    const { run } = story;
    const last = { task_id: ids.at(-1) ?? '', evaluation: 'yes' as const };
    const { subtasks = [] } = withAllSubtasks(said([last]), run);
    expect(subtasks).toHaveLength(LIMITS.subtasksJudgedMax);
    expect(subtasks.at(-1)).toEqual(last);
    expect(subtasks[0]).toMatchObject({ task_id: 't0', evaluation: 'unsure' });
  });

  it('are none where the model knew nothing of them', () => {
    const { run } = Story.of(plan(['a']));
    expect(withAllSubtasks(said(), run)).toEqual(said());
  });
});
