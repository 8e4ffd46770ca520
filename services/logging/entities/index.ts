/** The tables of the projection, in a schema of their own. How rows are made of commits is in `projection`. */
import { AttemptEntity, CommandEntity, CommitEntity } from './commit.entity.js';
import { BrokenRunEntity, CheckpointEntity, DeadLetterEntity, ReportEntity } from './checkpoint.entity.js';
import { PlanStepEntity } from './plan-step.entity.js';
import { LineEntity, RunEntity, TaskEntity } from './run.entity.js';

export * from './checkpoint.entity.js';
export * from './commit.entity.js';
export * from './plan-step.entity.js';
export * from './run.entity.js';

/** All that a replay of the streams makes again. */
export const PROJECTED = [
  RunEntity,
  TaskEntity,
  LineEntity,
  CommitEntity,
  AttemptEntity,
  CommandEntity,
  PlanStepEntity,
  ReportEntity,
  BrokenRunEntity,
] as const;

export const ENTITIES = [...PROJECTED, CheckpointEntity, DeadLetterEntity];
export const SCHEMA = 'logging';
