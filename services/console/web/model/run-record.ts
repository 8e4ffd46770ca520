import { evolveCommit, type Run } from '#libs/constellation';
import type { RunCommit } from '#proto';

/** So many commits lie between two states that are kept: a jump folds fewer than this. */
const KEPT_EVERY = 16;

/**
 * The commits of one run as they came, and the run after any of them: by the one fold that every service uses. Immutable; what it has
 * folded is shared with the records that go on from it.
 */
export class RunRecord {
  static readonly EMPTY = new RunRecord([], [], undefined);

  readonly commits: readonly RunCommit[];
  /** After commit 16, 32 and so on. */
  readonly #kept: readonly Run[];
  /** As it is after the last commit; undefined before the first. */
  readonly last: Run | undefined;

  private constructor(commits: readonly RunCommit[], kept: readonly Run[], last: Run | undefined) {
    this.commits = commits;
    this.#kept = kept;
    this.last = last;
  }

  /** With more commits; those that are known already are passed over, so that nothing counts twice. Throws where one is missing. */
  with(more: readonly RunCommit[]): RunRecord {
    const fresh = more.filter(({ number }) => number > this.commits.length);
    if (fresh.length === 0) return this;
    const kept = [...this.#kept];
    let run = this.last;
    let { length } = this.commits;
    for (const commit of fresh) {
      if (commit.number !== length + 1) throw new Error(`commit ${length + 1} of run ${commit.runId} is missing`);
      run = evolveCommit(run, commit);
      length += 1;
      if (length % KEPT_EVERY === 0) kept.push(run);
    }
    return new RunRecord([...this.commits, ...fresh], kept, run);
  }

  /** After so many commits. */
  after(count: number): Run | undefined {
    if (count >= this.commits.length) return this.last;
    const from = Math.floor(count / KEPT_EVERY);
    const start = from === 0 ? undefined : this.#kept[from - 1];
    return this.commits.slice(from * KEPT_EVERY, count).reduce<Run | undefined>(evolveCommit, start);
  }

  /** How many commits belong to the state as of an event: a commit is whole, so one that reaches beyond it does not. */
  countAt(sequence: number): number {
    const beyond = this.commits.findIndex(({ events }) => (events.at(-1)?.sequence ?? 0) > sequence);
    return beyond === -1 ? this.commits.length : Math.max(1, beyond);
  }

  /** The last event of the first so many commits. */
  sequenceOf(count: number): number {
    return this.commits[count - 1]?.events.at(-1)?.sequence ?? 0;
  }
}
