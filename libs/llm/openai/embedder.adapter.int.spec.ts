import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startModelServer, type EmbeddingsReply, type EmbeddingsRequest, type ModelServer } from '#libs/testing';
import { EMBEDDED_CHARS_MAX } from '../models/embedder.js';
import { asking, embedderContract } from '../models/embedder.contract.js';
import { OpenAiEmbedder, type OpenAiEmbedderOptions } from './embedder.adapter.js';
import { SecretKey } from '../settings/secret-key.js';
import type { EmbeddingSettings } from '../settings/settings.js';

const KEY = 'sk-canary-5f1d0c77a9';
const OTHER_KEY = 'of-the-chat-model-77';
const lengths = ({ body }: EmbeddingsRequest): number[][] => body.input.map((text) => [text.length, 1]);

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ key: KEY, embed: lengths });
});
afterAll(() => server.stop());
beforeEach(() => server.embed(lengths));

/** Never waits, and says how long it would have. */
function embedder(over: Partial<EmbeddingSettings> = {}, options: Partial<OpenAiEmbedderOptions> = {}) {
  const settings: EmbeddingSettings = {
    baseUrl: server.url,
    key: new SecretKey(KEY),
    model: 'points',
    dimensions: null,
    timeoutMs: 60_000,
    similarityMin: 0.3,
    ...over,
  };
  const waits: number[] = [];
  const sleep = (ms: number) => Promise.resolve(void waits.push(ms));
  const prices = { points: { promptPerMillion: 2, completionPerMillion: 100 } };
  const keys = [KEY, OTHER_KEY];
  return { embedder: new OpenAiEmbedder({ settings, prices, keys, sleep, random: () => 1, ...options }), waits };
}

/** One of its own that never answers: a question that is given up soon may be heard late, when another test counts its own. */
async function silent(): Promise<{ url: string; stop: () => Promise<void> }> {
  const deaf = await startModelServer({ embed: () => ({ fault: 'hang' }) });
  return { url: deaf.url, stop: () => deaf.stop() };
}

/** The next requests get these, in order; later ones are answered well. Counts from now on. */
function queue(...replies: EmbeddingsReply[]): { asked: () => readonly EmbeddingsRequest[] } {
  const from = server.embeddings.length;
  server.embed((request) => replies.shift() ?? lengths(request));
  return { asked: () => server.embeddings.slice(from) };
}

embedderContract('an OpenAI-compatible endpoint', async (directions) => {
  server.embed(({ body }) => {
    const found = body.input.map((text) => directions[text]);
    const vectors = found.flatMap((each) => (each === undefined ? [] : [each]));
    return vectors.length === found.length ? vectors : { fault: 'status', status: 400, message: 'not these' };
  });
  return embedder().embedder;
});

describe('a request for embeddings', () => {
  it('names the model, asks for plain numbers, and for dimensions only when they are set', async () => {
    const { asked } = queue();
    await embedder().embedder.embed(asking(['ab']));
    server.embed(() => [[1, 2, 2]]);
    await embedder({ dimensions: 3 }).embedder.embed(asking(['ab']));
    const [plain, short] = asked();
    expect(plain?.body).toEqual({ model: 'points', input: ['ab'], encoding_format: 'float' });
    expect(plain?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(short?.body.dimensions).toBe(3);
  });

  it('holds no key, and no more of a text than is worth it', async () => {
    const { asked } = queue();
    const { embedder: made } = embedder();
    await made.embed(asking([`use ${KEY} or ${OTHER_KEY}`, 'x'.repeat(EMBEDDED_CHARS_MAX * 2), 'half \uD800']));
    expect(asked()[0]?.body.input).toEqual(['use [key] or [key]', 'x'.repeat(EMBEDDED_CHARS_MAX), 'half \uFFFD']);
  });

  it('costs what the endpoint counted, else what is counted here', async () => {
    const { embedder: made } = embedder();
    expect(await made.embed(asking(['eight ch']))).toMatchObject({ tokens: 2, costUsd: 0.000004 });
    queue({ body: { data: [{ embedding: [1] }] } });
    expect(await made.embed(asking(['one two three']))).toMatchObject({ tokens: 3, model: 'points/1' });
    expect(await embedder({ model: 'unpriced' }).embedder.embed(asking(['a']))).toMatchObject({ costUsd: null });
  });
});

describe('an endpoint for embeddings', () => {
  it.each<[string, EmbeddingsReply, string]>([
    ['refuses the request', { fault: 'status', status: 400, message: 'too long' }, 'BAD_REQUEST'],
    ['has no such model', { fault: 'status', status: 404, message: 'no such model' }, 'BAD_REQUEST'],
    ['refuses the key', { fault: 'status', status: 401, message: 'x', echoAuthorization: true }, 'UNAUTHORIZED'],
  ])('that %s is not asked again', async (_, reply, code) => {
    const { asked } = queue(reply);
    const made = await embedder().embedder.embed(asking(['a']));
    expect(made).toMatchObject({ kind: 'failed', code });
    expect(JSON.stringify(made)).not.toContain(KEY);
    expect(asked()).toHaveLength(1);
  });

  it.each<[string, EmbeddingsReply]>([
    ['is busy', { fault: 'status', status: 429 }],
    ['has a fault', { fault: 'status', status: 503, echoAuthorization: true }],
    ['breaks the connection', { fault: 'reset' }],
    ['is a page of a proxy', { fault: 'garbage' }],
    ['sends too few vectors', []],
  ])('that %s is asked again', async (_, reply) => {
    const { asked } = queue(reply, reply);
    const { embedder: made, waits } = embedder();
    expect(await made.embed(asking(['a']))).toMatchObject({ kind: 'embedded' });
    expect([asked().length, waits]).toEqual([3, [500, 1_000]]);
    queue(reply, reply, reply);
    const failed = await made.embed(asking(['a']));
    expect(failed.kind).toBe('failed');
    expect(JSON.stringify(failed)).not.toContain(KEY);
  });

  it('is not asked again when there is no time for it', async () => {
    const { asked } = queue({ fault: 'status', status: 503, retryAfter: '59' });
    const made = await embedder().embedder.embed(asking(['a'], { deadlineMs: 50_000 }));
    expect([made, asked().length]).toMatchObject([{ code: 'SERVER_ERROR' }, 1]);
  });

  it.each([
    ['the time of a try is over', { timeoutMs: 20 }, {}],
    ['nobody has time any more', {}, { deadlineMs: 20 }],
  ])('that says nothing is given up when %s', async (_, settings, request) => {
    const { url: baseUrl, stop } = await silent();
    const { embedder: made } = embedder({ ...settings, baseUrl });
    expect(await made.embed(asking(['a'], request))).toMatchObject({ code: 'TIMEOUT' });
    await stop();
  });

  it('is let go when nobody wants the vectors any more', async () => {
    const { asked } = queue({ fault: 'hang' });
    const stop = new AbortController();
    const before = server.embeddings.length;
    const made = embedder().embedder.embed(asking(['a'], { signal: stop.signal }));
    await server.embeddingsAsked(before + 1);
    stop.abort();
    expect(await made).toMatchObject({ code: 'ABORTED' });
    expect(asked()).toHaveLength(1);
  });

  it('that failed too often is left alone, also when it only was too slow', async () => {
    const { url: baseUrl, stop } = await silent();
    const { embedder: made } = embedder({ baseUrl }, { breaker: { failures: 2, openMs: 60_000 }, now: () => 0 });
    for (const code of ['TIMEOUT', 'TIMEOUT', 'CIRCUIT_OPEN']) {
      expect(await made.embed(asking(['a'], { deadlineMs: 20 }))).toMatchObject({ code });
    }
    await stop();
  });
});
