/**
 * Whether a command line may run, may run with a word in the log, needs a person, or may not: pure, and the same answer for the
 * same question. Who is asked, and what is written down, is not decided here.
 */
export * from './policy/policy.js';
export { openBashGrammar } from './script/bash-grammar.adapter.js';
export { defaultPolicy } from './policy/default-policy.js';
export { parsePolicy, PolicyFile, type ParsedPolicy, type PolicyRule } from './policy/policy-file.js';
export { SYNTAX_LIMITS, type ShellParser } from './script/syntax.js';
export { stricter } from './policy/verdict.js';
export {
  explain,
  type ExplainedCommand,
  type ExplainedFinding,
  type Explanation,
  openPolicy,
  type PolicySource,
} from './judge/index.js';
