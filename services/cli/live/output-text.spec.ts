import { describe, expect, it } from '@jest/globals';
import { cleanOutput, labelledOutput, outputJson, outputLineText } from './output-text.js';
import { rawPrinter } from './output-printer.js';
import type { TaskOutputPiece } from '#libs/output';
import { painted } from '../terminal/style.js';
import { fakeTerminal } from '../testing/fake-terminal.js';

const HOSTILE = '\u001B]0;title\u0007\u001B[2Ja\u202Eb\u009Bc\u0008';
const SHOWN = String.raw`a\u202eb\u0008`;
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
  it('is printed without what could rewrite the screen', () => expect(cleanOutput(HOSTILE)).toBe(SHOWN));

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
  const printed = async (pieces: readonly TaskOutputPiece[], terminal = fakeTerminal()) => {
    const printer = rawPrinter(terminal);
    for (const each of pieces) await printer.piece(each);
    printer.flush();
    return { out: Buffer.concat(terminal.outBytes).toString(), err: terminal.errLines };
  };

  it('is what was written, byte for byte', async () => {
    const pieces = [piece(`${HOSTILE}\r`), piece('half', Buffer.byteLength(HOSTILE) + 1)];
    expect((await printed(pieces)).out).toBe(`${HOSTILE}\rhalf`);
  });

  it('goes to standard error in clean lines where the task wrote there', async () => {
    const stderr = (text: string, offset: number) => piece(text, offset, { stream: 'stderr' });
    const pieces = [stderr(HOSTILE, 0), piece('out'), stderr('\nha', Buffer.byteLength(HOSTILE))];
    expect(await printed(pieces)).toEqual({ out: 'out', err: [SHOWN, 'ha'] });
  });

  it('has a line of its own where something is missing, and begins anew with another try', async () => {
    const again = { commandId: 'r1.disk.2.0.0', attempt: 2 };
    const pieces = [piece('a\n', 4), piece('b', 9), piece('', 12), piece('d', 0, again)];
    expect((await printed(pieces)).out).toBe(
      '[... 4 bytes not shown ...]\na\n[... 3 bytes not shown ...]\nb\n[... 2 bytes not shown ...]\nd',
    );
  });

  it('waits for a reader that is slow, and leaves nothing out', async () => {
    const terminal = fakeTerminal();
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const printer = rawPrinter({ ...terminal, bytes: (data) => terminal.bytes(data).then(() => read) });
    let isDone = false;
    const done = Promise.resolve(printer.piece(piece('x'))).then(() => (isDone = true));
    await new Promise((turn) => void setImmediate(turn));
    expect(isDone).toBe(false);
    resolve();
    await done;
  });
});
