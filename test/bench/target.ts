/** What each task does: nothing at all, or the program `true` or `echo` started by a shell. */
export type Work = 'nothing' | 'true' | 'echo';

/** A constellation any engine can be given: tasks, and what waits for what. */
export interface Plan {
  readonly name: string;
  readonly tasks: readonly string[];
  readonly lines: readonly Line[];
  /** Nothing when absent; an engine without devices does nothing in any case. */
  readonly work?: Work;
  /** All tasks on one device; spread over all of them when absent. */
  readonly oneDevice?: boolean;
  /** The only task goes over so many devices, so many at a time. */
  readonly waves?: { readonly devices: number; readonly size: number };
}

export type Line = readonly [from: string, to: string];

/** The moment a device was told to carry out a task, by the clock of the bench. */
export interface Execution {
  readonly task: string;
  readonly at: number;
}

export interface Ended {
  readonly at: number;
  readonly succeeded: boolean;
}

/** The same bytes written straight to the log, in the same order of cause: what no engine on this log can go below. */
export interface Floor {
  readonly elapsedMs: number;
  readonly appends: number;
  readonly bytes: number;
}

/** What the bench needs of an engine, so that another one can be put beside ours. Times are of `performance.now()`. */
export interface BenchTarget {
  readonly name: string;
  start(): Promise<void>;
  /** Resolves with the id of the run when the engine has accepted the plan. */
  submit(plan: Plan): Promise<string>;
  untilEnd(runId: string): Promise<Ended>;
  /** Resolves when a device has been told to carry out that many tasks of the run. */
  untilExecuted(runId: string, count: number): Promise<void>;
  executions(runId: string): readonly Execution[];
  /** Processor time so far of every process that takes part, by the name of its role. */
  cpuSeconds(): Readonly<Record<string, number>>;
  /** The most memory that one process of each role has held. */
  rssBytes(): Readonly<Record<string, number>>;
  /** SIGKILL; another one is started at once. Returns without waiting for it. */
  killScheduler(): void;
  /** Messages in each stream of the log so far. */
  appended(): Promise<Readonly<Record<string, number>>>;
  /** Replays what was stored for these runs; absent when the engine has no log of its own. */
  floor?(runIds: readonly string[]): Promise<Floor>;
  /** Resolves when whatever goes on behind the ends of these runs is done, so that it is neither forgotten nor in the way. */
  settled?(runIds: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}
