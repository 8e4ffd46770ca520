/**
 * ACTORS, one of the six aggregates: people, systems and external systems with their roles, keys, tokens and logins, folded from
 * facts, and what is decided about them. Pure; the registry stores, shows and answers.
 */
export {
  entryOf,
  evolveActor,
  isStanding,
  isValidKey,
  type ActorState,
  type GivenApproval,
  type IssuedToken,
} from './actor-state.js';
export { decideActor, type ActorDecision, type ActorOrder, type ActorRefusal } from './decide.js';
export { Roster } from './roster.js';
export { feedOf, isOutside } from './outside.js';
export { decideFirst, SETUP, type KnownBefore } from './first.js';
