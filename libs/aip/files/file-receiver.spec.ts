import { describe, expect, it } from '@jest/globals';
import { openReceiver, receive, type Receiver, type ReceiverEffect, type ReceiverInput } from './file-receiver.js';

const POLICY = { pieceBytes: 4, chunkBytes: 4, windowBytes: 8, quickMs: 10, idleMs: 1_000 };
const SHA256 = 'a'.repeat(64);

interface Told {
  readonly phase: Receiver['phase'];
  /** Of the last input. */
  readonly effects: readonly ReceiverEffect[];
}

/** The inputs come one after the other, each a millisecond later. */
function given(bytes: number, ...inputs: readonly ReceiverInput[]): Told {
  let receiver = openReceiver({ sha256: SHA256, bytes, policy: POLICY }, 0);
  let effects: ReceiverEffect[] = [];
  for (const [index, input] of inputs.entries()) [receiver, effects] = receive(receiver, input, index + 1);
  return { phase: receiver.phase, effects };
}

const piece = (offset: number, bytes = 4): ReceiverInput => ({
  kind: 'piece',
  offset,
  data: new Uint8Array(bytes).fill(1),
});
const taken = (bytes: number): ReceiverInput => ({ kind: 'taken', bytes });
const END: ReceiverInput = { kind: 'end' };
const RIGHT: ReceiverInput = { kind: 'checksum', sha256: SHA256 };

const failsWith = (code: string): Told => ({
  phase: 'ENDED',
  effects: [
    { kind: 'discard' },
    { kind: 'send-abort', failure: { code, message: expect.any(String) as never } },
    { kind: 'ended', failure: { code, message: expect.any(String) as never } },
  ],
});

describe('a receiver', () => {
  it('writes what comes and acknowledges what is taken', () => {
    expect(given(10, piece(0)).effects).toMatchObject([{ kind: 'write' }]);
    expect(given(10, piece(0), taken(3)).effects).toEqual([{ kind: 'send-ack', bytes: 3 }]);
    expect(given(10, piece(0), taken(3), taken(3)).effects).toEqual([]);
  });

  it('acknowledges no more than it has received, whatever its sink says', () =>
    expect(given(10, piece(0), taken(9)).effects).toEqual([{ kind: 'send-ack', bytes: 4 }]));

  it('checks when all is there, taken, and said to be the end', () => {
    expect(given(4, piece(0), END).effects).toEqual([]);
    expect(given(4, piece(0), END, taken(4)).effects).toEqual([{ kind: 'send-ack', bytes: 4 }, { kind: 'check' }]);
    expect(given(4, piece(0), taken(4), END).effects).toEqual([{ kind: 'check' }]);
  });

  it('commits what has the right checksum, and says stored when that is done', () => {
    const checked = [piece(0), taken(4), END, RIGHT];
    expect(given(4, ...checked).effects).toEqual([{ kind: 'commit' }]);
    expect(given(4, ...checked, { kind: 'committed' })).toEqual({
      phase: 'ENDED',
      effects: [{ kind: 'send-stored' }, { kind: 'ended', failure: null }],
    });
  });

  it('takes an empty file', () => {
    expect(given(0, END).effects).toEqual([{ kind: 'check' }]);
    expect(given(0, END, RIGHT).effects).toEqual([{ kind: 'commit' }]);
  });

  it.each<[string, string, number, readonly ReceiverInput[]]>([
    ['a piece that leaves bytes out', 'WRONG_OFFSET', 20, [piece(0), piece(5)]],
    ['a piece that came before', 'WRONG_OFFSET', 20, [piece(0), piece(0)]],
    ['more bytes than announced', 'TOO_MANY_BYTES', 6, [piece(0), piece(4)]],
    ['fewer bytes than announced', 'TOO_FEW_BYTES', 6, [piece(0), END]],
    ['a piece of nothing', 'WRONG_PIECE', 6, [piece(0, 0)]],
    ['a piece that is too large', 'WRONG_PIECE', 6, [piece(0, 5)]],
    ['more than the window allows', 'WINDOW_EXCEEDED', 90, [piece(0), piece(4), piece(8), piece(12)]],
    ['another content', 'WRONG_CHECKSUM', 4, [piece(0), taken(4), END, { kind: 'checksum', sha256: 'b'.repeat(64) }]],
    ['a piece after the end', 'OUT_OF_TURN', 4, [piece(0), END, piece(4)]],
    ['a second end', 'OUT_OF_TURN', 4, [piece(0), END, END]],
    ['a sink that fails', 'X', 4, [piece(0), { kind: 'failed', failure: { code: 'X', message: 'y' } }]],
  ])('refuses %s', (_, code, bytes, inputs) => expect(given(bytes, ...inputs)).toEqual(failsWith(code)));

  it('discards without a word when the other end gives up or the connection ends', () => {
    const failure = { code: 'CANCELLED', message: 'x' };
    expect(given(9, piece(0), { kind: 'aborted', failure }).effects).toEqual([
      { kind: 'discard' },
      { kind: 'ended', failure },
    ]);
    expect(given(9, { kind: 'closed' }).effects).toMatchObject([{ kind: 'discard' }, { failure: { code: /LOST/u } }]);
  });

  it('needs no connection any more when all is there', () => {
    const there = [piece(0), END];
    expect(given(4, ...there, { kind: 'closed' }, taken(4)).effects).toContainEqual({ kind: 'check' });
    expect(given(4, ...there, taken(4), RIGHT, { kind: 'closed' }, { kind: 'committed' }).effects).toContainEqual({
      kind: 'ended',
      failure: null,
    });
  });

  it('cannot be called back while it commits', () => {
    const failure = { code: 'CANCELLED', message: 'x' };
    for (const kind of ['aborted', 'cancelled'] as const) {
      const late: ReceiverInput[] = [piece(0), END, taken(4), RIGHT, { kind, failure }];
      expect(given(4, ...late)).toEqual({ phase: 'COMMITTING', effects: [] });
      expect(given(4, ...late, { kind: 'committed' }).effects).toContainEqual({ kind: 'ended', failure: null });
      expect(given(4, piece(0), { kind, failure }).phase).toBe('ENDED');
    }
  });

  it('is given up after a time without progress, in every phase', () => {
    for (const inputs of [[], [piece(0)], [piece(0), taken(4), END], [piece(0), taken(4), END, RIGHT]]) {
      let receiver = openReceiver({ sha256: SHA256, bytes: 4, policy: POLICY }, 0);
      for (const input of inputs) [receiver] = receive(receiver, input, 500);
      const since = inputs.length === 0 ? 0 : 500;
      expect(receive(receiver, { kind: 'tick' }, since + 999)[1]).toEqual([]);
      expect(receive(receiver, { kind: 'tick' }, since + 1_000)[1]).toEqual(failsWith('IDLE').effects);
    }
  });

  it('says nothing after its end', () => {
    const all: ReceiverInput[] = [piece(4), END, taken(8), RIGHT, { kind: 'committed' }, { kind: 'closed' }];
    for (const input of all) expect(given(9, { kind: 'closed' }, input).effects).toEqual([]);
  });
});
