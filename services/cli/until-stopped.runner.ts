import { failure } from './terminal/index.js';

/** Long enough for a command to say where it is; no command that has nothing to stop takes longer to end. */
const LAST_WORDS_MS_MAX = 1_000;
/** Counted in looks: a machine that stands still takes no word away. */
const LOOK_MS = 100;

/** The work, or soon after a signal its end, whatever it waits for. */
export async function untilStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  let waitedMs = 0;
  const look = (): void => {
    waitedMs += LOOK_MS;
    if (waitedMs >= LAST_WORDS_MS_MAX) reject(failure('Stopped.'));
  };
  const stop = (): void => {
    timer = setInterval(look, LOOK_MS);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
  }
}
