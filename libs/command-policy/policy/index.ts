/** What the people who run the service decided: the file of the policy, its default, and the places that need care. */
export * from './default-policy.js';
export * from './policy-file.js';
export * from './policy.js';
export * from './sensitive-paths.js';
export * from './settings.js';
export * from './verdict.js';
export * from './wall.js';
export type { View } from '../words/index.js';
