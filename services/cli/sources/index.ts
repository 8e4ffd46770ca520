/**
 * Where the commands read runs: the log, or a file that was exported. Both give the same records; nothing is printed here.
 */
export { followRun, isKnownRun, loadRecords, loadRunRecords, runIds } from './log.client.js';
export { commitsOf, momentsOf, plansOf, stateAt, unknownRun } from './run-history.js';
export { oneRunOf, openOneRun, openSource, runIdFrom } from './sources.client.js';
export type { RunSource } from './sources.client.js';
