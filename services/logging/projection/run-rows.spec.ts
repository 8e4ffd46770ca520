import { describe, expect, it } from '@jest/globals';
import { RunCommit, RunView, type RunCommit as Commit } from '#proto';
import { evolveCommit, viewOf, type Run } from '#libs/constellation';
import { forkHistory, generateAskedHistory, generateEditedHistory, generateHistory, runCommitsOf } from '#libs/testing';
import type { LineRow, RunRow, TaskRow } from '../entities/index.js';
import { changeOf, summaryOfRow, viewOfRows, type RunChange } from './run-rows.js';

/** A database of one run: applies changes as the projector does. */
class Rows {
  run: RunRow | undefined;
  readonly tasks = new Map<string, TaskRow>();
  readonly lines = new Map<string, LineRow>();

  apply(change: RunChange): void {
    this.run = change.run;
    for (const task of change.tasks) this.tasks.set(task.id, task);
    for (const line of change.lines) this.lines.set(line.id, line);
    for (const id of change.tasksGone) this.tasks.delete(id);
    for (const id of change.linesGone) this.lines.delete(id);
  }

  view() {
    if (this.run === undefined) throw new Error('no rows');
    const inOrder = <T extends { position: number }>(rows: Map<string, T>) =>
      [...rows.values()].sort((left, right) => left.position - right.position);
    return viewOfRows(this.run, inOrder(this.tasks), inOrder(this.lines));
  }
}

const parsed = (commits: readonly Commit[]): Commit[] => commits.map((commit) => RunCommit.parse(commit));
const HISTORIES: [string, Commit[]][] = [
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((seed): [string, Commit[]] => [`${seed}`, commitsOf(seed)]),
  // Tasks come and go, the end is taken back, rounds are open or not.
  ...[1, 3, 4, 6, 9, 12].map((seed): [string, Commit[]] => [
    `edited ${seed}`,
    parsed(runCommitsOf(generateEditedHistory({ seed, goal: seed % 3 === 0 }))),
  ]),
  ...[1, 2, 3, 4].map((seed): [string, Commit[]] => [
    `asked ${seed}`,
    parsed(runCommitsOf(generateAskedHistory({ seed }))),
  ]),
  ['forked', parsed(runCommitsOf(forkHistory(generateEditedHistory({ seed: 4 }), { at: 12, seed: 1 })))],
];

describe('changeOf', () => {
  it.each(HISTORIES)('gives the rows of viewOf after every prefix of history %s', (_, commits) => {
    const rows = new Rows();
    let run: Run | undefined;
    for (const commit of commits) {
      const before = run;
      run = evolveCommit(run, commit);
      rows.apply(changeOf(before, run, commit.number));
      expect(rows.view()).toEqual(viewOf(run));
      expect(RunView.safeParse(rows.view()).error).toBeUndefined();
    }
  });

  it('writes only the tasks that a commit touched', () => {
    const [first, second] = commitsOf(1, 40);
    const before = first && evolveCommit(undefined, first);
    const after = second && evolveCommit(before, second);
    if (before === undefined || after === undefined) throw new Error('the history is too short');
    expect(changeOf(undefined, before, 1).tasks).toHaveLength(40);
    const touched = new Set(second?.events.flatMap(({ data }) => ('taskId' in data ? [data.taskId] : [])));
    expect(new Set(changeOf(before, after, 2).tasks.map(({ id }) => id))).toEqual(touched);
  });

  it('moves tasks that have another place now', () => {
    const [first] = commitsOf(1, 3);
    if (first === undefined) throw new Error('no history');
    const turned = JSON.parse(JSON.stringify(first)) as Commit;
    for (const { data } of turned.events) if ('constellation' in data) data.constellation?.tasks.reverse();
    const rows = new Rows();
    const after = evolveCommit(undefined, turned);
    rows.apply(changeOf(undefined, evolveCommit(undefined, first), 1));
    rows.apply(changeOf(evolveCommit(undefined, first), after, 2));
    expect(rows.view()).toEqual(viewOf(after));
  });

  it('removes what the constellation no longer has', () => {
    const [first] = commitsOf(1, 3);
    const [other] = commitsOf(1, 2);
    if (first === undefined || other === undefined) throw new Error('no history');
    const { tasksGone } = changeOf(evolveCommit(undefined, first), evolveCommit(undefined, other), 2);
    expect(tasksGone).toEqual(['t2']);
  });
});

describe('summaryOfRow', () => {
  it('is the head of the view with the number of tasks', () => {
    const rows = new Rows();
    const run = commitsOf(3).reduce<Run | undefined>(evolveCommit, undefined);
    if (run === undefined) throw new Error('no history');
    rows.apply(changeOf(undefined, run, 1));
    const { tasks, ...view } = viewOf(run);
    const { runId, requestId, name, status, outcome, sequence, requestedAt, endedAt, requestedBy, used } = view;
    const head = { runId, requestId, name, status, outcome, sequence, requestedAt, endedAt, requestedBy };
    const summary = { ...head, tasks: tasks.length, used };
    expect(rows.run && summaryOfRow(rows.run)).toEqual(summary);
  });
});

function commitsOf(seed: number, tasks = 6): Commit[] {
  return runCommitsOf(generateHistory({ seed, tasks, output: 'out \u0000 put ' })).map((commit) =>
    RunCommit.parse(commit),
  );
}
