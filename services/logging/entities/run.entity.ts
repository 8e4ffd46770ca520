import { EntitySchema } from 'typeorm';
import type { LineView, RunView, TaskView } from '#proto';
import { id, instant, int, json, position, text } from './columns.js';

/** A run without its tasks and lines, and where in the log this was read. */
export interface RunRow extends Omit<RunView, 'tasks' | 'lines' | 'used' | 'budget'> {
  used: RunView['used'] | null;
  budget: RunView['budget'] | null;
  tasks: number;
  /** Approvals that wait for a person. */
  approvalsOpen: number;
  /** Of the last commit that is folded in. */
  number: number;
  hash: string;
  streamSequence: number;
}

/** Null where a task has none of it. */
export interface TaskRow extends Omit<TaskView, 'fanOut' | 'part'> {
  fanOut?: TaskView['fanOut'] | null;
  part?: TaskView['part'] | null;
  runId: string;
  position: number;
}

export interface LineRow extends LineView {
  runId: string;
  position: number;
}

/** A label of a run, so that it is found by it: `run` has them all, as they are shown. */
export interface RunLabelRow {
  runId: string;
  key: string;
  value: string;
}

export const RunEntity = new EntitySchema<RunRow>({
  name: 'run',
  columns: {
    runId: id('run_id', true),
    requestId: id('request_id'),
    name: text('name'),
    status: id('status'),
    outcome: { ...id('outcome'), nullable: true },
    reason: text('reason', true),
    sequence: int('sequence'),
    revision: int('revision'),
    requestedAt: instant('requested_at'),
    endedAt: instant('ended_at', true),
    requestedBy: text('requested_by'),
    waitingFor: json('waiting_for', true),
    editing: json('editing', true),
    parent: json('parent', true),
    // The defaults are for rows that were written before agents asked for anything.
    approvals: { ...json('approvals'), default: '[]' },
    approvalsOpen: int('approvals_open', { default: 0 }),
    used: json('used', true),
    budget: json('budget', true),
    goal: text('goal', true),
    answer: json('answer', true),
    evaluation: json('evaluation', true),
    notes: json('notes', true),
    labels: json('labels', true),
    tasks: int('tasks'),
    number: int('number'),
    hash: id('hash'),
    streamSequence: position('stream_sequence'),
  },
  indices: [
    { name: 'run_by_time', columns: ['requestedAt', 'runId'] },
    { name: 'run_by_status', columns: ['status', 'requestedAt'] },
    // Of who has asked for few, or for none: along the time of all runs those would be looked for to the end.
    { name: 'run_by_requester', columns: ['requestedBy', 'requestedAt', 'runId'] },
    { name: 'run_that_asks', columns: ['requestedAt'], where: 'approvals_open > 0' },
  ],
});

export const RunLabelEntity = new EntitySchema<RunLabelRow>({
  name: 'run_label',
  columns: { runId: id('run_id', true), key: id('key', true), value: id('value') },
  indices: [{ name: 'run_by_label', columns: ['key', 'value', 'runId'] }],
});

export const TaskEntity = new EntitySchema<TaskRow>({
  name: 'task',
  columns: {
    runId: id('run_id', true),
    id: id('task_id', true),
    position: int('position'),
    name: text('name'),
    status: id('status'),
    attempts: int('attempts'),
    device: { ...id('device'), nullable: true },
    result: json('result', true),
    error: json('error', true),
    reason: text('reason', true),
    // The default is for rows that were written before there was anything to hold a task.
    held: { name: 'held', type: 'boolean', default: false },
    recoveredBy: { ...id('recovered_by'), nullable: true },
    startedAt: instant('started_at', true),
    endedAt: instant('ended_at', true),
    fanOut: json('fan_out', true),
    part: json('part', true),
  },
  indices: [
    { name: 'task_at_work', columns: ['startedAt'], where: `status = 'RUNNING'` },
    { name: 'task_of_device', columns: ['device', 'runId'] },
  ],
});

export const LineEntity = new EntitySchema<LineRow>({
  name: 'line',
  columns: {
    runId: id('run_id', true),
    id: id('line_id', true),
    position: int('position'),
    from: id('from_task'),
    to: id('to_task'),
    type: id('type'),
    condition: text('condition', true),
    satisfied: { name: 'satisfied', type: 'boolean', nullable: true },
    reason: text('reason', true),
  },
});
