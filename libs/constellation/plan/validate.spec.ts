import { describe, expect, it } from '@jest/globals';
import { constellation } from '../testing/given.js';
import { validateConstellation } from './validate.js';

const stdin = (from: unknown) => ({ tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: from as never } });

describe('a constellation is refused with the path of the offending field', () => {
  it.each([
    ['a duplicate task id', constellation(['a', 'a']), 'tasks[1].id', '"a" is already the id of tasks[0]'],
    [
      'a line from nowhere',
      constellation(['a', 'b'], ['x->b']),
      'lines[0].from',
      'there is no task "x"; known are a, b',
    ],
    ['a line to nowhere', constellation(['a'], ['a->x']), 'lines[0].to', 'there is no task "x"'],
    ['a line to itself', constellation(['a'], ['a->a']), 'lines', 'a -> a'],
    ['a cycle of two', constellation(['a', 'b'], ['a->b', 'b->a']), 'lines', 'the lines form a cycle'],
    ['a bad condition', constellation(['a', 'b'], ['a?result =>b']), 'lines[0].condition', 'is not valid CEL'],
    [
      'the output of a stranger',
      constellation(['a', { id: 'b', command: stdin({ from: ['a'] }) }]),
      'tasks[1].command.arguments.stdin.from[0]',
      'is not a predecessor',
    ],
    [
      'an input that is none',
      constellation(['a', { id: 'b', command: stdin({ from: ['a', { task: 'a', field: '.x' }] }) }], ['a->b']),
      'tasks[1].command.arguments.stdin.from[1].field',
      'a field is names separated by dots, such as stdout',
    ],
    [
      'a field that the result of EXEC_CLI does not have',
      constellation(['a', { id: 'b', command: stdin({ from: [{ task: 'a', field: 'output' }] }) }], ['a->b']),
      'tasks[1].command.arguments.stdin.from[0].field',
      'the result of EXEC_CLI has no field "output"; it has stdout, stderr, exit_code',
    ],
    [
      'a stdin of another shape',
      constellation([{ id: 'b', command: stdin({ of: ['a'] }) }]),
      'tasks[0].command.arguments.stdin',
      'a text, {"from"',
    ],
  ])('%s', (_, plan, path, message) => {
    expect(validateConstellation(plan)).toContainEqual({ path, message: expect.stringContaining(message) });
  });

  it('finds a cycle of 500 and does not answer with more than 20 issues', () => {
    const ids = Array.from({ length: 500 }, (_, index) => `t${index}`);
    const ring = constellation(
      ids,
      ids.map((id, index) => `${id}->${ids[(index + 1) % ids.length]}`),
    );
    expect(validateConstellation(ring)).toHaveLength(1);
    const dangling = constellation(
      ['a'],
      Array.from({ length: 50 }, (_, index) => `x${index}->a`),
    );
    expect(validateConstellation(dangling)).toHaveLength(20);
  });
});
