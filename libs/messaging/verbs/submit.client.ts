import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { proveActor } from '#libs/keys';
import { Json, LIMITS, parseJson, parseWith, sentenceOf, SubmitAnswer, subjects } from '#proto';
import type { Issue, Refusal, RefusalCode, RequestId, RunId } from '#proto';
import { ConnectionWatch } from '../connection/index.js';
import { ask } from './ask.client.js';
import { HALF_A_CHARACTER, hasCanonicalForm, type CommandSigner } from './signing.js';

/** The answer comes within the limit or never; the rest is for the way. */
const ANSWER_MS_MAX = LIMITS.submitAnswerMs + 1_000;
/** A try that could not be answered at all would hide what the others have met, and call the request taken perhaps when it was not. */
const TRY_MS_MIN = 1_000;
const REPEAT_MS = 250;

/** How long somebody who asks for a run goes on asking while nothing is certain; the last try may take a second longer. Once, when nothing is said. */
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
  /** What the last try met: no bus, no orchestrator, none that answered, an answer that is none, or one that does not know yet. */
  readonly met: 'away' | 'nobody' | 'silence' | 'nonsense' | 'try-again';
  /** Why it is not known yet, by the orchestrator. */
  readonly reason?: Refusal;
  /** Whether it may have become a run in one of the tries. */
  readonly mayBeTaken: boolean;
  readonly cause?: unknown;
}

/**
 * Signs a request and asks the orchestrator for a run, again and again as far as the patience goes. A request that has an id may be repeated
 * freely: it becomes one run at most. Throws for a seed that is none, never for what the bus does.
 */
export async function submitRequest(
  nc: NatsConnection,
  request: string | Uint8Array,
  { tries, deadlineMs, waitsForTaker = false, signal, ...signer }: SubmitPatience & CommandSigner,
): Promise<SubmitOutcome> {
  const body = objectOf(request);
  if (body === undefined) return refused('INVALID_JSON', { path: '', message: 'the request is not a JSON object' });
  const fault = unsignable(body);
  if (fault !== undefined) return refused('INVALID_REQUEST', fault);
  const triesMax = tries ?? (deadlineMs === undefined ? 1 : Number.POSITIVE_INFINITY);
  const end = performance.now() + (deadlineMs ?? Number.POSITIVE_INFINITY);
  const left = (): number => end - performance.now();
  for (let tried = 1, mayBeTaken = false; ; tried++) {
    const outcome = await submitOnce(
      nc,
      signedRequest(body, signer),
      Math.min(ANSWER_MS_MAX, Math.max(TRY_MS_MIN, left())),
    );
    if (outcome.answer !== 'unknown') return outcome;
    mayBeTaken ||= outcome.mayBeTaken;
    // Asked twice: a server of the bus that reads its configuration anew finds nobody for a moment.
    const isHopeless = outcome.met === 'nobody' && !waitsForTaker && tried > 1;
    if (isHopeless || tried >= triesMax || left() <= REPEAT_MS || signal?.aborted === true) {
      return { ...outcome, mayBeTaken };
    }
    await wait(REPEAT_MS);
  }
}

/** What the orchestrator would not take, and what cannot be signed. */
function unsignable(body: object): Issue | undefined {
  if ('actor' in body) return { path: 'actor', message: 'who asks is said by the signature; leave it out' };
  const json = parseWith(Json, body);
  if (!json.ok) return json.issues[0];
  return hasCanonicalForm(body) ? undefined : { path: '', message: HALF_A_CHARACTER };
}

function objectOf(request: string | Uint8Array): object | undefined {
  const json = parseJson(typeof request === 'string' ? new TextEncoder().encode(request) : request);
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? json : undefined;
}

function signedRequest(body: object, { seed, now, vouched }: CommandSigner): string {
  const at = new Date(now()).toISOString();
  return JSON.stringify({ ...body, actor: proveActor(seed, { subject: subjects.submit, at, body, vouched }) });
}

function refused(code: RefusalCode, issue: Issue): SubmitOutcome {
  return { answer: 'rejected', reason: { code, message: sentenceOf(issue), issues: [issue] } };
}

async function submitOnce(nc: NatsConnection, request: string, timeoutMs: number): Promise<SubmitOutcome> {
  // The client would drop it, and wait for an answer all the same.
  if (!ConnectionWatch.of(nc).isConnected) return { answer: 'unknown', met: 'away', mayBeTaken: false };
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
