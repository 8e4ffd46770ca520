import { Inject } from '@nestjs/common';
import { DURABLES } from '#proto';
import type { BusMessage, Outcome } from '#libs/messaging';
import { Takes, TakesMessages } from '#libs/platform';
import { RoundsConsumer } from './rounds.consumer.js';

/** Most commits of runs only pass by; their acks go together. */
const ACK_INTERVAL_MS = 100;

/** Commits of runs, of which some ask for a plan. How many are worked on at once is a setting of the service. */
@TakesMessages()
export class RoundInputs {
  readonly #rounds: RoundsConsumer;

  constructor(@Inject(RoundsConsumer) rounds: RoundsConsumer) {
    this.#rounds = rounds;
  }

  @Takes(DURABLES.plannerRounds, { ackIntervalMs: ACK_INTERVAL_MS })
  take(message: BusMessage): Promise<Outcome> {
    return this.#rounds.handle(message);
  }
}
