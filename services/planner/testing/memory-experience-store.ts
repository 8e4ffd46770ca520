import type { Experience } from '#proto';
import type { Embedding } from '#libs/llm';
import {
  bounded,
  byAge,
  EMBEDDED_MAX,
  EXAMPLES_MAX,
  ExperiencesAwayError,
  LISTED_DEFAULT,
  LISTED_MAX,
  experienceOf,
  RANKED_MAX,
  searchedPart,
  type ExperienceSearch,
  type ExperienceStore,
  type LearntExperience,
  type Nearness,
  type Unembedded,
} from '../experience/experience-store.js';
import { likeness, LIKENESS_MIN } from '../experience/likeness.js';

/** The same without a server, for tests. */
export class MemoryExperienceStore implements ExperienceStore {
  readonly rows = new Map<string, LearntExperience>();
  /** Nobody is there. */
  isAway = false;
  readonly #embeddings = new Map<string, Embedding>();

  async similar(goal: string, limit = EXAMPLES_MAX): Promise<Experience[]> {
    return this.#alike(goal, LIKENESS_MIN).slice(0, bounded(limit, RANKED_MAX));
  }

  async nearest(goal: Embedding, { similarityMin, limit = RANKED_MAX }: Nearness): Promise<Experience[]> {
    return this.#newest()
      .flatMap((one) => {
        const own = this.#embeddings.get(one.id);
        return own?.model === goal.model ? [{ one, value: dotProduct(own.vector, goal.vector) }] : [];
      })
      .filter(({ value }) => value >= similarityMin)
      .toSorted((left, right) => right.value - left.value)
      .slice(0, bounded(limit, RANKED_MAX))
      .map(({ one }) => one);
  }

  async unembedded(model: string | null): Promise<Unembedded[]> {
    return this.#newest().flatMap(({ id, request }) => {
      const own = this.#embeddings.get(id)?.model;
      return own === undefined || (model !== null && own !== model)
        ? [{ id, request, hasOther: own !== undefined }]
        : [];
    });
  }

  async embed({ id, request }: Pick<Unembedded, 'id' | 'request'>, embedding: Embedding): Promise<boolean> {
    if ((await this.find(id))?.request !== request) return false;
    this.#embeddings.set(id, embedding);
    return true;
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
    this.#embeddings.delete(id);
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
    return [...this.rows.values()].map(experienceOf).toSorted(byAge);
  }

  #newest(): Experience[] {
    return this.#all().slice(0, EMBEDDED_MAX);
  }

  #mustBeThere(): void {
    if (this.isAway) throw new ExperiencesAwayError();
  }
}

function dotProduct(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, each, at) => sum + each * (other[at] ?? 0), 0);
}
