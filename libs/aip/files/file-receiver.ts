import type { Sha256 } from '#proto';
import { ended, FILE_ABORTS, FILE_POLICY, fileFailure, idleFor, LOST } from './file-transfer.js';
import type { TransferEnd, FileFailure, FilePolicy, SendAbort } from './file-transfer.js';

/*
 * The side that gets the file. The sink is where it goes: it says what it has taken, and only that is acknowledged.
 *
 *   RECEIVING --file_end, all there--> DRAINING --all taken--> CHECKING --checksum is right--> COMMITTING --> ENDED
 *       \------------- wrong offset, size, window, checksum; abort, idle, connection gone: discard ------------^
 *
 * What is all there needs no connection any more, and what is being committed cannot be called back: its end is the truth.
 */
interface Progress {
  readonly policy: FilePolicy;
  readonly sha256: Sha256;
  /** As announced. */
  readonly bytes: number;
  readonly received: number;
  /** By the sink, for good. */
  readonly taken: number;
  readonly movedAtMs: number;
}

export type Receiver =
  (Progress & { readonly phase: 'RECEIVING' | 'DRAINING' | 'CHECKING' | 'COMMITTING' }) | { readonly phase: 'ENDED' };
type Open = Exclude<Receiver, { phase: 'ENDED' }>;

export type ReceiverInput =
  | { readonly kind: 'piece'; readonly offset: number; readonly data: Uint8Array }
  | { readonly kind: 'end' }
  /** The peer gives up. */
  | { readonly kind: 'aborted'; readonly failure: FileFailure }
  /** The sink has taken so many bytes in all. */
  | { readonly kind: 'taken'; readonly bytes: number }
  /** Of everything that was written to the sink. */
  | { readonly kind: 'checksum'; readonly sha256: Sha256 }
  /** The sink has made the file visible under its name. */
  | { readonly kind: 'committed' }
  /** The sink does not work. */
  | { readonly kind: 'failed'; readonly failure: FileFailure }
  /** Nobody wants the file any more. */
  | { readonly kind: 'cancelled'; readonly failure: FileFailure }
  | { readonly kind: 'tick' }
  | { readonly kind: 'closed' };

export type ReceiverEffect =
  | { readonly kind: 'write'; readonly data: Uint8Array }
  | { readonly kind: 'send-ack'; readonly bytes: number }
  /** Say the checksum of what was written. */
  | { readonly kind: 'check' }
  /** Make it visible; only what was announced ever is. */
  | { readonly kind: 'commit' }
  /** Leave nothing of it behind. */
  | { readonly kind: 'discard' }
  | { readonly kind: 'send-stored' }
  | SendAbort
  | TransferEnd;

type Step = [Receiver, ReceiverEffect[]];

export interface Announced {
  readonly sha256: Sha256;
  readonly bytes: number;
  readonly policy?: FilePolicy;
}

export const openReceiver = ({ sha256, bytes, policy = FILE_POLICY }: Announced, nowMs: number): Receiver => ({
  phase: 'RECEIVING',
  policy,
  sha256,
  bytes,
  received: 0,
  taken: 0,
  movedAtMs: nowMs,
});

/** Pure: one input, the next state and its effects, to be carried out in order. */
export function receive(receiver: Receiver, input: ReceiverInput, nowMs: number): Step {
  if (receiver.phase === 'ENDED') return [receiver, []];
  switch (input.kind) {
    case 'piece':
      return onPiece(receiver, input, nowMs);
    case 'end':
      return onEnd(receiver, nowMs);
    case 'taken':
      return onTaken(receiver, input.bytes, nowMs);
    case 'checksum':
      return onChecksum(receiver, input.sha256, nowMs);
    case 'committed':
      if (receiver.phase !== 'COMMITTING') return [receiver, []];
      return [{ phase: 'ENDED' }, [{ kind: 'send-stored' }, ended(null)]];
    case 'aborted':
      return receiver.phase === 'COMMITTING' ? [receiver, []] : leave(input.failure);
    case 'cancelled':
      return receiver.phase === 'COMMITTING' ? [receiver, []] : giveUp(input.failure);
    case 'failed':
      return giveUp(input.failure);
    case 'tick':
      return nowMs - receiver.movedAtMs < receiver.policy.idleMs
        ? [receiver, []]
        : giveUp(idleFor(receiver.policy.idleMs));
    case 'closed':
      return receiver.phase === 'RECEIVING' ? leave(LOST) : [receiver, []];
  }
}

function onPiece(receiver: Open, { offset, data }: Extract<ReceiverInput, { kind: 'piece' }>, nowMs: number): Step {
  const { received, taken, bytes, policy } = receiver;
  const next = received + data.length;
  if (receiver.phase !== 'RECEIVING') return giveUp(fileFailure(FILE_ABORTS.wrongTurn, 'a piece came after the end'));
  if (offset !== received) {
    return giveUp(fileFailure(FILE_ABORTS.wrongOffset, `a piece begins at ${offset}, ${received} was expected`));
  }
  if (data.length === 0 || data.length > policy.chunkBytes) {
    return giveUp(
      fileFailure(FILE_ABORTS.wrongPiece, `a piece has 1 to ${policy.chunkBytes} bytes, not ${data.length}`),
    );
  }
  if (next > bytes) return giveUp(fileFailure(FILE_ABORTS.tooMuch, `more than the ${bytes} bytes that were announced`));
  if (next - taken > policy.windowBytes + policy.chunkBytes) {
    return giveUp(
      fileFailure(FILE_ABORTS.window, `more than ${policy.windowBytes} bytes beyond what was acknowledged`),
    );
  }
  return [{ ...receiver, received: next, movedAtMs: nowMs }, [{ kind: 'write', data }]];
}

function onEnd(receiver: Open, nowMs: number): Step {
  const { received, bytes } = receiver;
  if (receiver.phase !== 'RECEIVING') return giveUp(fileFailure(FILE_ABORTS.wrongTurn, 'a second end came'));
  if (received < bytes) {
    return giveUp(fileFailure(FILE_ABORTS.tooLittle, `${received} bytes came, ${bytes} were announced`));
  }
  return drained({ ...receiver, phase: 'DRAINING', movedAtMs: nowMs });
}

function onTaken(receiver: Open, bytes: number, nowMs: number): Step {
  if (bytes <= receiver.taken) return [receiver, []];
  const taken: Open = { ...receiver, taken: Math.min(bytes, receiver.received), movedAtMs: nowMs };
  const [next, effects] = drained(taken);
  return [next, [{ kind: 'send-ack', bytes: taken.taken }, ...effects]];
}

function drained(receiver: Open): Step {
  if (receiver.phase !== 'DRAINING' || receiver.taken < receiver.bytes) return [receiver, []];
  return [{ ...receiver, phase: 'CHECKING' }, [{ kind: 'check' }]];
}

function onChecksum(receiver: Open, sha256: Sha256, nowMs: number): Step {
  if (receiver.phase !== 'CHECKING') return [receiver, []];
  if (sha256 !== receiver.sha256) {
    return giveUp(fileFailure(FILE_ABORTS.wrongChecksum, `what came has the SHA-256 ${sha256}`));
  }
  return [{ ...receiver, phase: 'COMMITTING', movedAtMs: nowMs }, [{ kind: 'commit' }]];
}

/** Nobody needs to be told. */
const leave = (failure: FileFailure): Step => [{ phase: 'ENDED' }, [{ kind: 'discard' }, ended(failure)]];

const giveUp = (failure: FileFailure): Step => [
  { phase: 'ENDED' },
  [{ kind: 'discard' }, { kind: 'send-abort', failure }, ended(failure)],
];
