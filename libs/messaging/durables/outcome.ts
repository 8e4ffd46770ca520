/**
 * What a handler says about a message. `retry` is for broken infrastructure and has no limit; `poison` is a message that is
 * itself bad and would be so tomorrow.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'poison'; readonly reason: string };

export const DONE: Outcome = { kind: 'done' };

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;

/** What a handler that threw meant: the infrastructure is broken, try again, slower each time. */
export function retryAfterFailure(error: unknown, deliveries: number): Outcome {
  const delayMs = Math.min(RETRY_MS_MIN * 2 ** Math.min(deliveries - 1, 16), RETRY_MS_MAX);
  return { kind: 'retry', delayMs, reason: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}
