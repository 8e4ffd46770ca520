import type { Logger } from 'pino';
import { commandIdOf, type CommandCall, type DeviceRequest, type RunCommandRequest } from '#proto';
import type { AttemptLog } from '#libs/event-log';
import { ArtifactError } from '#libs/messaging';
import { CONFLICTS_MAX, ContendedError, type AttemptCommits } from './attempt-commits.adapter.js';
import { emptyAttempt, type Attempt, type AttemptOrder } from './attempt.js';
import { hasLost, type DeviceState } from './device-session.js';
import type { DeviceLink, Reply } from './device.client.js';
import { eventsOf, lateEventsOf, type Ending } from './ending.js';
import { readInputs, type Artifacts } from './inputs.adapter.js';
import type { Carried, Interruption, LiveAttempt, LiveAttempts } from './live-attempts.js';
import { outcomeEnding } from './outcome-ending.adapter.js';
import type { Slots } from './slots.js';
import { withInputs } from './stdin.js';
import { Backoff, pause } from './waiting.runner.js';

export interface RunnerParts {
  readonly commits: AttemptCommits;
  readonly attempts: AttemptLog;
  readonly device: DeviceLink;
  readonly artifacts: Artifacts;
  readonly live: LiveAttempts;
  readonly slots: Slots;
  readonly deviceState: (deviceId: string) => DeviceState | undefined;
  readonly instance: string;
  readonly logger: Logger;
}

export interface RunnerTimes {
  /** How often the log is asked what others wrote about a waiting attempt. */
  readonly lookMs: number;
  readonly askMsMin: number;
  readonly askMsMax: number;
}

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

  constructor(parts: RunnerParts, times: RunnerTimes = RUNNER_TIMES) {
    this.#parts = parts;
    this.#times = times;
  }

  /**
   * `ended`: the end of the attempt is stored, or nothing follows from the order any more. `left`: it belongs to somebody
   * else or to later. Throws when the log cannot be read or written.
   */
  carryOut(order: AttemptOrder, delivery: Delivery): Promise<Carried> {
    const { live, slots } = this.#parts;
    return live.carryOut(order, (self) => slots.use(() => this.#carryOut(self, delivery)));
  }

  async #carryOut(live: LiveAttempt, delivery: Delivery): Promise<Carried> {
    if (live.interruption === 'shutdown') return 'left';
    const begun = await this.#begin(live, delivery);
    if (begun === null) return 'ended';
    const looking = this.#look(live, begun);
    try {
      const ending = await this.#execute(live, delivery);
      if (ending === 'finished') return 'ended';
      if (ending === 'foreign' || ending === 'shutdown') return 'left';
      return await this.#finish(live, begun, ending);
    } finally {
      live.interrupt('finished');
      await looking;
    }
  }

  /** The state to go on from, or null when there is nothing left to do. */
  async #begin(live: LiveAttempt, { repeated, old }: Delivery): Promise<Attempt | null> {
    const { commits, instance, device } = this.#parts;
    const { key, commit, start } = live.order;
    if (!repeated && !old) return emptyAttempt(key);
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
      const attempt = await commits.load(key);
      if (attempt.finished !== null) {
        // The process may have died between the end and this.
        if (attempt.commandFinished) device.tell(stored(start.deviceId, live.order));
        return null;
      }
      if (!(await commits.isRunning(key))) return null;
      if (attempt.stop !== null) live.requestStop(attempt.stop);
      if (!repeated || attempt.owner === instance) return attempt;
      const events = [{ type: 'ATTEMPT_RESUMED' as const, data: { instance } }];
      const resumed = await commits.append(attempt, { kind: 'step', events, cause: commit });
      if (resumed !== null) return resumed;
    }
    throw new ContendedError(key);
  }

  /** Notices what other processes wrote: a stop, an end, a new owner. */
  async #look(live: LiveAttempt, begun: Attempt): Promise<void> {
    const { commits, instance, logger } = this.#parts;
    let known = begun.end.sequence;
    for (;;) {
      await pause(this.#times.lookMs, live.signal);
      if (live.interruption !== null) return;
      try {
        const end = await commits.endsAt(begun.key);
        if (end === known) continue;
        live.learn(await commits.load(begun.key), instance);
        known = end;
      } catch (error) {
        logger.warn({ err: error, ...begun.key }, 'the attempt cannot be read');
      }
    }
  }

  /** Asks until somebody says what became of the command, or why nobody will. */
  async #execute(live: LiveAttempt, { repeated, old }: Delivery): Promise<Ending | Exclude<Interruption, 'lost'>> {
    const prepared = await this.#prepare(live.order);
    if (prepared.kind !== 'ready') return prepared;
    const request = runRequest(live.order, prepared.command);
    const backoff = new Backoff({ msMin: this.#times.askMsMin, msMax: this.#times.askMsMax });
    let sent = repeated || old;
    for (;;) {
      this.#noticeLoss(live);
      const { interruption } = live;
      if (interruption !== null) return interruption === 'lost' ? { kind: 'lost', sent } : interruption;
      const asked = performance.now();
      const answer = await this.#askOrStop(live, request, sent);
      if (answer === 'not-sent') return { kind: 'stopped' };
      if (answer.state === 'finished') return await outcomeEnding(answer.outcome, this.#parts.artifacts);
      if (answer.state === 'refused') return { kind: 'refused', code: answer.code, message: answer.message };
      if (answer.state === 'unreadable') return UNREADABLE;
      if (answer.state !== 'away') sent = true;
      // A gateway that took its time has waited for us; one that answers at once must not be asked all the time.
      if (performance.now() - asked < this.#times.askMsMax) await pause(backoff.next(), live.signal);
      else backoff.reset();
    }
  }

  /** A stop goes before the request, each time: so the device knows it before it could start anything. */
  async #askOrStop(live: LiveAttempt, request: RunCommandRequest, sent: boolean): Promise<Reply | 'not-sent'> {
    if (live.stop !== null) {
      if (!sent) return 'not-sent';
      const { attempt, deviceId } = request;
      const told = await this.#ask(live, { kind: 'stop', attempt, deviceId });
      if (told.state === 'away' || told.state === 'silent') return { state: 'away' };
    }
    return this.#ask(live, request);
  }

  /** What is being waited for is left alone when the attempt is interrupted. */
  #ask(live: LiveAttempt, request: DeviceRequest): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const giveUp = () => resolve({ state: 'silent' });
    if (live.signal.aborted) giveUp();
    live.signal.addEventListener('abort', giveUp, { once: true });
    const answered = this.#parts.device.ask(request);
    return Promise.race([answered, promise]).finally(() => live.signal.removeEventListener('abort', giveUp));
  }

  #noticeLoss(live: LiveAttempt): void {
    const { start } = live.order;
    const state = this.#parts.deviceState(start.deviceId);
    if (state !== undefined && hasLost(state, start)) live.interrupt('lost');
  }

  async #prepare(order: AttemptOrder): Promise<{ kind: 'ready'; command: CommandCall } | Ending> {
    try {
      const stdin = withInputs(order.start.command, await readInputs(order, this.#parts));
      if (stdin.kind === 'ready') return stdin;
      const message = `with its inputs the command has ${stdin.bytes} bytes; ${stdin.bytesMax} are allowed`;
      return { kind: 'impossible', code: 'INPUT_TOO_LARGE', message };
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error;
      return { kind: 'impossible', code: 'INPUT_UNAVAILABLE', message: error.message };
    }
  }

  /** Exactly one end. Who finds another one already there adds at most what that one could not know. */
  async #finish(live: LiveAttempt, begun: Attempt, ending: Ending): Promise<Carried> {
    const { commits, instance, device, logger } = this.#parts;
    const { order } = live;
    let attempt = begun;
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
      const late = attempt.finished !== null;
      const events = late ? lateOf(attempt, order, ending) : eventsOf(order, ending);
      const append = { kind: late ? ('late' as const) : ('end' as const), events, cause: order.commit };
      if (events.length === 0 || (await commits.append(attempt, append)) !== null) {
        if (ending.kind === 'outcome') device.tell(stored(order.start.deviceId, order));
        logger.info({ ...order.key, ending: ending.kind, late }, 'attempt ended');
        return 'ended';
      }
      attempt = await commits.load(order.key);
      // Who was taken over stops: the new owner asks for the same command and gets the same outcome.
      if (attempt.finished === null && attempt.owner !== null && attempt.owner !== instance) return 'left';
    }
    throw new ContendedError(order.key);
  }
}

const UNREADABLE: Ending = {
  kind: 'unknown',
  code: 'INVALID_ANSWER',
  message: 'the answer of the gateway could not be read',
};

function lateOf(attempt: Attempt, order: AttemptOrder, ending: Ending): ReturnType<typeof lateEventsOf> {
  return attempt.commandFinished ? [] : lateEventsOf(order, ending);
}

function runRequest({ key, start }: AttemptOrder, command: CommandCall): RunCommandRequest {
  const { deviceId, sessionId, journalId, priority, timeoutAt } = start;
  return {
    kind: 'run',
    commandId: commandIdOf(key),
    attempt: key,
    deviceId,
    sessionId,
    journalId,
    command,
    priority,
    notAfter: timeoutAt,
  };
}

/** The result is in the log: the device's journal may forget it. */
function stored(deviceId: string, { key }: AttemptOrder): DeviceRequest {
  return { kind: 'stored', commandId: commandIdOf(key), deviceId };
}
