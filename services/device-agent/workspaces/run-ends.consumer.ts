import { Inject } from '@nestjs/common';
import type { Logger } from 'pino';
import { doubledMs } from '#libs/backoff';
import { CorruptLogError } from '#libs/event-log';
import { DONE, mayHold, parseCommit, type BusMessage, type Outcome } from '#libs/messaging';
import { CLOCK, LOGGER, Takes, TakesMessages, type Clock } from '#libs/platform';
import { COMMAND_REFUSALS, type DeviceId, DURABLES, LIMITS, type RunEventType, type RunId } from '#proto';
import { RunPictures } from '../pictures/index.js';
import { RunWorkspaces } from './run-workspaces.adapter.js';
import type { RunDevices } from './run-devices.js';

const ENDS = ['RUN_COMPLETED', 'RUN_FAILED', 'RUN_CANCELLED'] as const satisfies readonly RunEventType[];

/** Commits of RUNS that are worked on at once; each costs a read of its run. */
const CONCURRENCY = 16;
/** Devices of one run that are told at once. */
const TOLD_AT_ONCE = 32;
/** A device that is away is asked again ever more rarely. */
const AWAY_MS = { msMin: 1_000, msMax: 5 * 60 * 1_000 };

/**
 * Tells devices that a run has ended, so that its workspaces go, and drops its pictures as the policy says. The message is acknowledged when
 * every device has noted it and no picture is left that is due: what a device did not hear because it was away, or because this process died,
 * it hears later.
 */
@TakesMessages()
export class RunEndsConsumer {
  readonly #workspaces: RunWorkspaces;
  readonly #pictures: RunPictures;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(
    @Inject(RunWorkspaces) workspaces: RunWorkspaces,
    @Inject(RunPictures) pictures: RunPictures,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#workspaces = workspaces;
    this.#pictures = pictures;
    this.#clock = clock;
    this.#logger = logger;
  }

  @Takes(DURABLES.deviceAgentEnds, { concurrency: CONCURRENCY })
  async handle(message: BusMessage): Promise<Outcome> {
    if (!mayHold(message, ENDS)) return DONE;
    const parsed = parseCommit(message);
    if (!parsed.ok) return { kind: 'poison', reason: parsed.reason };
    const { runId, commit } = parsed.commit;
    try {
      const run = await this.#workspaces.of(runId);
      const away = run === undefined ? [] : await this.#tell(runId, run);
      const left = await this.#drop(runId, run, commit);
      if (away.length > 0) {
        const delayMs = doubledMs(AWAY_MS, message.deliveries);
        return { kind: 'retry', delayMs, reason: `${away.length} devices have not heard that the run has ended` };
      }
      return left === null ? DONE : { kind: 'retry', delayMs: left, reason: 'pictures of the run are kept for now' };
    } catch (error) {
      if (error instanceof CorruptLogError) return { kind: 'poison', reason: error.message };
      throw error;
    }
  }

  /** Milliseconds until more of its pictures are due; null: none. */
  async #drop(runId: RunId, run: RunDevices | undefined, cause: string): Promise<number | null> {
    if (run === undefined || run.endedAt === null) return null;
    return this.#pictures.settle({ runId, endedAt: run.endedAt, attempts: run.attempts, cause });
  }

  /** Those who have not heard of it. A run that was opened again ends once more; after that long a device needs nobody to tell it. */
  async #tell(runId: RunId, { endedAt, keep, devices }: RunDevices): Promise<DeviceId[]> {
    if (endedAt === null || this.#clock.now() - Date.parse(endedAt) > LIMITS.workspaceUnusedMs) return [];
    const away: DeviceId[] = [];
    for (let begin = 0; begin < devices.length; begin += TOLD_AT_ONCE) {
      const some = devices.slice(begin, begin + TOLD_AT_ONCE);
      const told = await Promise.all(
        some.map((deviceId) => this.#workspaces.forget({ runId, deviceId, endedAt, keep })),
      );
      for (const [index, deviceId] of some.entries()) {
        const { kind, ...refusal } = told[index] ?? { kind: 'away' };
        if (kind === 'away') away.push(deviceId);
        if ('code' in refusal && refusal.code !== COMMAND_REFUSALS.noWorkspaces)
          this.#logger.warn({ runId, deviceId, ...refusal }, 'a device does not take the end of a run');
      }
    }
    return away;
  }
}
