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

/** When tasks ran, one row for each that was started, in the order of their first starts. */
export function barsIn(commits: readonly RunCommit[]): BarRow[] {
  const rows = new Map<string, Bar[]>();
  const end = (taskId: string, at: string, status: TaskStatus): void => {
    const bars = rows.get(taskId);
    const last = bars?.at(-1);
    if (bars === undefined || last === undefined || last.toMs !== null) return;
    bars[bars.length - 1] = { ...last, toMs: Date.parse(at), status };
  };
  for (const { events, at } of commits) {
    for (const { type, data } of events) {
      if (type === 'TASK_STARTED') {
        const { taskId, attempt, deviceId: device, startedAt } = data;
        const bar: Bar = { attempt, device, fromMs: Date.parse(startedAt), toMs: null, status: 'RUNNING' };
        rows.set(taskId, [...(rows.get(taskId) ?? []), bar]);
      } else if (type === 'TASK_COMPLETED') end(data.taskId, at, 'COMPLETED');
      else if (type === 'TASK_FAILED') end(data.taskId, at, 'FAILED');
      else if (type === 'TASK_CANCELLED') end(data.taskId, at, 'CANCELLED');
      else if (type === 'TASK_REOPENED') end(data.taskId, at, 'FAILED');
    }
  }
  return [...rows].map(([taskId, bars]) => ({ taskId, bars }));
}
