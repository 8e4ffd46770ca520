import { setTimeout as sleep } from 'node:timers/promises';
import { QueryRefusedError, QueryUnavailableError } from '#libs/messaging';
import { cleanLine, type CliContext } from '../terminal/index.js';

/** Each try, at most. */
const TRY_MS_MAX = 3_000;
/** And at least: one that nobody could answer in time would only hide why the others were not. */
const TRY_MS_MIN = 1_000;
/** Between two tries. */
const PAUSE_MS = 250;

interface Again {
  /** How long to go on trying, in milliseconds. */
  readonly forMs: number;
  /** Told when it is known that nobody has heard any of the tries. */
  readonly unheard?: () => void;
}

/**
 * Asks again, for as long as it is told and at most a second longer, while nobody answers or whoever does cannot do it now: what is asked has an id, and is done once. A person
 * is told once that it takes longer. Throws what the last try threw.
 */
export async function untilAnswered<T>(
  { terminal, signal }: Pick<CliContext, 'terminal' | 'signal'>,
  put: (timeoutMs: number) => Promise<T>,
  { forMs, unheard = () => {} }: Again,
): Promise<T> {
  const end = performance.now() + forMs;
  let wasHeard = false;
  for (let isTold = false; ; isTold = true) {
    try {
      return await put(Math.max(TRY_MS_MIN, Math.min(TRY_MS_MAX, Math.ceil(end - performance.now()))));
    } catch (error) {
      if (!mayComeBack(error)) throw error;
      wasHeard ||= !isUnheard(error);
      if (!wasHeard) unheard();
      if (signal.aborted || performance.now() + PAUSE_MS >= end) throw error;
      if (!isTold) terminal.err(cleanLine(`${error.message} Trying again for up to ${forMs / 1_000} s.`));
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

const mayComeBack = (error: unknown): error is Error =>
  error instanceof QueryUnavailableError
    ? error.mayComeBack
    : error instanceof QueryRefusedError && error.refusal.code === 'TRY_AGAIN';

const isUnheard = (error: unknown): boolean => error instanceof QueryUnavailableError && error.isUnheard;
