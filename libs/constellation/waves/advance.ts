import { instantOf, type RunEvent } from '#proto';
import type { RunDraft } from '../fold/index.js';
import { ANY_DEVICE, type Circumstances, taskFailed, whyNone } from '../schedule/index.js';
import { judgeLines, type TaskState } from '../state/index.js';
import { jsonBytes } from '../values/index.js';
import { type Progress, progressOf } from './progress.js';
import { fanOutError, fanOutResult } from './result.js';
import { chosenFor } from './select.js';

/** What follows beyond this goes into the next commit. */
const ADVANCED_BYTES_MAX = 512 * 1024;

/** What one look at the tasks on several devices came to. */
export interface Advanced {
  /** Tasks that have ended: lines were judged, and all is looked at again. */
  readonly ended: number;
  /** Something follows that no longer fits into this commit. */
  readonly more: boolean;
  readonly starvedOf: ReadonlySet<string>;
}

export const NOTHING_ADVANCED: Advanced = { ended: 0, more: false, starvedOf: new Set() };

/** Chooses devices, begins waves, gives up what is not to begin any more, and ends what has nothing left to do. */
export function advanceFanOuts(
  draft: RunDraft,
  held: (index: number) => boolean,
  circumstances: Circumstances,
): Advanced {
  if (draft.run.fanOuts.size === 0 || draft.run.ending !== null) return NOTHING_ADVANCED;
  const starvedOf = new Set<string>();
  let [bytes, ended] = [0, 0];
  for (const index of Array.from(draft.run.fanOuts)) {
    if (bytes > ADVANCED_BYTES_MAX) return { ended, more: true, starvedOf };
    const occasion = { isHeld: held(index), circumstances };
    while (draft.run.fanOuts.has(index)) {
      const events = followingOf(draft, index, occasion);
      if (events === 'unseen') starvedOf.add(ANY_DEVICE);
      if (events === 'unseen' || events.length === 0) break;
      bytes += jsonBytes(events);
      draft.add(...events);
      if (!draft.run.fanOuts.has(index)) ended++;
    }
  }
  return { ended, more: false, starvedOf };
}

interface Occasion {
  readonly isHeld: boolean;
  readonly circumstances: Circumstances;
}

/** `unseen`: which devices there are is not known yet. */
function followingOf(draft: RunDraft, index: number, { isHeld, circumstances }: Occasion): RunEvent[] | 'unseen' {
  const { now } = circumstances;
  const task = draft.run.tasks.at(index);
  const mayStart = !isHeld && draft.run.phase === 'RUNNING';
  const progress = progressOf(draft.run, task, now);
  if (progress === null) return mayStart ? beginningOf(draft, index, circumstances) : [];
  const { stopped, isQuiet, nextWaveAt, notStarted } = progress;
  if (stopped !== null) {
    const given = givenUp(progress, now);
    if (given.length > 0) return given;
  }
  if (!isQuiet) return [];
  if (stopped === null && notStarted > 0) {
    const isDue = nextWaveAt !== null && now >= Date.parse(nextWaveAt);
    return mayStart && isDue ? [nextWave(task, progress, now)] : [];
  }
  return [endOf(draft, index, progress, now)];
}

/** The fact which devices they are, and the first wave of them. */
function beginningOf(draft: RunDraft, index: number, { fleet, now }: Circumstances): RunEvent[] | 'unseen' {
  if (!fleet.complete) return 'unseen';
  const { star } = draft.run.tasks.at(index);
  const chosen = chosenFor(draft.run, star, fleet);
  if (!chosen.ok) {
    const message = chosen.code === 'NO_DEVICE' ? whyNone(star, fleet) : chosen.message;
    return [taskFailed(draft, index, { code: chosen.code, message, outcome: 'failed' }, now)];
  }
  const { parts, waveSize, maxFailures } = chosen;
  const startedAt = instantOf(now);
  return [
    { type: 'FAN_OUT_STARTED', data: { taskId: star.id, parts: [...parts], waveSize, maxFailures, startedAt } },
    { type: 'WAVE_STARTED', data: { taskId: star.id, wave: 1, parts: parts.slice(0, waveSize), startedAt } },
  ];
}

function nextWave({ star }: TaskState, { fanOut }: Progress, now: number): RunEvent {
  const { parts, begun, waveSize, wave } = fanOut;
  const next = parts.slice(begun, begun + waveSize);
  return {
    type: 'WAVE_STARTED',
    data: { taskId: star.id, wave: wave + 1, parts: next, startedAt: instantOf(now) },
  };
}

/** Devices of the wave that have not begun, or wait for another try; what runs goes on to its end. */
function givenUp({ begun }: Progress, now: number): RunEvent[] {
  return begun.flatMap(({ star, status, attempt }): RunEvent[] => {
    if (status !== 'PENDING') return [];
    const data = { taskId: star.id, attempt, reason: 'fan_out_stopped', cancelledAt: instantOf(now) } as const;
    return [{ type: 'TASK_CANCELLED', data: { ...data, lines: [] } }];
  });
}

function endOf(draft: RunDraft, index: number, progress: Progress, now: number): RunEvent {
  if (progress.stopped !== null) return taskFailed(draft, index, fanOutError(progress, progress.stopped), now);
  const { star } = draft.run.tasks.at(index);
  const result = fanOutResult(progress);
  const lines = judgeLines(draft.run, index, { status: 'COMPLETED', result }, draft.judge);
  const completedAt = instantOf(now);
  return {
    type: 'TASK_COMPLETED',
    data: { taskId: star.id, attempt: 0, result, lines, completedAt, attemptHash: null },
  };
}
