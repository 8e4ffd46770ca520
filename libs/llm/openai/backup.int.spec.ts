import { afterEach, describe, expect, it } from '@jest/globals';
import { startModelServer, type ModelServer, type ModelServerOptions } from '#libs/testing';
import { sampleRequest } from '../models/chat-model.contract.js';
import { OpenAiChatModel, type OpenAiChatModelOptions } from './chat-model.adapter.js';
import { SecretKey } from '../settings/secret-key.js';
import type { ModelSettings, ModelSettingsBook } from '../settings/settings.js';

const KEY = 'sk-canary-5f1d0c77a9';
const BACKUP_KEY = 'bk-canary-90cc12ef31';

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const each of servers.splice(0)) await each.stop();
});
async function start(options: ModelServerOptions): Promise<ModelServer> {
  const started = await startModelServer(options);
  servers.push(started);
  return started;
}

function book(main: ModelServer, backup: ModelServer | null, over: Partial<ModelSettings> = {}): ModelSettingsBook {
  const settings: ModelSettings = {
    baseUrl: main.url,
    key: new SecretKey(KEY),
    model: 'model-a',
    supportsSchema: true,
    temperature: null,
    maxTokens: null,
    timeoutMs: 60_000,
    retries: 1,
    seesPictures: false,
    backup:
      backup === null
        ? null
        : { baseUrl: backup.url, key: new SecretKey(BACKUP_KEY), model: 'model-b', supportsSchema: true },
    ...over,
  };
  return { of: () => settings, all: { default: settings }, embedding: null, prices: {} };
}

const modelOf = (settings: ModelSettingsBook, over: Partial<OpenAiChatModelOptions> = {}) =>
  new OpenAiChatModel({ settings, sleep: () => Promise.resolve(), random: () => 0, ...over });

const summary = (answers: Awaited<ReturnType<OpenAiChatModel['ask']>>) =>
  answers.map(({ endpoint, model, error }) => `${endpoint} ${model} ${error?.code ?? 'ok'}`);

describe('a backup', () => {
  it.each([
    ['fails', 500, ['main model-a SERVER_ERROR', 'main model-a SERVER_ERROR', 'backup model-b ok']],
    ['refuses the key', 401, ['main model-a UNAUTHORIZED', 'backup model-b ok']],
    ['refuses the request', 400, ['main model-a BAD_REQUEST', 'backup model-b ok']],
  ])('is asked with its own key and model when the main endpoint %s', async (_, status, expected) => {
    const main = await start({ reply: () => ({ fault: 'status', status }) });
    const backup = await start({ key: BACKUP_KEY, reply: () => '{}' });
    expect(summary(await modelOf(book(main, backup)).ask(sampleRequest()))).toEqual(expected);
    expect(backup.requests[0]?.body.model).toBe('model-b');
  });

  it.each([['empty'], ['huge']] as const)('is not asked for what the model itself did: %s', async (fault) => {
    const main = await start({ reply: () => (fault === 'empty' ? { fault } : { fault, bytes: 300_000 }) });
    const backup = await start({ reply: () => '{}' });
    const answers = await modelOf(book(main, backup)).ask(sampleRequest());
    expect(answers).toHaveLength(1);
    expect(backup.requests).toEqual([]);
  });

  it('may fail too: the last answer is its own', async () => {
    const main = await start({ reply: () => ({ fault: 'reset' }) });
    const backup = await start({ reply: () => ({ fault: 'status', status: 503 }) });
    const answers = await modelOf(book(main, backup, { retries: 0 })).ask(sampleRequest());
    expect(summary(answers)).toEqual(['main model-a UNREACHABLE', 'backup model-b SERVER_ERROR']);
  });
});

describe('a circuit', () => {
  const breaker = { failures: 3, openMs: 60_000 };

  it('opens after failures in a row: the endpoint is left alone, the backup answers at once', async () => {
    const main = await start({ reply: () => ({ fault: 'status', status: 500 }) });
    const backup = await start({ reply: () => '{}' });
    const model = modelOf(book(main, backup, { retries: 0 }), { breaker });
    for (let asked = 0; asked < 5; asked++) await model.ask(sampleRequest());
    expect(main.requests).toHaveLength(3);
    expect(summary(await model.ask(sampleRequest()))).toEqual(['backup model-b ok']);
  });

  it('stays closed while there are good answers in between, and for what is not illness', async () => {
    const faults = [500, 500, 0, 500, 500, 0, 429, 429, 429, 429, 400, 400, 400, 401, 401, 401];
    const main = await start({
      reply: (_, index) => (faults[index] ? { fault: 'status', status: faults[index] } : '{}'),
    });
    const model = modelOf(book(main, null, { retries: 0 }), { breaker });
    for (const _ of faults) await model.ask(sampleRequest());
    expect(main.requests).toHaveLength(faults.length);
  });

  it('says so when there is nobody else, and asks nobody', async () => {
    const main = await start({ reply: () => ({ fault: 'status', status: 500 }) });
    const model = modelOf(book(main, null, { retries: 0 }), { breaker });
    for (let asked = 0; asked < 3; asked++) await model.ask(sampleRequest());
    const answers = await model.ask(sampleRequest({ deadlineMs: 1_000 }));
    expect(answers).toMatchObject([
      { error: { code: 'CIRCUIT_OPEN' }, tokens: { prompt: 0, completion: 0 }, durationMs: 0, reply: null },
    ]);
    expect(main.requests).toHaveLength(3);
  });

  it('is waited for when there is time, and closes with the first good answer', async () => {
    const main = await start({ reply: (_, index) => (index < 3 ? { fault: 'status', status: 500 } : '{}') });
    const openMs = 30;
    const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const model = modelOf(book(main, null, { retries: 0 }), { breaker: { failures: 3, openMs }, sleep });
    for (let asked = 0; asked < 3; asked++) await model.ask(sampleRequest());
    expect(summary(await model.ask(sampleRequest()))).toEqual(['main model-a ok']);
    expect(summary(await model.ask(sampleRequest()))).toEqual(['main model-a ok']);
  });
});

describe('a key', () => {
  const forms = [KEY, Buffer.from(KEY).toString('base64').slice(0, 26), Buffer.from(KEY).toString('hex')];

  it.each([400, 401, 403, 429, 500])('is in no answer when an endpoint repeats it: HTTP %i', async (status) => {
    const main = await start({
      reply: () => ({ fault: 'status', status, message: `bad ${forms.join(' ')}`, echoAuthorization: true }),
    });
    const text = JSON.stringify(await modelOf(book(main, null)).ask(sampleRequest()));
    for (const form of forms) expect(text).not.toContain(form);
  });

  it('is not half in an answer that was cut where it stands', async () => {
    const main = await start({
      reply: (_, index) =>
        index === 0
          ? { fault: 'status', status: 500, message: `${'x'.repeat(490)}${KEY}` }
          : { fault: 'end-early', reply: `${'x'.repeat(30)}${KEY}${'x'.repeat(30)}`.slice(0, 80) },
    });
    const text = JSON.stringify(await modelOf(book(main, null)).ask(sampleRequest()));
    expect(text).not.toContain(KEY.slice(0, 8));
    expect(main.requests).toHaveLength(2);
  });

  it('is in no reply, and in no text that is told on the way', async () => {
    const main = await start({ reply: ({ headers }) => `you sent ${String(headers.authorization)}, did you not` });
    const told: string[] = [];
    const answers = await modelOf(book(main, null)).ask(sampleRequest({ onText: (soFar) => told.push(soFar) }));
    expect(answers[0]?.reply).toBe('you sent Bearer [key], did you not');
    expect(told.at(-1)).toBe(answers[0]?.reply);
    for (const soFar of told)
      for (let cut = 8; cut <= KEY.length; cut++) expect(soFar).not.toContain(KEY.slice(0, cut));
  });

  it('of another endpoint is in no answer either', async () => {
    const main = await start({ reply: () => ({ fault: 'error-in-stream', message: `is it ${BACKUP_KEY}?` }) });
    const backup = await start({ reply: () => '{}' });
    const text = JSON.stringify(await modelOf(book(main, backup)).ask(sampleRequest()));
    expect(text).not.toContain(BACKUP_KEY);
    expect(text).toContain('is it [key]?');
  });
});
