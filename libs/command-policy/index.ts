export * from './policy.js';
export { openBashGrammar } from './bash-grammar.adapter.js';
export { defaultPolicy } from './default-policy.js';
export { explain, type ExplainedCommand, type ExplainedFinding, type Explanation } from './explain.js';
export { openPolicy, type PolicySource } from './open-policy.js';
export { parsePolicy, PolicyFile, type ParsedPolicy, type PolicyRule } from './policy-file.js';
export { SYNTAX_LIMITS, type ShellParser } from './syntax.js';
export { stricter } from './verdict.js';
