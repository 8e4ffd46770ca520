import { Inject } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { DURABLES, LIMITS, type RequestId, type SubmitAnswer, subjects } from '#proto';
import { type BusMessage, type BusRequest, DONE, type Outcome, refusalOfFault, StoreWatch } from '#libs/messaging';
import { AnswersSubject, TakesMessages, LOGGER, NATS, Takes } from '#libs/platform';
import { SubmitHandler, tryAgain } from './submit.handler.js';

const REQUESTS_AT_ONCE = 64;
const RETRY_MS = 250;

/** Where requests come in: the stream that external systems publish to, and the subject that answers at once. */
@TakesMessages()
export class RequestInputs {
  readonly #nc: NatsConnection;
  readonly #handler: SubmitHandler;
  readonly #logger: Logger;

  constructor(
    @Inject(NATS) nc: NatsConnection,
    @Inject(SubmitHandler) handler: SubmitHandler,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#nc = nc;
    this.#handler = handler;
    this.#logger = logger;
  }

  /** Answered where its sender hears it; one that can never become a run goes to the dead letters as well. */
  @Takes(DURABLES.requests, { concurrency: REQUESTS_AT_ONCE })
  async take(message: BusMessage): Promise<Outcome> {
    const submitted = await this.#handler.submit(message.data, message.subject);
    if (submitted.kind === 'try-again') return { kind: 'retry', delayMs: RETRY_MS, reason: submitted.reason };
    if (submitted.kind === 'poison') return submitted;
    const { answer } = submitted;
    const { requestId } = answer;
    if (requestId !== undefined) this.#nc.publish(answerTo(message.subject, requestId), JSON.stringify(answer));
    // Who sends too much is told so; a letter for each would be as much again.
    if (!('error' in answer) || answer.error.code === 'LIMIT_REACHED') return DONE;
    return { kind: 'poison', reason: `${answer.error.code}: ${answer.error.message}` };
  }

  /** The same for requests on the subjects of their actors. */
  @Takes(DURABLES.actorRequests, { concurrency: REQUESTS_AT_ONCE })
  takeOfActor(message: BusMessage): Promise<Outcome> {
    return this.take(message);
  }

  /** Answered in time, whatever comes of it: who sent the request sends it again. */
  @AnswersSubject('submit')
  async submit({ data, subject }: BusRequest): Promise<SubmitAnswer> {
    const { promise: late, resolve } = Promise.withResolvers<SubmitAnswer>();
    const timer = setTimeout(() => resolve(tryAgain(undefined)), LIMITS.verbAnswerMs);
    const submit = async (): Promise<SubmitAnswer> => {
      const submitted = await this.#handler.submit(data, subject);
      if (submitted.kind === 'final') return submitted.answer;
      const requestId = submitted.kind === 'try-again' ? submitted.requestId : undefined;
      // The handler has given up: nothing is on its way any more.
      const fault = await StoreWatch.of(this.#nc).fault();
      return tryAgain(requestId, fault && refusalOfFault(fault));
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

/** The subject of a request says who asks, and so where he hears what becomes of it. */
function answerTo(subject: string, requestId: RequestId): string {
  return subject === subjects.requests
    ? subjects.answer(requestId)
    : subjects.answerTo(subject.slice(subjects.requestsOf('').length), requestId);
}
