/**
 * A task on several devices: which ones they are, wave after wave of them, when no other wave begins, and what all of it comes to. Each
 * device is a task of its own: how that starts, is tried again and ends is decided where it is for every task.
 */
export * from './advance.js';
export * from './progress.js';
