import type { Logger } from 'pino';
import type { Experience } from '#proto';
import { EMBEDDED_TEXTS_MAX, type Embedded, type Embedder, type Embedding, type NotEmbedded } from '#libs/llm';
import {
  EMBEDDED_MAX,
  ExperiencesAwayError,
  searchedPart,
  type ExperienceStore,
  type Unembedded,
} from './experience-store.js';
import { Outage } from './outage.js';
import { withoutSecretsInText } from './secret-looking.js';

/** In milliseconds: a plan waits no longer for the embedding of its goal. */
const GOAL_MS_MAX = 1_500;
/** And so long may those of a few examples take, for which nobody waits. */
const EXAMPLES_MS_MAX = 60_000;
/** Goals whose embedding is known: a run asks again for each of its rounds. */
const GOALS_MAX = 64;
/** An endpoint that refuses so many requests in a row does not refuse the texts. */
const REFUSED_MAX = 3;
/** In milliseconds: a store that is away, as it is when a replica starts, is looked for again after this. */
const STORE_AGAIN_MS = 5_000;
/** A goal is said by a person: nothing of it is known from results only. */
const SAID = { results: [], said: [] };

export interface ExampleEmbeddingsParts {
  readonly embedder: Embedder;
  readonly store: Pick<ExperienceStore, 'nearest' | 'unembedded' | 'embed'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Aborted when this replica stops. */
  readonly signal: AbortSignal;
}

/**
 * Finds examples by what they are about. Embeddings are derived data: those of goals are made when they are asked for, in bounded time,
 * and those of examples in the background, whenever the endpoint has answered and some are missing. What cannot be had is only missing.
 */
export class ExampleEmbeddings {
  readonly #parts: ExampleEmbeddingsParts;
  readonly #outage: Outage;
  readonly #goals = new Map<string, Embedding>();
  /** Of the endpoint, as far as it has answered. */
  #model: string | null = null;
  /** Models by the ids of the examples that were embedded with them here: another replica may have another model, and the last word. */
  readonly #done = new Map<string, string>();
  /** Ids of examples that the endpoint does not take. */
  readonly #refused = new Set<string>();
  #refusedInARow = 0;
  #pass: Promise<void> | null = null;
  #isWanted = false;
  #again: NodeJS.Timeout | undefined;

  constructor(parts: ExampleEmbeddingsParts) {
    this.#parts = parts;
    this.#outage = new Outage(parts.logger, 'examples are found by their words alone: there are no embeddings');
  }

  /** Those that are missing are made. */
  begin(): void {
    this.catchUp();
  }

  /** Examples about the same as the goal, the nearest first; none when the endpoint or the store is away. */
  async near(goal: string): Promise<Experience[]> {
    const { embedder, store } = this.#parts;
    const embedding = await this.#embeddingOf(goal);
    if (embedding === null) return [];
    try {
      return await store.nearest(embedding, { similarityMin: embedder.similarityMin });
    } catch (error) {
      if (!(error instanceof ExperiencesAwayError)) this.#outage.began('goal', { err: error });
      return [];
    } finally {
      this.catchUp();
    }
  }

  /** Embeds what is not embedded yet, a few at a time, in the background. */
  catchUp(): void {
    this.#isWanted = true;
    this.#pass ??= this.#passes();
  }

  /** Settles when nothing is done in the background. */
  async idle(): Promise<void> {
    await this.#pass;
  }

  async #embeddingOf(goal: string): Promise<Embedding | null> {
    const text = withoutSecretsInText(searchedPart(goal), SAID);
    const known = this.#goals.get(text);
    if (known !== undefined) return known;
    const made = await this.#ask([text], GOAL_MS_MAX);
    if (made.kind === 'failed') {
      this.#missed('goal', made);
      return null;
    }
    this.#outage.ended('goal');
    const [embedding = null] = made.embeddings;
    if (embedding !== null) this.#remember(text, embedding);
    return embedding;
  }

  #remember(text: string, embedding: Embedding): void {
    const [oldest] = this.#goals.keys();
    if (this.#goals.size >= GOALS_MAX && oldest !== undefined) this.#goals.delete(oldest);
    this.#goals.set(text, embedding);
  }

  async #passes(): Promise<void> {
    try {
      while (this.#isWanted && !this.#parts.signal.aborted) {
        this.#isWanted = false;
        await this.#embedMissing();
      }
    } catch (error) {
      // The store has a voice of its own when it is away.
      if (error instanceof ExperiencesAwayError) this.#catchUpLater();
      else this.#outage.began('examples', { err: error });
    } finally {
      this.#pass = null;
    }
  }

  #catchUpLater(): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.catchUp(), STORE_AGAIN_MS).unref();
  }

  async #embedMissing(): Promise<void> {
    const missing = (await this.#parts.store.unembedded(this.#model)).filter((one) => this.#isMissing(one));
    for (let at = 0; at < missing.length; at += EMBEDDED_TEXTS_MAX) {
      if (!(await this.#embed(missing.slice(at, at + EMBEDDED_TEXTS_MAX)))) return;
    }
  }

  #isMissing({ id, request, hasOther }: Unembedded): boolean {
    if (this.#refused.has(id) || request.trim() === '') return false;
    return !hasOther || this.#done.get(id) !== this.#model;
  }

  /** False when it is no use to go on. */
  async #embed(examples: readonly Unembedded[]): Promise<boolean> {
    const made = await this.#ask(
      examples.map(({ request }) => request),
      EXAMPLES_MS_MAX,
    );
    if (made.kind === 'embedded') {
      this.#outage.ended('examples');
      this.#refusedInARow = 0;
      await this.#keep(examples, made.embeddings);
      return true;
    }
    // Who has never made an embedding does not refuse these texts, but all.
    if (made.code !== 'BAD_REQUEST' || this.#model === null) {
      this.#missed('examples', made);
      return false;
    }
    const [first] = examples;
    if (examples.length === 1 && first !== undefined) return this.#setAside(first, made);
    for (const one of examples) if (!(await this.#embed([one]))) return false;
    return true;
  }

  async #keep(examples: readonly Unembedded[], embeddings: readonly Embedding[]): Promise<void> {
    if (this.#done.size > EMBEDDED_MAX) this.#done.clear();
    for (const [at, embedding] of embeddings.entries()) {
      const example = examples[at];
      if (example === undefined) continue;
      await this.#parts.store.embed(example, embedding);
      this.#done.set(example.id, embedding.model);
    }
  }

  #setAside({ id }: Unembedded, { code, message }: NotEmbedded): boolean {
    if (this.#refused.size > EMBEDDED_MAX) this.#refused.clear();
    this.#refused.add(id);
    this.#parts.logger.warn({ example: id, code, reason: message }, 'an example is found by its words alone');
    this.#refusedInARow += 1;
    return this.#refusedInARow < REFUSED_MAX;
  }

  async #ask(texts: readonly string[], deadlineMs: number): Promise<Embedded | NotEmbedded> {
    const { embedder, signal } = this.#parts;
    const made = await embedder.embed({ texts, signal, deadlineMs });
    if (made.kind === 'failed') return made;
    // What it was called or how long its vectors were before cannot be compared with what it makes now.
    if (made.model !== this.#model) this.#goals.clear();
    this.#model = made.model;
    return made;
  }

  #missed(by: string, { code, message }: NotEmbedded): void {
    if (code !== 'ABORTED') this.#outage.began(by, { code, reason: message });
  }
}
