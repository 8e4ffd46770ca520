/**
 * What an attempt is: its orders, its recorded facts folded, how commands and steps end. Pure; nothing here waits or asks anybody.
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
export {
  emptyAttempt,
  evolveAttempt,
  findOrder,
  foldAttempt,
  isExact,
  isExactAlone,
  isJudged,
  ordersOf,
} from './attempt.js';
export type { Attempt, AttemptOrder, ExactOrder, Stop, TaskStart } from './attempt.js';
export { emptyRecord, isKnown, lastFinished, openCommands } from './book.js';
export type { Book, CommandRecord, FactOf } from './book.js';
export { eventsOf, exitCodeOf, lateEventsOf } from './ending.js';
export type { Ending } from './ending.js';
export { Ends, agentError } from './ends.js';
export { agentName, answerOutcome, callOutcome, diverged, isCallOf, modelOutcome } from './recorded-outcomes.js';
export type { Diverged, NextMove } from './recorded-outcomes.js';
export { repairedJson, shapeResult } from './shape-result.js';
export {
  askedForApproval,
  askedQuestion,
  clip,
  commandJudged,
  errorOf,
  questionOf,
  stepFailed,
  stepPlanned,
} from './step-events.js';
export type { AskOrigin } from './step-events.js';
export { verdictIn } from './verdict.js';
