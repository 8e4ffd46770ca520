import { describe, expect, it } from '@jest/globals';
import {
  offerFile,
  stepSender,
  sendFile,
  type FileSender,
  type SenderEffect,
  type SenderInput,
} from './file-sender.js';

const POLICY = { pieceBytes: 4, chunkBytes: 4, windowBytes: 8, quickMs: 10, idleMs: 1_000 };

interface Told {
  readonly phase: FileSender['phase'];
  /** Of the last input. */
  readonly effects: readonly SenderEffect[];
}

function after(first: readonly [FileSender, readonly SenderEffect[]], inputs: readonly SenderInput[]): Told {
  let [sender, effects] = first;
  for (const [index, input] of inputs.entries()) [sender, effects] = stepSender(sender, input, index + 1);
  return { phase: sender.phase, effects };
}
/** Announced by the device. */
const offered = (bytes: number, ...inputs: readonly SenderInput[]): Told =>
  after([offerFile({ bytes, policy: POLICY }, 0), []], inputs);
/** Asked for by the device. */
const requested = (bytes: number, ...inputs: readonly SenderInput[]): Told =>
  after(sendFile({ bytes, policy: POLICY }, 0), inputs);

const READY: SenderInput = { kind: 'ready', have: false };
const piece = (bytes = 4): SenderInput => ({ kind: 'piece', data: new Uint8Array(bytes) });
const ack = (bytes: number): SenderInput => ({ kind: 'ack', bytes });
const DONE: SenderEffect = { kind: 'ended', failure: null };

const failsWith = (code: string): Told => ({
  phase: 'ENDED',
  effects: [
    { kind: 'send-abort', failure: { code, message: expect.any(String) as never } },
    { kind: 'ended', failure: { code, message: expect.any(String) as never } },
  ],
});

describe('a sender', () => {
  it('reads nothing before the receiver is ready, and nothing at all when it has the file', () => {
    expect(offered(10).effects).toEqual([]);
    expect(offered(10, READY).effects).toEqual([{ kind: 'read', offset: 0, bytes: 4 }]);
    expect(offered(10, { kind: 'ready', have: true })).toEqual({ phase: 'ENDED', effects: [DONE] });
  });

  it('goes on up to the window and then with every acknowledgement', () => {
    expect(offered(20, READY, piece()).effects).toMatchObject([{ kind: 'send-piece', offset: 0 }]);
    expect(offered(20, READY, piece(), ack(3)).effects).toEqual([]);
    expect(offered(20, READY, piece(), ack(4)).effects).toEqual([{ kind: 'read', offset: 4, bytes: 4 }]);
    const quick = [READY, piece(), ack(4), piece()];
    expect(offered(20, ...quick).effects).toMatchObject([{ kind: 'send-piece', offset: 4 }, { offset: 8 }]);
    expect(offered(20, ...quick, piece()).effects).toMatchObject([{ kind: 'send-piece', offset: 8 }]);
    expect(offered(20, ...quick, piece(), ack(7)).effects).toEqual([]);
    expect(offered(20, ...quick, piece(), ack(8)).effects).toEqual([{ kind: 'read', offset: 12, bytes: 4 }]);
  });

  it('sends larger pieces where more may be under way, and small ones again where that takes long', () => {
    const policy = { ...POLICY, chunkBytes: 12, windowBytes: 64 };
    const asked: number[] = [];
    const noted = ([next, effects]: ReturnType<typeof sendFile>): FileSender => {
      asked.push(...effects.flatMap((effect) => (effect.kind === 'read' ? [effect.bytes] : [])));
      return next;
    };
    let sender = noted(sendFile({ bytes: 1_000, policy }, 0));
    let [ms, sent] = [0, 0];
    for (let pieces = 0; pieces < 16; pieces++) {
      const bytes = asked[pieces] ?? 0;
      sender = noted(stepSender(sender, piece(bytes), ms));
      ms += pieces < 8 ? 0 : 11;
      sender = noted(stepSender(sender, ack((sent += bytes)), ms));
    }
    expect(asked.slice(0, 3)).toEqual([4, 4, 4]);
    expect(Math.max(...asked)).toBe(12);
    expect(asked.slice(-3)).toEqual([4, 4, 4]);
  });

  it('goes on with what a source gives, which may be less than it was asked for', () => {
    const inputs = [READY, piece(3), ack(3), piece(4)];
    expect(offered(9, ...inputs).effects).toMatchObject([
      { kind: 'send-piece', offset: 3 },
      { kind: 'read', offset: 7, bytes: 2 },
    ]);
  });

  it('has one piece under way where acknowledgements take long', () => {
    let [sender] = sendFile({ bytes: 40, policy: POLICY }, 0);
    const then = (input: SenderInput, ms: number): readonly SenderEffect[] => {
      const [next, effects] = stepSender(sender, input, ms);
      sender = next;
      return effects;
    };
    then(piece(), 0);
    expect(then(ack(4), 11)).toEqual([{ kind: 'read', offset: 4, bytes: 4 }]);
    expect(then(piece(), 11)).toMatchObject([{ kind: 'send-piece' }]);
    then(ack(8), 21);
    expect(then(piece(), 21)).toMatchObject([{ kind: 'send-piece' }, { kind: 'read', offset: 12 }]);
    then(piece(), 21);
    then(ack(12), 99);
    expect(then(ack(16), 99)).toEqual([{ kind: 'read', offset: 16, bytes: 4 }]);
    expect(then(piece(), 99)).toMatchObject([{ kind: 'send-piece' }]);
  });

  it('ends an upload with the word that it is stored', () => {
    const sent = [READY, piece(), ack(4), piece(2)];
    expect(offered(6, ...sent).effects).toMatchObject([{ kind: 'send-piece' }, { kind: 'send-end' }]);
    expect(offered(6, ...sent, ack(6)).phase).toBe('ENDING');
    expect(offered(6, ...sent, { kind: 'stored' }).effects).toEqual([DONE]);
  });

  it('ends a download with its last acknowledgement', () => {
    expect(requested(6).effects).toEqual([{ kind: 'read', offset: 0, bytes: 4 }]);
    expect(requested(6, piece(), ack(4), piece(2)).phase).toBe('ENDING');
    expect(requested(6, piece(), ack(4), piece(2), ack(6)).effects).toEqual([DONE]);
    expect(requested(0).effects).toEqual([{ kind: 'send-end' }, DONE]);
  });

  it.each<[string, string, Told]>([
    ['an acknowledgement of what was not sent', 'WRONG_ACK', offered(20, READY, piece(), ack(5))],
    ['stored before the end', 'OUT_OF_TURN', offered(20, READY, { kind: 'stored' })],
    ['stored for a download', 'OUT_OF_TURN', requested(4, piece(), { kind: 'stored' })],
    ['a second ready', 'OUT_OF_TURN', offered(20, READY, READY)],
    ['a file that has become shorter', 'FILE_CHANGED', offered(20, READY, piece(3), ack(3), piece(0))],
    ['a source that gives more than was asked for', 'FILE_CHANGED', offered(20, READY, piece(5))],
    ['a source that fails', 'X', offered(20, READY, { kind: 'failed', failure: { code: 'X', message: 'y' } })],
  ])('gives up at %s', (_, code, told) => expect(told).toEqual(failsWith(code)));

  it('does not take an old acknowledgement for progress', () => {
    let [sender] = sendFile({ bytes: 20, policy: POLICY }, 0);
    [sender] = stepSender(sender, piece(), 100);
    [sender] = stepSender(sender, ack(4), 200);
    [sender] = stepSender(sender, piece(), 200);
    [sender] = stepSender(sender, ack(4), 900);
    expect(stepSender(sender, { kind: 'tick' }, 1_199)[1]).toEqual([]);
    expect(stepSender(sender, { kind: 'tick' }, 1_200)[1]).toEqual(failsWith('IDLE').effects);
  });

  it('says nothing after its end', () => {
    const all: SenderInput[] = [READY, piece(), ack(0), { kind: 'stored' }, { kind: 'tick' }, { kind: 'closed' }];
    for (const input of all) expect(offered(9, { kind: 'closed' }, input).effects).toEqual([]);
  });
});
