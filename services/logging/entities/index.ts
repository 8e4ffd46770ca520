/** The tables of the projection, in a schema of their own. How rows are made of commits is in `projection`. */
import { AttentionEntity, AttentionWordEntity, ComingsEntity } from './attention.entity.js';
import { AttemptEntity, CommandEntity, CommitEntity } from './commit.entity.js';
import { BrokenRunEntity, CheckpointEntity, DeadLetterEntity, ReportEntity } from './checkpoint.entity.js';
import { PlanStepEntity } from './plan-step.entity.js';
import { RunFiguresEntity } from './run-figures.entity.js';
import { LineEntity, RunEntity, RunLabelEntity, TaskEntity } from './run.entity.js';
import { JudgementEntity, SearchEntity } from './search.entity.js';

export * from './attention.entity.js';
export * from './checkpoint.entity.js';
export * from './commit.entity.js';
export * from './plan-step.entity.js';
export * from './run-figures.entity.js';
export * from './run.entity.js';
export * from './search.entity.js';

/** All that a replay of the streams makes again. */
export const PROJECTED = [
  RunEntity,
  RunLabelEntity,
  TaskEntity,
  LineEntity,
  CommitEntity,
  AttemptEntity,
  CommandEntity,
  PlanStepEntity,
  ReportEntity,
  BrokenRunEntity,
  AttentionEntity,
  AttentionWordEntity,
  ComingsEntity,
  SearchEntity,
  JudgementEntity,
  RunFiguresEntity,
] as const;

export const ENTITIES = [...PROJECTED, CheckpointEntity, DeadLetterEntity];
export const SCHEMA = 'logging';
