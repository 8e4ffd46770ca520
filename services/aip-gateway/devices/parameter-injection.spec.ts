import { describe, expect, it } from '@jest/globals';
import { parseWith, sentenceOf } from '#proto';
import type { CommandOutcome, Json } from '#proto';
import { InjectedParameters, NO_INJECTION, parameterInjection } from './parameter-injection.js';

const SECRET = 'mcp-key-1234';
const injection = parameterInjection({
  linux_agent_1: { execute_command: { api_key: SECRET, cwd: '/' }, get_system_info: { api_key: SECRET } },
});
const command = { tool: 'execute_command', arguments: { command: 'ls' } };
const outcome = (result: Json, message: string | null = null): CommandOutcome => ({
  state: message === null ? 'COMPLETED' : 'FAILED',
  result,
  error: message === null ? null : { code: 'TOOL_ERROR', message, outcome: 'failed' },
  startedAt: null,
  durationMs: null,
});

describe('parameters of foreign devices', () => {
  it('are added to the tools of their device, and to nothing else', () => {
    expect(injection.injected('linux_agent_1', command)).toEqual({
      tool: 'execute_command',
      arguments: { command: 'ls', api_key: SECRET, cwd: '/' },
    });
    expect(injection.injected('linux_agent_2', command)).toBe(command);
    expect(injection.injected('linux_agent_1', { ...command, tool: 'other' }).arguments).toEqual({ command: 'ls' });
    expect(injection.injected('linux_agent_1', { ...command, tool: 'toString' }).arguments).toEqual({ command: 'ls' });
    expect(NO_INJECTION.injected('linux_agent_1', command)).toBe(command);
  });

  it('win over what a command brings, and leave the command as it was', () => {
    const brings = { tool: 'execute_command', arguments: { api_key: 'guessed' } };
    expect(injection.injected('linux_agent_1', brings).arguments['api_key']).toBe(SECRET);
    expect(brings.arguments).toEqual({ api_key: 'guessed' });
  });

  it('are no arguments of the tools that those see who plan', () => {
    const schema = (...names: string[]) => ({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      required: names.filter((name) => name !== 'cwd'),
    });
    const tool = (name: string, ...names: string[]) => ({
      name,
      description: '',
      readOnly: false,
      inputSchema: schema(...names),
    });
    const tools = [tool('execute_command', 'command', 'api_key', 'cwd'), tool('other', 'api_key')];
    expect(injection.shown('linux_agent_1', tools)).toEqual([tool('execute_command', 'command'), tools[1]]);
    expect(injection.shown('linux_agent_2', tools)).toEqual(tools);
  });

  it('do not come back in what the device says', () => {
    const echoed = outcome({ stdout: `key ${SECRET}, ${SECRET}`, [SECRET]: [SECRET, 1, null] }, `bad ${SECRET}`);
    const masked = injection.masked('linux_agent_1', echoed);
    expect(JSON.stringify(masked)).not.toContain(SECRET);
    expect(masked).toMatchObject({
      result: { stdout: 'key [injected], [injected]', '[injected]': ['[injected]', 1, null] },
      error: { message: 'bad [injected]' },
    });
    expect(injection.masked('linux_agent_2', echoed)).toBe(echoed);
    expect(injection.masked('linux_agent_1', outcome({ cwd: '/', n: 3 }))).toEqual(outcome({ cwd: '/', n: 3 }));
  });

  it('are not written down when the device complains', () => {
    expect(injection.maskedText('linux_agent_1', `no tool with ${SECRET}`)).toBe('no tool with [injected]');
    expect(injection.maskedText('linux_agent_2', SECRET)).toBe(SECRET);
    expect(NO_INJECTION.maskedText('linux_agent_1', SECRET)).toBe(SECRET);
  });

  it('that contain each other are masked whole', () => {
    const both = parameterInjection({ d: { t: { a: 'secret', b: { c: ['secret-longer'] } } } });
    expect(both.masked('d', outcome('secret-longer secret')).result).toBe('[injected] [injected]');
  });

  it.each([
    [{ 'not an id': {} }, 'not an id'],
    [{ d: { 'no tool!': {} } }, 'd.no tool!'],
    [{ d: { t: 'text' } }, 'd.t'],
    [[], 'must map device ids to tools'],
    [null, 'must map device ids to tools'],
  ])('%j are refused, with the place of what is wrong', (input, place) => {
    const parsed = parseWith(InjectedParameters, input);
    expect(parsed.ok ? '' : parsed.issues.map(sentenceOf).join()).toContain(place);
  });
});
