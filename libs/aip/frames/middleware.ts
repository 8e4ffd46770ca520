import type { ClientMessage, ServerMessage } from '#proto';
import { objectionTo, type FrameSender } from './permissions.js';
import type { Sequence } from './sequence.js';

/*
 * What every protocol of a server is wrapped in (paper section 7.1, L3): each layer sees the inputs on their way in and the
 * effects on their way out, and none of them knows the others.
 */

export type StepOf<S, I, E> = (session: S, input: I, nowMs: number) => [S, readonly E[]];
export type FrameLayer<S, I, E> = (next: StepOf<S, I, E>) => StepOf<S, I, E>;

/** The step inside of its layers; the first is the outermost. */
export const layered = <S, I, E>(step: StepOf<S, I, E>, ...layers: readonly FrameLayer<S, I, E>[]): StepOf<S, I, E> =>
  layers.reduceRight((next, layer) => layer(next), step);

/** What the layers have to know of a protocol's inputs. Its own come beside these. */
export type FrameInput =
  | { readonly kind: 'message'; readonly message: ClientMessage }
  | { readonly kind: 'denied'; readonly message: ClientMessage; readonly error: string }
  | { readonly kind: 'unreadable'; readonly error: string };

/** Of a protocol with numbered frames. */
export type NumberedInput =
  | FrameInput
  | { readonly kind: 'gap'; readonly error: string }
  | { readonly kind: 'unacknowledged' }
  | { readonly kind: 'tick' };

export type FrameEffect =
  | { readonly kind: 'send'; readonly message: ServerMessage }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string };

type Kinded = { readonly kind: string };

/** Authorisation: what its sender may not send now becomes `denied`. */
export function authorised<S, I extends Kinded, E>(
  senderOf: (session: S) => FrameSender | undefined,
): FrameLayer<S, I | FrameInput, E> {
  return (next) => (session, input, nowMs) => {
    const sender = senderOf(session);
    if (sender === undefined || !isMessage(input)) return next(session, input, nowMs);
    const error = objectionTo(input.message, sender);
    return next(session, error === null ? input : { kind: 'denied', message: input.message, error }, nowMs);
  };
}

export interface Numbering<S> {
  readonly sequence: Sequence;
  /** Whether frames have numbers in this state; it is asked before the step, so what the step says first has none yet. */
  readonly isNumbered: (session: S) => boolean;
  readonly latency?: (ms: number) => void;
}

/** Numbers of frames: judges what comes in, stamps what goes out, acknowledges in time, finds a peer that does not. */
export function numberedFrames<S, I extends Kinded, E extends Kinded>({
  sequence,
  isNumbered,
  latency,
}: Numbering<S>): FrameLayer<S, I | NumberedInput, E | FrameEffect> {
  const judged = (input: I | NumberedInput, nowMs: number): I | NumberedInput | undefined => {
    if (input.kind === 'tick' && sequence.unackedTooLong(nowMs)) return { kind: 'unacknowledged' };
    // Its number cannot be read; on a connection that keeps order it is the next one.
    if (input.kind === 'unreadable') sequence.skip(nowMs);
    if (!isMessage(input)) return input;
    const verdict = sequence.take(input.message, nowMs);
    if (verdict.kind === 'duplicate') return undefined;
    if (verdict.kind === 'gap') return verdict;
    if (verdict.latencyMs !== undefined) latency?.(verdict.latencyMs);
    return input;
  };
  return (next) => (session, given, nowMs) => {
    if (!isNumbered(session)) return next(session, given, nowMs);
    const input = judged(given, nowMs);
    if (input === undefined) return [session, []];
    const [after, effects] = next(session, input, nowMs);
    const stamped = effects.map((effect) =>
      isSend(effect) ? { ...effect, message: sequence.stamp(effect.message, nowMs) } : effect,
    );
    if (!isNumbered(after) || !sequence.ackDue(nowMs)) return [after, stamped];
    const ack = sequence.stamp({ type: 'ack', status: 'ok' } as const, nowMs);
    return [after, [...stamped, { kind: 'send', message: ack }]];
  };
}

/** What a protocol says about itself, for logs: never what is in a frame, only its type. */
export type ProtocolEvent =
  | { readonly kind: 'refused'; readonly type: string; readonly error: string }
  | { readonly kind: 'sent-away'; readonly code: number; readonly reason: string };

/** Logging: each frame that was answered with a no, and why a connection was ended. */
export function logged<S, I extends Kinded, E extends Kinded>(
  log: (event: ProtocolEvent) => void,
): FrameLayer<S, I | FrameInput, E | FrameEffect> {
  return (next) => (session, input, nowMs) => {
    const [after, effects] = next(session, input, nowMs);
    for (const effect of effects) {
      if (isClose(effect)) log({ kind: 'sent-away', code: effect.code, reason: effect.reason });
      else if (isSend(effect) && effect.message.type === 'error') {
        log({
          kind: 'refused',
          type: isMessage(input) ? input.message.type : input.kind,
          error: effect.message.error ?? '',
        });
      }
    }
    return [after, effects];
  };
}

/** Metrics: every frame that comes and goes, by its type. */
export function countedFrames<S, I extends Kinded, E extends Kinded>(
  count: (direction: 'in' | 'out', type: string) => void,
): FrameLayer<S, I | FrameInput, E | FrameEffect> {
  return (next) => (session, input, nowMs) => {
    if (isMessage(input)) count('in', input.message.type);
    else if (input.kind === 'unreadable') count('in', 'unreadable');
    const [after, effects] = next(session, input, nowMs);
    for (const effect of effects) if (isSend(effect)) count('out', effect.message.type);
    return [after, effects];
  };
}

const isMessage = (input: Kinded): input is Extract<FrameInput, { kind: 'message' }> => input.kind === 'message';
const isSend = (effect: Kinded): effect is Extract<FrameEffect, { kind: 'send' }> => effect.kind === 'send';
const isClose = (effect: Kinded): effect is Extract<FrameEffect, { kind: 'close' }> => effect.kind === 'close';
