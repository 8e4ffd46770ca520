import { EntitySchema } from 'typeorm';
import type { MeasuredRun } from '#libs/constellation';
import { id, json } from './columns.js';

/** What a run that has ended came to; a run that is open again has none. */
export interface RunFiguresRow {
  runId: string;
  figures: MeasuredRun;
}

export const RunFiguresEntity = new EntitySchema<RunFiguresRow>({
  name: 'run_figures',
  columns: { runId: id('run_id', true), figures: json('figures') },
});
