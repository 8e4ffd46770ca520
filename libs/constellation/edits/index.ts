/**
 * Changes of a plan while it runs: what an edit may touch, how it is staged, what the fleet can serve. Who may ask for one is
 * decided elsewhere.
 */
export { CLOSED, type CircuitState, afterAttempt, circuitAt } from './circuit.js';
export { changedBesidesPending } from './edit-locality.js';
export {
  type Applied,
  VIOLATIONS_MAX,
  applyEdits,
  applyRecorded,
  judgeOwed,
  stageRecorded,
  undecidedOwed,
} from './edit.js';
export { EXEC_ALIAS, EXEC_CLI, isExecAliased } from './exec-alias.js';
export {
  type Assignment,
  type Avoided,
  type FleetView,
  type TargetIssue,
  assign,
  candidates,
  checkTarget,
  checkTargets,
  couldSatisfy,
  isRepeatable,
  isRevoked,
  offers,
  satisfies,
} from './fleet-view.js';
export { hasNotDelivered, recoveriesOf } from './replacement.js';
export { outOfScope, scopeOf, widened } from './scope.js';
export { type Shape, shapeOf } from './staging.js';
export {
  constellationOfTools,
  editOfCall,
  targetOfTools,
  toolConstellationOf,
  toolTargetOf,
  violationOfCall,
} from './tool-edits.js';
