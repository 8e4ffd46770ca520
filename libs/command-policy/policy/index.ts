/**
 * What the people who run the service decided: the file of the policy, its default, and the places that need care.
 */
export { defaultPolicy } from './default-policy.js';
export { PolicyFile, RuleMatch, parsePolicy } from './policy-file.js';
export type { CommandPolicy, JudgedDevice } from './policy.js';
export { BLOCK_DEVICES, ENDLESS, GUARDED_PATHS, HARMLESS_DEVICES, ROOTS, VITAL_PATHS } from './sensitive-paths.js';
export { isAbout, settingsFor } from './settings.js';
export type { Settings } from './settings.js';
export { decisionOf, verdictOf } from './verdict.js';
