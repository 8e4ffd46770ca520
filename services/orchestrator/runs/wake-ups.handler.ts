import type { RunId } from '#proto';
import type { RunDecision } from '#libs/constellation';
import { OVERTAKEN, uncontended } from '#libs/event-log';
import { TimerConflictError } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { ServedRun, Waiting } from './served-run.js';

/** Durable wake-ups of runs; `armed` is undefined when none is pending. Milliseconds since the epoch. */
export interface WakeUps {
  arm(runId: RunId, at: number): Promise<void>;
  armed(runId: RunId): Promise<number | undefined>;
  /** The run is thought to be new; `arm` throws TimerConflictError when it is not. */
  expectNone(runId: RunId): void;
  /** What was seen of a run is not needed any more. */
  forget(runId: RunId): void;
}

/** Keeps the one wake-up of each served run where its decisions need it. */
export class ArmedWakeUps {
  readonly #wakeUps: WakeUps;
  readonly #clock: Clock;

  constructor({ wakeUps, clock }: { readonly wakeUps: WakeUps; readonly clock: Clock }) {
    this.#wakeUps = wakeUps;
    this.#clock = clock;
  }

  /**
   * A due wake-up says that it has fired. One that was not counted on may have been armed in place of the one that was, by a
   * replica that was frozen meanwhile: `arm` takes its instant for over, and reads what is armed.
   */
  noticeFired(served: ServedRun, batch: readonly Waiting[]): void {
    for (const { due, at = Infinity } of batch) {
      if (due !== true || served.armedAt === undefined) continue;
      served.armedAt = served.armedAt <= at ? undefined : at;
    }
  }

  /** Stored before the commit that needs it: a spurious wake-up is harmless, a missing one is a dead run. False: reload. */
  async arm(served: ServedRun, { wakeAt }: RunDecision, now: number): Promise<boolean> {
    if (wakeAt === null) return true;
    // One that should have fired by now may have, at a replica that owned the run before.
    if (served.armedAt !== undefined && served.armedAt <= now) {
      served.armedAt = await this.#wakeUps.armed(served.runId);
    }
    if (served.armedAt !== undefined && served.armedAt <= wakeAt) return true;
    try {
      await this.#wakeUps.arm(served.runId, wakeAt);
    } catch (error) {
      if (error instanceof TimerConflictError) return false;
      throw error;
    }
    served.armedAt = wakeAt;
    return true;
  }

  /** The wake-up that was counted on may have fired meanwhile, at a replica that decided on the state before. */
  async keepArmed(served: ServedRun, decision: RunDecision): Promise<void> {
    await uncontended(`the wake-up of run ${served.runId}`, async () =>
      (await this.arm(served, decision, this.#clock.now())) ? null : OVERTAKEN,
    );
  }
}
