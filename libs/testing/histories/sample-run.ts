// A small finished run as it would lie in the log: a -> b, both completed. For tests, which take it and alter it.
import { sealCommit, runIdOf } from '#libs/event-log';
import { GENESIS_HASH, subjects } from '#proto';
import type { AttemptEvent, RunEvent } from '#proto';
import type { ExportRecord } from '#libs/audit';

export const SAMPLE_REQUEST = 'sample';
export const SAMPLE_RUN = runIdOf('default', SAMPLE_REQUEST);

const AT = '2026-11-20T12:00:00.000Z';
const by = { service: 'orchestrator', instance: 'one' };
const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
const star = (id: string) => ({ id, name: id, description: '', tips: [], target: { device: 'web-1' }, command });
const counts = { completed: 2, failed: 0, skipped: 0, cancelled: 0 };

const ulidOf = (number: number): string => String(number).padStart(26, '0');

/** Seals events into commits of one chain; the one way to make an altered log whose hashes are all right. */
export function sealRun(groups: readonly (readonly RunEvent[])[], runId = SAMPLE_RUN): ExportRecord[] {
  let prevHash = GENESIS_HASH;
  let sequence = 0;
  return groups.map((group, index) => {
    const events = group.map((event) => {
      sequence += 1;
      return { id: `${runId}.${sequence}`, sequence, schemaVersion: 1, ...event };
    });
    const head = { commit: ulidOf(index + 1), runId, number: index + 1, at: AT, by, causes: [], events };
    const commit = sealCommit(head, prevHash);
    prevHash = commit.hash;
    return { stream: 'RUNS', subject: subjects.run(runId), sequence: 10 + index, commit: structuredClone(commit) };
  });
}

/** The one commit of an attempt that went well. */
export function sealAttempt(taskId: string, value: string, sequence: number): { record: ExportRecord; hash: string } {
  const key = { runId: SAMPLE_RUN, taskId, attempt: 1 };
  const finished: AttemptEvent = { type: 'ATTEMPT_FINISHED', data: { status: 'completed', result: { value } } };
  const events = [{ id: `${taskId}.1`, sequence: 1, schemaVersion: 1, ...finished }];
  const head = { commit: ulidOf(sequence), ...key, number: 1, at: AT, by, causes: [], events };
  const commit = sealCommit(head, GENESIS_HASH);
  return {
    record: { stream: 'ATTEMPTS', subject: subjects.attempt(key, 'end'), sequence, commit: structuredClone(commit) },
    hash: commit.hash,
  };
}

/** The events of the sample run, one group per commit. */
export function sampleEvents(hashes: Readonly<Record<'a' | 'b', string>>): RunEvent[][] {
  const started = (taskId: 'a' | 'b'): RunEvent => ({
    type: 'TASK_STARTED',
    data: {
      taskId,
      attempt: 1,
      deviceId: 'web-1',
      sessionId: 's1',
      journalId: 'j1',
      command,
      inputs: [],
      priority: 0,
      startedAt: AT,
      timeoutAt: '2026-11-20T12:10:00.000Z',
    },
  });
  const completed = (taskId: 'a' | 'b', lines: { id: string; satisfied: boolean }[]): RunEvent => ({
    type: 'TASK_COMPLETED',
    data: { taskId, attempt: 1, result: { value: taskId }, lines, completedAt: AT, attemptHash: hashes[taskId] },
  });
  const constellation = {
    name: 'sample',
    tasks: [star('a'), star('b')],
    lines: [{ id: 'l1', from: 'a', to: 'b', type: 'success-only' as const }],
  };
  return [
    [
      {
        type: 'RUN_REQUESTED',
        data: {
          requestId: SAMPLE_REQUEST,
          namespace: 'default',
          contentHash: '0'.repeat(64),
          goal: null,
          constellation,
          options: {},
          metadata: {},
          requestedBy: { kind: 'person', id: 'operator' },
          requestedAt: AT,
          deadlineAt: '2026-11-21T12:00:00.000Z',
        },
      },
      { type: 'CONSTELLATION_MODIFIED', data: { revision: 1, origin: 'request', tasks: 2, lines: 1, modifiedAt: AT } },
      started('a'),
    ],
    [completed('a', [{ id: 'l1', satisfied: true }]), started('b')],
    [completed('b', []), { type: 'RUN_COMPLETED', data: { outcome: 'succeeded', counts, completedAt: AT } }],
  ];
}

/** The whole run, RUNS first, then ATTEMPTS. */
export function sampleRecords(): ExportRecord[] {
  const [a, b] = [sealAttempt('a', 'a', 5), sealAttempt('b', 'b', 6)];
  return [...sealRun(sampleEvents({ a: a.hash, b: b.hash })), a.record, b.record];
}
