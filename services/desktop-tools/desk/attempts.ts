import type { AttemptKey } from '#proto';

/** Tasks whose newest attempt is remembered: more than a screen has at once. */
const TASKS_MAX = 64;

/**
 * Whose call it is. A screen is worked at by one attempt at a time: what was listed and chosen for one is not there for another, so that two
 * of them never act on what both have seen, whatever has become of the services that kept them apart.
 */
export class ScreenAttempts {
  #last = '';
  /** By task, the newest called last. */
  readonly #newest = new Map<string, number>();

  /** `over`: a later attempt of its task has been here; `another`: it is not that of the call before. */
  of(attempt: AttemptKey | undefined): 'same' | 'another' | 'over' {
    const task = attempt === undefined ? '' : JSON.stringify([attempt.runId, attempt.taskId]);
    const number = attempt?.attempt ?? 0;
    if (number < (this.#newest.get(task) ?? 0)) return 'over';
    this.#newest.delete(task);
    this.#newest.set(task, number);
    const [oldest] = this.#newest.size > TASKS_MAX ? this.#newest.keys() : [];
    if (oldest !== undefined) this.#newest.delete(oldest);
    const now = `${task} ${number}`;
    const isSame = now === this.#last;
    this.#last = now;
    return isSame ? 'same' : 'another';
  }
}
