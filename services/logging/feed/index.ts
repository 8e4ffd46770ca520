export { FeedStream } from './feed-stream.adapter.js';
export { FeedPublisher } from './feed.reactor.js';
