import { Inject } from '@nestjs/common';
import { doubledMs } from '#libs/backoff';
import { ACK_WAIT_MS, DURABLES } from '#proto';
import { CorruptLogError } from '#libs/event-log';
import { DONE, mayHold, parseCommit, type BusMessage, type Outcome } from '#libs/messaging';
import { CLOCK, Takes, TakesMessages, type Clock } from '#libs/platform';
import { AttemptRunner } from './attempt.runner.js';
import { ordersOf, type AttemptOrder } from '#libs/attempt';
import { LiveAttempts, type Carried } from '../live/index.js';

/** A start that is older than this may have been carried out by somebody: the durable was made anew, or nobody served it. */
const OLD_START_MS = 5_000;
/** Before an attempt that this replica cannot serve is offered again. */
const UNSERVED = { msMin: 50, msMax: ACK_WAIT_MS };

/** A commit is done when the end of every attempt it started is stored. */
@TakesMessages()
export class AttemptsConsumer {
  readonly #runner: AttemptRunner;
  readonly #live: LiveAttempts;
  readonly #clock: Clock;

  constructor(
    @Inject(AttemptRunner) runner: AttemptRunner,
    @Inject(LiveAttempts) live: LiveAttempts,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#runner = runner;
    this.#live = live;
    this.#clock = clock;
  }

  @Takes(DURABLES.deviceAgentAttempts)
  async handle(message: BusMessage): Promise<Outcome> {
    if (!mayHold(message, ['TASK_STARTED'])) return DONE;
    const parsed = parseCommit(message);
    if (!parsed.ok) return { kind: 'poison', reason: parsed.reason };
    const repeated = message.deliveries > 1;
    const carried = await Promise.allSettled(
      ordersOf(parsed.commit).map((order) => this.#runner.carryOut(order, { repeated, old: this.#isOld(order) })),
    );
    const failures = carried.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    const broken = failures.find((error) => !(error instanceof CorruptLogError));
    if (broken !== undefined) throw broken;
    const [damaged] = failures;
    if (damaged instanceof CorruptLogError) return { kind: 'poison', reason: damaged.message };
    if (carried.every((one) => one.status === 'fulfilled' && one.value === 'ended')) return DONE;
    return this.#givenBack(message, carried);
  }

  #givenBack({ deliveries }: BusMessage, carried: readonly PromiseSettledResult<Carried>[]): Outcome {
    const { isClosed } = this.#live;
    if (carried.some((one) => one.status === 'fulfilled' && one.value === 'left')) {
      // Given back so late that the owner's beats come first: only when they stop is the message delivered again.
      return { kind: 'retry', delayMs: isClosed ? 0 : ACK_WAIT_MS, reason: 'the attempt belongs to another replica' };
    }
    // Nobody has it yet: another replica may take it at once, and where there is none it comes again ever more rarely.
    return {
      kind: 'retry',
      delayMs: isClosed ? 0 : doubledMs(UNSERVED, deliveries),
      reason: 'this replica does not serve the agent',
    };
  }

  #isOld({ start }: AttemptOrder): boolean {
    return this.#clock.now() - Date.parse(start.startedAt) > OLD_START_MS;
  }
}
