import { Inject } from '@nestjs/common';
import { AttemptCommit, attemptOfSubject, PlanCommit, runIdOfSubject, type RunId, Verb, type VerbAnswer } from '#proto';
import type { Input } from '#libs/constellation';
import { type BatchMessage, type BusRequest, DONE, type Outcome, TimerBody } from '#libs/messaging';
import { AnswersSubject, TakesMessages, TakesPartitions } from '#libs/platform';
import {
  attemptAsked,
  attemptEnded,
  causeOf,
  maySpeak,
  planWord,
  RunServer,
  type Settled,
  type Waiting,
} from '../runs/index.js';
import { SubmitHandler } from './submit.handler.js';
import { VerbsHandler } from './verbs.handler.js';

/** Messages of one partition and stream that are taken and not yet settled, and how often they are acknowledged. */
const BUSY = { maxPull: 500, ackIntervalMs: 300 };
const RETRY_MS = 500;

/**
 * The inputs of the partitions this replica owns: ends of attempts and what they ask, what the planner says, due wake-ups,
 * verbs. Each becomes one Waiting of its run.
 */
@TakesMessages()
export class PartitionInputs {
  readonly #server: Pick<RunServer, 'deliver'>;
  readonly #submit: SubmitHandler;
  readonly #verbs: VerbsHandler;

  constructor(
    @Inject(RunServer) server: Pick<RunServer, 'deliver'>,
    @Inject(SubmitHandler) submit: SubmitHandler,
    @Inject(VerbsHandler) verbs: VerbsHandler,
  ) {
    this.#server = server;
    this.#submit = submit;
    this.#verbs = verbs;
  }

  @TakesPartitions('ATTEMPTS', 'orchestrator-attempts-<partition>', BUSY)
  attempts(messages: BatchMessage[]): void {
    eachOf(messages, (message) => this.#attemptSaid(message));
  }

  @TakesPartitions('PLANS', 'orchestrator-plans-<partition>', BUSY)
  plans(messages: BatchMessage[]): void {
    eachOf(messages, (message) => this.#planned(message));
  }

  @TakesPartitions('TIMERS', 'orchestrator-timers-<partition>', BUSY)
  timers(messages: BatchMessage[]): void {
    eachOf(messages, (message) => this.#due(message));
  }

  /** Every verb gets its one final answer from the owner of its run. */
  @AnswersSubject('verbsOfPartition')
  verbs({ subject, data }: BusRequest): Promise<VerbAnswer> {
    return this.#verb(runIdOfSubject(subject), subject.split('.').at(-1), data);
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

/** What cannot be read is bad; the others go on. */
function eachOf(messages: readonly BatchMessage[], take: (message: BatchMessage) => void): void {
  for (const message of messages) {
    try {
      take(message);
    } catch (error) {
      message.settle({ kind: 'poison', reason: `cannot be read: ${String(error)}` });
    }
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
