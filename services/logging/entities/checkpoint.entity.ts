import { EntitySchema } from 'typeorm';
import { id, instant, int, position, text } from './columns.js';

/** How far a stream is projected, or (FEED) how far of RUNS is published: the message and the event in it. */
export interface CheckpointRow {
  name: string;
  sequence: number;
  index: number;
  /** When the commit of that message was recorded, of a projection that tells it. */
  at: string | null;
}

/** A run that could not be projected any further; other runs do not wait for it. */
export interface BrokenRunRow {
  runId: string;
  streamSequence: number;
  reason: string;
  at: string;
}

/** Which messages were put into the dead-letter queue; outlives a rebuild, so that none is put there twice. */
export interface DeadLetterRow {
  stream: string;
  sequence: number;
  reason: string;
  at: string;
}

export interface ReportRow {
  runId: string;
  /** Of the run, when the report was written: another one means that it is out of date. */
  sequence: number;
  markdown: string;
}

export const CheckpointEntity = new EntitySchema<CheckpointRow>({
  name: 'checkpoint',
  columns: {
    name: id('name', true),
    sequence: position('sequence'),
    index: int('index', { default: 0 }),
    at: instant('at', true),
  },
});

export const BrokenRunEntity = new EntitySchema<BrokenRunRow>({
  name: 'broken_run',
  columns: {
    runId: id('run_id', true),
    streamSequence: position('stream_sequence'),
    reason: text('reason'),
    at: instant('at'),
  },
});

export const DeadLetterEntity = new EntitySchema<DeadLetterRow>({
  name: 'dead_letter',
  columns: {
    stream: id('stream', true),
    sequence: position('sequence', true),
    reason: text('reason'),
    at: instant('at'),
  },
});

export const ReportEntity = new EntitySchema<ReportRow>({
  name: 'report',
  columns: { runId: id('run_id', true), sequence: int('sequence'), markdown: text('markdown') },
});
