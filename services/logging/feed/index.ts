/** FEED: every event of RUNS once, in order, for everybody outside. It needs no rows, and goes on without Postgres. */
export { FeedStream } from './feed-stream.adapter.js';
export { FeedPublisher } from './feed.reactor.js';
