import { Inject } from '@nestjs/common';
import type { Logger } from 'pino';
import {
  attemptOfCommand,
  commandIdOf,
  type AttemptEvent,
  type CommandId,
  type CommandOutcome,
  type TaskResult,
} from '#proto';
import { unchanged } from '#libs/event-log';
import type { QueryAnswer, QueryRequest } from '#libs/messaging';
import { Answers, LOGGER, TakesMessages } from '#libs/platform';
import {
  answeredEnd,
  commandEnded,
  isExact,
  isJudged,
  type Attempt,
  type AttemptOrder,
  emptyRecord,
  isKnown,
  type CommandRecord,
  lateEventsOf,
} from '#libs/attempt';
import { AttemptCommits, changeBy, LiveAttempts } from '../live/index.js';
import { ARTIFACTS, type Artifacts, resultOf } from '../inputs/index.js';

type Delivery = QueryRequest<'device-agent', 'deliver'>;
type Delivered = QueryAnswer<'device-agent', 'deliver'>['state'];

/**
 * A result that a device brings and that nobody asked for since. It is never an end: an attempt that runs is asked for by
 * whoever carries it out, and one that has ended without its command's outcome gets it as an annotation, once.
 *
 *   never given to this device: unknown        runs: wanted        ended: [annotation, if it says something new] stored
 */
@TakesMessages()
export class DeliverHandler {
  readonly #commits: AttemptCommits;
  readonly #artifacts: Artifacts;
  readonly #live: LiveAttempts;
  readonly #logger: Logger;

  constructor(
    @Inject(AttemptCommits) commits: AttemptCommits,
    @Inject(ARTIFACTS) artifacts: Artifacts,
    @Inject(LiveAttempts) live: LiveAttempts,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#commits = commits;
    this.#artifacts = artifacts;
    this.#live = live;
    this.#logger = logger;
  }

  /** May be asked again with the same result. Throws when the log cannot be read or written. */
  @Answers('device-agent', 'deliver')
  async deliver({ deviceId, commandId, outcome }: Delivery): Promise<{ state: Delivered }> {
    const order = await this.#orderOf(commandId);
    // A device may say any id: only the one that was given the command has a result of it.
    if (order === undefined || order.start.deviceId !== deviceId) return { state: 'unknown' };
    return { state: await this.#record(order, commandId, outcome) };
  }

  async #orderOf(commandId: string): Promise<AttemptOrder | undefined> {
    const key = attemptOfCommand(commandId);
    if (key === undefined) return undefined;
    return this.#live.find(key)?.order ?? (await this.#commits.findOrder(key));
  }

  async #record(order: AttemptOrder, commandId: CommandId, outcome: CommandOutcome): Promise<Delivered> {
    let result: Promise<TaskResult | null> | undefined;
    const { value, stored } = await this.#commits.change<Delivered>(order.key, async (attempt) => {
      const record = recordOf(order, commandId, attempt);
      if (record === undefined) return unchanged('unknown');
      if (record.finished !== null && isKnown(record.finished)) return unchanged('stored');
      if (attempt.finished === null) return unchanged('wanted');
      if (outcome.state === 'OUTCOME_UNKNOWN') return unchanged('stored');
      // What is too large for an event is stored before the event names it; once, however many tries there are.
      result ??= resultOf(outcome, this.#artifacts);
      const events = lateEvents(order, record, outcome, await result);
      return changeBy({ key: order.key, kind: 'late', cause: order.commit }, events, 'stored');
    });
    if (stored) this.#logger.info({ ...order.key, commandId, state: outcome.state }, 'a late result is recorded');
    return value;
  }
}

/** What is recorded of a command that was given to the device; undefined when it never was. An exact one that nobody judges was with the start. */
function recordOf(order: AttemptOrder, commandId: CommandId, { book }: Attempt): CommandRecord | undefined {
  const record = book.commands.get(commandId);
  if (commandIdOf(order.key) === commandId && isExact(order) && !isJudged(order))
    return record ?? emptyRecord(commandId);
  return record?.issued === null ? undefined : record;
}

function lateEvents(
  order: AttemptOrder,
  record: CommandRecord,
  outcome: CommandOutcome,
  result: TaskResult | null,
): AttemptEvent[] {
  if (record.issued !== null) return [commandEnded(record, answeredEnd(outcome, result))];
  return isExact(order) ? lateEventsOf(order, { kind: 'outcome', outcome, result }) : [];
}
