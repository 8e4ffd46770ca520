import { describe, expect, it } from '@jest/globals';
import type { ClientMessage } from '#proto';
import { binaryPiece, splitPiece } from './binary-piece.js';
import { decodeClientMessage, decodeServerMessage } from './decode.js';
import { encoded } from './encode.js';

const DATA = Uint8Array.from({ length: 1_000 }, (_, at) => (at * 7) % 256);
const PIECE: ClientMessage = {
  type: 'file_chunk',
  status: 'ok',
  client_type: 'device',
  orrery: { transfer_id: 't1', offset: 64, data: DATA },
};

/** As the other end gets it. */
function sent(message: ClientMessage, takesBytes: boolean) {
  const { text, data } = encoded(message, takesBytes);
  return data === undefined ? decodeClientMessage(text) : decodeClientMessage(null, binaryPiece(text, data));
}

describe('a piece of a file', () => {
  it('is the same piece as a binary frame and as a text, without a price in the first case', () => {
    const { text, data } = encoded(PIECE, true);
    expect(text.length + (data?.length ?? 0)).toBeLessThan(DATA.length + 150);
    const [bytes, base64] = [sent(PIECE, true), sent(PIECE, false)];
    expect(bytes).toMatchObject({
      ok: true,
      message: { type: 'file_chunk', orrery: { transfer_id: 't1', offset: 64 } },
    });
    const of = (decoded: typeof bytes) =>
      decoded.ok && decoded.message.type === 'file_chunk' ? decoded.message.orrery.data : undefined;
    expect(Buffer.from(of(bytes) as Uint8Array)).toEqual(Buffer.from(DATA));
    expect(Buffer.from(of(base64) as string, 'base64')).toEqual(Buffer.from(DATA));
  });

  it('of nothing is one, too', () =>
    expect(sent({ ...PIECE, orrery: { transfer_id: 't1', offset: 0, data: new Uint8Array() } }, true)).toMatchObject({
      ok: true,
      message: { orrery: { data: expect.objectContaining({ length: 0 }) } },
    }));

  it('is for a server to send as well', () => {
    const head = JSON.stringify({
      type: 'file_chunk',
      status: 'ok',
      orrery: { transfer_id: 't1', offset: 0, data: '' },
    });
    expect(decodeServerMessage(null, binaryPiece(head, DATA))).toMatchObject({ ok: true });
  });
});

describe('a binary frame that is no piece', () => {
  const head = (fields: object) => JSON.stringify({ type: 'file_chunk', status: 'ok', ...fields });
  const NO_PIECE = 'AIP is text frames only, but for pieces of files';
  const heartbeat = JSON.stringify({ type: 'heartbeat', status: 'ok', client_type: 'device' });

  it.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(), NO_PIECE],
    ['half a length', Uint8Array.of(0), NO_PIECE],
    ['a head that is longer than the frame', Uint8Array.of(0, 9, 1), NO_PIECE],
    ['a head that is longer than any', Buffer.concat([Uint8Array.of(255, 255), Buffer.alloc(70_000, '{')]), NO_PIECE],
    ['a text frame', Buffer.from(heartbeat), NO_PIECE],
    ['another message', binaryPiece(heartbeat, DATA), NO_PIECE],
    [
      'a piece with data twice',
      binaryPiece(head({ orrery: { transfer_id: 't', offset: 0, data: 'eA==' } }), DATA),
      NO_PIECE,
    ],
    ['a piece of no transfer', binaryPiece(head({ orrery: { offset: 0, data: '' } }), DATA), 'transfer_id'],
    ['a head that is no JSON', binaryPiece('{', DATA), 'not JSON'],
  ])('%s is told what it is not', (_, frame, said) => {
    expect(decodeClientMessage(null, frame)).toEqual({ ok: false, error: expect.stringContaining(said) });
  });

  it('has no head of its own that is too long', () => {
    expect(() => binaryPiece('x'.repeat(5_000), DATA)).toThrow('the head of a piece has 5000 bytes');
    expect(splitPiece(binaryPiece('x'.repeat(4_096), DATA))?.data).toHaveLength(DATA.length);
  });
});
