/**
 * Whether a command line may run, may run with a word in the log, needs a person, or may not: pure, and the same answer for the
 * same question. Who is asked, and what is written down, is not decided here.
 */
export * from './judge/index.js';
export * from './policy/index.js';
export * from './script/index.js';
