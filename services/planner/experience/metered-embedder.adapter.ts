import type { Embedder } from '#libs/llm';
import type { Metrics } from '#libs/platform';

/** The same embedder, with what it is asked and what it costs as metrics; no run is charged for it. */
export function meteredEmbedder<E extends Embedder | null>(embedder: E, metrics: Metrics): Embedder | E {
  const calls = metrics.counter('embedding_calls_total', 'Questions for embeddings, by how they ended', ['outcome']);
  const tokens = metrics.counter('embedding_tokens_total', 'Tokens of texts that were embedded');
  const cost = metrics.counter('embedding_cost_usd_total', 'Cost of embeddings by the price table, in US dollars');
  if (embedder === null) return embedder;
  return {
    similarityMin: embedder.similarityMin,
    embed: async (request) => {
      const made = await embedder.embed(request);
      calls.inc({ outcome: made.kind === 'embedded' ? 'EMBEDDED' : made.code });
      if (made.kind === 'embedded') {
        tokens.inc(made.tokens);
        cost.inc(made.costUsd ?? 0);
      }
      return made;
    },
  };
}
