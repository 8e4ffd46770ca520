/** What happens, as it happens, over one socket: channels that each follow one thing, with a place from which they go on. Who may see what is asked for each. */
export { LiveGateway } from './live.gateway.js';
export { LiveSockets, openLive } from './live-sockets.adapter.js';
export { LiveTopics } from './live-topics.js';
export { LiveLists } from './live-lists.client.js';
