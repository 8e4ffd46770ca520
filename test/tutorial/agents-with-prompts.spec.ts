import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  AppAgentPrompter,
  builtInAgents,
  DESKTOP_AGENT,
  HostAgentPrompter,
  linuxAgent,
  LinuxAgentPrompter,
  testing,
  WINDOWS_AGENT,
  type PrompterOptions,
} from '#libs/device-agent';
import { loadPrompts } from '#libs/prompts';
import { LinuxAgentReply, type Prompt } from '#proto';

const { AppAgentReply, cli, desktopAgent, drive, finish, HostAgentReply, hostSays, sampleTask, say, scripted } =
  testing;

let options: PrompterOptions;

beforeAll(async () => {
  const templates = await loadPrompts(join(import.meta.dirname, '../../prompts'));
  options = { templates, countTokens: (text) => Math.ceil(text.length / 4), visual: false, memoryTokens: 4_000 };
});

const textOf = (prompt: Prompt | undefined): string =>
  (prompt?.messages ?? [])
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('\n');

/** The template and the schema are written by different hands: what one promises the other must take. */
function expectDocumented(
  prompt: string,
  schema: typeof LinuxAgentReply | typeof HostAgentReply | typeof AppAgentReply,
) {
  for (const field of Object.keys(schema.shape)) expect(prompt).toContain(`- \`${field}\`:`);
  for (const field of Object.keys(schema.shape.action.shape)) expect(prompt).toContain(`  - \`${field}\`:`);
  const documented = Array.from(prompt.matchAll(/^- `([A-Z]+)`:/gmu), ([, name]) => name);
  expect(new Set(documented)).toEqual(new Set(schema.shape.action.shape.status.options));
}

describe('agents with the prompts that they come with', () => {
  it('every kind has a name of its own, and texts for its prompts', () => {
    const kinds = builtInAgents(options);
    for (const kind of kinds) {
      const done = [WINDOWS_AGENT, DESKTOP_AGENT].includes(kind.name)
        ? hostSays({ status: 'FINISH', result: 'done' })
        : finish('done');
      const { end, prompts } = drive(kind, sampleTask(), scripted({ replies: [done] }));
      expect([kind.name, end.kind, prompts.length]).toEqual([kind.name, 'finished', 1]);
    }
    expect(new Set(kinds.map(({ name }) => name)).size).toBe(kinds.length);
  });

  it('LinuxAgent knows its states, its tools, and what came of its last step', () => {
    const kind = linuxAgent({ prompter: new LinuxAgentPrompter(options) });
    const { prompts, end } = drive(
      kind,
      sampleTask(),
      scripted({
        replies: [say({ run: 'df -h /data' }), say({ call: ['EXEC_CLI', { cmd: 'df' }] }), finish('276 GB are free')],
        calls: [cli('/dev/sdb1 276G')],
      }),
    );
    expect(end.kind).toBe('finished');
    const [first = '', second = '', third = ''] = prompts.map(textOf);
    expectDocumented(first, LinuxAgentReply);
    for (const name of ['EXEC_CLI', 'SYS_INFO', 'READ_OUTPUT', 'ASK']) expect(first).toContain(`Tool name: ${name}`);
    expect(second).toContain('/dev/sdb1 276G');
    expect(third).toContain('arguments.command is missing');
  });

  it('HostAgent knows whom it can give work to, AppAgent knows its part and what is to be seen', () => {
    const host = new HostAgentPrompter(options);
    const kind = desktopAgent({ host, app: new AppAgentPrompter(options) });
    const assign = {
      ...say({}),
      action: { function: '', arguments: { agent: 'AppAgent', subtask: 'Read the report.' }, status: 'ASSIGN' },
    };
    const { prompts, end } = drive(
      kind,
      sampleTask(),
      scripted({ replies: [assign, finish('It says 42.'), finish('42')], calls: () => cli('Desktop 1') }),
    );
    expect(end).toMatchObject({ kind: 'finished', result: '42' });
    const [first = '', second = '', third = ''] = prompts.map(textOf);
    expectDocumented(first, HostAgentReply);
    expectDocumented(second, AppAgentReply);
    expect(first).toContain('AppAgent: Does one thing at a time');
    expect(second).toContain('Read the report.');
    expect(second).toContain('Desktop 1');
    expect(third).toContain('It says 42.');
  });
});
