import type { CustomTransportStrategy, MessageHandler } from '@nestjs/microservices';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import {
  DURABLES,
  LONE_PULL_EXPIRY_MS,
  partitionDurables,
  PARTITIONS,
  PULL_EXPIRY_MS,
  QUERIES,
  subjects,
  type DurableSpec,
} from '#proto';
import { isAsked, type Clock } from '../connection/index.js';
import {
  consumeBatches,
  consumeDurable,
  DONE,
  DurableWatch,
  retryAfterFailure,
  type BatchMessage,
  type BusMessage,
  type ConsumeEvent,
  type ConsumeOptions,
  type Consumption,
  type Outcome,
} from '../durables/index.js';
import {
  handAgain,
  refused,
  serveQueries,
  type Asker,
  type Authority,
  type QueryHandlers,
  type QueryService,
  type Served,
} from '../verbs/index.js';
import {
  isPartitioned,
  isPattern,
  PARTITION,
  Thrown,
  type BusPattern,
  type BusRequest,
  type SubjectName,
  type TakeOptions,
} from './patterns.js';

/** Who reads the dead letters of a stream again is the one who took them; the strategy answers it for every service. */
const RETRY = 'dlq-retry';

/** What is worth a log line; the strategy writes none. */
export type BusEvent =
  | ConsumeEvent
  | { readonly kind: 'failed'; readonly what: string; readonly error: unknown }
  /** The server lets nothing through to this handler any more. */
  | { readonly kind: 'lost'; readonly what: string; readonly error: Error };

export interface BusStrategyOptions {
  readonly nc: NatsConnection;
  /** Whose handlers these are: the owner of their dead letters and queries, and the queue that its replicas share. */
  readonly service: string;
  readonly clock: Clock;
  readonly report: (event: BusEvent) => void;
}

/** The handlers of a service cannot be served as they are: one sentence for their author. */
export class HandlersError extends Error {
  override readonly name = 'HandlersError';
}

interface Taker extends Extract<BusPattern, { durable: string }> {
  readonly handle: MessageHandler;
  readonly options: TakeOptions;
}

type Limits = Pick<ConsumeOptions, 'concurrency' | 'maxPull'>;

interface Answerer {
  readonly subject: SubjectName;
  readonly handle: MessageHandler;
}

interface Serving {
  readonly consumptions: readonly Consumption[];
  readonly subscriptions: readonly { drain(): Promise<void> }[];
}

/**
 * The transport of the framework over our own loops: messages of durables, queries and commands reach the methods that say in
 * their decorator what they take.
 *
 *   durable ──loop──► handler ──outcome──► settle            partitions: the same, for as long as this replica owns them
 *   query, command ──► handler ──► one answer
 *
 * The framework is between the two as one asynchronous call, without an observable.
 */
export class BusStrategy implements CustomTransportStrategy {
  readonly #options: BusStrategyOptions;
  readonly #takers: Taker[] = [];
  readonly #answerers: Answerer[] = [];
  readonly #queries = new Map<string, MessageHandler>();
  readonly #serving = new Map<number, Serving>();
  readonly #limits = new Map<string, Limits>();
  /** By subject, or for all queries together: why nothing comes there. */
  readonly #lost = new Map<string, Error>();
  #authority: Authority = () => {
    throw refused('TRY_AGAIN', 'Nobody is known here yet; try again.');
  };
  #owned: ReadonlySet<number> = new Set();
  #givenUp: Promise<unknown> = Promise.resolve();
  #always: Serving & { readonly queries?: Served } = { consumptions: [], subscriptions: [] };
  #isListening = false;
  readonly #durables: DurableWatch;
  #stopped: Promise<void> | undefined;

  constructor(options: BusStrategyOptions) {
    this.#options = options;
    this.#durables = new DurableWatch(options.nc, () => this.#taken());
  }

  /** Called by the framework for every method with a pattern. Throws HandlersError for one that nothing would ever reach. */
  addHandler(pattern: unknown, handle: MessageHandler, _isEvent?: boolean, options: TakeOptions = {}): void {
    const { service } = this.#options;
    if (!isPattern(pattern)) {
      throw new HandlersError(
        `A handler of ${service} takes ${JSON.stringify(pattern)}, which is no durable, query or subject.`,
      );
    }
    if ('durable' in pattern) {
      specOf(pattern, 0);
      this.#takers.push({ ...pattern, handle, options });
    } else if ('subject' in pattern) this.#answerers.push({ ...pattern, handle });
    else if (pattern.service === service) this.#queries.set(pattern.query, handle);
    else throw new HandlersError(`${service} has a handler of the query ${pattern.query} of ${pattern.service}.`);
  }

  /**
   * Before it listens: how many messages of a durable may be in work is a setting, or changes with time. Call what it returns when
   * there is room for more than before.
   */
  limit({ durable }: DurableSpec, limits: Limits): () => void {
    this.#limits.set(durable, limits);
    return () => this.#always.consumptions.forEach((one) => one.look());
  }

  /** Who it is that asks, from now on; until then nobody is known, and nothing that is signed is answered. */
  admit(authority: Authority): void {
    this.#authority = authority;
  }

  /** Throws while the server keeps something from us: what somebody waits for an answer to, or the messages of a durable. */
  async check(): Promise<void> {
    const [first] = this.#lost;
    if (first !== undefined) throw new Error(`nothing comes on ${first[0]}: ${first[1].message}`);
    const { problem } = this.#durables;
    if (problem !== undefined) throw new Error(problem);
  }

  /** Begins with everything that belongs to no partition, and with the partitions that this replica owns by then. */
  async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      await this.#begin();
    } catch (error) {
      return callback(error);
    }
    callback();
  }

  /**
   * Takes the inputs of these partitions from now on, and gives up all others. Resolves when what was given up has been let
   * go; what is ours now does not wait for that, because nobody else serves it any more.
   */
  async serve(partitions: ReadonlySet<number>): Promise<void> {
    const wasAlone = this.#isAlone();
    this.#owned = partitions;
    if (!this.#isListening) return;
    const lost = [...this.#serving].filter(([partition]) => !partitions.has(partition));
    for (const [partition] of lost) this.#serving.delete(partition);
    if (wasAlone && !this.#isAlone())
      for (const { consumptions } of this.#serving.values()) for (const one of consumptions) one.look();
    for (const partition of partitions) {
      if (!this.#serving.has(partition)) this.#serving.set(partition, this.#begun(partition));
    }
    this.#givenUp = Promise.all([this.#givenUp, ...lost.map(([, served]) => this.#ended(served))]);
    await this.#givenUp;
  }

  /** Takes nothing more that belongs to no partition, and ends what is in work. Partitions go when they are given up. */
  onModuleDestroy(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  /** All that is left. */
  async close(): Promise<void> {
    await this.onModuleDestroy();
    await this.serve(new Set());
  }

  async #begin(): Promise<void> {
    if (this.#takers.length + this.#answerers.length + this.#queries.size === 0) return;
    const served = this.#begun(undefined);
    this.#always = served;
    const queries = await this.#serveQueries();
    this.#always = { ...served, ...(queries && { queries }) };
    this.#isListening = true;
    if (this.#takers.length > 0) this.#durables.begin();
    void this.serve(this.#owned);
  }

  async #stop(): Promise<void> {
    const { queries, ...served } = this.#always;
    await this.#durables.end();
    await queries?.stop();
    await this.#ended(served);
  }

  /** Whoever owns all partitions knows of no other replica. */
  #isAlone(): boolean {
    return this.#owned.size === PARTITIONS;
  }

  #taken(): Consumption[] {
    return [this.#always, ...this.#serving.values()].flatMap(({ consumptions }) => consumptions);
  }

  /** What belongs to a partition, or to none. */
  #begun(partition: number | undefined): Serving {
    const mine = (pattern: BusPattern): boolean => isPartitioned(pattern) === (partition !== undefined);
    return {
      consumptions: this.#takers.filter(mine).map((taker) => this.#consume(taker, partition)),
      subscriptions: this.#answerers.filter(mine).map((answerer) => this.#subscribe(answerer, partition)),
    };
  }

  async #ended({ consumptions, subscriptions }: Serving): Promise<void> {
    try {
      await Promise.all([...subscriptions.map((one) => one.drain()), ...consumptions.map((one) => one.stop())]);
    } catch (error) {
      this.#options.report({ kind: 'failed', what: 'the end of what was served', error });
    }
  }

  #consume(taker: Taker, partition: number | undefined): Consumption {
    const { nc, service, clock, report } = this.#options;
    const spec = specOf(taker, partition);
    const { isBatch = false, ...asked } = taker.options;
    const expiryMs = (): number => (this.#isAlone() ? LONE_PULL_EXPIRY_MS : PULL_EXPIRY_MS);
    const pulled = partition === undefined ? {} : { expiryMs };
    const options = { service, clock, report, ...asked, ...pulled, ...this.#limits.get(spec.durable) };
    if (isBatch) return consumeBatches(nc, spec, (messages) => void this.#handOver(taker, messages), options);
    return consumeDurable(nc, spec, (message) => outcomeOf(taker, message), options);
  }

  /** The handler settles each message some time; what it threw means that none of the others was begun. */
  async #handOver(taker: Taker, messages: readonly BatchMessage[]): Promise<void> {
    const said: unknown = await taker.handle(messages);
    if (said === undefined) return;
    const error = said instanceof Thrown ? said.error : new Error('a batch handler gives no answer');
    for (const message of messages) message.settle(retryAfterFailure(error, message.deliveries));
  }

  #subscribe({ handle }: Answerer, partition: number | undefined): Serving['subscriptions'][number] {
    const { nc, service } = this.#options;
    const [subject, shared] =
      partition === undefined ? [subjects.submit, { queue: service }] : [subjects.verbsOfPartition(partition), {}];
    this.#lost.delete(subject);
    return nc.subscribe(subject, {
      ...shared,
      callback: (error, message) => {
        if (error !== null) this.#lose(subject, error);
        else if (isAsked(message)) void this.#answer(handle, message);
      },
    });
  }

  #lose(what: string, error: Error): void {
    this.#lost.set(what, error);
    this.#options.report({ kind: 'lost', what, error });
  }

  async #answer(handle: MessageHandler, message: Msg): Promise<void> {
    const { subject, data } = message;
    const request: BusRequest = { subject, data };
    try {
      message.respond(JSON.stringify(await answerOf(handle, request)));
    } catch (error) {
      this.#options.report({ kind: 'failed', what: subject, error });
    }
  }

  async #serveQueries(): Promise<Served | undefined> {
    const { nc, service, report } = this.#options;
    const names = Object.keys(QUERIES[service as QueryService] ?? {});
    const missing = names.filter((name) => name !== RETRY && !this.#queries.has(name));
    if (missing.length > 0) throw new HandlersError(`${service} has no handler of the query ${missing.join(', ')}.`);
    if (names.length === 0) return undefined;
    const handlers = Object.fromEntries(
      [...this.#queries].map(([name, handle]) => [
        name,
        (request: unknown, asker?: Asker) => answerOf(handle, request, asker),
      ]),
    );
    const retry = (request: { stream: string; sequence: number }) => handAgain(nc, request, this.#streams());
    return serveQueries(nc, service as QueryService, { [RETRY]: retry, ...handlers } as QueryHandlers<QueryService>, {
      authority: (asked) => this.#authority(asked),
      report: (error, what) => report({ kind: 'failed', what, error }),
      lost: (error) => this.#lose(`the queries of ${service}`, error),
    });
  }

  /** A message may be read by several durables; a dead letter does not say for which it was bad. */
  #streams(): Record<string, (message: BusMessage) => Promise<Outcome>> {
    const byStream = Map.groupBy(this.#takers, ({ stream }) => stream);
    return Object.fromEntries(
      [...byStream].map(([stream, takers]) => [
        stream,
        async (message: BusMessage): Promise<Outcome> => {
          let outcome: Outcome = DONE;
          for (const taker of takers) if (outcome.kind === 'done') outcome = await outcomeOf(taker, message);
          return outcome;
        },
      ]),
    );
  }
}

/** Throws HandlersError when `proto` has no such durable, not even for this partition. */
function specOf({ stream, durable }: Pick<Taker, 'stream' | 'durable'>, partition = 0): DurableSpec {
  const name = durable.replace(PARTITION, String(partition));
  const known: DurableSpec[] = [...Object.values(DURABLES), ...Object.values(partitionDurables(partition))];
  const spec = known.find((one) => one.stream === stream && one.durable === name);
  if (spec !== undefined) return spec;
  throw new HandlersError(`A handler takes ${stream}/${durable}, and there is no such durable.`);
}

/** Throws what the handler threw: the infrastructure is broken, and the message comes again. */
async function outcomeOf({ handle, options }: Taker, message: BusMessage): Promise<Outcome> {
  if (options.isBatch === true) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const said: unknown = await handle([{ ...message, settle: resolve }]);
    if (said instanceof Thrown) throw said.error;
    return promise;
  }
  const said: unknown = await handle(message);
  if (said instanceof Thrown) throw said.error;
  if (isOutcome(said)) return said;
  throw new TypeError('the handler gave no outcome');
}

/** `asker` comes to the handler as the context of the message. */
async function answerOf(handle: MessageHandler, request: unknown, asker?: Asker): Promise<never> {
  const answer: unknown = await handle(request, asker);
  if (answer instanceof Thrown) throw answer.error;
  return answer as never;
}

function isOutcome(said: unknown): said is Outcome {
  return typeof said === 'object' && said !== null && 'kind' in said;
}
