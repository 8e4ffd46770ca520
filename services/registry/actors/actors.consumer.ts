import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { ActorCommit } from '#proto';
import type { Roster } from '#libs/actors';
import { LogFollower } from '../log/index.js';

/** Folds ACTORS and follows it. */
export class ActorsConsumer extends LogFollower<ActorCommit> {
  constructor(parts: { readonly nc: NatsConnection; readonly state: Roster; readonly logger: Logger }) {
    super({ ...parts, stream: 'ACTORS', schema: ActorCommit });
  }
}
