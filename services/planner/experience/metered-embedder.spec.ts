import { expect, it } from '@jest/globals';
import { ScriptedEmbedder, type Embedder } from '#libs/llm';
import { Metrics } from '#libs/platform';
import { valueOf } from '#libs/testing';
import { meteredEmbedder } from './metered-embedder.adapter.js';

it('what embeddings take and cost is counted, failures too, and changes nothing of them', async () => {
  const metrics = new Metrics('test');
  const scripted = new ScriptedEmbedder((text) =>
    text === 'bad' ? { code: 'BAD_REQUEST', message: 'no' } : [text.length, 1],
  );
  const priced: Embedder = {
    similarityMin: scripted.similarityMin,
    embed: async (request) => {
      const made = await scripted.embed(request);
      return made.kind === 'embedded' ? { ...made, costUsd: 0.25 } : made;
    },
  };
  const embedder = meteredEmbedder(priced, metrics);
  const { signal } = new AbortController();
  for (const texts of [['one', 'two'], ['three'], ['bad']])
    expect(await embedder.embed({ texts, signal, deadlineMs: 0 })).toEqual(
      await priced.embed({ texts, signal, deadlineMs: 0 }),
    );
  const text = await metrics.text();
  expect(valueOf(text, 'orrery_embedding_calls_total', { outcome: 'EMBEDDED' })).toBe(2);
  expect(valueOf(text, 'orrery_embedding_calls_total', { outcome: 'BAD_REQUEST' })).toBe(1);
  expect(valueOf(text, 'orrery_embedding_tokens_total')).toBe(3);
  expect(valueOf(text, 'orrery_embedding_cost_usd_total')).toBe(0.5);
});
