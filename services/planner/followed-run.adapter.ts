import { setTimeout as sleep } from 'node:timers/promises';
import type { RunCommit, RunId } from '#proto';
import { evolveCommit, type Run } from '#libs/constellation';
import type { RunLog } from '#libs/event-log';

/** One run as it is stored, read on as it goes on. */
export class FollowedRun {
  readonly runId: RunId;
  readonly #runs: RunLog;
  #commits: RunCommit[] = [];
  #end = 0;
  #run: Run | undefined;

  constructor(runs: RunLog, runId: RunId) {
    this.#runs = runs;
    this.runId = runId;
  }

  /** Undefined without commits, and before the first look. */
  get run(): Run | undefined {
    return this.#run;
  }

  get commits(): readonly RunCommit[] {
    return this.#commits;
  }

  /** Reads what has come since the last look; true when there was something. Throws when the log cannot be read. */
  async look(): Promise<boolean> {
    if (this.#end > 0 && (await this.#runs.endsAt(this.runId)) === this.#end) return false;
    const stored = await this.#runs.load(this.runId, this.#end);
    // Another look may have come first: both read on from the same place.
    const fresh = stored.filter(({ sequence }) => sequence > this.#end);
    for (const { commit, sequence } of fresh) {
      this.#run = evolveCommit(this.#run, commit);
      this.#commits.push(commit);
      this.#end = sequence;
    }
    return fresh.length > 0;
  }
}

export interface Following {
  /** There may be something new: looked at as soon as possible. */
  nudge(): void;
  stop(): void;
}

/** Looks at a run again and again while something is being made for it. `moved` is called after each look that found something. */
export function follow(
  followed: FollowedRun,
  { everyMs, moved, report }: { everyMs: number; moved: () => void; report: (error: unknown) => void },
): Following {
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
