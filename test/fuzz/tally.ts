import type { CaseRun } from './fuzz-case.js';
import type { Outcome } from './subject.js';

const OUTCOMES: readonly Outcome[] = ['answered', 'refused', 'closed', 'taken', 'silent', 'after the end'];

/** What became of all frames. */
export class Tally {
  frames = 0;
  messages = 0;
  structured = 0;
  readonly #byState = new Map<string, Map<Outcome, number>>();

  add(verdicts: CaseRun['verdicts']): void {
    for (const { state, outcome, isMessage, made } of verdicts) {
      this.frames++;
      if (isMessage) this.messages++;
      if (made === 'structure') this.structured++;
      const outcomes = this.#byState.get(state) ?? new Map<Outcome, number>();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      this.#byState.set(state, outcomes);
    }
  }

  /** Of all frames, how many were JSON and a message. */
  get messageShare(): number {
    return this.messages / this.frames;
  }

  get structuredShare(): number {
    return this.structured / this.frames;
  }

  /** How many frames were given in each state. */
  get framesByState(): Record<string, number> {
    const counts = [...this.#byState].map(([state, outcomes]): [string, number] => [state, sumOf(outcomes.values())]);
    return Object.fromEntries(counts);
  }

  /** State by outcome, as a table. */
  toString(): string {
    const states = [...this.#byState].sort(([one], [other]) => one.localeCompare(other));
    const width = Math.max(...states.map(([state]) => state.length), 5);
    const row = (name: string, cells: readonly (string | number)[]): string =>
      [name.padEnd(width), ...cells.map((cell) => String(cell).padStart(13))].join(' ');
    return [
      row('state', OUTCOMES),
      ...states.map(([state, outcomes]) =>
        row(
          state,
          OUTCOMES.map((outcome) => outcomes.get(outcome) ?? 0),
        ),
      ),
    ].join('\n');
  }
}

const sumOf = (counts: Iterable<number>): number => [...counts].reduce((sum, count) => sum + count, 0);
