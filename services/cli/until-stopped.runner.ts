import { failure } from './terminal/index.js';

/** Long enough for a command to say where it is; no command that has nothing to stop takes longer to end. */
const LAST_WORDS_MS_MAX = 1_000;

/** The work, or soon after a signal its end, whatever it waits for. */
export async function untilStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    timer = setTimeout(() => reject(failure('Stopped.')), LAST_WORDS_MS_MAX);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
