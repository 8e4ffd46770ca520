import type { Logger } from 'pino';
import { commandIdOf, type CommandCall, type DeviceRequest, type RunCommandRequest } from '#proto';
import { unchanged, type AttemptLog, type Loaded } from '#libs/event-log';
import { Backoff } from '#libs/backoff';
import type { AgentKind } from '#libs/device-agent';
import type { Slots } from '#libs/slots';
import type { AgentAttemptRunner } from '../agents/index.js';
import {
  changeBy,
  type AttemptCommits,
  type Carried,
  type Interruption,
  type LiveAttempt,
  type LiveAttempts,
} from '../live/index.js';
import {
  isExact,
  isExactAlone,
  isJudged,
  type Attempt,
  type AttemptOrder,
  type ExactOrder,
  type Book,
  isKnown,
  lastFinished,
  eventsOf,
  lateEventsOf,
  type Ending,
  wasAtScreen,
} from '#libs/attempt';
import { type CommandRunner, type CommandTimes, type GatewayLink, waitUnlessAborted } from '../devices/index.js';
import { preparedCommand, type Artifacts, outcomeEnding } from '../inputs/index.js';

export interface RunnerParts {
  readonly commits: AttemptCommits;
  readonly attempts: AttemptLog;
  readonly device: GatewayLink;
  readonly artifacts: Artifacts;
  readonly inputBytesMax?: number;
  readonly live: LiveAttempts;
  readonly slots: Slots;
  readonly command: CommandRunner;
  readonly agents: AgentAttemptRunner;
  readonly instance: string;
  readonly logger: Logger;
}

export interface RunnerTimes extends CommandTimes {
  /** How often the log is asked what others wrote about a waiting attempt. */
  readonly lookMs: number;
}

/** Looks for the profile of a device before its agent's attempt is left to somebody else. */
const PROFILE_TRIES = 8;

export const RUNNER_TIMES: RunnerTimes = { lookMs: 1_000, askMsMin: 50, askMsMax: 1_000 };

/** How TASK_STARTED came. A first, fresh delivery has no past, so nothing is read before the command is sent. */
export interface Delivery {
  readonly repeated: boolean;
  readonly old: boolean;
}

/**
 * Carries attempts out. The device executes a command id once, so everything here may be done again after a crash:
 *
 *   TASK_STARTED ──first──────────────────────────► ask the device ──► end stored ──► device told ──► acknowledged
 *        └──again──► read log and run ──► RESUMED ──┘   │  ▲  └─ away, queued, running: ask again, same id
 *                        └──ended, not running──► done  └──┘     stop: tell the device, go on asking for the outcome
 *                                                                lost, foreign, finished by another: leave
 */
export class AttemptRunner {
  readonly #parts: RunnerParts;
  readonly #times: RunnerTimes;
  readonly #command: CommandRunner;

  constructor(parts: RunnerParts, times: RunnerTimes = RUNNER_TIMES) {
    this.#parts = parts;
    this.#times = times;
    this.#command = parts.command;
  }

  /**
   * `ended`: the end of the attempt is stored, or nothing follows from the order any more. `left`: it belongs to somebody
   * else or to later. `unserved`: this replica cannot serve its agent. Throws when the log cannot be read or written.
   */
  carryOut(order: AttemptOrder, delivery: Delivery): Promise<Carried> {
    const { live, slots } = this.#parts;
    return live.carryOut(order, (self) => slots.use(() => this.#carryOut(self, delivery)));
  }

  async #carryOut(live: LiveAttempt, delivery: Delivery): Promise<Carried> {
    if (live.interruption === 'shutdown') return 'left';
    const { order } = live;
    if (isExactAlone(order)) return this.#carryOutExact(live, order, delivery);
    const kind = await this.#kindFor(live);
    const unserved = kind === null ? await this.#unserved(order) : null;
    if (unserved !== null) return unserved;
    // Of what nobody here can serve the stop has been read.
    const begun = await this.#begin(live, kind === null ? { ...delivery, repeated: true } : delivery);
    if (begun === null) return 'ended';
    const { agents } = this.#parts;
    const session = agents.open(live, begun);
    return this.#watched(live, session, () => {
      if (kind === null) return agents.carryOutStopped(session);
      if (isExact(order) && isJudged(order)) return agents.carryOutJudged(session, order);
      if (isExact(order)) return agents.carryOutVerified(session, () => this.#execute(live, order, delivery));
      return agents.carryOut(session, kind as AgentKind);
    });
  }

  /** Null when it is stopped: who serves its agent may never come, and nobody has to for its end. */
  async #unserved({ key }: AttemptOrder): Promise<Carried | null> {
    const { commits } = this.#parts;
    const { stop, finished } = (await commits.load(key)).state;
    if (finished !== null || !(await commits.isRunning(key))) return 'ended';
    return stop === null ? 'unserved' : null;
  }

  /** Null when this replica cannot serve the agent of the device, or does not know what it would judge a command for: another one may. */
  async #kindFor(live: LiveAttempt): Promise<AgentKind | 'exact' | null> {
    const { order } = live;
    const { deviceId } = order.start;
    if (isExact(order) && !isJudged(order)) return 'exact';
    const backoff = new Backoff({ msMin: this.#times.askMsMin, msMax: this.#times.askMsMax });
    // The profiles of a process that has just begun are still on their way.
    for (let tries = 0; tries < PROFILE_TRIES && live.interruption === null; tries++) {
      if (this.#parts.agents.knows(deviceId)) break;
      await waitUnlessAborted(backoff.next(), live.signal);
    }
    if (isExact(order)) return this.#parts.agents.knows(deviceId) ? 'exact' : null;
    return this.#parts.agents.kindOf(deviceId) ?? null;
  }

  /** One request, one append, and nothing else on the way. */
  async #carryOutExact(live: LiveAttempt, order: ExactOrder, delivery: Delivery): Promise<Carried> {
    const begun = await this.#begin(live, delivery);
    if (begun === null) return 'ended';
    return this.#watched(live, { endsAt: begun.end.sequence }, async () => {
      const ending = await this.#execute(live, order, delivery);
      if (ending === 'finished') return 'ended';
      if (ending === 'foreign' || ending === 'shutdown') return 'left';
      return this.#finish(order, begun, ending);
    });
  }

  async #watched(live: LiveAttempt, known: Known, work: () => Promise<Carried>): Promise<Carried> {
    const looking = this.#look(live, known);
    try {
      return await work();
    } finally {
      live.interrupt('finished');
      await looking;
    }
  }

  /** The state to go on from, or null when there is nothing left to do. */
  async #begin(live: LiveAttempt, { repeated, old }: Delivery): Promise<Loaded<Attempt> | null> {
    const { commits, instance, device } = this.#parts;
    const { key, commit: cause, start } = live.order;
    if (!repeated && !old) return commits.nothing(key);
    const { value: goesOn, after } = await commits.change(key, async (attempt) => {
      if (attempt.finished !== null) {
        // The process may have died between the end and this.
        const last = lastFinished(attempt.book)?.finished ?? null;
        if (last !== null && isKnown(last)) device.tell(stored(start.deviceId, last.commandId));
        this.#leaveScreen(live.order, attempt.book);
        return unchanged(false);
      }
      if (!(await commits.isRunning(key))) return unchanged(false);
      if (attempt.stop !== null) live.requestStop(attempt.stop);
      if (attempt.owner === instance || isOurs(attempt, repeated, instance, live)) return unchanged(true);
      return changeBy({ key, kind: 'step', cause }, [{ type: 'ATTEMPT_RESUMED', data: { instance } }], true);
    });
    return goesOn ? after : null;
  }

  /** Notices what other processes wrote: a stop, an end, a new owner. */
  async #look(live: LiveAttempt, known: Known): Promise<void> {
    const { commits, instance, logger } = this.#parts;
    const { key } = live.order;
    let seen = known.endsAt;
    for (;;) {
      try {
        await this.#command.noticeLeaving(live);
        await waitUnlessAborted(this.#times.lookMs, live.signal);
        if (live.interruption !== null) return;
        this.#command.noticeLoss(live);
        const end = await commits.endsAt(key);
        if (end === seen || end === known.endsAt) continue;
        live.learn((await commits.load(key)).state, instance);
        live.tell();
        seen = end;
      } catch (error) {
        logger.warn({ err: error, ...key }, 'the attempt cannot be read');
      }
    }
  }

  /** Asks until somebody says what became of the exact command, or why nobody will. */
  async #execute(
    live: LiveAttempt,
    order: ExactOrder,
    { repeated, old }: Delivery,
  ): Promise<Ending | Exclude<Interruption, 'lost'>> {
    const prepared = await preparedCommand(order, this.#parts);
    if (prepared.kind !== 'ready') return prepared;
    const asked = await this.#command.run(live, runRequest(order, prepared.command), repeated || old);
    switch (asked.kind) {
      case 'answered':
        return outcomeEnding(asked.outcome, this.#parts.artifacts);
      case 'refused':
        return asked;
      case 'not-sent':
        return { kind: 'stopped' };
      case 'unreadable':
        return UNREADABLE;
      default:
        return asked.why === 'lost' ? { kind: 'lost', sent: asked.sent } : asked.why;
    }
  }

  /** Exactly one end. Who finds another one already there adds at most what that one could not know. */
  async #finish(order: ExactOrder, begun: Loaded<Attempt>, ending: Ending): Promise<Carried> {
    const { commits, instance, device, logger } = this.#parts;
    const { key, start, commit: cause } = order;
    const { value: end } = await commits.change<'left' | 'end' | 'late'>(
      key,
      (attempt, { lost }) => {
        const { owner, finished } = attempt;
        // Who was taken over stops: the new owner asks for the same command and gets the same outcome.
        if (lost > 0 && finished === null && owner !== null && owner !== instance) return unchanged('left');
        const kind = finished === null ? 'end' : 'late';
        const events = kind === 'late' ? lateOf(attempt, order, ending) : eventsOf(order, ending);
        return changeBy({ key, kind, cause }, events, kind);
      },
      { from: begun },
    );
    if (end === 'left') return 'left';
    if (ending.kind === 'outcome') device.tell(stored(start.deviceId, commandIdOf(key)));
    this.#leaveScreen(order, begun.state.book);
    logger.info({ ...key, ending: ending.kind, late: end === 'late' }, 'attempt ended');
    return 'ended';
  }

  /** What has ended has the screen of its device no more. */
  #leaveScreen(order: AttemptOrder, book: Book): void {
    const { key, start } = order;
    if (wasAtScreen(order, book)) this.#parts.device.tell({ kind: 'stop', attempt: key, deviceId: start.deviceId });
  }
}

const UNREADABLE: Ending = {
  kind: 'unknown',
  code: 'INVALID_ANSWER',
  message: 'the answer of the gateway could not be read',
};

/** What a look at the log would tell nobody anything new about. */
interface Known {
  readonly endsAt: number;
}

/** Who goes on with steps that somebody else has written says so, however the order came. */
function isOurs(attempt: Attempt, repeated: boolean, instance: string, { order }: LiveAttempt): boolean {
  if (isExactAlone(order)) return !repeated;
  return !repeated && (attempt.writer === null || attempt.writer === instance);
}

function lateOf(attempt: Attempt, order: ExactOrder, ending: Ending): ReturnType<typeof lateEventsOf> {
  return attempt.commandFinished ? [] : lateEventsOf(order, ending);
}

function runRequest({ key, start }: ExactOrder, command: CommandCall): RunCommandRequest {
  const { deviceId, sessionId, journalId, priority, timeoutAt, workspace, startedAt } = start;
  return {
    kind: 'run',
    commandId: commandIdOf(key),
    attempt: key,
    deviceId,
    sessionId,
    journalId,
    command,
    ...(workspace && { workspace, startedAt }),
    priority,
    notAfter: timeoutAt,
  };
}

/** The result is in the log: the device's journal may forget it. */
function stored(deviceId: string, commandId: string): DeviceRequest {
  return { kind: 'stored', commandId, deviceId };
}
