import { goesOn } from '#libs/constellation';
import type { RunCommit, TaskStatus } from '#proto';

/** One attempt of a task in time. */
export interface Bar {
  readonly attempt: number;
  readonly device: string;
  readonly fromMs: number;
  /** Null while it goes on. */
  readonly toMs: number | null;
  readonly status: TaskStatus;
}

export interface BarRow {
  readonly taskId: string;
  readonly bars: readonly Bar[];
}

/** When tasks ran, one row for each that was started, in the order of their first starts. A row that did not change is the same object, and of commits that follow those of last time only these are looked at. */
export class TaskBars {
  readonly #at = new Map<string, number>();
  #seen: readonly RunCommit[] = [];
  #rows: BarRow[] = [];
  #shown: readonly BarRow[] = [];
  #made = 0;

  /** How many rows had to be made so far. */
  get made(): number {
    return this.#made;
  }

  of(commits: readonly RunCommit[]): readonly BarRow[] {
    const isMore = goesOn(this.#seen, commits);
    if (!isMore) {
      this.#rows = [];
      this.#at.clear();
    }
    const before = this.#made;
    for (const commit of isMore ? commits.slice(this.#seen.length) : commits) this.#take(commit);
    this.#seen = commits;
    if (!isMore || this.#made !== before) this.#shown = [...this.#rows];
    return this.#shown;
  }

  #take({ events, at }: RunCommit): void {
    for (const { type, data } of events) {
      if (type === 'TASK_STARTED') {
        const { taskId, attempt, deviceId: device, startedAt } = data;
        const bar: Bar = { attempt, device, fromMs: Date.parse(startedAt), toMs: null, status: 'RUNNING' };
        this.#put(taskId, [...this.#barsOf(taskId), bar]);
      } else if (type === 'TASK_COMPLETED') this.#end(data.taskId, at, 'COMPLETED');
      else if (type === 'TASK_FAILED') this.#end(data.taskId, at, 'FAILED');
      else if (type === 'TASK_CANCELLED') this.#end(data.taskId, at, 'CANCELLED');
      else if (type === 'TASK_REOPENED') this.#end(data.taskId, at, 'FAILED');
    }
  }

  #end(taskId: string, at: string, status: TaskStatus): void {
    const bars = this.#barsOf(taskId);
    const last = bars.at(-1);
    if (last === undefined || last.toMs !== null) return;
    this.#put(taskId, [...bars.slice(0, -1), { ...last, toMs: Date.parse(at), status }]);
  }

  #barsOf(taskId: string): readonly Bar[] {
    return this.#rows[this.#at.get(taskId) ?? this.#rows.length]?.bars ?? [];
  }

  #put(taskId: string, bars: readonly Bar[]): void {
    const at = this.#at.get(taskId) ?? this.#rows.length;
    this.#at.set(taskId, at);
    this.#rows[at] = { taskId, bars };
    this.#made += 1;
  }
}

/** What tasks are called, by id: the same map as long as none is called otherwise. */
export class TaskNames {
  #names: ReadonlyMap<string, string> = new Map();

  of(tasks: readonly { readonly id: string; readonly name: string }[]): ReadonlyMap<string, string> {
    const isSame =
      tasks.length === this.#names.size && tasks.every(({ id, name }) => this.#names.get(id) === (name || id));
    if (!isSame) this.#names = new Map(tasks.map(({ id, name }) => [id, name || id]));
    return this.#names;
  }
}
