/**
 * Changes of a plan while it runs: what an edit may touch, how it is staged, what the fleet can serve. Who may ask for one is
 * decided elsewhere.
 */
export * from './circuit.js';
export { changedBesidesPending, mayChangeTask } from './edit-locality.js';
export * from './edit.js';
export * from './exec-alias.js';
export * from './fleet-view.js';
export { hasNotDelivered, recoveriesOf } from './replacement.js';
export {
  couldSatisfy,
  missesText,
  satisfies,
  unsatisfied,
  unsatisfiedText,
  unknownKeys,
  type Unsatisfied,
} from './satisfies.js';
export * from './scope.js';
export { type Shape, shapeOf } from './staging.js';
export {
  constellationOfTools,
  editOfCall,
  targetOfTools,
  toolConstellationOf,
  toolTargetOf,
  violationOfCall,
  wavesOf,
} from './tool-edits.js';
