import { sentenceOf, type Refusal } from '#proto';
import type { QuestionOutcome } from './ask.client.js';

/** The service says no, and why. Handlers throw it, callers catch it. */
export class QueryRefusedError extends Error {
  override readonly name = 'QueryRefusedError';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super([refusal.message, ...refusal.issues.map(sentenceOf)].join(' '));
    this.refusal = refusal;
  }
}

/** A no in one sentence. */
export function refused(code: Refusal['code'], message: string, issues: Refusal['issues'] = []): QueryRefusedError {
  return new QueryRefusedError({ code, message, issues });
}

/** Nobody answered: one sentence for people, the details in `cause`. */
export class QueryUnavailableError extends Error {
  override readonly name = 'QueryUnavailableError';
  /** Nobody can have heard it: nothing was done. */
  readonly isUnheard: boolean;
  /** It may be answered a moment later. */
  readonly mayComeBack: boolean;
  constructor(message: string, { kind, cause }: { readonly kind: Unanswered; readonly cause?: unknown }) {
    super(message, { cause });
    this.isUnheard = kind === 'nobody' || kind === 'denied';
    this.mayComeBack = kind !== 'denied' && kind !== 'invalid';
  }
}

/** Why there is no answer; `invalid`: it is none that can be read. */
type Unanswered = Exclude<QuestionOutcome['kind'], 'answered'> | 'invalid';
