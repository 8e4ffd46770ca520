import { useEffect, useState } from 'react';
import { getJson } from './api.client.js';

export interface Inquiry<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  /** Asks again. */
  readonly again: () => void;
}

/** The answer to a question that is asked once, and again when the address changes; undefined: nothing is asked. */
export function useAsked<T>(path: string | undefined, parse: (json: unknown) => T): Inquiry<T> {
  const [answer, setAnswer] = useState<{ value?: T; problem?: string; path?: string }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === undefined) return undefined;
    const stopped = new AbortController();
    getJson(path, stopped.signal)
      .then(parse)
      .then(
        (value) => setAnswer({ value, path }),
        (error: unknown) => {
          if (!stopped.signal.aborted)
            setAnswer({ problem: error instanceof Error ? error.message : String(error), path });
        },
      );
    return () => stopped.abort();
    // The way in which an answer is read does not change.
  }, [path, round]);
  const current = answer.path === path ? answer : {};
  return { value: current.value, problem: current.problem, again: () => setRound((before) => before + 1) };
}
