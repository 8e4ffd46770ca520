/** The report of a run that ended: when it is written, and what it is made of. How it reads is in `libs/constellation`. */
export * from './report.reactor.js';
