import { doubledMs } from '#libs/backoff';

/**
 * What a handler says about a message. `retry` is for broken infrastructure and has no limit; `poison` is a message that is
 * itself bad and would be so tomorrow.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'poison'; readonly reason: string };

export const DONE: Outcome = { kind: 'done' };

const RETRY = { msMin: 100, msMax: 5_000 };

/** What a handler that threw meant: the infrastructure is broken, try again, slower each time. */
export function retryAfterFailure(error: unknown, deliveries: number): Outcome {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: 'retry', delayMs: doubledMs(RETRY, deliveries), reason };
}
