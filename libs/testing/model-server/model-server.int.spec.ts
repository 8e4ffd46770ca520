import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startModelServer, type ModelServer } from './model-server.js';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.stop());

const ask = (over: object = {}) =>
  fetch(`${server.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...over }),
  });

it('lists a model, and knows no other path', async () => {
  expect(await (await fetch(`${server.url}/models`)).json()).toMatchObject({ data: [{ id: 'scripted' }] });
  expect((await fetch(`${server.url}/embeddings`, { method: 'POST', body: '{}' })).status).toBe(404);
});

it('says what was queued before what the script says, and what was not scripted is refused', async () => {
  server.queue({ json: { a: 1 } });
  const queued = (await (await ask()).json()) as { choices: [{ message: { content: string } }] };
  expect(queued.choices[0].message.content).toBe('{"a":1}');
  expect((await ask()).status).toBe(400);
  server.reply(({ last }, index) => `${last} ${index}`);
  const text = await (await ask({ stream: true })).text();
  expect(text).toContain('hello 2');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(server.requests.map(({ prompt }) => prompt)).toEqual(['hello', 'hello', 'hello']);
});

it('says that a script is broken', async () => {
  server.reply(() => {
    throw new Error('a mistake in the script');
  });
  const response = await ask();
  expect(response.status).toBe(500);
  expect(await response.text()).toContain('a mistake in the script');
});

it('ends with what is open', async () => {
  const other = await startModelServer({ reply: () => ({ fault: 'hang' }) });
  const hanging = fetch(`${other.url}/chat/completions`, { method: 'POST', body: '{"model":"m","messages":[]}' });
  await other.asked(1);
  await other.stop();
  await expect(hanging).rejects.toThrow('fetch failed');
});

it('makes embeddings by a script, and fails at it as it is told to', async () => {
  const other = await startModelServer({ embed: ({ body }) => body.input.map((text) => [text.length, 1]) });
  const embed = (input: string[]) =>
    fetch(`${other.url}/embeddings`, { method: 'POST', body: JSON.stringify({ model: 'm', input }) });
  expect(await (await embed(['ab', 'c'])).json()).toMatchObject({
    model: 'm',
    data: [{ embedding: [2, 1] }, { embedding: [1, 1] }],
    usage: { prompt_tokens: 1 },
  });
  other.embed(() => ({ fault: 'status', status: 503 }));
  expect((await embed(['ab'])).status).toBe(503);
  other.embed(() => ({ body: { data: 'none' } }));
  expect(await (await embed(['ab'])).json()).toEqual({ data: 'none' });
  await other.embeddingsAsked(3);
  expect(other.embeddings.map(({ body }) => body.input)).toEqual([['ab', 'c'], ['ab'], ['ab']]);
  await other.stop();
});
