/**
 * What is known of a run at one point of its log: its tasks, lines, approvals, budget and notes. Nothing here changes it.
 */
export {
  type DecidedApproval,
  type OpenApproval,
  grantKey,
  withDecided,
  withRequested,
  withWithdrawn,
  withoutGrants,
} from './approval-state.js';
export { withNotes } from './blackboard.js';
export {
  BOUNDS,
  type Bound,
  ONE_COMMAND,
  Purse,
  allOf,
  asksPlanner,
  budgetOfRound,
  exceeded,
  isAgentTask,
  mayGetMore,
  minus,
  plus,
  sameUsage,
  within,
} from './budget.js';
export { isCurrentAttempt } from './fencing.js';
export { UNDECIDED, doomOf, isUnsatisfied, judgeLine, judgeLines, undecidedInto } from './lines.js';
export {
  type Asked,
  type Editing,
  type InPhase,
  JUDGED_NEVER,
  type LineState,
  NO_COUNTS,
  PLAN_WAITS,
  type Run,
  type RunAsked,
  type RunBasis,
  type RunEnding,
  type Standing,
  UNDERWAY,
  editPolicyOf,
  emptyRun,
  endsTheRun,
  findTask,
  hasPlan,
  isTerminal,
  lockPolicyOf,
} from './run.js';
export { NOTHING_ASKED, type TaskState, deadlineOf, isTerminalTask, needOf, pendingTask } from './task.js';
