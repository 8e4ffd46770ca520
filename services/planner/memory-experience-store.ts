import type { Experience } from '#proto';
import {
  bounded,
  EXAMPLES_MAX,
  ExperiencesAwayError,
  LISTED_DEFAULT,
  LISTED_MAX,
  experienceOf,
  searchedPart,
  type ExperienceSearch,
  type ExperienceStore,
  type LearntExperience,
} from './experience-store.js';
import { likeness, LIKENESS_MIN } from './likeness.js';

/** The same without a server, for tests. */
export class MemoryExperienceStore implements ExperienceStore {
  readonly rows = new Map<string, LearntExperience>();
  /** Nobody is there. */
  isAway = false;

  async similar(goal: string, limit = EXAMPLES_MAX): Promise<Experience[]> {
    return this.#alike(goal, LIKENESS_MIN).slice(0, bounded(limit, EXAMPLES_MAX));
  }

  async list({ text = '', limit = LISTED_DEFAULT }: ExperienceSearch): Promise<Experience[]> {
    const found = text.trim() === '' ? this.#all() : this.#alike(text, Number.MIN_VALUE);
    return found.slice(0, bounded(limit, LISTED_MAX));
  }

  async find(id: string): Promise<Experience | null> {
    return this.#all().find((one) => one.id === id) ?? null;
  }

  async add(learnt: LearntExperience): Promise<Experience> {
    const known = await this.find(learnt.id);
    if (known !== null) return known;
    this.rows.set(learnt.id, learnt);
    return experienceOf(learnt);
  }

  async remove(id: string): Promise<boolean> {
    this.#mustBeThere();
    return this.rows.delete(id);
  }

  #alike(text: string, least: number): Experience[] {
    const asked = searchedPart(text);
    return this.#all()
      .map((one) => ({ one, value: likeness(asked, one) }))
      .filter(({ value }) => value >= least)
      .toSorted((left, right) => right.value - left.value)
      .map(({ one }) => one);
  }

  #all(): Experience[] {
    this.#mustBeThere();
    return [...this.rows.values()].map(experienceOf).toSorted((one, other) => (one.learntAt < other.learntAt ? 1 : -1));
  }

  #mustBeThere(): void {
    if (this.isAway) throw new ExperiencesAwayError();
  }
}
