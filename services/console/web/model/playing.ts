import type { RunCommit } from '#proto';

export const SPEEDS = [1, 5, 20, 100] as const;
export type Speed = (typeof SPEEDS)[number];

/** How far a playback is: in the time of the run, and in commits. */
export interface Playing {
  readonly atMs: number;
  readonly count: number;
}

export function playFrom(commits: readonly RunCommit[], count: number): Playing {
  return { atMs: Date.parse(commits[count - 1]?.at ?? ''), count };
}

/** After so many milliseconds of watching. Undefined when the end is reached. */
export function playedOn(
  commits: readonly RunCommit[],
  { atMs, count }: Playing,
  { elapsedMs, speed }: { readonly elapsedMs: number; readonly speed: Speed },
): Playing | undefined {
  if (count >= commits.length) return undefined;
  const now = atMs + elapsedMs * speed;
  const later = commits.findIndex(({ at }, index) => index >= count && Date.parse(at) > now);
  return { atMs: now, count: later === -1 ? commits.length : later };
}
