const TICK_MS = 50;

/** A time limit that is over by itself, or ended by who needs it no more. */
export interface HearingTime {
  readonly over: AbortSignal;
  readonly end: () => void;
}

/**
 * Over when so much time has passed in which this process could have heard something: a machine that stands still takes none of it, and
 * what has come meanwhile is read before anybody says that it did not come.
 */
export function hearingTime(ms: number): HearingTime {
  const over = new AbortController();
  let leftMs = ms;
  const timer = setInterval(
    () => {
      leftMs -= TICK_MS;
      if (leftMs > 0) return;
      clearInterval(timer);
      over.abort();
    },
    Math.min(TICK_MS, ms),
  );
  return { over: over.signal, end: () => clearInterval(timer) };
}
