/**
 * Changes of a plan while it runs: what an edit may touch, how it is staged, what the fleet can serve. Who may ask for one is
 * decided elsewhere.
 */
export { changedBesidesPending } from './edit-locality.js';
export { VIOLATIONS_MAX, applyEdits, judgeOwed, stageRecorded } from './edit.js';
export type { Applied } from './edit.js';
export {
  assign,
  candidates,
  checkTarget,
  checkTargets,
  couldSatisfy,
  isRepeatable,
  offers,
  satisfies,
} from './fleet-view.js';
export type { Assignment, Avoided, FleetView } from './fleet-view.js';
export { hasNotDelivered, recoveriesOf } from './replacement.js';
export { outOfScope, scopeOf, widened } from './scope.js';
export { shapeOf } from './staging.js';
export type { Shape } from './staging.js';
export { toolTargetOf } from './tool-edits.js';
