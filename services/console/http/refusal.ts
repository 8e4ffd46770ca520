import type { Refusal, RefusalCode } from '#proto';

const STATUS: Readonly<Record<RefusalCode, number>> = {
  INVALID_JSON: 400,
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  TOKEN_USED: 401,
  TOKEN_EXPIRED: 401,
  TOKEN_UNKNOWN: 401,
  CLOCK_SKEW: 401,
  NOT_FOUND: 404,
  IDEMPOTENCY_CONFLICT: 409,
  INVALID_STATE: 409,
  CONFLICT: 409,
  EDIT_REJECTED: 409,
  TOO_LARGE: 413,
  LIMIT_REACHED: 429,
  NO_PLANNER: 503,
  TRY_AGAIN: 503,
  /** RFC 4918, section 11.5. */
  STORAGE_FULL: 507,
  /** Not a refusal: the reason of an answer that went well. */
  IGNORED: 200,
};

export function httpStatusOf(code: RefusalCode): number {
  return STATUS[code];
}

/** "No" as an answer over HTTP. Controllers throw it, one filter writes it. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly refusal: Refusal;
  readonly status: number;
  constructor(refusal: Pick<Refusal, 'code' | 'message'> & Partial<Refusal>, status = httpStatusOf(refusal.code)) {
    super(refusal.message);
    this.refusal = { issues: [], ...refusal };
    this.status = status;
  }
}
