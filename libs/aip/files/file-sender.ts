import { ended, FILE_ABORTS, FILE_POLICY, fileFailure, idleFor, LOST } from './file-transfer.js';
import type { TransferEnd, FileFailure, FilePolicy, SendAbort } from './file-transfer.js';

/*
 * The side that has the file. One piece at a time is read from the source, and only what fits into the window. A slow line
 * must not be filled for so long that nothing else comes through: one piece is under way at first, and more as long as
 * acknowledgements come quickly.
 *
 *   ASKED --file_ready--> SENDING --last piece: file_end--> ENDING --file_stored, or all acknowledged--> ENDED
 *      \--have: nothing to send--^ ... wrong ack, abort, idle, source broken, connection gone --------------^
 */

/** What says that the file has arrived: the receiver's word for it, or the last acknowledgement. */
export type Confirmation = 'stored' | 'acked';

interface Progress {
  readonly policy: FilePolicy;
  readonly bytes: number;
  readonly confirmedBy: Confirmation;
  readonly sent: number;
  readonly acked: number;
  /** What may be under way now, at most the window. */
  readonly allowed: number;
  /** The piece whose acknowledgement is timed. */
  readonly timed: { readonly upTo: number; readonly sinceMs: number } | null;
  /** Bytes of the piece that is being read; 0: none is. */
  readonly reading: number;
  readonly movedAtMs: number;
}

export type FileSender = (Progress & { readonly phase: 'ASKED' | 'SENDING' | 'ENDING' }) | { readonly phase: 'ENDED' };
type Open = Exclude<FileSender, { phase: 'ENDED' }>;

export type SenderInput =
  /** The receiver wants it, or has it already. */
  | { readonly kind: 'ready'; readonly have: boolean }
  /** What was asked for with `read`, or the first part of it. */
  | { readonly kind: 'piece'; readonly data: Uint8Array }
  | { readonly kind: 'ack'; readonly bytes: number }
  | { readonly kind: 'stored' }
  /** The peer gives up. */
  | { readonly kind: 'aborted'; readonly failure: FileFailure }
  /** The source does not work, or nobody wants the file any more. */
  | { readonly kind: 'failed'; readonly failure: FileFailure }
  | { readonly kind: 'tick' }
  | { readonly kind: 'closed' };

export type SenderEffect =
  /** Answered with `piece`; a slow connection may let it wait. */
  | { readonly kind: 'read'; readonly offset: number; readonly bytes: number }
  | { readonly kind: 'send-piece'; readonly offset: number; readonly data: Uint8Array }
  | { readonly kind: 'send-end' }
  | SendAbort
  | TransferEnd;

type Step = [FileSender, SenderEffect[]];

export interface Offered {
  readonly bytes: number;
  readonly policy?: FilePolicy;
}

/** For a file that was announced with FILE_BEGIN and is waited for with FILE_READY. */
export const offerFile = (offered: Offered, nowMs: number): FileSender => opened('ASKED', offered, nowMs);

/** For a file that was asked for with FILE_REQUEST. */
export const sendFile = (offered: Offered, nowMs: number): Step => onward(opened('SENDING', offered, nowMs));

function opened(phase: 'ASKED' | 'SENDING', { bytes, policy = FILE_POLICY }: Offered, nowMs: number): Open {
  const confirmedBy = phase === 'ASKED' ? 'stored' : 'acked';
  const fresh = { sent: 0, acked: 0, allowed: policy.pieceBytes, timed: null, reading: 0 };
  return { phase, policy, bytes, confirmedBy, ...fresh, movedAtMs: nowMs };
}

/** Pure: one input, the next state and its effects, to be carried out in order. */
export function stepSender(sender: FileSender, input: SenderInput, nowMs: number): Step {
  if (sender.phase === 'ENDED') return [sender, []];
  switch (input.kind) {
    case 'ready':
      return onReady(sender, input.have, nowMs);
    case 'piece':
      return onPiece(sender, input.data, nowMs);
    case 'ack':
      return onAck(sender, input.bytes, nowMs);
    case 'stored':
      if (sender.phase === 'ENDING' && sender.confirmedBy === 'stored') return done();
      return giveUp(fileFailure(FILE_ABORTS.wrongTurn, 'the file cannot be stored before it is sent'));
    case 'aborted':
      return [{ phase: 'ENDED' }, [ended(input.failure)]];
    case 'failed':
      return giveUp(input.failure);
    case 'tick':
      return nowMs - sender.movedAtMs < sender.policy.idleMs ? [sender, []] : giveUp(idleFor(sender.policy.idleMs));
    case 'closed':
      return [{ phase: 'ENDED' }, [ended(LOST)]];
  }
}

function onReady(sender: Open, have: boolean, nowMs: number): Step {
  if (sender.phase !== 'ASKED') return giveUp(fileFailure(FILE_ABORTS.wrongTurn, 'a second file_ready came'));
  return have ? done() : onward({ ...sender, phase: 'SENDING', movedAtMs: nowMs });
}

function onPiece(sender: Open, data: Uint8Array, nowMs: number): Step {
  const { sent, bytes, reading } = sender;
  if (reading === 0) return [sender, []];
  if (data.length === 0 || data.length > reading) {
    return giveUp(fileFailure(FILE_ABORTS.changed, `the file ends before its ${bytes} bytes: it has changed`));
  }
  const upTo = sent + data.length;
  const timed = sender.timed ?? { upTo, sinceMs: nowMs };
  const [next, effects] = onward({ ...sender, sent: upTo, timed, reading: 0, movedAtMs: nowMs });
  return [next, [{ kind: 'send-piece', offset: sent, data }, ...effects]];
}

function onAck(sender: Open, bytes: number, nowMs: number): Step {
  const { sent, acked } = sender;
  if (bytes > sent) {
    return giveUp(fileFailure(FILE_ABORTS.wrongAck, `${bytes} bytes are acknowledged, ${sent} were sent`));
  }
  return bytes <= acked ? [sender, []] : onward(paced({ ...sender, acked: bytes, movedAtMs: nowMs }, nowMs));
}

/** Twice as much when the timed piece was acknowledged quickly, one piece again when it was not. */
function paced(sender: Open, nowMs: number): Open {
  const { timed, acked, allowed, policy } = sender;
  if (timed === null || acked < timed.upTo) return sender;
  const quickly = nowMs - timed.sinceMs <= policy.quickMs;
  return { ...sender, timed: null, allowed: quickly ? Math.min(2 * allowed, policy.windowBytes) : policy.pieceBytes };
}

/** What can be done now: the next piece, the end, or nothing. */
function onward(sender: Open): Step {
  const { phase, sent, acked, bytes, policy, allowed, reading, confirmedBy } = sender;
  if (phase === 'SENDING' && sent === bytes) {
    const [next, effects] = onward({ ...sender, phase: 'ENDING' });
    return [next, [{ kind: 'send-end' }, ...effects]];
  }
  if (phase === 'ENDING' && confirmedBy === 'acked' && acked === bytes) return done();
  const next = pieceBytes(sender);
  if (phase !== 'SENDING' || reading > 0 || sent + next - acked > Math.min(allowed, policy.windowBytes))
    return [sender, []];
  return [{ ...sender, reading: next }, [{ kind: 'read', offset: sent, bytes: next }]];
}

/** Each frame has its price: where more may be under way pieces are larger, and there are still some of them. */
function pieceBytes({ bytes, sent, allowed, policy }: Open): number {
  const larger = Math.min(Math.floor(allowed / PIECES_UNDER_WAY), policy.chunkBytes);
  return Math.min(Math.max(policy.pieceBytes, larger), policy.windowBytes, bytes - sent);
}
const PIECES_UNDER_WAY = 4;

const done = (): Step => [{ phase: 'ENDED' }, [ended(null)]];

const giveUp = (failure: FileFailure): Step => [{ phase: 'ENDED' }, [{ kind: 'send-abort', failure }, ended(failure)]];
