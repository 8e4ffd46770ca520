import { expect, it } from '@jest/globals';
import { chatModelContract, sampleRequest } from '../models/chat-model.contract.js';
import { ScriptedChatModel } from './scripted.js';

chatModelContract('a script', (said) =>
  Promise.resolve(
    new ScriptedChatModel(
      said.map((each) => ('reply' in each ? each.reply : { error: { code: each.error, message: 'as scripted' } })),
    ),
  ),
);

it('remembers what it was asked, and answers by it', async () => {
  const model = new ScriptedChatModel(({ agent }, index) => ({ json: { agent, index } }));
  await model.ask(sampleRequest());
  const [answer] = await model.ask(sampleRequest({ agent: 'HostAgent' }));
  expect(answer?.reply).toBe('{"agent":"HostAgent","index":1}');
  expect(model.requests.map(({ agent }) => agent)).toEqual(['LinuxAgent', 'HostAgent']);
});

it('says that its script is at its end', async () => {
  const [answer] = await new ScriptedChatModel([]).ask(sampleRequest());
  expect(answer?.error).toEqual({ code: 'BAD_REQUEST', message: 'nothing was scripted for request 1' });
});

it('is broken off while it thinks', async () => {
  const controller = new AbortController();
  const model = new ScriptedChatModel(() => new Promise(() => {}));
  const asked = model.ask(sampleRequest({ signal: controller.signal }));
  controller.abort();
  expect((await asked)[0]?.error?.code).toBe('ABORTED');
});

it('costs what its prices say', async () => {
  const model = new ScriptedChatModel(['x'], {
    model: 'm',
    prices: { m: { promptPerMillion: 2, completionPerMillion: 8 } },
    tokens: { prompt: 1_000, completion: 500 },
    now: () => Date.UTC(2026, 0, 1),
  });
  const [answer] = await model.ask(sampleRequest());
  expect(answer).toMatchObject({ costUsd: 0.006, startedAt: '2026-01-01T00:00:00.000Z', durationMs: 0 });
});
