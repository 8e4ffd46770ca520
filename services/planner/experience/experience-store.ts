import type { Experience, ModelCall } from '#proto';
import type { Embedding } from '#libs/llm';

/** Examples that a prompt is given, at most. */
export const EXAMPLES_MAX = 3;
/** Examples in one ranking, of which several may be fused. */
export const RANKED_MAX = 20;
/** Of so many examples, the newest, embeddings are made and compared. */
export const EMBEDDED_MAX = 2_000;
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

/** An example whose request has no embedding of a model. */
export interface Unembedded {
  readonly id: string;
  readonly request: string;
  /** It has one of another model. */
  readonly hasOther: boolean;
}

export interface Nearness {
  /** Cosine below which a request is about something else. */
  readonly similarityMin: number;
  /** RANKED_MAX when absent, and at most. */
  readonly limit?: number;
}

/**
 * Port: the examples that the planner has learnt. Every call throws ExperiencesAwayError while the store cannot be reached. Embeddings are
 * derived of requests and can be made again; who takes an example out takes its embedding out.
 */
export interface ExperienceStore {
  /** Those that share words with a goal, the most alike first; none when none does. `limit` is EXAMPLES_MAX when absent, RANKED_MAX at most. */
  similar(goal: string, limit?: number): Promise<Experience[]>;
  /** Those whose request is about the same as a goal, the nearest first, then the newest; of the model of the goal's embedding only. */
  nearest(goal: Embedding, nearness: Nearness): Promise<Experience[]>;
  /** Those without an embedding of this model; of any model, when null. Newest first. */
  unembedded(model: string | null): Promise<Unembedded[]>;
  /** Keeps the embedding of an example, in place of what it had. False when there is no such example with this request any more. */
  embed(example: Pick<Unembedded, 'id' | 'request'>, embedding: Embedding): Promise<boolean>;
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

/** The order of examples that are otherwise equal. */
export function byAge(one: Pick<Experience, 'id' | 'learntAt'>, other: Pick<Experience, 'id' | 'learntAt'>): number {
  const older = Date.parse(other.learntAt) - Date.parse(one.learntAt);
  return older !== 0 ? older : one.id < other.id ? -1 : Number(one.id > other.id);
}

export function searchedPart(text: string): string {
  return text.slice(0, SEARCHED_CHARS_MAX).toWellFormed();
}

export function bounded(limit: number, max: number): number {
  return Math.max(0, Math.min(Math.trunc(limit), max));
}
