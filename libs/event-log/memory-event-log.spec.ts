import { describe, expect, it } from '@jest/globals';
import { AppendError } from './errors.js';
import { eventLogContract } from './event-log.contract.js';
import { memoryAttemptLog, memoryFleetLog, memoryPlanLog, memoryRunLog } from './memory-event-log.js';
import { sampleId, sampleRunCommit, START } from './sample-commits.testing.js';

eventLogContract('MemoryEventLog', () => {
  const runs = memoryRunLog();
  return Promise.resolve({
    runs,
    otherRuns: runs,
    attempts: memoryAttemptLog(),
    plans: memoryPlanLog(),
    fleet: memoryFleetLog(),
    close: () => Promise.resolve(),
  });
});

describe('MemoryEventLog with faults', () => {
  const commit = sampleRunCommit('r1', START, sampleId(1));

  it('stores a commit whose fate the caller never learns, and knows it again', async () => {
    const runs = memoryRunLog();
    runs.faults.push('stored-unknown');
    await expect(runs.append('r1', commit, 0)).rejects.toThrow(AppendError);
    expect(await runs.load('r1')).toEqual([{ commit, sequence: 1 }]);
    expect(await runs.append('r1', commit, 0)).toEqual({ kind: 'appended', sequence: 1 });
  });

  it('loses a commit whose fate the caller never learns', async () => {
    const runs = memoryRunLog();
    runs.faults.push('lost-unknown');
    await expect(runs.append('r1', commit, 0)).rejects.toThrow(AppendError);
    expect(await runs.load('r1')).toEqual([]);
  });
});
