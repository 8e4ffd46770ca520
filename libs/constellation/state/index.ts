/**
 * What is known of a run at one point of its log: its tasks, lines, approvals, budget and notes. Nothing here changes it.
 */
export { grantKey, withDecided, withRequested, withWithdrawn, withoutGrants } from './approval-state.js';
export type { DecidedApproval, OpenApproval } from './approval-state.js';
export { withNotes } from './blackboard.js';
export {
  BOUNDS,
  ONE_COMMAND,
  Purse,
  allOf,
  budgetOfRound,
  exceeded,
  isAgentTask,
  isSpentOnPlans,
  mayGetMore,
  minus,
  plus,
  sameUsage,
  within,
} from './budget.js';
export type { Bound } from './budget.js';
export { isCurrentAttempt } from './fencing.js';
export { UNDECIDED, doomOf, isUnsatisfied, judgeLine, judgeLines, undecidedInto } from './lines.js';
export type { Ending } from './lines.js';
export {
  JUDGED_NEVER,
  NOTHING_ASKED,
  NO_COUNTS,
  PLAN_WAITS,
  deadlineOf,
  editPolicyOf,
  emptyRun,
  endsTheRun,
  findTask,
  graphOf,
  isTerminal,
  isTerminalTask,
  lockPolicyOf,
  needOf,
  pendingTask,
} from './run.js';
export type { Editing, LineState, Run, RunAsked, RunEnding, TaskState } from './run.js';
