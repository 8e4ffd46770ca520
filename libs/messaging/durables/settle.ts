import type { JsMsg } from '@nats-io/jetstream';
import type { Outcome } from './outcome.js';

/** Publishes a copy of the message with the reason; resolves when the copy is stored. */
export type Bury = (message: JsMsg, reason: string) => Promise<void>;

const TERM_REASON_CHARS_MAX = 200;

/**
 * The only place that acknowledges. A lost ack is a redelivery, and handlers are idempotent, so nobody waits for the server
 * to confirm it. Poison is buried first: a crash in between makes a second copy, which the message id removes, never none.
 */
export async function settle(message: JsMsg, outcome: Outcome, bury: Bury): Promise<void> {
  switch (outcome.kind) {
    case 'done':
      return message.ack();
    case 'retry':
      return message.nak(Math.max(0, outcome.delayMs));
    case 'poison':
      await bury(message, outcome.reason);
      return message.term(outcome.reason.replaceAll(/\s+/gu, ' ').slice(0, TERM_REASON_CHARS_MAX));
    default:
      return outcome satisfies never;
  }
}

/** Tells the server that the message is still being worked on, so that it is not given to somebody else. */
export function beat(message: JsMsg): void {
  message.working();
}
