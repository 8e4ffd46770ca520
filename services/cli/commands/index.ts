/**
 * Every command by its noun: a `.command` file has its words, options and help, the `.runner` beside it what it does. A runner
 * is loaded when its command is called and never before, so nothing that two rooms need may live in one.
 */
export * from './command-list.js';
