import type { Cause, PlanEvent, RunId } from '#proto';
import { unchanged } from '#libs/event-log';
import type { Asker } from '#libs/messaging';
import type { PlanState } from '#libs/planner';
import type { PlanCommits } from '../rounds/index.js';

/** Who orders it, and what proves it: kept with the fact. */
export type Learner = Pick<Asker, 'actor' | 'proof'>;

export const orderedBy = (name: 'learn' | 'evaluate', { actor, proof }: Learner): Cause => ({
  kind: 'verb',
  id: `${name}.${actor.id}`,
  proof,
});

/** What was made, and the fact that it is recorded as. */
export interface MadeFact<T> {
  readonly value: T;
  readonly event: PlanEvent;
  readonly causes: readonly Cause[];
}

export interface FoundFact<T> {
  readonly value: T;
  /** It was made for this call. */
  readonly isNew: boolean;
}

/** Replies that could not be stored yet. */
const UNSTORED_MAX = 100;

/**
 * One fact in the plan chain of a run that costs a model to make, and that stays as it is: found, or made and recorded. `about`: what of
 * the run it is made of, where that may change. Calls that come while it is made share it. What was made and could not be recorded is recorded by the next call.
 */
export class OncePerRun<T> {
  readonly #commits: PlanCommits;
  readonly #read: (state: PlanState, about: string) => T | null;
  readonly #underway = new Map<string, Promise<FoundFact<T>>>();
  readonly #unstored = new Map<string, MadeFact<T>>();

  constructor(commits: PlanCommits, read: (state: PlanState, about: string) => T | null) {
    this.#commits = commits;
    this.#read = read;
  }

  async of(runId: RunId, make: () => Promise<MadeFact<T>>, about = ''): Promise<FoundFact<T>> {
    const key = `${runId}.${about}`;
    const underway = this.#underway.get(key);
    if (underway !== undefined) return { ...(await underway), isNew: false };
    const mine = this.#of(runId, make, about);
    this.#underway.set(key, mine);
    try {
      return await mine;
    } finally {
      this.#underway.delete(key);
    }
  }

  async #of(runId: RunId, make: () => Promise<MadeFact<T>>, about: string): Promise<FoundFact<T>> {
    const key = `${runId}.${about}`;
    const { value, stored } = await this.#commits.change<T>(runId, async ({ state }) => {
      const known = this.#read(state, about);
      if (known !== null) return unchanged(known);
      const made = this.#unstored.get(key) ?? (await make());
      this.#remember(key, made);
      return { value: made.value, events: [made.event], causes: made.causes };
    });
    this.#unstored.delete(key);
    return { value, isNew: stored };
  }

  #remember(key: string, made: MadeFact<T>): void {
    if (this.#unstored.size >= UNSTORED_MAX) this.#unstored.clear();
    this.#unstored.set(key, made);
  }
}
