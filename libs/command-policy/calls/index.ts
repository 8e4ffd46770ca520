/**
 * One program with its arguments: what can be asked about them, and what makes them plain.
 */
export { Call, startingBudget } from './call.js';
export type { CallJudging } from './call.js';
export { plainCallFindings, plainTextFindings, plainVariableFindings } from './plain-call.js';
export { dynamicArgument, each, mayBeOption, optionFindings, program, subcommands } from './program.js';
export type { ProgramJudge, ProgramTable } from './program.js';
