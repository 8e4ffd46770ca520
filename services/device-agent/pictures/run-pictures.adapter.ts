import type { KeptPictures } from '#libs/command-policy';
import { ArtifactError } from '#libs/messaging';
import { runOfPng } from '#libs/picture';
import type { Clock } from '#libs/platform';
import {
  LIMITS,
  type ArtifactRef,
  type AttemptKey,
  type DeviceId,
  type Instant,
  type RunId,
  type Sha256,
} from '#proto';
import type { Artifacts } from '../inputs/index.js';
import { changeBy, type AttemptCommits } from '../live/index.js';
import { duePictures, ruleText } from './due-pictures.js';

/** An attempt of several steps, and where it was. */
export interface AttemptOn {
  readonly key: AttemptKey;
  readonly deviceId: DeviceId;
}

/** The end of a run; `cause`: the commit that tells it. */
export interface RunWithPictures {
  readonly runId: RunId;
  readonly endedAt: Instant;
  readonly attempts: readonly AttemptOn[];
  readonly cause: string;
}

interface Parts {
  readonly commits: Pick<AttemptCommits, 'load' | 'change'>;
  readonly artifacts: Pick<Artifacts, 'beginning' | 'drop'>;
  /** What the policy says of pictures of this device's screen. */
  readonly kept: (deviceId: DeviceId) => KeptPictures;
  readonly clock: Clock;
}

/** A rule that has more to say later is looked at again by then at the latest: it may be another one by now. */
const LOOK_AGAIN_MS = 24 * 60 * 60 * 1_000;

/**
 * Drops what a run has left of pictures and its policy does not keep: recorded at its attempts first, taken out of the store then. Only
 * what says of itself that it was taken for this run is dropped, whatever a device has answered with.
 */
export class RunPictures {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Milliseconds until there is more to drop; null: that is all. Safe to do again, and by several at once. */
  async settle({ runId, endedAt, attempts, cause }: RunWithPictures): Promise<number | null> {
    const { commits, kept, clock } = this.#parts;
    const ruled = attempts.map((one) => ({ ...one, kept: kept(one.deviceId) }));
    if (ruled.every((one) => one.kept.keep === 'all' && one.kept.days === undefined)) return null;
    const loaded = [];
    for (const one of ruled) loaded.push({ ...one, book: (await commits.load(one.key)).state.book });
    const { due, nextMs } = duePictures(loaded, clock.now() - Date.parse(endedAt));
    const recorded = new Set(loaded.flatMap(({ book }) => book.dropped.map(({ sha256 }) => sha256)));
    const own = await this.#own(runId, due.flat(), recorded);
    const rules = new Map<Sha256, string>();
    for (const [index, { key, book, kept: rule }] of loaded.entries()) {
      const pictures = (due[index] ?? []).filter(({ sha256 }) => own.has(sha256));
      for (const { sha256 } of [...book.dropped, ...pictures]) rules.set(sha256, ruleText(rule));
      await this.#record(key, { pictures, rule: ruleText(rule), cause });
    }
    for (const [sha256, rule] of rules)
      await this.#parts.artifacts.drop(sha256, `its run has ended, and the policy says ${rule}`);
    return nextMs === null ? null : Math.min(nextMs, LOOK_AGAIN_MS);
  }

  /** Those that were taken for this run. `recorded`: what was that before, and may be gone by now. */
  async #own(runId: RunId, pictures: readonly ArtifactRef[], recorded: ReadonlySet<Sha256>): Promise<Set<Sha256>> {
    const own = new Set(recorded);
    for (const { sha256 } of pictures) {
      if (own.has(sha256)) continue;
      try {
        if (runOfPng(await this.#parts.artifacts.beginning(sha256)) === runId) own.add(sha256);
      } catch (error) {
        if (!(error instanceof ArtifactError)) throw error;
      }
    }
    return own;
  }

  async #record(
    key: AttemptKey,
    {
      pictures,
      rule,
      cause,
    }: { readonly pictures: readonly ArtifactRef[]; readonly rule: string; readonly cause: string },
  ): Promise<void> {
    for (let begin = 0; begin < pictures.length; begin += LIMITS.picturesDroppedMax) {
      const some = pictures.slice(begin, begin + LIMITS.picturesDroppedMax);
      await this.#parts.commits.change(key, ({ book }) => {
        const known = new Set(book.dropped.map(({ sha256 }) => sha256));
        const fresh = some.filter(({ sha256 }) => !known.has(sha256));
        const fact = { type: 'PICTURES_DROPPED', data: { rule, pictures: fresh } } as const;
        return changeBy({ key, kind: 'step', cause }, fresh.length === 0 ? [] : [fact], undefined);
      });
    }
  }
}
