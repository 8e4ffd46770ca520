import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OutputLines } from './output-lines.js';
import { parsePiece, type TaskOutputPiece } from './output-piece.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

const SEED = 20_261_121;
const LIMITS = { charsMax: 8, streamsMax: 3 };

const piece = (text: string, offset = 0, change: Partial<TaskOutputPiece> = {}): TaskOutputPiece => ({
  commandId: 'r1.a.1.0.0',
  taskId: 'a',
  attempt: 1,
  deviceId: 'web-1',
  stream: 'stdout',
  offset,
  text,
  ...change,
});
const of = (taskId: string): Partial<TaskOutputPiece> => ({ taskId, commandId: `r1.${taskId}.1.0.0` });

/** The lines of these texts, one after the other, with no byte missing. */
function linesOf(texts: readonly string[], joined = new OutputLines(LIMITS)): string[] {
  let offset = 0;
  const ended = texts.flatMap((text) => {
    const lines = joined.push(piece(text, offset));
    offset += Buffer.byteLength(text);
    return lines;
  });
  return [...ended, ...joined.flush()].map(({ text }) => text);
}

describe('the lines of an output', () => {
  it.each<[string, string[], string[]]>([
    ['end with a line feed', ['one\ntwo\n'], ['one', 'two']],
    ['are made of pieces', ['o', 'ne\ntw', 'o\n'], ['one', 'two']],
    ['may be empty', ['\n\none\n\n'], ['', '', 'one', '']],
    ['end with a carriage return, as progress does', ['10%\r20%\r', '30%\n'], ['10%', '20%', '30%']],
    ['end with both, also when they come apart', ['one\r\ntwo\r', '\nthree'], ['one', 'two', 'three']],
    ['may have no end', ['one\ntwo'], ['one', 'two']],
    ['are several when they are long', ['12345678', '90\n12345678\n'], ['12345678', '90', '12345678']],
    ['are not cut inside a character', ['1234567😀9\n'], ['1234567', '😀9']],
  ])('%s', (_, texts, lines) => expect(linesOf(texts)).toEqual(lines));

  it('are kept apart by task and by stream', () => {
    const joined = new OutputLines(LIMITS);
    expect(joined.push(piece('a', 0))).toEqual([]);
    expect(joined.push(piece('b', 0, of('b')))).toEqual([]);
    expect(joined.push(piece('e', 0, { stream: 'stderr' }))).toEqual([]);
    expect(joined.push(piece('1\n', 1))).toEqual([{ taskId: 'a', stream: 'stdout', text: 'a1' }]);
    expect(joined.flush('b')).toEqual([{ taskId: 'b', stream: 'stdout', text: 'b' }]);
    expect(joined.flush()).toEqual([{ taskId: 'a', stream: 'stderr', text: 'e' }]);
    expect(joined.flush()).toEqual([]);
  });

  it('show what is missing, between the pieces and before the first one', () => {
    const joined = new OutputLines(LIMITS);
    const texts = (offset: number, text: string) => joined.push(piece(text, offset)).map((line) => line.text);
    expect(texts(7, 'one\nha')).toEqual(['[... 7 bytes not shown ...]', 'one']);
    expect(texts(20, 'lf\n')).toEqual(['ha', '[... 7 bytes not shown ...]', 'lf']);
    expect(texts(23, 'on\n')).toEqual(['on']);
  });

  it('show nothing as missing that was damaged: one byte is then written with three', () => {
    const joined = new OutputLines(LIMITS);
    joined.push(piece('\uFFFD\uFFFD\n', 0));
    expect(joined.push(piece('x\n', 3))).toEqual([{ taskId: 'a', stream: 'stdout', text: 'x' }]);
  });

  it('of the stream that was silent for longest are given up first', () => {
    const joined = new OutputLines(LIMITS);
    for (const id of ['a', 'b', 'c']) joined.push(piece(id, 0, of(id)));
    joined.push(piece('+', 1, of('a')));
    expect(joined.push(piece('d', 0, of('d')))).toEqual([{ taskId: 'b', stream: 'stdout', text: 'b' }]);
    expect(joined.flush().map(({ text }) => text)).toEqual(['c', 'a+', 'd']);
  });

  const text = fc
    .array(fc.oneof(fc.constantFrom('\n', '\r', '\r\n', '😀', 'ab', '12345678'), fc.string({ unit: anyCharacter })), {
      maxLength: 40,
    })
    .map((parts) => parts.join('').toWellFormed());
  const cuts = fc.array(fc.nat({ max: 12 }), { maxLength: 60 });

  it('are the same however the text is cut into pieces', () =>
    fc.assert(
      fc.property(text, cuts, (whole, lengths) => {
        let rest = Array.from(whole);
        const pieces = lengths.map((length) => {
          const part = rest.slice(0, length).join('');
          rest = rest.slice(length);
          return part;
        });
        expect(linesOf([...pieces, rest.join('')])).toEqual(linesOf([whole]));
      }),
      { seed: SEED, numRuns: 400 },
    ));

  it('are all of the text, none longer than the limit', () =>
    fc.assert(
      fc.property(text, (whole) => {
        const lines = linesOf([whole]);
        expect(lines.join('')).toBe(whole.replaceAll(/[\r\n]/gu, ''));
        expect(lines.filter((line) => line.length > LIMITS.charsMax)).toEqual([]);
      }),
      { seed: SEED, numRuns: 400 },
    ));

  it('remember no more than the limits say, whatever comes', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 20 }), fc.nat(), text), { maxLength: 60 }), (pieces) => {
        const joined = new OutputLines(LIMITS);
        for (const [task, offset, written] of pieces) joined.push(piece(written, offset, of(`t${task}`)));
        const open = joined.flush();
        expect(open.length).toBeLessThanOrEqual(LIMITS.streamsMax);
        expect(open.filter((line) => line.text.length > LIMITS.charsMax)).toEqual([]);
      }),
      { seed: SEED, numRuns: 200 },
    ));
});

describe('a message of live output', () => {
  const chunk = { commandId: 'r1.a.2.0.0', deviceId: 'web-1', stream: 'stderr', offset: 3, text: 'x' };
  const parsed = (subject: string, body: unknown) =>
    parsePiece(subject, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

  it('says which task wrote it', () => {
    expect(parsed('orrery.output.r1.a.2.0.0', chunk)).toEqual({ ...chunk, taskId: 'a', attempt: 2 });
  });

  it.each<[string, string, unknown]>([
    ['that came on the subject of another task', 'orrery.output.r1.b.2.0.0', chunk],
    ['of something that is no command of a task', 'orrery.output.r1.a', { ...chunk, commandId: 'r1.a' }],
    ['that is no JSON', 'orrery.output.r1.a.2.0.0', '{'],
    ['with a field of the wrong kind', 'orrery.output.r1.a.2.0.0', { ...chunk, offset: -1 }],
  ])('%s is left out', (_, subject, body) => expect(parsed(subject, body)).toBeUndefined());
});
