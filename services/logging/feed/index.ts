/** FEED: every event of RUNS once, in order, for everybody outside. It needs no rows, and goes on without Postgres. */
export * from './feed-stream.adapter.js';
export * from './feed.reactor.js';
export { Requesters } from './requesters.adapter.js';
