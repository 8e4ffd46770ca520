import { describe, expect, it } from '@jest/globals';
import { foldRun } from '#libs/constellation';
import { forkHistory, generateEditedHistory, runCommitsOf } from '#libs/testing';
import type { RunCommit } from '#proto';
import { compared, comparedFigures, type ComparedMoment } from './compared.js';
import { compareAddress, sidesIn } from './sides.js';

const HISTORY = generateEditedHistory({ seed: 3, tasks: 12 });
const COMMITS = runCommitsOf(HISTORY);
const momentOf = (commits: readonly RunCommit[]): ComparedMoment => {
  const run = foldRun(commits);
  if (run === undefined) throw new Error('the history is empty');
  return { run, commits };
};
const END = momentOf(COMMITS);

describe('two moments beside each other', () => {
  it('differ in nothing where they are the same', () => {
    const { name, tasks, lines } = compared(END, END);
    expect(name).toBeNull();
    expect([...tasks, ...lines].filter(({ isSame }) => !isSame)).toEqual([]);
    for (const { before, after } of comparedFigures(END, END)) expect(after).toBe(before);
  });

  it('tell what edits have added, removed and changed, and the other way round', () => {
    const edits = COMMITS.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'CONSTELLATION_MODIFIED' ? (event.data.edits ?? []) : [])),
    );
    const added = edits.flatMap((edit) => (edit.tool === 'add_task' ? [edit.task.id] : []));
    const gone = new Set(edits.flatMap((edit) => (edit.tool === 'remove_task' ? [edit.taskId] : [])));
    const planned = COMMITS.findIndex(({ events }) => events.some(({ type }) => type === 'CONSTELLATION_MODIFIED')) + 1;
    const start = momentOf(COMMITS.slice(0, Math.max(1, planned)));
    const [there, back] = [compared(start, END), compared(END, start)];
    const ids = (of: typeof there, change: string): string[] =>
      of.tasks.filter((task) => task.change === change).map(({ id }) => id);
    expect(added.length).toBeGreaterThan(0);
    expect(ids(there, 'added').sort()).toEqual(added.filter((id) => !gone.has(id)).sort());
    expect(ids(back, 'removed').sort()).toEqual(ids(there, 'added').sort());
    expect(ids(back, 'added').sort()).toEqual(ids(there, 'removed').sort());
  });

  it('tell what has become of a task, though its definition is the same', () => {
    const at = COMMITS.findIndex(({ events }) => events.some(({ type }) => type === 'TASK_COMPLETED'));
    const [before, after] = [momentOf(COMMITS.slice(0, at)), momentOf(COMMITS.slice(0, at + 1))];
    const ended = (COMMITS[at]?.events ?? []).flatMap((event) =>
      event.type === 'TASK_COMPLETED' ? [event.data.taskId] : [],
    );
    const other = compared(before, after).tasks.filter(({ isSame }) => !isSame);
    expect(other.map(({ id }) => id)).toEqual(expect.arrayContaining(ended));
    for (const { id, before: was, after: is } of other) {
      if (ended.includes(id)) expect([was?.status, is?.status]).toEqual(['RUNNING', 'COMPLETED']);
    }
  });

  it('of a fork and its origin: they are the same at the moment of the fork', () => {
    const at = COMMITS[4]?.events.at(-1)?.sequence ?? 1;
    const fork = runCommitsOf(forkHistory(HISTORY, { at, seed: 5 }));
    const origin = momentOf(COMMITS.filter(({ events }) => (events.at(-1)?.sequence ?? 0) <= at));
    const { tasks } = compared(origin, momentOf(fork.slice(0, 1)));
    expect(tasks.filter(({ change }) => change !== 'same')).toEqual([]);
  });
});

describe('the address of a comparison', () => {
  it('holds both runs, both moments, and whether all is shown', () => {
    const sides = { from: { run: '0abc', at: 12 }, to: { run: '0def', at: undefined }, all: true };
    const address = compareAddress(sides);
    expect(sidesIn(new URLSearchParams(address.split('?')[1]))).toEqual(sides);
  });

  it.each(['fromAt=-1', 'fromAt=x', 'fromAt=1.5', ''])('takes %j for the end', (text) =>
    expect(sidesIn(new URLSearchParams(text)).from.at).toBeUndefined(),
  );
});
