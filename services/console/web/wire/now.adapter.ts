import { useEffect, useState } from 'react';
import { Observable } from '../model/index.js';
import { timeThere } from './clock.adapter.js';
import { useStore } from './topics.js';

const TICK_MS = 1_000;
const now = new Observable(timeThere());
setInterval(() => now.set(timeThere()), TICK_MS);

/** The time, a second at a time. */
export function useNow(): number {
  return useStore(now);
}

/** Whether a condition of the screen holds. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const hear = (): void => setMatches(list.matches);
    hear();
    list.addEventListener('change', hear);
    return () => list.removeEventListener('change', hear);
  }, [query]);
  return matches;
}
