import { Inject } from '@nestjs/common';
import type { Logger } from 'pino';
import { doubledMs } from '#libs/backoff';
import { CorruptLogError } from '#libs/event-log';
import { DONE, mayHold, parseCommit, type BusMessage, type Outcome } from '#libs/messaging';
import { CLOCK, LOGGER, Takes, TakesMessages, type Clock } from '#libs/platform';
import { COMMAND_REFUSALS, type DeviceId, DURABLES, LIMITS, type RunCommit, type RunEventType } from '#proto';
import { RunPictures } from '../pictures/index.js';
import { RunWorkspaces } from './run-workspaces.adapter.js';
import type { RunDevices } from './run-devices.js';

const ENDS = ['RUN_COMPLETED', 'RUN_FAILED', 'RUN_CANCELLED'] as const satisfies readonly RunEventType[];
const DISCARDED = 'WORKSPACE_DISCARDED' as const satisfies RunEventType;

/** Commits of RUNS that are worked on at once; each costs a read of its run. */
const CONCURRENCY = 16;
/** Devices of one run that are told at once. */
const TOLD_AT_ONCE = 32;
/** A device that is away is asked again ever more rarely. */
const AWAY_MS = { msMin: 1_000, msMax: 5 * 60 * 1_000 };

/**
 * Tells devices that a run has ended, so that its workspaces go, and a device that keeps one that somebody does not want it any more; and drops
 * the pictures of a run that has ended as the policy says. The message is acknowledged when every device has noted it and no picture is left that
 * is due: what a device did not hear because it was away, or because this process died, it hears later.
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
    if (!mayHold(message, [...ENDS, DISCARDED])) return DONE;
    const parsed = parseCommit(message);
    if (!parsed.ok) return { kind: 'poison', reason: parsed.reason };
    const { commit } = parsed;
    try {
      const run = await this.#workspaces.of(commit.runId);
      const away = run === undefined ? [] : await this.#tell(commit, run);
      const left = run === undefined ? null : await this.#drop(commit, run);
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
  async #drop(commit: RunCommit, { endedAt, attempts }: RunDevices): Promise<number | null> {
    if (endedAt === null || discardedIn(commit) !== undefined) return null;
    return this.#pictures.settle({ runId: commit.runId, endedAt, attempts, cause: commit.commit });
  }

  /** Those who have not heard of it. A run that was opened again ends once more; after that long a device is not told any more. */
  async #tell(commit: RunCommit, { endedAt, keep, devices: all, discarded }: RunDevices): Promise<DeviceId[]> {
    if (endedAt === null) return [];
    const { runId } = commit;
    const since = this.#clock.now() - LIMITS.workspaceUnusedMs;
    const devices = (discardedIn(commit) ?? all).filter((id) => Date.parse(discarded.get(id) ?? endedAt) >= since);
    const away: DeviceId[] = [];
    for (let begin = 0; begin < devices.length; begin += TOLD_AT_ONCE) {
      const some = devices.slice(begin, begin + TOLD_AT_ONCE);
      const told = await Promise.all(
        some.map((deviceId) => {
          const said = { runId, deviceId, endedAt, keep: keep && !discarded.has(deviceId) };
          return this.#workspaces.forget(said);
        }),
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

/** The devices that are told of nothing but that; undefined: of the end of the run all are. */
function discardedIn({ events }: RunCommit): DeviceId[] | undefined {
  if (events.some(({ type }) => ENDS.some((end) => end === type))) return undefined;
  return events.flatMap(({ type, data }) => (type === DISCARDED ? data.deviceId : []));
}
