import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  AttemptCommit,
  attemptOfSubject,
  type DurableSpec,
  partitionDurables,
  partitionOf,
  PlanCommit,
  runIdOfSubject,
  type RunId,
  subjects,
  Verb,
  type VerbAnswer,
} from '#proto';
import type { Input } from '#libs/constellation';
import {
  type BatchMessage,
  type BusMessage,
  type Consumption,
  consumeBatches,
  DONE,
  type Outcome,
  TimerBody,
} from '#libs/messaging';
import {
  attemptAsked,
  attemptEnded,
  causeOf,
  maySpeak,
  planWord,
  type RunServer,
  type Settled,
  type Waiting,
} from '../runs/index.js';
import type { SubmitHandler } from './submit.handler.js';
import type { VerbsHandler } from './verbs.handler.js';

const SERVICE = 'orchestrator';
/** Messages of one partition and stream that are taken and not yet settled. */
const PULL_MAX = 500;
const RETRY_MS = 500;
const ACK_INTERVAL_MS = 300;

export interface PartitionParts {
  readonly server: RunServer;
  readonly submit: SubmitHandler;
  readonly verbs: VerbsHandler;
  readonly logger: Logger;
}

interface Serving {
  readonly consumptions: readonly Consumption[];
  readonly verbs: Subscription;
}

/**
 * The inputs of the partitions this replica owns: ends of attempts and what they ask, what the planner says, due wake-ups,
 * verbs. Each becomes one Waiting of its run.
 */
export class PartitionsConsumer {
  readonly #nc: NatsConnection;
  readonly #server: RunServer;
  readonly #submit: SubmitHandler;
  readonly #verbs: VerbsHandler;
  readonly #logger: Logger;
  readonly #serving = new Map<number, Serving>();
  #stopping: Promise<unknown> = Promise.resolve();

  constructor(nc: NatsConnection, parts: PartitionParts) {
    this.#nc = nc;
    this.#server = parts.server;
    this.#submit = parts.submit;
    this.#verbs = parts.verbs;
    this.#logger = parts.logger;
  }

  owns(runId: RunId): boolean {
    return this.#serving.has(partitionOf(runId));
  }

  /**
   * Serves these from now on, and gives up all others. Resolves when what was given up has been let go; what is ours now does
   * not wait for that, because nobody else serves it any more. The runs of what was given up are forgotten first: should it
   * come back soon, they are loaded as the one in between has left them.
   */
  async serve(partitions: ReadonlySet<number>): Promise<void> {
    const lost = [...this.#serving].filter(([partition]) => !partitions.has(partition));
    for (const [partition] of lost) this.#serving.delete(partition);
    if (lost.length > 0) this.#server.drop((runId) => this.owns(runId));
    for (const partition of partitions) if (!this.#serving.has(partition)) this.#start(partition);
    this.#stopping = Promise.all([
      this.#stopping,
      ...lost.map(([partition, serving]) => this.#stop(partition, serving)),
    ]);
    await this.#stopping;
  }

  /** The end of an attempt, what it asks, or a late result, once more. */
  handleAttempt(message: BusMessage): Promise<Outcome> {
    return new Promise((settle) => this.#attemptSaid({ ...message, settle }));
  }

  /** What the planner says, once more. */
  handlePlan(message: BusMessage): Promise<Outcome> {
    return new Promise((settle) => this.#planned({ ...message, settle }));
  }

  /** A due wake-up, once more. */
  handleDue(message: BusMessage): Promise<Outcome> {
    return new Promise((settle) => this.#due({ ...message, settle }));
  }

  #start(partition: number): void {
    const durables = partitionDurables(partition);
    const verbs = this.#nc.subscribe(subjects.verbsOfPartition(partition), {
      callback: (error, message) => void (error === null ? this.#answer(message) : undefined),
    });
    const consumptions = [
      this.#consume(durables.attempts, (message) => this.#attemptSaid(message)),
      this.#consume(durables.plans, (message) => this.#planned(message)),
      this.#consume(durables.timers, (message) => this.#due(message)),
    ];
    this.#serving.set(partition, { verbs, consumptions });
  }

  async #stop(partition: number, { consumptions, verbs }: Serving): Promise<void> {
    try {
      await Promise.all([verbs.drain(), ...consumptions.map((consumption) => consumption.stop())]);
    } catch (error) {
      this.#logger.warn({ err: error, partition }, 'a partition was not given up in order');
    }
  }

  #consume(durable: DurableSpec, take: (message: BatchMessage) => void): Consumption {
    return consumeBatches(
      this.#nc,
      durable,
      (messages) => {
        for (const message of messages) {
          try {
            take(message);
          } catch (error) {
            message.settle({ kind: 'poison', reason: `cannot be read: ${String(error)}` });
          }
        }
      },
      {
        service: SERVICE,
        maxPull: PULL_MAX,
        ackIntervalMs: ACK_INTERVAL_MS,
        report: (event) => this.#logger.warn(event, 'inputs'),
      },
    );
  }

  #attemptSaid(message: BatchMessage): void {
    const key = attemptOfSubject(message.subject);
    const commit = AttemptCommit.parse(JSON.parse(new TextDecoder().decode(message.data)));
    if (
      key === undefined ||
      key.runId !== commit.runId ||
      key.taskId !== commit.taskId ||
      key.attempt !== commit.attempt
    ) {
      throw new Error('the commit is not the one of its subject');
    }
    const { runId, taskId, attempt, hash: attemptHash } = commit;
    const waiting = { cause: causeOf(commit, key.kind), bytes: message.data.length };
    const deliver = (input: Input) => this.#deliver(runId, { ...waiting, input }, message);
    if (key.kind === 'late') {
      return deliver({
        kind: 'late-result',
        taskId,
        attempt,
        attemptHash,
        text: 'a result arrived after the attempt had ended',
      });
    }
    if (key.kind === 'ask') {
      const asked = attemptAsked(commit);
      if (asked === undefined) throw new Error('what an attempt asks has no ATTEMPT_ASKED');
      return deliver(asked);
    }
    const ended = attemptEnded(commit);
    if (ended === undefined) throw new Error('the end of an attempt has no ATTEMPT_FINISHED');
    deliver(ended);
  }

  /** Most of what the planner records says nothing to the run: that is acknowledged unread. */
  #planned(message: BatchMessage): void {
    if (!maySpeak(message)) return message.settle(DONE);
    const commit = PlanCommit.parse(JSON.parse(new TextDecoder().decode(message.data)));
    const { runId } = commit;
    if (runId !== runIdOfSubject(message.subject)) throw new Error('the commit is not the one of its subject');
    const word = planWord(commit);
    if (word === undefined) return message.settle(DONE);
    this.#deliver(runId, { ...word, bytes: message.data.length }, message);
  }

  #due(message: BatchMessage): void {
    const runId = runIdOfSubject(message.subject);
    if (runId === undefined) throw new Error('the subject names no run');
    const { at } = TimerBody.parse(JSON.parse(new TextDecoder().decode(message.data)));
    const waiting = {
      input: { kind: 'wake' },
      cause: { kind: 'timer', id: at },
      bytes: 0,
      due: true,
      at: Date.parse(at),
    } as const;
    this.#deliver(runId, waiting, message);
  }

  /** Acknowledged only after the commit that follows from it is stored, or a fresh read showed that nothing follows. */
  #deliver(runId: RunId, waiting: Omit<Waiting, 'settle'>, message: BatchMessage): void {
    this.#server.deliver(runId, { ...waiting, settle: (settled) => message.settle(outcomeOf(settled)) });
  }

  async #answer(message: Msg): Promise<void> {
    const runId = runIdOfSubject(message.subject);
    const verb = message.subject.split('.').at(-1);
    try {
      message.respond(JSON.stringify(await this.#verb(runId, verb, message.data)));
    } catch (error) {
      this.#logger.error({ err: error, runId, verb }, 'verb not served');
    }
  }

  async #verb(runId: RunId | undefined, verb: string | undefined, payload: Uint8Array): Promise<VerbAnswer> {
    const known = Verb.safeParse(verb);
    if (runId !== undefined && known.success) {
      if (known.data === 'SUBMIT') return this.#submit.serveVerb(runId, payload);
      return this.#verbs.serve(runId, known.data, payload);
    }
    const message = `there is no verb ${verb}; known are ${Verb.options.join(', ')}`;
    return { answer: 'rejected', reason: { code: 'INVALID_REQUEST', message, issues: [] }, sequence: 0 };
  }
}

function outcomeOf(settled: Settled): Outcome {
  switch (settled.kind) {
    case 'answered':
      return DONE;
    case 'retry':
      return { kind: 'retry', delayMs: RETRY_MS, reason: settled.reason };
    case 'poison':
      return settled;
  }
}
