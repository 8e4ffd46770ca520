import { EntitySchema } from 'typeorm';
import type { RunCommit } from '#proto';
import type { ReportedCommand } from '#libs/constellation';
import { id, instant, int, json, position, text } from './columns.js';

export interface CommitRow {
  streamSequence: number;
  runId: string;
  number: number;
  hash: string;
  at: string;
  types: string[];
  commit: RunCommit;
}

/** `device` to `startedAt` are told by RUNS, the rest by ATTEMPTS: two projectors write one row, each its own columns. */
export interface AttemptRow {
  runId: string;
  taskId: string;
  attempt: number;
  device: string | null;
  session: string | null;
  startedAt: string | null;
  status: 'completed' | 'failed' | null;
  hash: string | null;
  endedAt: string | null;
}

export interface CommandRow extends ReportedCommand {
  runId: string;
  streamSequence: number;
}

export const CommitEntity = new EntitySchema<CommitRow>({
  name: 'commit',
  columns: {
    streamSequence: position('stream_sequence', true),
    runId: id('run_id'),
    number: int('number'),
    hash: id('hash'),
    at: instant('at'),
    types: { name: 'types', type: 'varchar', array: true },
    commit: json('commit'),
  },
  indices: [{ name: 'commit_of_run', columns: ['runId', 'number'] }],
});

export const AttemptEntity = new EntitySchema<AttemptRow>({
  name: 'attempt',
  columns: {
    runId: id('run_id', true),
    taskId: id('task_id', true),
    attempt: int('attempt', { primary: true }),
    device: { ...id('device'), nullable: true },
    session: { ...id('session'), nullable: true },
    startedAt: instant('started_at', true),
    status: { ...id('status'), nullable: true },
    hash: { ...id('hash'), nullable: true },
    endedAt: instant('ended_at', true),
  },
});

export const CommandEntity = new EntitySchema<CommandRow>({
  name: 'command',
  columns: {
    commandId: id('command_id', true),
    runId: id('run_id'),
    taskId: id('task_id'),
    attempt: int('attempt'),
    deviceId: id('device'),
    sessionId: id('session'),
    tool: id('tool'),
    arguments: json('arguments'),
    state: id('state'),
    exitCode: int('exit_code', { nullable: true }),
    stdout: text('stdout', true),
    stderr: text('stderr', true),
    output: text('output', true),
    error: text('error', true),
    startedAt: instant('started_at', true),
    durationMs: { name: 'duration_ms', type: 'double precision', nullable: true },
    cut: { ...json('cut'), nullable: true },
    // A late result tells of a command once more; both tellings stay.
    streamSequence: position('stream_sequence', true),
  },
  indices: [{ name: 'command_of_run', columns: ['runId'] }],
});
