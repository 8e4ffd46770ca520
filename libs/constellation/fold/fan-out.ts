import type { RunEvent, RunEventData, TaskStar } from '#proto';
import { pendingTask } from '../state/index.js';
import { change, type Draft, reshape } from './draft.js';

export function fanOut(draft: Draft, event: Extract<RunEvent, { type: 'FAN_OUT_STARTED' | 'WAVE_STARTED' }>): void {
  if (event.type === 'FAN_OUT_STARTED') startFanOut(draft, event.data);
  else startWave(draft, event.data);
}

/** The devices of a task are fixed. The ids of their tasks are taken from here on, also those of later waves. */
function startFanOut(draft: Draft, data: RunEventData<'FAN_OUT_STARTED'>): void {
  const { taskId, parts, waveSize, maxFailures, startedAt } = data;
  change(draft, taskId, (task) => ({
    ...task,
    ...(task.status === 'PENDING' ? { startedAt } : {}),
    fanOut: { parts, waveSize, maxFailures, wave: 0, begun: 0 },
  }));
  draft.usedIds = new Set([...draft.usedIds, ...parts.map((part) => part.taskId)]);
}

/** Each device of the wave has a task of its own from here on, behind no line: what led to the one that was planned led to it. */
function startWave(draft: Draft, { taskId, wave, parts }: RunEventData<'WAVE_STARTED'>): void {
  const planned = change(draft, taskId, (task) => {
    if (task.fanOut === null) throw new Error(`a wave of "${taskId}" began before its devices were chosen`);
    return { ...task, fanOut: { ...task.fanOut, wave, begun: task.fanOut.begun + parts.length } };
  });
  const { judged, deadlineAt } = planned;
  const states = parts.map((part) => ({
    ...pendingTask(starOn(planned.star, part), 0),
    judged,
    deadlineAt,
    part: { of: taskId, wave },
  }));
  let { taskIds, taskIndex, linesFrom, linesInto } = draft.graph;
  let { tasks } = draft;
  for (const state of states) {
    taskIndex = taskIndex.with(state.star.id, taskIds.length);
    taskIds = taskIds.push(state.star.id);
    linesFrom = linesFrom.push([]);
    linesInto = linesInto.push([]);
    tasks = tasks.push(state);
  }
  const graph = { ...draft.graph, taskIds, taskIndex, linesFrom, linesInto };
  reshape(draft, { graph, tasks, lines: draft.lines, usedIds: draft.usedIds }, null);
}

/** What is planned, on one device. Its reviews and what it stands for are of the whole. */
function starOn(star: TaskStar, { taskId, deviceId }: RunEventData<'WAVE_STARTED'>['parts'][number]): TaskStar {
  const { forEach: _, review: _review, replaces: _replaces, ...same } = star;
  return { ...same, id: taskId, target: { device: deviceId } };
}
