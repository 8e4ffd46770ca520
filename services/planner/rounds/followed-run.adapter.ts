import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS, type ConversationItem, type RunCommit, type RunId } from '#proto';
import { conversationOf, evolveCommit, foldRun, jsonBytes, type Run } from '#libs/constellation';
import { NO_COMMITS, readOn, type RunLog, type Stored } from '#libs/event-log';

/** A run as far as it was read: facts, which do not change. What comes later is read on from them. */
export interface ReadRun {
  readonly run: Run;
  /** The commit with which the last round was opened; null when none was. */
  readonly opening: RunCommit | null;
  /** What was said in it, the last of it. */
  readonly conversation: readonly ConversationItem[];
  /** The last commit that was read. */
  readonly last: Stored<RunCommit>;
  /** Of all commits, as JSON: about what the run takes in memory. */
  readonly bytes: number;
}

/** One run as it is stored, read on as it goes on. */
export class FollowedRun {
  readonly runId: RunId;
  readonly #runs: RunLog;
  #read: ReadRun | null;
  /** What is known comes from this log, and not from an earlier look of somebody else. */
  #isSeen = false;

  /** `read`: as far as the run was read before; what it says is believed when the log goes on from it. */
  constructor(runs: RunLog, runId: RunId, read: ReadRun | null = null) {
    this.#runs = runs;
    this.runId = runId;
    this.#read = read;
  }

  /** Undefined without commits, and before the first look. */
  get run(): Run | undefined {
    return this.#isSeen ? this.#read?.run : undefined;
  }

  /** The same with what it takes to read on from here; null when there is no run. */
  get read(): ReadRun | null {
    return this.#isSeen ? this.#read : null;
  }

  /** Reads what has come since the last look; true when there was something. Throws when the log cannot be read. */
  async look(): Promise<boolean> {
    for (;;) {
      const before = this.#read;
      const isUnmoved =
        this.#isSeen && before !== null && (await this.#runs.endsAt(this.runId)) === before.last.sequence;
      if (isUnmoved) return false;
      const { anew, stored } = await readOn(this.#runs, this.runId, markOf(before));
      // Another look may have come first: what was read here goes on from another place, and it is looked again.
      if (this.#read !== before) continue;
      this.#read = followed(anew ? null : before, stored);
      this.#isSeen = true;
      return this.#read !== before;
    }
  }
}

function markOf(read: ReadRun | null): Parameters<typeof readOn>[2] {
  return read === null ? NO_COMMITS : { sequence: read.last.sequence, hash: read.last.commit.hash };
}

/** The run with the commits that follow; what is given stays as it was. */
function followed(read: ReadRun | null, stored: readonly Stored<RunCommit>[]): ReadRun | null {
  const last = stored.at(-1);
  if (last === undefined) return read;
  const added = stored.map(({ commit }) => commit);
  const run = read === null ? foldRun(added) : added.reduce(evolveCommit, read.run);
  if (run === undefined) return null;
  return {
    run,
    opening: added.findLast(opensRound) ?? read?.opening ?? null,
    conversation: [...(read?.conversation ?? []), ...conversationOf(added)].slice(-LIMITS.conversationMax),
    last,
    bytes: added.reduce((sum, commit) => sum + jsonBytes(commit), read?.bytes ?? 0),
  };
}

function opensRound({ events }: RunCommit): boolean {
  return events.some(({ type }) => type === 'EDIT_OPENED');
}

export interface RunFollowing {
  /** There may be something new: looked at as soon as possible. */
  nudge(): void;
  stop(): void;
}

/** Looks at a run again and again while something is being made for it. `moved` is called after each look that found something. */
export function follow(
  followed: FollowedRun,
  { everyMs, moved, report }: { everyMs: number; moved: () => void; report: (error: unknown) => void },
): RunFollowing {
  const stopped = new AbortController();
  const { signal } = stopped;
  let nudged = Promise.withResolvers<void>();
  const looking = async (): Promise<void> => {
    while (!signal.aborted) {
      const pause = new AbortController();
      const rest = sleep(everyMs, undefined, { signal: AbortSignal.any([signal, pause.signal]) }).catch(
        () => undefined,
      );
      await Promise.race([rest, nudged.promise]);
      pause.abort();
      nudged = Promise.withResolvers<void>();
      if (signal.aborted) return;
      try {
        if (await followed.look()) moved();
      } catch (error) {
        report(error); // looked at again; who waits for the model goes on
      }
    }
  };
  void looking();
  return { nudge: () => nudged.resolve(), stop: () => stopped.abort() };
}
