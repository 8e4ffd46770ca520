import { ulid } from 'ulid';
import type { NatsConnection } from '@nats-io/transport-node';
import { LIMITS, parseWith, sentenceOf, VerbId } from '#proto';
import type { Refusal, RequestId, RunId, RunVerb } from '#proto';
import {
  parseVerbFields,
  query,
  sendVerb,
  submitRequest,
  type QueryAnswer,
  type QueryName,
  type QueryRequest,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { vouchedFor, type ConsoleCaller } from '../callers/index.js';
import { mustDo, RefusedError } from '../http/index.js';

/** A client that waits is told before long that it may ask again: time for two tries. */
const DEADLINE_MS = 2 * (LIMITS.verbAnswerMs + 1_000) + 500;

const WHY = {
  away: 'The bus cannot be reached now. Send the same request id again.',
  nobody: 'The orchestrator is not running. Send the same request id again.',
  silence: 'The orchestrator did not answer in time. Send the same request id again.',
  nonsense: 'The orchestrator gave no valid answer.',
  'try-again': 'It is not known yet whether the request was accepted. Send the same request id again.',
};

export interface RunVerbsParts {
  readonly nc: NatsConnection;
  /** Of the console's bus key; without it nobody could say who did it. */
  readonly seed: string | undefined;
  readonly clock: Clock;
  readonly deadlineMs?: number;
}

export interface VerbCall<V extends RunVerb> {
  readonly runId: RunId;
  readonly verb: V;
  /** What the client said, unchecked. */
  readonly fields: unknown;
  readonly id: VerbId;
  readonly caller: ConsoleCaller;
}

/** What came of a verb that was not refused. */
export interface VerbResult {
  readonly answer: 'accepted' | 'ignored';
  /** Event sequence of the run after the commit that followed. */
  readonly sequence: number;
  /** The run that a fork began. */
  readonly runId?: RunId | undefined;
  /** Why there was nothing to do. */
  readonly reason?: Refusal | undefined;
}

/** Sends the requests, verbs and questions of people who use the console; signs with the console's key. */
export class RunVerbs {
  readonly #parts: RunVerbsParts;

  constructor(parts: RunVerbsParts) {
    this.#parts = parts;
  }

  /** The key of the client, or a new one: the same id is decided once, however often it is sent. Throws RefusedError. */
  idOf(idempotencyKey: unknown): VerbId {
    if (idempotencyKey === undefined) return ulid(this.#parts.clock.now());
    const parsed = parseWith(VerbId, idempotencyKey);
    if (parsed.ok) return parsed.value;
    const issues = parsed.issues.map(({ message }) => ({ path: 'Idempotency-Key', message }));
    throw new RefusedError({ code: 'INVALID_REQUEST', message: 'The Idempotency-Key is not valid.', issues });
  }

  /** Throws RefusedError, also when nobody knows what came of it: then the same request may be sent again. */
  async submit(
    request: string | Uint8Array,
    caller: ConsoleCaller,
  ): Promise<{ readonly runId: RunId; readonly requestId: RequestId }> {
    const { nc, clock } = this.#parts;
    const signer = { seed: this.#seed(), now: () => clock.now(), vouched: vouchedFor(caller) };
    const outcome = await submitRequest(nc, request, signer);
    if (outcome.answer === 'accepted') return { runId: outcome.runId, requestId: outcome.requestId };
    if (outcome.answer === 'unknown') {
      throw new RefusedError(outcome.reason ?? { code: 'TRY_AGAIN', message: WHY[outcome.met] });
    }
    throw refusedHere(outcome.reason);
  }

  /** Throws RefusedError, also when nobody knows what came of it: then the same id may be sent again. */
  async send<V extends RunVerb>({ runId, verb, fields, id, caller }: VerbCall<V>): Promise<VerbResult> {
    mustDo(caller, verb);
    const { nc, clock, deadlineMs = DEADLINE_MS } = this.#parts;
    const valid = parseVerbFields(verb, fields);
    if (!valid.ok) {
      // The body of a proposal is the proposal.
      const issues = valid.issues.map(({ path, message }) => ({ path: path.replace(/^proposal\.?/u, ''), message }));
      throw new RefusedError({ code: 'INVALID_REQUEST', message: issues.map(sentenceOf).join('; '), issues });
    }
    const seed = this.#seed();
    const now = () => clock.now();
    const vouched = vouchedFor(caller);
    const outcome = await sendVerb(nc, { runId, verb, fields: valid.value, seed, now, vouched, id, deadlineMs });
    if (outcome.answer === 'unknown') {
      const message = `${outcome.why} Whether it was done is not known: send it again with Idempotency-Key ${id}.`;
      throw new RefusedError({ code: 'TRY_AGAIN', message });
    }
    const { answer, reason, ...rest } = outcome;
    if (answer !== 'rejected') return { answer, ...rest, ...(reason === undefined ? {} : { reason }) };
    const refusal = reason ?? { code: 'INVALID_STATE', message: 'It was refused without a reason.', issues: [] };
    throw refusedHere(refusal);
  }

  /** Asks a service for what the caller wants to see, in his name. Throws QueryRefusedError, QueryUnavailableError, RefusedError. */
  ask<N extends QueryName<'logging'>>(
    name: N,
    request: QueryRequest<'logging', N>,
    caller: ConsoleCaller,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<QueryAnswer<'logging', N>> {
    const { nc, clock } = this.#parts;
    const signer = { seed: this.#seed(), now: () => clock.now(), vouched: vouchedFor(caller) };
    return query(nc, 'logging', name, request, { ...options, signer });
  }

  #seed(): string {
    const { seed } = this.#parts;
    if (seed !== undefined) return seed;
    const message = 'This console has no key to sign with, so it asks for nobody.';
    throw new RefusedError({ code: 'UNAUTHORIZED', message }, 403);
  }
}

/** It is this console that may not: the token of the client was good. */
function refusedHere(refusal: Refusal): RefusedError {
  return refusal.code === 'UNAUTHORIZED' ? new RefusedError(refusal, 403) : new RefusedError(refusal);
}
