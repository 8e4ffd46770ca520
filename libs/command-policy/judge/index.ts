/**
 * From the findings about every command of a line to one verdict, and to words that explain it.
 */
export { explain, type ExplainedCommand, type ExplainedFinding, type Explanation } from './explain.js';
export { openPolicy, type PolicySource } from './open-policy.js';
