import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { testing, type AgentKind } from '#libs/device-agent';
import { loadPrompts } from '#libs/prompts';
import type { ChatMessage } from '#proto';
import { pumpAgent } from './pump-agent.js';

const { answered, callsOf, drive, refused, sampleTask, say, scripted } = testing;
const ROOT = join(import.meta.dirname, '../..');
const AGENT = 'test/tutorial/pump-agent.ts';

const tools = ['READ_LEVEL', 'SET_PUMP'].map((name) => ({ name, description: name, readOnly: name === 'READ_LEVEL' }));
const task = sampleTask({
  name: 'Drain the cellar',
  description: 'Bring the level below 10 percent.',
  device: { deviceId: 'pump-1', os: 'rtos', arch: 'arm', hostname: 'pump-1', tools },
});

/** A model that knows the one state that others do not have. */
const hold = (comment: string) => {
  const said = say({ comment });
  return { ...said, action: { ...said.action, status: 'HOLD' } };
};

const textOf = ({ content }: ChatMessage): string => (typeof content === 'string' ? content : JSON.stringify(content));

let kind: AgentKind;

beforeAll(async () => {
  const templates = await loadPrompts(join(ROOT, 'prompts'));
  kind = pumpAgent({
    templates,
    countTokens: (text) => Math.ceil(text.length / 4),
    visual: false,
    memoryTokens: 4_000,
  });
});

describe('the agent of the tutorial', () => {
  it('is the one on the page, and has less than 100 lines', async () => {
    const page = await readFile(join(ROOT, 'docs/device-agents.md'), 'utf8');
    const code = await readFile(join(ROOT, AGENT), 'utf8');
    const [, shown] = /^## Tutorial[^]*?```ts\n([^]*?)```/mu.exec(page) ?? [];
    expect(shown).toBe(code);
    expect(code.trimEnd().split('\n').length).toBeLessThan(100);
  });

  it('looks, asks, acts and finishes', () => {
    let percent = 80;
    const driven = drive(
      kind,
      task,
      scripted({
        replies: [
          hold('May I run the pump?'),
          say({ call: ['SET_PUMP', { running: true }] }),
          say({ status: 'FINISH', result: 'The level is 5 percent.' }),
        ],
        calls: ({ tool }) => {
          const level = percent;
          if (tool === 'SET_PUMP') percent = 5;
          return answered(tool === 'READ_LEVEL' ? { percent: level } : { running: true });
        },
        answers: (question) => ({ text: `To "${question}": yes, until it is dry.`, note: '' }),
      }),
    );
    expect(driven.end).toEqual({
      kind: 'finished',
      result: 'The level is 5 percent.',
      notes: ['To "May I run the pump?": yes, until it is dry.'],
    });
    expect(callsOf(driven).map(({ tool }) => tool)).toEqual(['READ_LEVEL', 'READ_LEVEL', 'SET_PUMP', 'READ_LEVEL']);
    const prompts = driven.prompts.map(({ messages }) => messages.map(textOf).join('\n'));
    expect(prompts[0]).toContain('Use HOLD before you run the pump');
    expect(prompts[0]).toContain('level: {"percent":80}');
    expect(prompts[0]).not.toContain('until it is dry');
    expect(prompts[1]).toContain('until it is dry');
    expect(prompts[2]).toContain('level: {"percent":5}');
  });

  it('fails with a reason of its own when there is nothing to be seen', () => {
    const { end } = drive(
      kind,
      task,
      scripted({ replies: [], calls: () => refused('device', 'BROKEN', 'the sensor is wet') }),
    );
    expect(end).toMatchObject({ kind: 'failed', code: 'NO_LEVEL', message: 'no level: the sensor is wet' });
  });
});
