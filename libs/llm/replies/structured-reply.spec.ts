import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type ChatMessage, LinuxAgentReply, ModelCall } from '#proto';
import { unseenIn } from '#libs/visible';
import { ScriptedChatModel, type Script, type Scripted } from '../stand-ins/scripted.js';
import { askStructured, type StructuredAsk } from './structured-reply.js';

const Disk = z.strictObject({ thought: z.string(), used: z.int().min(0).max(100).optional() });
type Disk = z.infer<typeof Disk>;

const good = '{"thought": "fine", "used": 40}';

async function ask(script: readonly Scripted[] | Script, over: Partial<StructuredAsk<Disk>> = {}) {
  const model = new ScriptedChatModel(script);
  const reply = await askStructured(model, {
    agent: 'LinuxAgent',
    messages: [{ role: 'user', content: 'How full is the disk?' }],
    schema: Disk,
    schemaName: 'Disk',
    signal: new AbortController().signal,
    deadlineMs: 1_000,
    turn: 'r.t.1/1',
    now: () => 0,
    ...over,
  });
  return { reply, requests: model.requests, problems: reply.calls.map(({ problems }) => problems) };
}

const lastOf = (request: { messages: readonly { content: unknown }[] } | undefined): string =>
  String(request?.messages.at(-1)?.content);

describe('a reply that can be used', () => {
  it('is given as the schema read it, with the call that it took', async () => {
    const { reply, requests, problems } = await ask([good]);
    expect(reply).toMatchObject({ kind: 'reply', value: { thought: 'fine', used: 40 } });
    expect(problems).toEqual([[]]);
    expect(reply.calls.map((call) => ModelCall.parse(call))).toEqual(reply.calls);
    expect(requests[0]?.schema).toMatchObject({ name: 'Disk', json: { required: ['thought', 'used'] } });
  });

  it('may say null for what is absent', async () => {
    const { reply } = await ask(['{"thought": "fine", "used": null}']);
    expect(reply).toMatchObject({ kind: 'reply', value: { thought: 'fine' } });
  });
});

describe('what a model is asked with', () => {
  it('hides nothing, whoever forgot it, and its own words neither', async () => {
    const hidden = 'a\u202E\u200B\u{E0041}\0\r\uD800';
    const messages = [
      { role: 'system', content: hidden },
      { role: 'user', content: [{ type: 'text', text: hidden }] },
    ] as const;
    const { requests } = await ask([`{"${hidden}": "${hidden}"}`, good], {
      messages: messages.map((message) => structuredClone(message) as ChatMessage),
      check: () => [hidden],
      repairsMax: 1,
    });
    expect(requests).toHaveLength(2);
    const asked = requests.flatMap((request) => request.messages.map(({ content }) => content));
    const texts = asked.flatMap((content) =>
      typeof content === 'string' ? [content] : content.map((part) => (part.type === 'text' ? part.text : '')),
    );
    expect(texts.map(unseenIn)).toEqual(texts.map(() => 0));
    expect(texts.filter((text) => text.includes(String.raw`a\u202e\u200b\udb40\udc41\u0000\r\ud800`))).not.toEqual([]);
  });
});

describe('a reply that cannot be used', () => {
  it('because of what the schema cannot say goes back all the same, and counts as a repair', async () => {
    const check = ({ used = 0 }: Disk): string[] => (used > 50 ? ['used: no disk is that full'] : []);
    const { reply, requests, problems } = await ask(['{"thought": "x", "used": 90}', good], { check });
    expect(reply).toMatchObject({ kind: 'reply', value: { used: 40 } });
    expect(problems).toEqual([['used: no disk is that full'], []]);
    expect(lastOf(requests[1])).toContain('- used: no disk is that full');
    const given = await ask(() => '{"thought": "x", "used": 90}', { check, repairsMax: 1 });
    expect(given.reply).toMatchObject({ kind: 'failed', code: 'MODEL_REPLY_INVALID' });
    expect(given.requests).toHaveLength(2);
  });

  it('goes back to the model with what is wrong, by path, and the problems are in its call', async () => {
    const { reply, requests, problems } = await ask(['{"thought": 1, "used": 400}', good]);
    expect(reply).toMatchObject({ kind: 'reply', value: { used: 40 } });
    expect(problems).toEqual([['thought: must be a text, not 1', expect.stringMatching(/^used: .*100/u)], []]);
    expect(requests[1]?.messages[1]).toEqual({ role: 'assistant', content: '{"thought": 1, "used": 400}' });
    for (const problem of problems[0] ?? []) expect(lastOf(requests[1])).toContain(`- ${problem}`);
  });

  it.each([
    ['prose', 'The disk is fine.', 'the reply is not one JSON value'],
    ['prose and JSON', `Here you are: ${good}`, 'the reply is not one JSON value'],
    ['a fake second answer', `${good}${good}`, 'the reply is not one JSON value'],
    ['a command in the wrong field', '{"thought": "x", "command": "rm -rf /"}', 'the reply: unknown field "command"'],
    ['a field twice', '{"thought": "x", "thought": "y"}', 'the reply has the field "thought" twice'],
    ['a prototype', '{"thought": "x", "__proto__": {"used": 1}}', 'the reply has a field named __proto__'],
    ['nothing', '', 'the reply is empty'],
    ['a list', '[1]', 'the reply: '],
  ])('%s is repaired', async (_, bad, problem) => {
    const { reply, problems } = await ask([bad, good]);
    expect(reply.kind).toBe('reply');
    expect(problems[0]?.[0]).toContain(problem);
  });

  it.each([
    ['EMPTY_REPLY', 'the reply was empty'],
    ['REPLY_TOO_LARGE', 'the reply was longer than 262144 bytes; be much shorter'],
    ['REPLY_CUT', 'the reply was cut off'],
    ['REFUSED', 'there was no reply but a refusal'],
  ] as const)('%s is repaired', async (code, problem) => {
    const { reply, problems, requests } = await ask([{ error: { code, message: 'm' }, reply: 'xxx' }, good]);
    expect(reply.kind).toBe('reply');
    expect(problems[0]?.[0]).toContain(problem);
    expect(lastOf(requests[1])).toContain(problem);
  });

  it('is repaired three times and no more', async () => {
    const { reply, requests, problems } = await ask(() => '{"thought": 1}');
    expect(requests).toHaveLength(4);
    expect(problems.every(([problem]) => problem?.startsWith('thought: '))).toBe(true);
    expect(reply).toMatchObject({ kind: 'failed', code: 'MODEL_REPLY_INVALID' });
    expect(reply.kind === 'failed' && reply.message).toMatch(/^No usable reply in 4 tries; the last one: thought: /u);
  });

  it('costs one reply more, not all of them', async () => {
    const { requests } = await ask(['bad 1', 'bad 2', good]);
    expect(requests.map(({ messages }) => messages.length)).toEqual([1, 3, 3]);
    expect(requests[2]?.messages[1]?.content).toBe('bad 2');
  });

  it('is shown again in part only, and its problems are bounded', async () => {
    const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key-${index}-${'x'.repeat(50)}`, 1]));
    const { requests, problems } = await ask([JSON.stringify({ ...keys, thought: 1 }), good]);
    expect(requests[1]?.messages[1]?.content).toHaveLength(8_000);
    expect(problems[0]?.every((problem) => problem.length <= 1_000)).toBe(true);
    expect(lastOf(requests[1]).length).toBeLessThan(25_000);
  });

  it('takes its text back before the next one is written', async () => {
    const told: string[] = [];
    await ask(['bad', good], { onText: (soFar) => told.push(soFar) });
    expect(told).toEqual(['bad', '', good]);
  });
});

describe('no reply', () => {
  it.each([
    'TIMEOUT',
    'RATE_LIMITED',
    'SERVER_ERROR',
    'UNAUTHORIZED',
    'UNREACHABLE',
    'STREAM_CUT',
    'CIRCUIT_OPEN',
  ] as const)('is not asked for again when the endpoint failed: %s', async (code) => {
    const { reply, requests } = await ask([{ error: { code, message: 'why' } }]);
    expect(reply).toMatchObject({ kind: 'failed', code: 'MODEL_UNAVAILABLE', message: 'scripted: why' });
    expect(requests).toHaveLength(1);
    expect(reply.calls).toHaveLength(1);
  });

  it('is had from a model that says nothing at all', async () => {
    const reply = await askStructured(
      { ask: () => Promise.resolve([]) },
      {
        agent: 'a',
        messages: [],
        schema: Disk,
        schemaName: 'D',
        signal: new AbortController().signal,
        deadlineMs: 1,
        turn: 't',
      },
    );
    expect(reply).toEqual({ kind: 'failed', code: 'MODEL_UNAVAILABLE', message: 'No model was asked.', calls: [] });
  });

  it('is wanted any more', async () => {
    const { reply } = await ask([good], { signal: AbortSignal.abort() });
    expect(reply).toMatchObject({ kind: 'failed', code: 'ABORTED' });
  });

  it('is asked for when that is not allowed, not even a repair', async () => {
    const refusal = { code: 'BUDGET_EXHAUSTED', message: 'nothing left' };
    const first = await ask([good], { mayCall: () => refusal });
    expect(first.reply).toEqual({ kind: 'failed', ...refusal, calls: [] });
    const second = await ask(['bad', good], { mayCall: (calls) => (calls.length < 1 ? null : refusal) });
    expect(second.requests).toHaveLength(1);
    expect(second.reply).toMatchObject({ ...refusal, kind: 'failed', calls: [{ reply: 'bad' }] });
  });
});

it('gives all tries together the time that there is', async () => {
  let nowMs = 0;
  const { requests } = await ask(
    (_, index) => {
      nowMs += 400;
      return index < 2 ? 'bad' : good;
    },
    { now: () => nowMs },
  );
  expect(requests.map(({ deadlineMs }) => deadlineMs)).toEqual([1_000, 600, 200]);
});

it('reads what a LinuxAgent answers in strict form', async () => {
  const model = new ScriptedChatModel([
    { json: { thought: 't', action: { function: 'EXEC_CLI', arguments: '{"command":"ls"}', status: 'CONTINUE' } } },
  ]);
  const reply = await askStructured(model, {
    agent: 'LinuxAgent',
    messages: [],
    schema: LinuxAgentReply,
    schemaName: 'LinuxAgentReply',
    signal: new AbortController().signal,
    deadlineMs: 1_000,
    turn: 't',
  });
  expect(reply).toMatchObject({ kind: 'reply', value: { action: { arguments: { command: 'ls' } } } });
});
