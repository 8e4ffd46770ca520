import { describe, expect, it } from '@jest/globals';
import { ModelCall } from '#proto';
import { type ChatModel, type ModelErrorCode, type ModelRequest, shownMessages } from './chat-model.js';
import { promptHash } from './prompt-hash.js';

/** What a model says when it is asked once. */
export type Said = { readonly reply: string } | { readonly error: ModelErrorCode };

export function sampleRequest(over: Partial<ModelRequest> = {}): ModelRequest {
  return {
    agent: 'LinuxAgent',
    messages: shownMessages([
      { role: 'system', content: 'You look after a machine.' },
      { role: 'user', content: 'How full is the disk?' },
    ]),
    schema: { name: 'answer', json: { type: 'object', properties: {}, required: [], additionalProperties: false } },
    signal: new AbortController().signal,
    deadlineMs: 30_000,
    turn: 'run-1.t1.1.1',
    ...over,
  };
}

/** What every model promises, whatever answers behind it. `saying`: one that says this, in order, when it is asked in this turn. */
export function chatModelContract(
  name: string,
  saying: (said: readonly Said[], turn: string) => Promise<ChatModel>,
): void {
  const request = sampleRequest();
  const open = (...said: Said[]) => saying(said, request.turn);

  describe(`${name} as a chat model`, () => {
    it('gives the reply as it came', async () => {
      const reply = '  {"thought": "größer als 😀\\n"} ';
      const answers = await (await open({ reply })).ask(request);
      expect(answers.at(-1)).toMatchObject({ reply, error: null, endpoint: 'main' });
    });

    it('gives a record that can be stored', async () => {
      const model = await open({ reply: 'half a \ud83d pair' }, { error: 'BAD_REQUEST' });
      for (const answers of [await model.ask(request), await model.ask(request)]) {
        for (const answer of answers) {
          expect(ModelCall.parse({ ...answer, problems: [] })).toEqual(
            JSON.parse(JSON.stringify({ ...answer, problems: [] })),
          );
          expect(answer.reply === null || answer.reply.isWellFormed()).toBe(true);
        }
      }
    });

    it('hashes what it was asked', async () => {
      const model = await open({ reply: 'one' }, { reply: 'two' });
      const other = sampleRequest({ messages: shownMessages([{ role: 'user', content: 'half a \ud83d pair' }]) });
      expect((await model.ask(request)).at(-1)?.promptHash).toBe(promptHash(request.messages));
      expect((await model.ask(other)).at(-1)?.promptHash).toBe(promptHash(other.messages));
      expect(promptHash(other.messages)).not.toBe(promptHash(request.messages));
    });

    it('tells the text while it is written, and nothing after it has answered', async () => {
      const reply = JSON.stringify({ thought: 'a thought that is longer than one piece of a stream may be' });
      const told: string[] = [];
      const model = await open({ reply });
      await model.ask({ ...request, onText: (soFar) => told.push(soFar) });
      expect(told.at(-1)).toBe(reply);
      expect(told.every((soFar) => reply.startsWith(soFar))).toBe(true);
      const count = told.length;
      await new Promise((resolve) => setImmediate(resolve));
      expect(told).toHaveLength(count);
    });

    it('says what went wrong instead of throwing', async () => {
      const answers = await (await open({ error: 'BAD_REQUEST' })).ask(request);
      expect(answers.at(-1)).toMatchObject({ reply: null, error: { code: 'BAD_REQUEST' } });
      expect(answers.at(-1)?.error?.message).not.toBe('');
    });

    it('asks nobody when nobody wants the reply any more', async () => {
      const answers = await (await open({ reply: 'too late' })).ask({ ...request, signal: AbortSignal.abort() });
      expect(answers).toHaveLength(1);
      expect(answers[0]).toMatchObject({ reply: null, error: { code: 'ABORTED' } });
    });

    it('answers in order when asked again in the same turn', async () => {
      const model = await open({ reply: 'one' }, { reply: 'two' });
      const replies = [await model.ask(request), await model.ask(request)].map((answers) => answers.at(-1)?.reply);
      expect(replies).toEqual(['one', 'two']);
    });
  });
}
