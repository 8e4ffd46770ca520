/**
 * Words of a command line and what is known of each: its text or the pattern of it, the paths that it can name, the options that
 * it is. Nothing here reads shell.
 */
export * from './environment.js';
export * from './finding.js';
export * from './invocation.js';
export * from './options.js';
export * from './path-pattern.js';
export * from './patterns-from.js';
export * from './resolve-path.js';
export * from './scope.js';
export * from './word.js';
