import { Inject } from '@nestjs/common';
import {
  commandIdOf,
  DURABLES,
  type AttemptEvent,
  type AttemptFinished,
  type AttemptKey,
  type Decided,
  type DeviceRequest,
  type RecordedRunEvent,
  type RunCommit,
  type RunEventType,
} from '#proto';
import { CorruptLogError, unchanged } from '#libs/event-log';
import { DONE, mayHold, parseCommit, type BusMessage, type Outcome } from '#libs/messaging';
import { endOfSteps, isExact, isJudged, type AttemptOrder, type Stop, eventsOf } from '#libs/attempt';
import { Takes, TakesMessages } from '#libs/platform';
import { AttemptCommits, changeBy, LiveAttempts } from '../live/index.js';
import { NatsDeviceLink, type GatewayLink } from '../devices/index.js';

const TYPES = [
  'TASK_STOP_REQUESTED',
  'TASK_FAILED',
  'TASK_CANCELLED',
  'APPROVAL_DECIDED',
] as const satisfies readonly RunEventType[];

/** Commits of RUNS that are worked on at once; each costs a read or two. */
const CONCURRENCY = 64;

/** What a run says to its attempts while they are carried out. Never waits for a device. */
@TakesMessages()
export class ControlConsumer {
  readonly #commits: AttemptCommits;
  readonly #device: GatewayLink;
  readonly #live: LiveAttempts;

  constructor(
    @Inject(AttemptCommits) commits: AttemptCommits,
    @Inject(NatsDeviceLink) device: GatewayLink,
    @Inject(LiveAttempts) live: LiveAttempts,
  ) {
    this.#commits = commits;
    this.#device = device;
    this.#live = live;
  }

  @Takes(DURABLES.deviceAgentControl, { concurrency: CONCURRENCY })
  async handle(message: BusMessage): Promise<Outcome> {
    if (!mayHold(message, TYPES)) return DONE;
    const parsed = parseCommit(message);
    if (!parsed.ok) return { kind: 'poison', reason: parsed.reason };
    try {
      for (const event of parsed.commit.events) await this.#apply(parsed.commit, event);
      return DONE;
    } catch (error) {
      if (error instanceof CorruptLogError) return { kind: 'poison', reason: error.message };
      throw error;
    }
  }

  async #apply({ runId, commit }: RunCommit, event: RecordedRunEvent): Promise<void> {
    switch (event.type) {
      case 'TASK_STOP_REQUESTED': {
        const { taskId, attempt, reason, graceUntil } = event.data;
        return this.#stop({ runId, taskId, attempt }, { reason, graceUntil }, commit);
      }
      case 'TASK_FAILED':
      case 'TASK_CANCELLED': {
        const { taskId, attempt, attemptHash = null } = event.data;
        // A hash says that the end was there when this was decided.
        if (attempt === 0 || attemptHash !== null) return;
        const key = { runId, taskId, attempt };
        if (this.#live.find(key) === undefined && (await this.#commits.isInherited(key))) return;
        await this.#close(key, commit);
        return;
      }
      case 'APPROVAL_DECIDED': {
        const { taskId, attempt, grant: _grant, grantOf: _grantOf, decidedAt: _decidedAt, ...words } = event.data;
        const { approvedBy: _approvedBy, selfApproved: _selfApproved, standing: _standing, ...decided } = words;
        // A grant that is taken back changes nothing that was let through.
        if (decided.decision !== 'revoked') await this.#decide({ runId, taskId, attempt }, decided, commit);
        return;
      }
      default:
        return;
    }
  }

  /** What a person decided, once; the attempt goes on with it, here or wherever it is carried out. */
  async #decide(key: AttemptKey, decided: Decided, cause: string): Promise<void> {
    const events: AttemptEvent[] = [{ type: 'ATTEMPT_SIGNALLED', data: { signal: 'decision', ...decided } }];
    const { value: isOpen } = await this.#commits.change(key, (attempt) => {
      if (attempt.finished !== null) return unchanged(false);
      const known = attempt.book.commands.get(decided.approvalId)?.decided ?? null;
      return known === null ? changeBy({ key, kind: 'step', cause }, events, true) : unchanged(true);
    });
    if (isOpen) this.#live.find(key)?.tell();
  }

  /** First the fact, then the attempt in this process, then the device. */
  async #stop(key: AttemptKey, stop: Stop, cause: string): Promise<void> {
    const signal: AttemptEvent = { type: 'ATTEMPT_SIGNALLED', data: { signal: 'stop', ...stop } };
    const { value: before } = await this.#commits.change(key, (attempt) => {
      const isNew = attempt.finished === null && attempt.stop === null;
      return isNew ? changeBy({ key, kind: 'step', cause }, [signal], attempt) : unchanged(attempt);
    });
    if (before.finished === null) this.#live.find(key)?.requestStop(stop);
    // Of one that has ended: the process that wrote the fact may have died before the device was told.
    if (before.finished === null || before.stop !== null) this.#tellStop(await this.#orderOf(key));
  }

  /** The run went on without this attempt's end: it gets the only one that is true, and whoever carries it out lets go. */
  async #close(key: AttemptKey, cause: string): Promise<void> {
    const order = await this.#orderOf(key);
    const { value: finished } = await this.#commits.change(key, ({ finished: before, book }) => {
      if (before !== null) return unchanged(before);
      const isOpen = (book.commands.get(commandIdOf(key))?.finished ?? null) === null;
      const events =
        isExact(order) && !isJudged(order) && isOpen
          ? eventsOf(order, { kind: 'unknown', ...CLOSED })
          : endOfSteps(book, { kind: 'failed', ...CLOSED, outcome: 'unknown' });
      return changeBy({ key, kind: 'end', cause }, events, null);
    });
    this.#live.find(key)?.interrupt('finished');
    if (finished === null || isUnknown(finished)) this.#tellStop(order);
  }

  #tellStop({ key, start }: AttemptOrder): void {
    const request: DeviceRequest = { kind: 'stop', attempt: key, deviceId: start.deviceId };
    this.#device.tell(request);
  }

  async #orderOf(key: AttemptKey): Promise<AttemptOrder> {
    const order = this.#live.find(key)?.order ?? (await this.#commits.findOrder(key));
    if (order !== undefined) return order;
    const message = `attempt ${key.attempt} of task ${key.taskId} was never started`;
    throw new CorruptLogError(key.runId, [{ kind: 'schema', number: 0, message }]);
  }
}

/** As `#close` ends an attempt, which may have died before the device was told. */
function isUnknown(finished: AttemptFinished): boolean {
  return finished.status === 'failed' && finished.error.outcome === 'unknown';
}

const CLOSED = { code: 'OUTCOME_UNKNOWN', message: 'the task ended before the device said what became of the command' };
