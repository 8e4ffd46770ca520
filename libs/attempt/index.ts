/**
 * ATTEMPT, one of the six aggregates: its orders, its facts folded, what is told to its agent of them, how commands and steps end. Pure;
 * the device-agent waits, asks and stores.
 */
export {
  NOT_SENT,
  STOPPED,
  UNREADABLE,
  answeredEnd,
  commandEnded,
  endOfSteps,
  isLost,
  lostEnding,
  refusedEnd,
} from './agent-ending.js';
export type { AgentEnding, CommandEnd } from './agent-ending.js';
export * from './attempt.js';
export { emptyRecord, isKnown, lastFinished, openCommands } from './book.js';
export type { Book, CommandRecord, FactOf } from './book.js';
export * from './ending.js';
export * from './ends.js';
export {
  agentName,
  answerOutcome,
  boardOutcome,
  callOutcome,
  diverged,
  grantedWall,
  isCallOf,
  modelOutcome,
} from './recorded-outcomes.js';
export type { Diverged, NextMove } from './recorded-outcomes.js';
export { errorOf } from './failures.js';
export * from './pictures.js';
export * from './shape-result.js';
export * from './task-files.js';
export {
  askedForApproval,
  askedQuestion,
  boardUsed,
  commandJudged,
  questionOf,
  stepFailed,
  stepPlanned,
} from './step-events.js';
export type { AskOrigin } from './step-events.js';
export * from './verdict.js';
export * from './outcomes.js';
