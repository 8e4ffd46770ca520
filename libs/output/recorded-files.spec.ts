import { describe, expect, it } from '@jest/globals';
import { commandIdOf, type ResultFile } from '#proto';
import type { RecordedCommand } from './recorded-commands.js';
import { recordedFileNamed, recordedFiles } from './recorded-files.js';

const kept = (name: string, digit: string): ResultFile => ({
  name,
  mediaType: 'image/png',
  artifact: { sha256: digit.repeat(64), bytes: 5 },
});
const lost = (name: string): ResultFile => ({ name, mediaType: 'image/png', problem: 'not kept: it is no image' });

/** What the command of a step answered with; step 0 of an agent's attempt is here what the agent said at its end. */
function command(taskId: string, [attempt, step]: readonly [number, number], files: ResultFile[]): RecordedCommand {
  const commandId = step === 0 ? null : commandIdOf({ runId: 'r', taskId, attempt }, step);
  const rest = {
    call: null,
    deviceId: null,
    state: null,
    refused: false,
    error: null,
    startedAt: null,
    durationMs: null,
  };
  return { taskId, attempt, commandId, ...rest, result: { value: '', files } };
}

describe('a file of a run', () => {
  it('is found by its name', () => {
    const commands = [command('a', [1, 1], [kept('x.png', '1'), kept('y.png', '2')])];
    expect(recordedFileNamed(commands, 'y.png')).toEqual(kept('y.png', '2'));
  });

  it('is told where it came from, and not again with what the agent said at its end', () => {
    const commands = [command('a', [1, 1], [kept('x.png', '1')]), command('a', [1, 0], [kept('x.png', '1')])];
    expect(recordedFiles(commands).map(({ command: { commandId } }) => commandId)).toEqual(['r.a.1.1.0']);
    expect(recordedFiles(commands.slice(1))).toHaveLength(1);
  });

  it('of a workspace is found by its path, too', () => {
    const [one, other] = ['web-1/errors.log', 'web-2/errors.log'].map((path, index) => ({
      ...kept('errors.log', String(index + 1)),
      path,
      mode: '644',
    }));
    if (one === undefined || other === undefined) throw new Error('there are two');
    const commands = [command('a', [1, 1], [one, other])];
    expect(recordedFileNamed(commands, 'web-2/errors.log')).toEqual(other);
    expect(() => recordedFileNamed(commands, 'errors.log')).toThrow(
      'more than one file "errors.log": "web-1/errors.log" of a/1/1.0, "web-2/errors.log" of a/1/1.0; say its path',
    );
    const above = { ...one, name: 'errors.log', path: 'errors.log', artifact: { sha256: '3'.repeat(64), bytes: 5 } };
    expect(recordedFileNamed([command('a', [1, 1], [one, other, above])], 'errors.log')).toEqual(above);
    expect(() => recordedFileNamed(commands, 'x')).toThrow('there is "web-1/errors.log", "web-2/errors.log"');
  });

  it('is that of the last attempt', () => {
    const commands = [command('a', [1, 1], [kept('x.png', '1')]), command('a', [2, 1], [kept('x.png', '2')])];
    expect(recordedFileNamed(commands, 'x.png')).toEqual(kept('x.png', '2'));
  });

  it('may be there twice when it is the same', () => {
    const commands = [command('a', [1, 1], [kept('x.png', '1')]), command('b', [1, 1], [kept('x.png', '1')])];
    expect(recordedFileNamed(commands, 'x.png')).toEqual(kept('x.png', '1'));
  });

  it.each<[string, RecordedCommand[], string]>([
    [
      'there are two',
      [command('a', [1, 1], [kept('x.png', '1')]), command('a', [1, 2], [kept('x.png', '2')])],
      'There is more than one file "x.png": a/1/1.0, a/1/2.0; say which task and step.',
    ],
    [
      'there is another',
      [command('a', [1, 1], [kept('y.png', '1')])],
      'No file "x.png" is recorded; there is "y.png".',
    ],
    ['there is none', [command('a', [1, 1], [])], 'No file "x.png" is recorded; there is no file.'],
    [
      'it is not kept',
      [command('a', [1, 1], [lost('x.png')])],
      'The file "x.png" has no content: not kept: it is no image.',
    ],
  ])('is refused with a reason when %s', (_, commands, reason) => {
    expect(() => recordedFileNamed(commands, 'x.png')).toThrow(reason);
  });
});
