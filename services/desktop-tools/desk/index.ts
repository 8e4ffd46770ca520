/** A desktop at work: what was listed last, what may be done with it, and that it is still there when it is done. */
export * from './acting.runner.js';
export * from './connection.runner.js';
export * from './controls.js';
export * from './desk.runner.js';
export * from './looking.runner.js';
export * from './settling.runner.js';
