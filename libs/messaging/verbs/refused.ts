import { sentenceOf, type Refusal } from '#proto';

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
}
