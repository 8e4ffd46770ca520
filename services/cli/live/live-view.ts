import { emptyRun, evolveCommit, isTerminal, viewOf, type Run } from '#libs/constellation';
import type { RunCommit, RunId, RunView } from '#proto';
import { timelineOf } from '../text/index.js';

/** What a watcher has seen so far. Pure: each commit gives its lines exactly once and the next state. */
export interface Watched {
  readonly run: Run;
  readonly ended: boolean;
}

export function watchFrom(runId: RunId): Watched {
  return { run: emptyRun(runId), ended: false };
}

/** A commit that was seen before says nothing: readers may repeat, people should not have to read twice. */
export function see({ run, ended }: Watched, commit: RunCommit): { watched: Watched; lines: string[] } {
  if (commit.number <= run.number) return { watched: { run, ended }, lines: [] };
  const next = evolveCommit(run, commit);
  return { watched: { run: next, ended: isTerminal(next) }, lines: timelineOf(commit) };
}

export function viewOfWatched({ run }: Watched): RunView {
  return viewOf(run);
}
