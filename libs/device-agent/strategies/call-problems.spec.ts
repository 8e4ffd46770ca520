import { describe, expect, it } from '@jest/globals';
import type { Json, ToolInfo } from '#proto';
import { EXEC_CLI_TOOL, SYS_INFO_TOOL } from '../testing/samples.js';
import { callProblem } from './call-problems.js';
import { OWN_TOOLS } from './own-tools.js';

const loose: ToolInfo = { name: 'LOOSE', description: '', readOnly: false };
const odd: ToolInfo = {
  ...loose,
  name: 'ODD',
  inputSchema: {
    type: 'object',
    properties: {
      many: { type: ['string', 'null'] },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      list: { type: 'array' },
      map: { type: 'object' },
      yes: { type: 'boolean' },
      choice: { anyOf: [{ type: 'string' }, { type: 'object' }] },
      word: { type: 'string', minLength: 2, maxLength: 4 },
      strange: { type: 'quantum' },
      broken: 'not a schema',
    },
    required: 'not a list',
  },
};
const TOOLS = [EXEC_CLI_TOOL, SYS_INFO_TOOL, loose, odd, ...OWN_TOOLS];
const problem = (tool: string, args: Record<string, Json> = {}) => callProblem({ tool, arguments: args }, TOOLS);

describe('a call that can be meant', () => {
  it.each<[string, Record<string, Json>]>([
    ['EXEC_CLI', { command: 'df -h', timeout: 5 }],
    ['SYS_INFO', { info_type: 'cpu' }],
    ['LOOSE', { anything: [1] }],
    [
      'ODD',
      { many: null, count: 9, list: [], map: {}, yes: false, choice: 7, word: 'abc', strange: 1, broken: 2, more: 3 },
    ],
    ['READ_OUTPUT', { step: 3 }],
    ['ASK', { question: 'Which?' }],
  ])('%s %j', (tool, args) => {
    expect(problem(tool, args)).toBeNull();
  });
});

describe('a call that cannot', () => {
  it.each<[string, Record<string, Json>, string]>([
    ['EXEC_CLI', {}, 'EXEC_CLI was not run: arguments.command is missing.'],
    ['EXEC_CLI', { command: 'ls', cwd: '/' }, 'it has no argument "cwd", only command, timeout'],
    ['EXEC_CLI', { command: '' }, 'arguments.command is too short'],
    ['EXEC_CLI', { command: 'ls', timeout: 'long' }, 'arguments.timeout must be a number'],
    ['SYS_INFO', { info_type: 'moon' }, 'must be one of "memory", "disk", "cpu", "network", "hardware", "os"'],
    ['ODD', { many: 1 }, 'arguments.many must be a string or null'],
    ['ODD', { count: 1.5 }, 'arguments.count must be an integer'],
    ['ODD', { count: 0 }, 'arguments.count must be at least 1'],
    ['ODD', { count: 10 }, 'arguments.count must be at most 9'],
    ['ODD', { list: {} }, 'arguments.list must be an array'],
    ['ODD', { map: [] }, 'arguments.map must be an object'],
    ['ODD', { yes: 'yes' }, 'arguments.yes must be true or false'],
    ['ODD', { word: 'abcde' }, 'arguments.word is too long'],
    ['READ_OUTPUT', { step: 'one' }, 'arguments.step must be an integer'],
  ])('%s %j', (tool, args, text) => {
    expect(problem(tool, args)).toContain(text);
  });

  it('says every problem at once', () => {
    expect(problem('ODD', { count: 0, yes: 1 })).toBe(
      'ODD was not run: arguments.count must be at least 1; arguments.yes must be true or false.',
    );
  });

  it('says which tools there are, and where a command line belongs', () => {
    expect(problem('CLICK')).toBe(
      'Nothing was run: there is no tool "CLICK". There is EXEC_CLI, SYS_INFO, LOOSE, ODD, READ_OUTPUT, READ_INPUT, READ_BOARD, WRITE_BOARD, ASK.',
    );
    expect(problem('rm -rf /tmp/x')).toContain('A command line belongs into arguments.command of EXEC_CLI.');
    expect(callProblem({ tool: 'rm -rf x', arguments: {} }, [loose])).not.toContain('EXEC_CLI');
  });

  it('does not repeat a megabyte that a model put in the wrong place', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => ({ ...loose, name: `T${n}` }));
    expect(callProblem({ tool: 'x'.repeat(1_000_000), arguments: {} }, many)?.length).toBeLessThan(500);
    expect(problem('EXEC_CLI', { command: 'ls', ['y'.repeat(100_000)]: 1 })?.length).toBeLessThan(300);
  });

  it('does not take what every object has for an argument', () => {
    const tool = { ...loose, name: 'X', inputSchema: { properties: {}, required: ['constructor'] } };
    expect(callProblem({ tool: 'X', arguments: {} }, [tool])).toContain('is missing');
  });
});
