/** People and other systems: who they are, their roles, the keys and tokens with which they come. What each role may do is in `proto/roles.ts`. */
export * from './people.command.js';
export * from './tokens.command.js';
