import type { Edit, RunCommit, RunEvent, RunEventData, TaskConstellation, TaskStar, TaskStarLine } from '#proto';

/** Facts of a run as they were recorded so many milliseconds after its request: for what reads facts and decides nothing. */
const T0 = Date.parse('2026-01-01T00:00:00.000Z');
export const HASH = 'a'.repeat(64);
export const at = (ms: number): string => new Date(T0 + ms).toISOString();
export const planner = { kind: 'system', id: 'constellation-agent' } as const;
export const ops = { kind: 'person', id: 'ops' } as const;
export const counts = { completed: 0, failed: 0, skipped: 0, cancelled: 0 };

export const star = (id: string, change: Partial<TaskStar> = {}): TaskStar => ({
  id,
  name: id,
  description: '',
  tips: [],
  target: { device: 'web-1' },
  ...change,
});
/** `a>b`, also its id. */
export const line = (id: string, change: Partial<TaskStarLine> = {}): TaskStarLine => {
  const [from = '', to = ''] = id.split('>');
  return { id: `${from}-${to}`, from, to, type: 'unconditional', ...change };
};
export const plan = (tasks: readonly string[], lines: readonly string[] = []): TaskConstellation => ({
  name: 'test',
  tasks: tasks.map((id) => star(id)),
  lines: lines.map((id) => line(id)),
});

export const requested = (constellation: TaskConstellation | null, goal: string | null = null): RunEvent => ({
  type: 'RUN_REQUESTED',
  data: {
    requestId: 'request-1',
    namespace: 'default',
    contentHash: HASH,
    goal,
    constellation,
    options: {},
    metadata: {},
    requestedBy: ops,
    requestedAt: at(0),
    deadlineAt: at(86_400_000),
  },
});
export const modified = (ms: number, change: Partial<RunEventData<'CONSTELLATION_MODIFIED'>> = {}): RunEvent => ({
  type: 'CONSTELLATION_MODIFIED',
  data: { revision: 1, origin: 'request', tasks: 0, lines: 0, modifiedAt: at(ms), ...change },
});
export const edited = (ms: number, edits: Edit[], editId?: string): RunEvent =>
  modified(ms, { origin: editId === undefined ? 'operator' : 'planner', edits, ...(editId ? { editId } : {}) });
export const opened = (editId: string, ms: number, mode: 'creation' | 'editing' = 'editing'): RunEvent => ({
  type: 'EDIT_OPENED',
  data: {
    editId,
    mode,
    triggers: [{ kind: 'goal' }],
    revision: 1,
    lockPolicy: 'scoped',
    openedAt: at(ms),
    deadlineAt: at(ms + 90_000),
  },
});
export const rejected = (editId: string, ms: number, number = 1): RunEvent => ({
  type: 'EDIT_REJECTED',
  data: {
    editId,
    try: number,
    revision: 1,
    violations: [{ code: 'UNKNOWN_TASK', path: 'edits[0]', message: 'there is no such task' }],
    lockPolicy: 'scoped',
    proposedBy: planner,
    rejectedAt: at(ms),
    planHash: null,
  },
});
export const abandoned = (editId: string, ms: number): RunEvent => ({
  type: 'EDIT_ABANDONED',
  data: { editId, reason: { code: 'DEADLINE', message: 'the planner did not answer' }, abandonedAt: at(ms) },
});
export const started = (taskId: string, ms: number, attempt = 1, deviceId = 'web-1'): RunEvent => ({
  type: 'TASK_STARTED',
  data: {
    taskId,
    attempt,
    deviceId,
    sessionId: 's1',
    journalId: null,
    command: { tool: 'EXEC_CLI', arguments: {} },
    inputs: [],
    priority: 0,
    startedAt: at(ms),
    timeoutAt: at(ms + 60_000),
  },
});
export const completed = (taskId: string, ms: number, attempt = 1): RunEvent => ({
  type: 'TASK_COMPLETED',
  data: { taskId, attempt, result: { value: null }, lines: [], completedAt: at(ms), attemptHash: HASH },
});
export const failed = (taskId: string, ms: number, attempt = 1): RunEvent => ({
  type: 'TASK_FAILED',
  data: {
    taskId,
    attempt,
    error: { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' },
    lines: [],
    failedAt: at(ms),
    attemptHash: null,
  },
});
export const reopened = (taskId: string, ms: number, attempt = 1): RunEvent => ({
  type: 'TASK_REOPENED',
  data: { taskId, attempt, reason: 'retry_policy', notBefore: at(ms) },
});
export const skipped = (taskId: string, ms: number): RunEvent => ({
  type: 'TASK_SKIPPED',
  data: { taskId, by: 'failure', lineId: 'l1', reason: 'its predecessor failed', lines: [], skippedAt: at(ms) },
});
export const cancelled = (taskId: string, ms: number, attempt = 1): RunEvent => ({
  type: 'TASK_CANCELLED',
  data: { taskId, attempt, reason: 'cancelled', lines: [], cancelledAt: at(ms) },
});
export const ended = (ms: number, change: Partial<RunEventData<'RUN_COMPLETED'>> = {}): RunEvent => ({
  type: 'RUN_COMPLETED',
  data: { outcome: 'succeeded', counts, completedAt: at(ms), ...change },
});
export const forked = (
  ms: number,
  tasks: readonly Partial<RunEventData<'RUN_FORKED'>['tasks'][number]>[],
  lines: readonly string[],
): RunEvent => ({
  type: 'RUN_FORKED',
  data: {
    requestId: 'fork-1',
    namespace: 'default',
    parent: { runId: 'run-0', sequence: 9, number: 3, hash: HASH },
    contentHash: HASH,
    goal: null,
    options: {},
    metadata: {},
    requestedBy: ops,
    forkedAt: at(ms),
    deadlineAt: at(86_400_000),
    name: 'test',
    revision: 2,
    tasks: tasks.map((change) => ({
      star: star('a'),
      status: 'PENDING',
      attempt: 0,
      deviceId: null,
      sessionId: null,
      startedAt: null,
      endedAt: null,
      notBefore: null,
      deadlineAt: null,
      result: null,
      error: null,
      reason: null,
      skippedBy: null,
      ranIn: null,
      ...change,
    })),
    lines: lines.map((id) => ({ line: line(id), satisfied: null, reason: null })),
    usedIds: [],
    triggers: [],
  },
});

/** One commit for each group of events. */
export function commitsOf(...groups: readonly (readonly RunEvent[])[]): RunCommit[] {
  let sequence = 0;
  return groups.map((events, index) => ({
    commit: String(index + 1).padStart(26, '0'),
    runId: 'run-1',
    number: index + 1,
    at: at(0),
    by: { service: 'orchestrator', instance: 'test' },
    causes: [],
    prevHash: HASH,
    hash: HASH,
    events: events.map((event) => ({ id: `run-1-${++sequence}`, sequence, schemaVersion: 1, ...event })),
  }));
}

/** As `requested` and the creation from it. */
export const created = (tasks: readonly string[], lines: readonly string[] = []): RunEvent[] => [
  requested(plan(tasks, lines)),
  modified(0),
];
