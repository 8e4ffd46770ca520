import type { NatsConnection } from '@nats-io/transport-node';
import type { LiveTopic } from '#proto';
import type { ConsoleCaller } from '../callers/index.js';
import type { Channel } from './channel.js';
import { followCommits } from './commit-topics.adapter.js';
import type { LiveLists } from './live-lists.client.js';
import { followOutput } from './output-topic.adapter.js';

/** Follows whatever can be followed, until it is over or nobody listens. Throws ChannelError. */
export class LiveTopics {
  readonly #nc: NatsConnection;
  readonly #lists: LiveLists;

  constructor({ nc, lists }: { readonly nc: NatsConnection; readonly lists: LiveLists }) {
    this.#nc = nc;
    this.#lists = lists;
  }

  async follow(topic: LiveTopic, caller: ConsoleCaller, channel: Channel): Promise<void> {
    switch (topic.kind) {
      case 'run':
      case 'attempts':
      case 'plans':
        return followCommits(this.#nc, topic, channel);
      case 'output':
        return followOutput(this.#nc, topic, channel);
      case 'runs':
      case 'fleet':
      case 'attention':
        return this.#lists.follow(topic.kind, caller, channel);
    }
  }
}
