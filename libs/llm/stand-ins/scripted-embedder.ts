import {
  EMBEDDED_TEXTS_MAX,
  wrongNumberOfTexts,
  type Embedded,
  type Embedder,
  type EmbeddingRequest,
  type NotEmbedded,
} from '../models/index.js';

/** The direction of a text, or how the request fails that it is in. */
export type ScriptedDirection = readonly number[] | Omit<NotEmbedded, 'kind'>;

/** Points where it was told to: for tests of those who ask. */
export class ScriptedEmbedder implements Embedder {
  readonly similarityMin = 0.3;
  /** What it was asked, in order. */
  readonly requests: EmbeddingRequest[] = [];
  /** Waited for before each reply. */
  gate: Promise<unknown> = Promise.resolve();
  readonly #directionOf: (text: string) => ScriptedDirection;
  readonly #model: string;

  constructor(directionOf: (text: string) => ScriptedDirection, model = 'scripted') {
    this.#directionOf = directionOf;
    this.#model = model;
  }

  async embed(request: EmbeddingRequest): Promise<Embedded | NotEmbedded> {
    this.requests.push(request);
    await this.gate;
    if (request.signal.aborted)
      return { kind: 'failed', code: 'ABORTED', message: 'nobody wants the vectors any more' };
    const { length } = request.texts;
    if (length === 0 || length > EMBEDDED_TEXTS_MAX) return { kind: 'failed', ...wrongNumberOfTexts };
    const vectors: Float32Array[] = [];
    for (const text of request.texts) {
      const direction = this.#directionOf(text);
      if ('code' in direction) return { kind: 'failed', ...direction };
      const norm = Math.hypot(...direction);
      vectors.push(Float32Array.from(direction, (each) => each / norm));
    }
    const model = `${this.#model}/${vectors[0]?.length ?? 0}`;
    const embeddings = vectors.map((vector) => ({ model, vector }));
    return { kind: 'embedded', embeddings, model, tokens: request.texts.length, costUsd: null };
  }
}
