import { describe, expect, it } from '@jest/globals';
import { cleanOutput, labelledOutput, outputJson, outputLineText } from './output-text.js';
import { rawPrinter, WAITING_BYTES_MAX } from './output-printer.js';
import type { TaskOutputPiece } from './output-piece.js';
import { painted } from '../terminal/style.js';
import { fakeTerminal } from '../testing/fake-terminal.js';

const HOSTILE = '\u001B]0;title\u0007\u001B[2Ja\u202Eb\u009Bc\u0008';
const line = (text: string, stream: 'stdout' | 'stderr' = 'stdout') => ({ taskId: 'disk', stream, text });
const piece = (text: string, offset = 0, change: Partial<TaskOutputPiece> = {}): TaskOutputPiece => ({
  commandId: 'r1.disk.1.0.0',
  taskId: 'disk',
  attempt: 1,
  deviceId: 'web-1',
  stream: 'stdout',
  offset,
  text,
  ...change,
});

describe('a line of output', () => {
  it('is printed without what could rewrite the screen', () => expect(cleanOutput(HOSTILE)).toBe('abc'));

  it('keeps its columns', () => {
    expect(cleanOutput('  a\tb\t\tc  ')).toBe('  a     b               c');
    expect(cleanOutput('Größe\t1')).toBe('Größe   1');
  });

  it('names its task and stream unless its task is alone', () => {
    expect(outputLineText(line('12 GB'), undefined)).toBe('disk stdout | 12 GB');
    expect(outputLineText(line('12 GB'), 'report')).toBe('disk stdout | 12 GB');
    expect(outputLineText(line('12 GB'), 'disk')).toBe('12 GB');
    expect(labelledOutput(line('', 'stderr'))).toBe('disk stderr |');
  });

  it('is cut to the width of the screen, the colours not counted', () => {
    const cut = labelledOutput(line('1234567890'), { paint: painted, charsMax: 20 });
    expect(cleanOutput(cut)).toBe('disk stdout | 12345…');
    expect(cleanOutput(labelledOutput(line('x'), { charsMax: 6 }))).toBe('disk …');
  });

  it('is JSON that changes nothing on a terminal and still says what was written', () => {
    const text = outputJson(piece(HOSTILE));
    expect(text).toMatch(/^[\x20-\x7e]+$/u);
    expect(JSON.parse(text)).toEqual({ type: 'output', ...piece(HOSTILE) });
  });
});

describe('the output of one task for a pipe', () => {
  const printed = (pieces: readonly TaskOutputPiece[], terminal = fakeTerminal()) => {
    const printer = rawPrinter(terminal);
    for (const each of pieces) printer.piece(each);
    printer.flush();
    return { out: Buffer.concat(terminal.outBytes).toString(), err: terminal.errLines };
  };

  it('is what was written, byte for byte', () => {
    expect(printed([piece(`${HOSTILE}\r`), piece('half', Buffer.byteLength(HOSTILE) + 1)]).out).toBe(
      `${HOSTILE}\rhalf`,
    );
  });

  it('goes to standard error in clean lines where the task wrote there', () => {
    const stderr = (text: string, offset: number) => piece(text, offset, { stream: 'stderr' });
    expect(printed([stderr(HOSTILE, 0), piece('out'), stderr('\nha', Buffer.byteLength(HOSTILE))])).toEqual({
      out: 'out',
      err: ['abc', 'ha'],
    });
  });

  it('has a line of its own where something is missing, and begins anew with another try', () => {
    const again = { commandId: 'r1.disk.2.0.0', attempt: 2 };
    expect(printed([piece('a\n', 4), piece('b', 9), piece('c\n', 12), piece('d', 0, again)]).out).toBe(
      '[... 4 bytes not shown ...]\na\n[... 3 bytes not shown ...]\nb\n[... 2 bytes not shown ...]\nc\nd',
    );
  });

  it('leaves out what a slow reader would make us keep, and says so', async () => {
    const terminal = fakeTerminal();
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const slow = { ...terminal, bytes: (data: Uint8Array) => terminal.bytes(data).then(() => read) };
    const printer = rawPrinter(slow);
    const full = 'x'.repeat(WAITING_BYTES_MAX + 1);
    printer.piece(piece(full));
    printer.piece(piece('lost', full.length));
    resolve();
    await read.then(() => new Promise((turn) => void setImmediate(turn)));
    printer.piece(piece('seen', full.length + 4));
    const text = Buffer.concat(terminal.outBytes).toString().slice(full.length);
    expect(text).toBe('\n[... 4 bytes not shown ...]\nseen');
  });
});
