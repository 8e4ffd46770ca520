import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LIMITS } from '#proto';
import { startModelServer, type ModelServer, type ModelServerReply } from '#libs/testing';
import { chatModelContract, sampleRequest } from '../models/chat-model.contract.js';
import { OpenAiChatModel, type OpenAiChatModelOptions } from './chat-model.adapter.js';
import { SecretKey } from '../settings/secret-key.js';
import type { ModelSettings, ModelSettingsBook } from '../settings/settings.js';

const KEY = 'sk-canary-5f1d0c77a9';
const GOOD = JSON.stringify({ thought: 'the disk is nearly full, so look at what is large', used: 93 });

function book(url: string, over: Partial<ModelSettings> = {}): ModelSettingsBook {
  const settings: ModelSettings = {
    baseUrl: url,
    key: new SecretKey(KEY),
    model: 'model-a',
    supportsSchema: true,
    temperature: 0,
    maxTokens: 1_000,
    timeoutMs: 60_000,
    seesPictures: false,
    retries: 2,
    backup: null,
    ...over,
  };
  const prices = { 'model-a': { promptPerMillion: 1, completionPerMillion: 10 } };
  return { of: () => settings, all: { default: settings }, embedding: null, prices };
}

/** Never waits, and says how long it would have. */
function modelOf(settings: ModelSettingsBook, over: Partial<OpenAiChatModelOptions> = {}) {
  const waits: number[] = [];
  const sleep = (ms: number) => Promise.resolve(void waits.push(ms));
  return { model: new OpenAiChatModel({ settings, sleep, random: () => 1, ...over }), waits };
}

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ key: KEY });
});
afterAll(() => server.stop());
beforeEach(() => server.reply(() => GOOD));

/** Replies to the next questions, and what was asked since. */
function queue(...replies: ModelServerReply[]) {
  server.queue(...replies);
  const from = server.requests.length;
  return { asked: () => server.requests.slice(from) };
}

/** A limit for what hangs: many megabytes take their time on a busy machine. */
const HANGS_MS = 600_000;

async function askOnce(reply: ModelServerReply, over: Partial<ModelSettings> = {}) {
  server.queue(reply);
  const { model } = modelOf(book(server.url, { retries: 0, timeoutMs: HANGS_MS, ...over }));
  const told: string[] = [];
  const answers = await model.ask(sampleRequest({ deadlineMs: HANGS_MS, onText: (soFar) => told.push(soFar) }));
  return { answer: answers.at(-1), answers, told };
}

chatModelContract('an OpenAI-compatible endpoint', (said) => {
  const replies = said.map((each): ModelServerReply =>
    'reply' in each ? each.reply : { fault: 'status', status: 400 },
  );
  server.reply(() => replies.shift());
  return Promise.resolve(modelOf(book(server.url)).model);
});

describe('a question', () => {
  it('is streamed, with the schema in strict form, and with what the settings say', async () => {
    const { asked } = queue(GOOD);
    const request = sampleRequest();
    const [answer] = await modelOf(book(server.url)).model.ask(request);
    expect(asked()[0]?.body).toEqual({
      model: 'model-a',
      temperature: 0,
      max_tokens: 1_000,
      stream: true,
      stream_options: { include_usage: true },
      messages: request.messages,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', strict: true, schema: request.schema.json },
      },
    });
    expect(answer?.parameters).toEqual({
      model: 'model-a',
      temperature: 0,
      max_tokens: 1_000,
      stream: true,
      stream_options: { include_usage: true },
      response_format: { type: 'json_schema' },
      url: server.url,
    });
  });

  it('costs what the endpoint counted', async () => {
    const { answer } = await askOnce(GOOD);
    const prompt = Math.ceil(JSON.stringify(sampleRequest().messages).length / 4);
    const completion = Math.ceil(GOOD.length / 4);
    expect(answer?.tokens).toEqual({ prompt, completion });
    expect(answer?.costUsd).toBe((prompt + completion * 10) / 1e6);
  });

  it('is counted here when the endpoint does not count', async () => {
    const { answer } = await askOnce({ fault: 'no-usage', reply: GOOD });
    expect(answer?.tokens.completion).toBeGreaterThan(10);
    expect(answer?.tokens.completion).toBeLessThan(GOOD.length / 2);
    expect(answer?.tokens.prompt).toBeGreaterThan(10);
  });

  it('tells its text as it grows', async () => {
    const { told } = await askOnce(GOOD);
    expect(told.length).toBeGreaterThan(2);
    expect(told.every((soFar, index) => index === 0 || soFar.startsWith(told[index - 1] ?? ''))).toBe(true);
  });

  it('is not harmed by a listener that throws', async () => {
    queue({ fault: 'cut', reply: GOOD });
    const onText = () => {
      throw new Error('mine');
    };
    const answers = await modelOf(book(server.url)).model.ask(sampleRequest({ onText }));
    expect(answers.map(({ error }) => error?.code ?? null)).toEqual(['STREAM_CUT', null]);
  });
});

describe('an endpoint that cannot', () => {
  const servers: ModelServer[] = [];
  afterEach(async () => {
    for (const each of servers.splice(0)) await each.stop();
  });
  const start = async (options: Parameters<typeof startModelServer>[0]) => {
    const started = await startModelServer({ reply: () => GOOD, ...options });
    servers.push(started);
    return started;
  };

  it.each([
    ['do strict schemas', { jsonSchema: false }, { response_format: { type: 'json_object' } }, 2],
    ['do any format', { jsonSchema: false, jsonObject: false }, {}, 3],
    ['take stream_options', { streamOptions: false }, { stream: true }, 2],
    ['stream', { stream: false, streamOptions: false }, {}, 3],
    ['take max_tokens', { maxTokens: false }, { max_completion_tokens: 1_000 }, 2],
    ['take a temperature', { temperature: false }, {}, 2],
  ])('%s is asked without, and never again with it', async (_, support, body, requests) => {
    const limited = await start({ support });
    const { model, waits } = modelOf(book(limited.url, { retries: 0 }));
    const answers = await model.ask(sampleRequest());
    expect(answers.map(({ error }) => error?.code ?? null)).toEqual([...Array(requests - 1).fill('BAD_REQUEST'), null]);
    expect(answers.at(-1)?.reply).toBe(GOOD);
    expect(limited.requests.at(-1)?.body).toMatchObject(body);
    expect(await model.ask(sampleRequest())).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  it('stream and says nothing about it is read as a whole', async () => {
    const plain = await start({ support: { heedsStream: false } });
    const told: string[] = [];
    const { model } = modelOf(book(plain.url));
    const answers = await model.ask(sampleRequest({ onText: (soFar) => told.push(soFar) }));
    expect(answers.at(-1)).toMatchObject({ reply: GOOD, error: null });
    expect(told).toEqual([GOOD]);
  });

  it('do schemas as the settings say is not asked for them', async () => {
    const { asked } = queue(GOOD);
    await modelOf(book(server.url, { supportsSchema: false })).model.ask(sampleRequest());
    expect(asked()[0]?.body.response_format).toEqual({ type: 'json_object' });
  });
});

describe('what goes wrong once', () => {
  it.each([
    ['a limit of rate', { fault: 'status', status: 429 }, 'RATE_LIMITED'],
    ['a failure of the server', { fault: 'status', status: 500 }, 'SERVER_ERROR'],
    ['a gateway without a server', { fault: 'status', status: 503 }, 'SERVER_ERROR'],
    ['a connection that breaks', { fault: 'reset' }, 'UNREACHABLE'],
    ['a stream that breaks', { fault: 'cut', reply: GOOD }, 'STREAM_CUT'],
    ['a stream that ends early', { fault: 'end-early', reply: GOOD }, 'STREAM_CUT'],
    ['an error in the stream', { fault: 'error-in-stream', message: 'overloaded' }, 'SERVER_ERROR'],
    ['a page of a proxy', { fault: 'garbage' }, 'BAD_RESPONSE'],
    [
      'a stream of something else',
      { fault: 'garbage', contentType: 'text/event-stream', body: 'data: {\n\n' },
      'BAD_RESPONSE',
    ],
    ['a stream of nothing', { fault: 'garbage', contentType: 'text/event-stream', body: '' }, 'BAD_RESPONSE'],
    ['JSON of something else', { fault: 'garbage', contentType: 'application/json', body: '[null]' }, 'BAD_RESPONSE'],
  ] satisfies [string, ModelServerReply, string][])('is tried again: %s', async (_, fault, code) => {
    queue(fault);
    const { model, waits } = modelOf(book(server.url));
    const answers = await model.ask(sampleRequest());
    expect(answers.map(({ error }) => error?.code ?? null)).toEqual([code, null]);
    expect(answers.at(-1)?.reply).toBe(GOOD);
    expect(waits).toEqual([500]);
  });

  it('is tried again, and what was told is taken back', async () => {
    queue({ fault: 'cut', reply: GOOD });
    const told: string[] = [];
    await modelOf(book(server.url)).model.ask(sampleRequest({ onText: (soFar) => told.push(soFar) }));
    const again = told.indexOf('');
    expect(again).toBeGreaterThan(0);
    expect(told.at(-1)).toBe(GOOD);
  });

  it.each([
    ['in seconds', '7', 7_000],
    ['as a date', new Date(Date.UTC(2026, 0, 1, 0, 0, 9)).toUTCString(), 9_000],
    ['shorter than ours', '0', 500],
  ])('is tried again when the endpoint says so, %s', async (_, retryAfter, waitMs) => {
    queue({ fault: 'status', status: 429, retryAfter });
    const { model, waits } = modelOf(book(server.url), { now: () => Date.UTC(2026, 0, 1) });
    await model.ask(sampleRequest());
    expect(waits).toEqual([waitMs]);
  });

  it('is not tried again when the endpoint wants more rest than there is time', async () => {
    for (const retryAfter of ['40', '3600']) {
      queue({ fault: 'status', status: 429, retryAfter });
      const { model, waits } = modelOf(book(server.url));
      const answers = await model.ask(sampleRequest({ deadlineMs: 30_000 }));
      expect(answers.map(({ error }) => error?.code)).toEqual(['RATE_LIMITED']);
      expect(waits).toEqual([]);
    }
  });
});

describe('what goes wrong for good', () => {
  it('is tried as often as the settings say, with growing waits', async () => {
    server.reply(() => ({ fault: 'status', status: 500 }));
    const { model, waits } = modelOf(book(server.url, { retries: 3 }));
    const answers = await model.ask(sampleRequest());
    expect(answers.map(({ error }) => error?.code)).toEqual(Array(4).fill('SERVER_ERROR'));
    expect(answers.map(({ tokens }) => tokens.prompt)).toEqual([0, 0, 0, 0]);
    expect(waits).toEqual([500, 1_000, 2_000]);
  });

  it.each([
    [
      'a bad request',
      { fault: 'status', status: 400, message: 'context length exceeded' },
      'BAD_REQUEST',
      /HTTP 400: .*context length/u,
    ],
    ['a model that is not there', { fault: 'status', status: 404 }, 'BAD_REQUEST', /HTTP 404/u],
    ['a quota', { fault: 'status', status: 429, code: 'insufficient_quota' }, 'BAD_REQUEST', /HTTP 429/u],
    [
      'a key that may not',
      { fault: 'status', status: 403 },
      'UNAUTHORIZED',
      /^the endpoint refused the key \(HTTP 403\)$/u,
    ],
    ['nothing', { fault: 'empty' }, 'EMPTY_REPLY', /said nothing/u],
    ['a refusal', { fault: 'refusal', message: 'I cannot help' }, 'REFUSED', /I cannot help/u],
  ] satisfies [string, ModelServerReply, string, RegExp][])(
    'is not tried again: %s',
    async (_, fault, code, message) => {
      const { answers, answer } = await askOnce(fault, { retries: 2 });
      expect(answers).toHaveLength(1);
      expect(answer).toMatchObject({ reply: null, error: { code, message: expect.stringMatching(message) } });
    },
  );

  it('says nothing of a key, also where a refusal is cut', async () => {
    for (const before of [490, 980]) {
      const message = `${'x'.repeat(before)}${KEY} and more`;
      const { answer } = await askOnce({ fault: 'refusal', message });
      expect(answer?.error?.code).toBe('REFUSED');
      expect(answer?.error?.message).not.toContain(KEY.slice(0, 6));
    }
  });

  it('keeps what there is of a reply that stopped at a limit', async () => {
    const { answers, answer } = await askOnce({ fault: 'length', reply: GOOD.slice(0, 30) }, { retries: 2 });
    expect(answers).toHaveLength(1);
    expect(answer).toMatchObject({ reply: GOOD.slice(0, 30), error: { code: 'REPLY_CUT' } });
  });

  it.each([true, false])('ends a reply that is too large, and keeps its head (streamed: %p)', async (heedsStream) => {
    const bytes = heedsStream ? 15 * 1024 * 1024 : 1024 * 1024;
    const huge = await startModelServer({ support: { heedsStream }, reply: () => ({ fault: 'huge', bytes }) });
    const { model } = modelOf(book(huge.url, { timeoutMs: HANGS_MS }));
    const [answer, ...more] = await model.ask(sampleRequest({ deadlineMs: HANGS_MS }));
    expect(more).toEqual([]);
    expect(answer?.error?.code).toBe('REPLY_TOO_LARGE');
    expect(answer?.reply).toBe('x'.repeat(LIMITS.resultBytesMax));
    expect(await huge.requests[0]?.ended).toBe(heedsStream ? 'broken-off' : 'whole');
    await huge.stop();
  });

  it('does not read for ever what an endpoint says about an error', async () => {
    const body = 'x'.repeat(LIMITS.replyBytesMax * 64 + 1);
    const { answer } = await askOnce({ fault: 'garbage', body });
    expect(answer?.error?.code).toBe('REPLY_TOO_LARGE');
  });

  it('is the endpoint itself', async () => {
    const gone = await startModelServer();
    await gone.stop();
    const [answer] = await modelOf(book(gone.url, { retries: 0 })).model.ask(sampleRequest());
    expect(answer?.error).toMatchObject({ code: 'UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('time', () => {
  it.each([
    ['never answers', { fault: 'hang' }, null],
    ['falls silent', { fault: 'stall', reply: GOOD }, GOOD.slice(0, Math.ceil(GOOD.length / 2))],
  ] satisfies [string, ModelServerReply, string | null][])('ends for an endpoint that %s', async (_, fault, reply) => {
    // One of its own: a question that is given up so soon may be heard late.
    const faulty = await startModelServer({ reply: () => fault });
    const askWithin = async (timeoutMs: number) =>
      (await modelOf(book(faulty.url, { retries: 0, timeoutMs })).model.ask(sampleRequest())).at(-1);
    let timeoutMs = 200;
    let answer = await askWithin(timeoutMs);
    // A machine may be too busy for half a reply to come in that time.
    while (answer?.reply !== reply) answer = await askWithin((timeoutMs *= 2));
    expect(answer?.error).toMatchObject({ code: 'TIMEOUT', message: `no whole reply within ${timeoutMs} ms` });
    await faulty.stop();
  });

  it('is that of the caller when it is shorter', async () => {
    // One of its own: a question that is given up so soon may be heard late, or never.
    const silent = await startModelServer({ reply: () => ({ fault: 'hang' }) });
    const { model } = modelOf(book(silent.url));
    const answers = await model.ask(sampleRequest({ deadlineMs: 60 }));
    expect(answers.at(-1)?.error?.code).toBe('TIMEOUT');
    await silent.stop();
  });

  it('that is over asks nobody', async () => {
    const { asked } = queue();
    const answers = await modelOf(book(server.url)).model.ask(sampleRequest({ deadlineMs: 0 }));
    expect(answers).toMatchObject([{ error: { code: 'TIMEOUT', message: 'no time was left to ask' }, durationMs: 0 }]);
    expect(asked()).toEqual([]);
  });
});

describe('a caller who goes away', () => {
  it.each([
    ['before the answer', { fault: 'hang' }],
    ['in the middle of it', { fault: 'stall', reply: GOOD }],
  ] satisfies [string, ModelServerReply][])('ends the request %s', async (_, fault) => {
    const { asked } = queue(fault);
    const controller = new AbortController();
    const count = server.requests.length + 1;
    const { model } = modelOf(book(server.url, { timeoutMs: 600_000 }));
    const answers = model.ask(sampleRequest({ signal: controller.signal, deadlineMs: 600_000 }));
    await server.asked(count);
    controller.abort();
    expect((await answers).map(({ error }) => error?.code)).toEqual(['ABORTED']);
    expect(await asked()[0]?.ended).toBe('broken-off');
  });

  it('ends the wait for the next try', async () => {
    queue({ fault: 'status', status: 500 });
    const controller = new AbortController();
    const sleep = () => {
      controller.abort();
      return Promise.reject(new Error('aborted'));
    };
    const { model } = modelOf(book(server.url), { sleep });
    const answers = await model.ask(sampleRequest({ signal: controller.signal }));
    expect(answers.map(({ error }) => error?.code)).toEqual(['SERVER_ERROR', 'ABORTED']);
  });
});
