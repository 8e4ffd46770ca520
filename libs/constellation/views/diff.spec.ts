import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TaskConstellation, TaskStar, TaskStarLine } from '#proto';
import { diffConstellations } from './diff.js';

const star = (id: string, more: Partial<TaskStar> = {}): TaskStar => ({
  id,
  name: id,
  description: '',
  tips: [],
  target: { device: 'web-1' },
  ...more,
});
const line = (from: string, to: string, more: Partial<TaskStarLine> = {}): TaskStarLine => ({
  id: `${from}-${to}`,
  from,
  to,
  type: 'unconditional',
  ...more,
});
const plan = (tasks: TaskStar[], lines: TaskStarLine[] = [], name = 'plan'): TaskConstellation => ({
  name,
  tasks,
  lines,
});

describe('the difference of two plans', () => {
  it('is empty for the same plan, in whatever order it stands', () => {
    const [a, b] = [star('a'), star('b', { tips: ['x'] })];
    expect(diffConstellations(plan([a, b], [line('a', 'b')]), plan([b, a], [line('a', 'b')])).isEmpty).toBe(true);
  });

  it('names what came and what went', () => {
    const { tasks, lines, isEmpty } = diffConstellations(
      plan([star('a'), star('b')], [line('a', 'b')]),
      plan([star('a'), star('c')], [line('a', 'c')]),
    );
    const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id);
    expect([ids(tasks.added), ids(tasks.removed), ids(lines.added), ids(lines.removed), isEmpty]).toEqual([
      ['c'],
      ['b'],
      ['a-c'],
      ['a-b'],
      false,
    ]);
  });

  it('names the fields of what changed, and those that were set or taken away', () => {
    const { tasks, lines } = diffConstellations(
      plan([star('a', { review: true })], [line('a', 'a')]),
      plan([star('a', { target: { os: 'linux' } })], [line('a', 'a', { type: 'conditional', condition: 'true' })]),
    );
    expect(tasks.changed).toEqual([
      {
        id: 'a',
        fields: [
          { field: 'target', before: { device: 'web-1' }, after: { os: 'linux' } },
          { field: 'review', before: true, after: undefined },
        ],
      },
    ]);
    expect(lines.changed).toEqual([
      {
        id: 'a-a',
        fields: [
          { field: 'type', before: 'unconditional', after: 'conditional' },
          { field: 'condition', before: undefined, after: 'true' },
        ],
      },
    ]);
  });

  it('says that the name changed', () => {
    const { name, isEmpty } = diffConstellations(plan([], [], 'one'), plan([], [], 'two'));
    expect([name, isEmpty]).toEqual([{ before: 'one', after: 'two' }, false]);
  });

  it('of any two plans gives the second when it is applied to the first', () => {
    const stars = fc.uniqueArray(
      fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), tip: fc.constantFrom('x', 'y') }),
      {
        selector: ({ id }) => id,
      },
    );
    const made = stars.map((items) => plan(items.map(({ id, tip }) => star(id, { tips: [tip] }))));
    fc.assert(
      fc.property(made, made, (before, after) => {
        const { tasks } = diffConstellations(before, after);
        const gone = new Set(tasks.removed.map(({ id }) => id));
        const kept = new Map(before.tasks.filter(({ id }) => !gone.has(id)).map((task) => [task.id, task]));
        for (const { id, fields } of tasks.changed) {
          const patch = Object.fromEntries(fields.map((change) => [change.field, change.after]));
          kept.set(id, { ...star(id), ...kept.get(id), ...patch });
        }
        for (const task of tasks.added) kept.set(task.id, task);
        const byId = (items: Iterable<TaskStar>) => [...items].toSorted((one, other) => (one.id < other.id ? -1 : 1));
        expect(byId(kept.values())).toEqual(byId(after.tasks));
      }),
      { seed: 7 },
    );
  });
});
