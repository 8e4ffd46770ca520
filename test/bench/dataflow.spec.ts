import { describe, expect, it } from '@jest/globals';
import { type AttemptEntry, dataflowOf, type RunEntry } from './dataflow.js';

const runId = 'run1';

describe('dataflowOf', () => {
  it('lets a commit wait for the one before it and the attempts that caused it, an attempt for the commit that started it', () => {
    const runs = [commit(1, [], ['a', 'b']), commit(2, ['a', 'b'], ['c']), commit(3, ['c'], [])];
    const attempts = [end('a'), end('b'), end('c')];
    expect(dataflowOf(runs, attempts).map(({ after }) => after)).toEqual([[], [0, 3, 4], [1, 5], [0], [0], [1]]);
  });

  it('lets the commits of one attempt wait for each other', () => {
    const steps = [end('a'), { ...end('a'), number: 2 }];
    const flow = dataflowOf([commit(1, [], ['a']), commit(2, ['a'], [])], steps);
    expect(flow.map(({ after }) => after)).toEqual([[], [0, 3], [0], [2]]);
  });

  it('keeps the bytes and gives each aggregate its own key', () => {
    const flow = dataflowOf([commit(1, [], ['a'])], [end('a')]);
    expect(flow.map(({ key, bytes }) => [key, bytes])).toEqual([
      ['run.run1', 100],
      ['attempt.run1.a.1', 50],
    ]);
  });
});

function commit(number: number, causes: readonly string[], starts: readonly string[]): RunEntry {
  const events = starts.map((taskId, index) => ({
    id: `${runId}-${number}-${index}`,
    sequence: index + 1,
    schemaVersion: 1,
    type: 'TASK_STARTED' as const,
    data: {
      taskId,
      attempt: 1,
      deviceId: 'web-1',
      sessionId: 's',
      journalId: null,
      command: { tool: 'NOOP', arguments: {} },
      inputs: [],
      priority: 0,
      startedAt: '2026-01-01T00:00:00.000Z',
      timeoutAt: '2026-01-01T00:10:00.000Z',
    },
  }));
  return { runId, number, causes: causes.map((id) => ({ kind: 'attempt', id: `${id}.1.end` })), events, bytes: 100 };
}

function end(taskId: string): AttemptEntry {
  return { runId, taskId, attempt: 1, number: 1, bytes: 50 };
}
