import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { LIMITS, parseWith, SubmitAnswer, subjects, type Refusal, type RequestId, type RunId } from '#proto';
import { ask } from './ask.client.js';

/** The answer comes within the limit or never; the rest is for the way. */
const ANSWER_MS_MAX = LIMITS.submitAnswerMs + 1_000;
const REPEAT_MS = 250;

/** How long somebody who asks for a run goes on asking while nothing is certain. Once, when nothing is said. */
export interface SubmitPatience {
  readonly tries?: number;
  readonly deadlineMs?: number;
  /** Also while no orchestrator is there. */
  readonly waitsForTaker?: boolean;
  /** Aborted: the try that is under way is the last. */
  readonly signal?: AbortSignal;
}

/** The final answer, or the news that nobody knows what became of it: the same request may be sent again. */
export type SubmitOutcome =
  | { readonly answer: 'accepted'; readonly runId: RunId; readonly requestId: RequestId }
  | { readonly answer: 'rejected'; readonly reason: Refusal }
  | UncertainSubmit;

interface UncertainSubmit {
  readonly answer: 'unknown';
  /** What the last try met: no orchestrator, none that answered, an answer that is none, or one that does not know yet. */
  readonly met: 'nobody' | 'silence' | 'nonsense' | 'try-again';
  /** Why it is not known yet, by the orchestrator. */
  readonly reason?: Refusal;
  /** Whether it may have become a run in one of the tries. */
  readonly mayBeTaken: boolean;
  readonly cause?: unknown;
}

/**
 * Asks the orchestrator for a run, again and again as far as the patience goes. A request that has an id may be repeated
 * freely: it becomes one run at most. Never throws for what the bus does.
 */
export async function submitRequest(
  nc: NatsConnection,
  request: string | Uint8Array,
  { tries, deadlineMs, waitsForTaker = false, signal }: SubmitPatience = {},
): Promise<SubmitOutcome> {
  const triesMax = tries ?? (deadlineMs === undefined ? 1 : Number.POSITIVE_INFINITY);
  const end = performance.now() + (deadlineMs ?? Number.POSITIVE_INFINITY);
  const left = (): number => end - performance.now();
  for (let tried = 1, mayBeTaken = false; ; tried++) {
    const outcome = await submitOnce(nc, request, Math.min(ANSWER_MS_MAX, Math.max(1, left())));
    if (outcome.answer !== 'unknown') return outcome;
    mayBeTaken ||= outcome.mayBeTaken;
    const isHopeless = outcome.met === 'nobody' && !waitsForTaker;
    if (isHopeless || tried >= triesMax || left() <= REPEAT_MS || signal?.aborted === true) {
      return { ...outcome, mayBeTaken };
    }
    await wait(REPEAT_MS);
  }
}

async function submitOnce(nc: NatsConnection, request: string | Uint8Array, timeoutMs: number): Promise<SubmitOutcome> {
  const asked = await ask(nc, subjects.submit, request, timeoutMs);
  if (asked.kind !== 'answered') {
    const isNobody = asked.kind === 'nobody';
    return { answer: 'unknown', met: isNobody ? 'nobody' : 'silence', mayBeTaken: !isNobody, cause: asked.cause };
  }
  const parsed = parseWith(SubmitAnswer, asked.json);
  if (!parsed.ok) return { answer: 'unknown', met: 'nonsense', mayBeTaken: true };
  if (!('error' in parsed.value)) return { answer: 'accepted', ...parsed.value };
  const { error: reason } = parsed.value;
  if (reason.code === 'TRY_AGAIN') return { answer: 'unknown', met: 'try-again', reason, mayBeTaken: true };
  return { answer: 'rejected', reason };
}
