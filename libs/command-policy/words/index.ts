/**
 * Words of a command line and what is known of each: its text or the pattern of it, the paths that it can name, the options that
 * it is. Nothing here reads shell.
 */
export { givenVariableFindings, variableFindings } from './environment.js';
export { DECISIONS, dynamic, floor, notUnderstood, stricterDecision, worseClass } from './finding.js';
export type { CommandFinding } from './finding.js';
export type { VariableAssignment, StandardInput, Invocation, WorkingPlaces, Redirect } from './invocation.js';
export { has, optionsOf, takeApart, unknownOption, optionValue } from './options.js';
export type { Arguments, Given, Options } from './options.js';
export {
  ANY,
  DIGITS,
  ONE,
  SOME,
  canMeet,
  glyphsOf,
  isStatic,
  pathSet,
  patternGlyphs,
  showGlyphs,
} from './path-pattern.js';
export type { Glyphs, PathSet } from './path-pattern.js';
export { resolvePath } from './resolve-path.js';
export { ANYWHERE, addPlaces, assignVariable, forkScope, join } from './scope.js';
export type { Names, Scope } from './scope.js';
export { literal, showWord, unknownWord, wordOf } from './word.js';
export type { Word } from './word.js';
