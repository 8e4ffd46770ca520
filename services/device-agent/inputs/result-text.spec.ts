import { describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { placeOfText, storedOutput, wholeTextAt, type MadeBy, type WholeText } from './result-text.js';
import { execCli } from '../testing/run.js';

const tool = (name: string): MadeBy => ({ tool: name });

function read(value: Json, madeBy: MadeBy, field?: string, incomplete?: string[]): WholeText {
  const place = placeOfText(value, madeBy, field);
  return storedOutput(value, place) ?? wholeTextAt(value, place, incomplete === undefined ? {} : { incomplete });
}
const text = (value: Json, madeBy: MadeBy, field?: string): string | undefined => {
  const found = read(value, madeBy, field);
  return found.kind === 'text' ? found.text : undefined;
};
const output = (stdout: string): { [name: string]: Json } => execCli(stdout) as { [name: string]: Json };
const sha256 = 'b'.repeat(64);

describe('the text of a result', () => {
  it('is the standard output of a command, whoever ran it', () => {
    expect(text(execCli('A\n'), tool('EXEC_CLI'))).toBe('A\n');
    const ufo = { success: true, exit_code: 0, stdout: 'Linux\n', stderr: '' };
    expect(text(ufo, tool('execute_command'))).toBe('Linux\n');
  });

  it('is a text of MCP, without quotes and line ends that nobody wrote', () => {
    expect(text('plain', tool('plug-in'))).toBe('plain');
    expect(
      text(
        [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        tool('plug-in'),
      ),
    ).toBe('a\nb');
  });

  it('is one line of JSON only where there is no text', () => {
    expect(text({ info_type: 'memory', data: { total: 1 } }, tool('SYS_INFO'))).toBe(
      '{"info_type":"memory","data":{"total":1}}\n',
    );
    expect(text(null, tool('plug-in'))).toBe('null\n');
    expect(text([], tool('plug-in'))).toBe('[]\n');
    expect(text({ stdout: 7 }, tool('plug-in'))).toBe('{"stdout":7}\n');
  });

  it('is what an agent finished with; what it calls stdout is no output of a command', () => {
    expect(text('two disks\nare full', 'agent')).toBe('two disks\nare full');
    expect(text({ stdout: 'x' }, 'agent')).toBe('{"stdout":"x"}\n');
  });

  it('is a field that was asked for, as deep as it lies', () => {
    const value = { data: { items: [{ name: 'a' }, { name: 'b' }], 'odd name': 1 } };
    expect(text(value, tool('t'), 'data.items.1.name')).toBe('b');
    expect(text(value, tool('t'), 'data.items.0')).toBe('{"name":"a"}\n');
    expect(text(value, tool('t'), 'data.odd name')).toBe('1\n');
    expect(text({ ...output('A'), stderr: 'E' }, tool('EXEC_CLI'), 'stderr')).toBe('E');
  });

  it.each(['nothing', 'data.items.7', 'data.items.length', 'data.constructor', '__proto__', 'data.items.0.name.0'])(
    'is missing where there is no field %s',
    (field) => {
      expect(read({ data: { items: [{ name: 'a' }] } }, tool('t'), field)).toMatchObject({ kind: 'missing' });
    },
  );
});

describe('an output of a command', () => {
  it('is what the device has stored, when that is all of it', () => {
    const value = { ...output('head [...] tail'), stdout_bytes: 9, stdout_artifact: { sha256, bytes: 9 } };
    expect(read(value, tool('EXEC_CLI'))).toEqual({ kind: 'artifact', artifact: { sha256, bytes: 9 } });
  });

  it('is missing when the device has kept a part of it: told how many bytes, and why', () => {
    const cut = { ...output('head'), stdout_bytes: 900, artifact_error: 'stdout: only its first 9 bytes' };
    const why = expect.stringContaining('only its first 9 bytes');
    expect(read({ ...cut, stdout_artifact: { sha256, bytes: 9 } }, tool('EXEC_CLI'))).toEqual({
      kind: 'missing',
      bytes: 900,
      why,
    });
    expect(read(cut, tool('EXEC_CLI'))).toEqual({ kind: 'missing', bytes: 900, why });
    expect(read(cut, tool('EXEC_CLI'), 'stderr')).toEqual({ kind: 'text', text: '' });
  });

  it('is missing when its bytes are no characters and nobody has kept them', () => {
    expect(read({ ...output('a\uFFFD'), stdout_bytes: 2 }, tool('EXEC_CLI'))).toMatchObject({ kind: 'missing' });
  });
});

describe('what a device had to cut', () => {
  const value = { parts: [{ text: 'cut' }, { text: 'whole' }] };
  const at = (field?: string, ...paths: string[]) => read(value, tool('t'), field, paths).kind;

  it('is missing, and so is all that holds it', () => {
    expect(at('parts.0.text', 'parts[0].text')).toBe('missing');
    expect(at('parts.0', 'parts[0].text')).toBe('missing');
    expect(at('parts', 'parts[0].text')).toBe('missing');
    expect(at(undefined, 'parts[0].text')).toBe('missing');
    expect(at('parts.1.text', '')).toBe('missing');
  });

  it('takes nothing away from what lies beside it', () => {
    expect(at('parts.1.text', 'parts[0].text')).toBe('text');
    expect(at('parts.1', 'parts[10].text')).toBe('text');
  });
});
