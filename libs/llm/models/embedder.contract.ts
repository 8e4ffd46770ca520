import { describe, expect, it } from '@jest/globals';
import { EMBEDDED_TEXTS_MAX, type Embedder, type EmbeddingRequest } from './embedder.js';

export function asking(texts: readonly string[], over: Partial<EmbeddingRequest> = {}): EmbeddingRequest {
  return { texts, signal: new AbortController().signal, deadlineMs: 30_000, ...over };
}

/** What every embedder promises. `open`: one that points in these directions, by text, and fails for every other text. */
export function embedderContract(
  name: string,
  open: (directions: Readonly<Record<string, readonly number[]>>) => Promise<Embedder>,
): void {
  const directions = { disks: [3, 4], logs: [0, 2], space: [3, 3.9] };

  describe(`${name} as an embedder`, () => {
    it('gives one vector of norm 1 for each text, in order, of one model', async () => {
      const made = await (await open(directions)).embed(asking(['disks', 'logs']));
      if (made.kind === 'failed') throw new Error(made.message);
      const { embeddings, model } = made;
      expect(embeddings.map(({ vector }) => Array.from(vector, (each) => Math.round(each * 1e6) / 1e6))).toEqual([
        [0.6, 0.8],
        [0, 1],
      ]);
      expect(model).toMatch(/\/2$/u);
      expect(embeddings.map((each) => each.model)).toEqual([model, model]);
      expect(made.tokens).toBeGreaterThan(0);
    });

    it('gives all or none, and says why', async () => {
      const made = await (await open(directions)).embed(asking(['disks', 'elsewhere']));
      expect(made).toEqual({ kind: 'failed', code: 'BAD_REQUEST', message: expect.stringMatching(/./u) });
    });

    it('gives nothing to who wants nothing any more', async () => {
      const signal = AbortSignal.abort();
      expect(await (await open(directions)).embed(asking(['disks'], { signal }))).toMatchObject({ code: 'ABORTED' });
    });

    it('takes some texts, but not any number of them', async () => {
      const many = Array.from({ length: EMBEDDED_TEXTS_MAX }, () => 'disks');
      expect(await (await open(directions)).embed(asking(many))).toMatchObject({ kind: 'embedded' });
      for (const texts of [[], [...many, 'disks']]) {
        expect(await (await open(directions)).embed(asking(texts))).toMatchObject({ code: 'BAD_REQUEST' });
      }
    });
  });
}
