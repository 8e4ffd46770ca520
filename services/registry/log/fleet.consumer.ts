import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { FleetCommit } from '#proto';
import type { FleetState } from '#libs/fleet';
import { LogFollower } from './log-follower.adapter.js';

/** Folds FLEET and follows it. */
export class FleetConsumer extends LogFollower<FleetCommit> {
  constructor(parts: { readonly nc: NatsConnection; readonly state: FleetState; readonly logger: Logger }) {
    super({ ...parts, stream: 'FLEET', schema: FleetCommit });
  }
}
