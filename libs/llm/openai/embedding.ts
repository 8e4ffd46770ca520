import { z } from 'zod';
import { DIMENSIONS_MAX } from '../models/index.js';

const EmbeddingReply = z.object({
  data: z.array(z.object({ index: z.int().min(0).nullish(), embedding: z.array(z.number()) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
});

export interface AskedEmbeddings {
  readonly texts: number;
  /** Null: as many as the model gives. */
  readonly dimensions: number | null;
}

/** Tokens are null when the endpoint did not count. */
export type ReadEmbeddings =
  { readonly vectors: readonly Float32Array[]; readonly tokens: number | null } | { readonly problem: string };

/** Reads the reply of an endpoint: one vector for each text, all of one finite length, in the order of the texts, scaled to norm 1. */
export function readEmbeddings(reply: unknown, { texts, dimensions }: AskedEmbeddings): ReadEmbeddings {
  const parsed = EmbeddingReply.safeParse(reply);
  if (!parsed.success) return { problem: 'the endpoint sent something that is no list of vectors of numbers' };
  const { data, usage } = parsed.data;
  const byIndex = new Map(data.map(({ index, embedding }, at) => [index ?? at, embedding]));
  const ordered = Array.from({ length: texts }, (_, at) => byIndex.get(at));
  if (data.length !== texts || ordered.includes(undefined)) {
    return { problem: `the endpoint sent ${data.length} vectors, not one for each of ${texts} texts` };
  }
  const vectors = ordered.map((numbers) => unit(numbers ?? []));
  const length = dimensions ?? vectors[0]?.length ?? 0;
  for (const vector of vectors) {
    if (vector === null) return { problem: 'the endpoint sent a vector without a direction' };
    if (vector.length > DIMENSIONS_MAX) {
      return { problem: `the endpoint sent vectors of ${vector.length} numbers; they may have ${DIMENSIONS_MAX}` };
    }
    if (vector.length !== length) {
      return { problem: `the endpoint sent a vector of ${vector.length} numbers instead of ${length}` };
    }
  }
  return { vectors: vectors.flatMap((vector) => vector ?? []), tokens: usage?.prompt_tokens ?? null };
}

/** Null for one that points nowhere. */
function unit(numbers: readonly number[]): Float32Array | null {
  const norm = Math.sqrt(numbers.reduce((sum, each) => sum + each * each, 0));
  if (!Number.isFinite(norm) || norm === 0) return null;
  return Float32Array.from(numbers, (each) => each / norm);
}
