import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '#proto';
import { sourcesOf, withInputs, type Input } from './stdin.js';
import { execCli } from './testing/run.js';

const command = (stdin: object | string) => ({
  tool: 'EXEC_CLI',
  arguments: { command: 'cat', stdin: stdin as string },
});
const cli = (taskId: string, stdout: string): Input => ({
  taskId,
  madeBy: { tool: 'EXEC_CLI' },
  value: execCli(stdout),
});
const delivered = (from: string[], inputs: Input[]) => {
  const stdin = withInputs(command({ from }), inputs);
  return stdin.kind === 'ready' ? stdin.command.arguments['stdin'] : stdin;
};

describe('withInputs', () => {
  it('concatenates the outputs in the order of the sources, whatever order they were read in', () => {
    expect(delivered(['b', 'a'], [cli('a', 'A\n'), cli('b', 'B')])).toBe('BA\n');
  });

  it('adds nothing to an output: not even a line end', () => {
    expect(delivered(['a', 'b'], [cli('a', 'x'), cli('b', '')])).toBe('x');
  });

  it('gives any other answer as one line of JSON', () => {
    const memory = { info_type: 'memory', data: { total: 1 } };
    expect(delivered(['m', 'a'], [{ taskId: 'm', madeBy: { tool: 'SYS_INFO' }, value: memory }, cli('a', 'A')])).toBe(
      '{"info_type":"memory","data":{"total":1}}\nA',
    );
    expect(delivered(['n'], [{ taskId: 'n', madeBy: { tool: 'plug-in' }, value: null }])).toBe('null\n');
  });

  it('gives an answer of EXEC_CLI without output as JSON, too: a foreign client may answer anything', () => {
    expect(delivered(['a'], [{ taskId: 'a', madeBy: { tool: 'EXEC_CLI' }, value: 'plain text' }])).toBe(
      '"plain text"\n',
    );
  });

  it('gives the text of an agent as it is, and anything else of it as JSON', () => {
    expect(delivered(['t'], [{ taskId: 't', madeBy: 'agent', value: 'two disks\nare full' }])).toBe(
      'two disks\nare full',
    );
    expect(delivered(['t'], [{ taskId: 't', madeBy: 'agent', value: { stdout: 'x' } }])).toBe('{"stdout":"x"}\n');
  });

  it('gives nothing of a source that answered nothing or never ran', () => {
    expect(delivered(['a', 'gone', 'b'], [cli('a', 'A'), { taskId: 'b', madeBy: null, value: null }])).toBe('A');
  });

  it('delivers a source twice when it is named twice', () => {
    expect(delivered(['a', 'a'], [cli('a', 'A')])).toBe('AA');
  });

  it('leaves a command alone that takes no outputs', () => {
    for (const stdin of ['text', { from: [] }, { from: ['a'], more: 1 }]) {
      const call = command(stdin);
      expect(sourcesOf(call)).toEqual([]);
      expect(withInputs(call, [])).toEqual({ kind: 'ready', command: call });
    }
  });

  it('changes no other argument and not the order itself', () => {
    const call = command({ from: ['a'] });
    const before = structuredClone(call);
    expect(withInputs(call, [cli('a', 'A')])).toMatchObject({ command: { arguments: { command: 'cat' } } });
    expect(call).toEqual(before);
  });

  it('refuses what no frame could carry', () => {
    const big = cli('a', 'x'.repeat(LIMITS.aipFrameBytesMax));
    expect(delivered(['a'], [big])).toMatchObject({ kind: 'too-large' });
  });
});
