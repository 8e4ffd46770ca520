import type { Experience, ModelCall } from '#proto';

/** Examples that a prompt is given, at most. */
export const EXAMPLES_MAX = 3;
export const LISTED_DEFAULT = 50;
export const LISTED_MAX = 200;
/** Characters of a text that is searched for; the rest of a longer one says nothing new. */
export const SEARCHED_CHARS_MAX = 4_000;

/** An example with how it came about. `calls`: empty for a run, whose calls stand in its plan chain. */
export interface LearntExperience extends Experience {
  readonly calls: readonly ModelCall[];
  readonly templates: readonly { readonly id: string; readonly hash: string }[];
}

export interface ExperienceSearch {
  readonly text?: string | undefined;
  /** LISTED_DEFAULT when absent, LISTED_MAX at most. */
  readonly limit?: number | undefined;
}

/** Port: the examples that the planner has learnt. Every call throws ExperiencesAwayError while the store cannot be reached. */
export interface ExperienceStore {
  /** Those that are like a goal, the most alike first; none when none is. `limit` is EXAMPLES_MAX when absent. */
  similar(goal: string, limit?: number): Promise<Experience[]>;
  /** Newest first; with a text those that share a word with it, the most alike first. */
  list(search: ExperienceSearch): Promise<Experience[]>;
  find(id: string): Promise<Experience | null>;
  /** Keeps what is there already under this id. Resolves to what is stored. */
  add(learnt: LearntExperience): Promise<Experience>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
}

/** The store cannot be reached now. */
export class ExperiencesAwayError extends Error {
  override readonly name = 'ExperiencesAwayError';
  constructor(options?: ErrorOptions) {
    super('PostgreSQL, where the experiences lie, is not there; try again later.', options);
  }
}

/** Without how it came about. */
export function experienceOf(learnt: LearntExperience): Experience {
  const { id, kind, request, tips, constellation, source, learntBy, learntAt } = learnt;
  return { id, kind, request, tips, constellation, source, learntBy, learntAt };
}

export function searchedPart(text: string): string {
  return text.slice(0, SEARCHED_CHARS_MAX).toWellFormed();
}

export function bounded(limit: number, max: number): number {
  return Math.max(0, Math.min(Math.trunc(limit), max));
}
