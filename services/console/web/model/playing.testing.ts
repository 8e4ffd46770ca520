import type { RunCommit } from '#proto';
import { playedOn, playFrom, type Playing, type Speed } from './playing.js';

/** What is shown of a run that is played from its first commit: so many commits at each tick of a minute of its own time. */
export function played(commits: readonly RunCommit[], speed: Speed): number[] {
  const counts: number[] = [];
  let state: Playing | undefined = playFrom(commits, 1);
  while (state !== undefined) {
    counts.push(state.count);
    state = playedOn(commits, state, { elapsedMs: 60_000 / speed, speed });
  }
  return counts;
}
