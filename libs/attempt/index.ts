/**
 * ATTEMPT, one of the four aggregates: its orders, its facts folded, what is told to its agent of them, how commands and steps end. Pure;
 * whoever carries an attempt out waits, asks and stores.
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
export { errorOf } from './failures.js';
export { clip, repairedJson, shapeResult } from './shape-result.js';
export { askedForApproval, askedQuestion, commandJudged, questionOf, stepFailed, stepPlanned } from './step-events.js';
export type { AskOrigin } from './step-events.js';
export { verdictIn } from './verdict.js';
export type { AgentReply, ModelFailed, ModelReplied, PersonAnswered, ToolCalled } from './outcomes.js';
