import type { ModelErrorCode } from './chat-model.js';

/** Texts of one request. */
export const EMBEDDED_TEXTS_MAX = 16;
/** Characters of a text; the rest of a longer one is not sent. */
export const EMBEDDED_CHARS_MAX = 4_000;
/** Numbers of one vector. */
export const DIMENSIONS_MAX = 8_192;

export interface EmbeddingRequest {
  /** From 1 to EMBEDDED_TEXTS_MAX; none of them blank, which endpoints refuse. */
  readonly texts: readonly string[];
  /** Aborted when nobody wants the vectors any more. */
  readonly signal: AbortSignal;
  /** Milliseconds from now after which no vector helps. */
  readonly deadlineMs: number;
}

/** What a text is about, as a point: texts about the same are near to each other. */
export interface Embedding {
  /** Name of the model and the number of dimensions. Only vectors of the same one can be compared. */
  readonly model: string;
  /** Its norm is 1, so that the dot product of two is their cosine. */
  readonly vector: Float32Array;
}

export interface Embedded {
  readonly kind: 'embedded';
  /** One for each text, in order, all of one model. */
  readonly embeddings: readonly Embedding[];
  readonly model: string;
  readonly tokens: number;
  /** US dollars; null when the price of the model is not known. */
  readonly costUsd: number | null;
}

export interface NotEmbedded {
  readonly kind: 'failed';
  readonly code: ModelErrorCode;
  readonly message: string;
}

/** Port: turns texts into vectors. Never throws for what an endpoint does. */
export interface Embedder {
  /** Cosine below which two texts are about different things to this model. */
  readonly similarityMin: number;
  /** All or none. Retries are inside. */
  embed(request: EmbeddingRequest): Promise<Embedded | NotEmbedded>;
}

export const wrongNumberOfTexts = {
  code: 'BAD_REQUEST',
  message: `1 to ${EMBEDDED_TEXTS_MAX} texts can be embedded at once`,
} as const;
