import type { AttemptKey, DeviceId, Instant, RunCommit } from '#proto';

/** Which devices a run has its workspace on, and whether they may forget it. */
export interface RunDevices {
  /** Null: it is not over. */
  readonly endedAt: Instant | null;
  /** Its workspaces stay. */
  readonly keep: boolean;
  readonly devices: readonly DeviceId[];
  /** Its attempts of several steps. */
  readonly attempts: readonly { readonly key: AttemptKey; readonly deviceId: DeviceId }[];
  /** Those that may remove it since its end all the same, and when somebody said so. */
  readonly discarded: ReadonlyMap<DeviceId, Instant>;
}

/** Out of the history of a run. A fork has workspaces of its own: those of the run it was forked from are not looked at. */
export function runDevicesOf(commits: readonly RunCommit[]): RunDevices {
  let endedAt: Instant | null = null;
  let keep = false;
  const devices = new Set<DeviceId>();
  const attempts: { key: AttemptKey; deviceId: DeviceId }[] = [];
  const runId = commits[0]?.runId ?? '';
  const discarded = new Map<DeviceId, Instant>();
  for (const { type, data } of commits.flatMap(({ events }) => events)) {
    if (type === 'TASK_STARTED' && data.command === undefined) {
      const { taskId, attempt, deviceId } = data;
      attempts.push({ key: { runId, taskId, attempt }, deviceId });
    }
    if (type === 'RUN_REQUESTED' || type === 'RUN_FORKED') keep = data.options.keepWorkspace === true;
    else if (type === 'TASK_STARTED' && data.workspace === true) devices.add(data.deviceId);
    else if (type === 'RUN_COMPLETED') endedAt = data.completedAt;
    else if (type === 'RUN_FAILED') endedAt = data.failedAt;
    else if (type === 'RUN_CANCELLED') endedAt = data.cancelledAt;
    else if (type === 'WORKSPACE_DISCARDED') discarded.set(data.deviceId, data.discardedAt);
    else if (type === 'RUN_REOPENED') {
      endedAt = null;
      discarded.clear();
    }
  }
  return { endedAt, keep, devices: [...devices], attempts, discarded };
}
