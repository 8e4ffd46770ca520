import type { RunId, RunView } from '#proto';
import { EXIT, exitCodeOfRun, type NextStep } from '../terminal/index.js';

/** Of a run that has just begun, or goes on again. */
export function stepsOfBegun(runId: RunId): NextStep[] {
  return [
    { words: `orrery watch ${runId}`, what: 'follow it' },
    { words: `orrery output ${runId}`, what: 'what its tasks write' },
  ];
}

/** Of a run that is over: where what it did is found, and what can be done about what failed. */
export function stepsOfEnded(view: RunView): NextStep[] {
  const { runId, tasks } = view;
  if (exitCodeOfRun(view) === EXIT.ok) {
    return [
      { words: `orrery output ${runId}`, what: 'all that was written' },
      { words: `orrery report ${runId} -o report.md`, what: 'its report' },
    ];
  }
  const failed = tasks.find(({ status, recoveredBy }) => status === 'FAILED' && recoveredBy === null);
  if (failed === undefined) return [{ words: `orrery show ${runId}`, what: 'why it ended' }];
  return [
    { words: `orrery output ${runId} --failed`, what: 'what failed' },
    { words: `orrery retry ${runId} ${failed.id} --wait`, what: 'that task again' },
    { words: `orrery replay ${runId}`, what: 'how it came to that' },
  ];
}
