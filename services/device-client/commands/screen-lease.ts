import type { AttemptKey } from '#proto';

/** Without an act of its holder for so long a screen is free: its end may never be told here. */
export const SCREEN_IDLE_MS = 5 * 60 * 1_000;
/** Tasks whose newest attempt is remembered: more than a screen has at once. */
const TASKS_MAX = 64;

/** What the journal says of a screen: an attempt was there, or, with `holds`, acted and has it until it ends. `at`: last known of it. */
export interface ScreenFact {
  readonly type: 'screen';
  readonly attempt: AttemptKey;
  readonly at: number;
  readonly holds: boolean;
}

/** Why the screen is not this attempt's now. `over`: a later one of its task has been there. `until` null: it acts there now. */
export type ScreenTaken =
  | { readonly kind: 'over'; readonly by: AttemptKey }
  | { readonly kind: 'held'; readonly by: AttemptKey; readonly until: number | null };

/**
 *            acts                its attempt is stopped or has ended, or nothing for SCREEN_IDLE_MS
 *   free ------------> held ------------------------------------------------------------------------> free
 *
 * The screen of a device is one attempt's at a time, whatever has become of the services that keep attempts apart. A later attempt of a
 * task ends what earlier ones may do here for good. Deterministic: the same facts give the same state after a restart.
 */
export class ScreenLease {
  /** By task, the one that was heard of last stands last. */
  readonly #newest = new Map<string, ScreenFact>();
  #holder: ScreenFact | undefined;

  apply(fact: ScreenFact): void {
    const task = taskOf(fact.attempt);
    const newest = this.#newest.get(task);
    if (newest !== undefined && newest.attempt.attempt > fact.attempt.attempt) return;
    this.#newest.delete(task);
    this.#newest.set(task, { ...fact, holds: false });
    const [oldest] = this.#newest.size > TASKS_MAX ? this.#newest.keys() : [];
    if (oldest !== undefined) this.#newest.delete(oldest);
    if (fact.holds) this.#holder = fact;
  }

  /** It acts no more. */
  ended(attempt: AttemptKey): void {
    if (this.#holder !== undefined && isSame(this.#holder.attempt, attempt)) this.#holder = undefined;
  }

  /** Undefined: it may be used by this attempt. A clock that was set back gives nobody more time. */
  takenFrom(attempt: AttemptKey, now: number): ScreenTaken | undefined {
    const newest = this.#newest.get(taskOf(attempt));
    if (newest !== undefined && newest.attempt.attempt > attempt.attempt) return { kind: 'over', by: newest.attempt };
    const holder = this.#holder;
    if (holder === undefined || isSame(holder.attempt, attempt)) return undefined;
    // Of its own task only an earlier one is left, which is over by this one.
    if (taskOf(holder.attempt) === taskOf(attempt)) return undefined;
    if (Math.abs(now - holder.at) >= SCREEN_IDLE_MS) return undefined;
    return { kind: 'held', by: holder.attempt, until: holder.at + SCREEN_IDLE_MS };
  }

  /** Whether nothing of this attempt is known here. */
  isNews(attempt: AttemptKey): boolean {
    return (this.#newest.get(taskOf(attempt))?.attempt.attempt ?? -1) < attempt.attempt;
  }

  /** The facts that give this state. */
  *snapshot(): Generator<ScreenFact> {
    yield* this.#newest.values();
    if (this.#holder !== undefined) yield this.#holder;
  }
}

const taskOf = ({ runId, taskId }: AttemptKey): string => JSON.stringify([runId, taskId]);

const isSame = (a: AttemptKey, b: AttemptKey): boolean => taskOf(a) === taskOf(b) && a.attempt === b.attempt;
