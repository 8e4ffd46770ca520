import { useEffect, useRef, useState } from 'react';
import type { RunCommit } from '#proto';
import { playedOn, playFrom, type Playing, type Speed } from '../../../model/index.js';

const TICK_MS = 60;

interface PlayingParts {
  readonly commits: readonly RunCommit[];
  readonly speed: Speed;
  /** So many commits are to be shown; undefined: all, as they come. */
  readonly onMoment: (count: number | undefined) => void;
}

/** Lets time pass as it did, times the speed. */
export function usePlaying(parts: PlayingParts): {
  readonly playing: boolean;
  readonly play: (from: number) => void;
  readonly stop: () => void;
} {
  const [playing, setPlaying] = useState(false);
  const state = useRef<Playing>({ atMs: 0, count: 0 });
  const latest = useRef(parts);
  latest.current = parts;
  useEffect(() => {
    if (!playing) return undefined;
    const timer = setInterval(() => {
      const { commits, speed, onMoment } = latest.current;
      const next = playedOn(commits, state.current, { elapsedMs: TICK_MS, speed });
      if (next === undefined) {
        setPlaying(false);
        onMoment(undefined);
        return;
      }
      if (next.count !== state.current.count) onMoment(next.count);
      state.current = next;
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [playing]);
  return {
    playing,
    play: (from) => {
      state.current = playFrom(parts.commits, from);
      parts.onMoment(from);
      setPlaying(true);
    },
    stop: () => setPlaying(false),
  };
}
