import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { type Actor, DURABLES, LIMITS, type SubmitAnswer, subjects } from '#proto';
import { type BusMessage, type Consumption, consumeDurable, DONE, type Outcome } from '#libs/messaging';
import { DEFAULT_NAMESPACE } from './submission.js';
import { type SubmitHandler, tryAgain } from './submit.handler.js';

const SERVICE = 'orchestrator';
const REQUESTS_AT_ONCE = 64;
const RETRY_MS = 250;
/** Everybody who may publish a request is one account until there are several. */
const EXTERNAL: Actor = { kind: 'external', id: DEFAULT_NAMESPACE };

/** Where requests come in: the stream that anybody may publish to, and the subject that answers at once. */
export class IntakeConsumer {
  readonly #nc: NatsConnection;
  readonly #handler: SubmitHandler;
  readonly #logger: Logger;
  #consumption: Consumption | undefined;
  #submissions: Subscription | undefined;

  constructor(nc: NatsConnection, handler: SubmitHandler, logger: Logger) {
    this.#nc = nc;
    this.#handler = handler;
    this.#logger = logger;
  }

  start(): void {
    this.#consumption = consumeDurable(this.#nc, DURABLES.requests, (message) => this.take(message), {
      service: SERVICE,
      concurrency: REQUESTS_AT_ONCE,
      report: (event) => this.#logger.warn(event, 'requests'),
    });
    this.#submissions = this.#nc.subscribe(subjects.submit, {
      queue: SERVICE,
      callback: (error, message) => void (error === null ? this.#answer(message) : undefined),
    });
  }

  async stop(): Promise<void> {
    await this.#submissions?.drain();
    await this.#consumption?.stop();
  }

  /** Answered on `orrery.answer.<requestId>`; a request that nobody could answer for goes to the dead letters as well. */
  async take(message: BusMessage): Promise<Outcome> {
    const submitted = await this.#handler.submit(message.data, EXTERNAL, DEFAULT_NAMESPACE);
    if (submitted.kind === 'try-again') return { kind: 'retry', delayMs: RETRY_MS, reason: submitted.reason };
    if (submitted.kind === 'poison') return submitted;
    const { answer } = submitted;
    if (answer.requestId !== undefined) this.#nc.publish(subjects.answer(answer.requestId), JSON.stringify(answer));
    return 'error' in answer ? { kind: 'poison', reason: `${answer.error.code}: ${answer.error.message}` } : DONE;
  }

  async #answer(message: Msg): Promise<void> {
    const answer = await this.#submitInTime(message.data);
    message.respond(JSON.stringify(answer));
  }

  async #submitInTime(payload: Uint8Array): Promise<SubmitAnswer> {
    const { promise: late, resolve } = Promise.withResolvers<SubmitAnswer>();
    const timer = setTimeout(() => resolve(tryAgain(undefined)), LIMITS.verbAnswerMs);
    const submit = async (): Promise<SubmitAnswer> => {
      const submitted = await this.#handler.submit(payload, EXTERNAL, DEFAULT_NAMESPACE);
      if (submitted.kind === 'final') return submitted.answer;
      return tryAgain(submitted.kind === 'try-again' ? submitted.requestId : undefined);
    };
    try {
      return await Promise.race([submit(), late]);
    } catch (error) {
      this.#logger.error({ err: error }, 'submission not served');
      return tryAgain(undefined);
    } finally {
      clearTimeout(timer);
    }
  }
}
