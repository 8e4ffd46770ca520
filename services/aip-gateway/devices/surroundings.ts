import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { LargeFrames } from '#libs/aip';
import type { Clock } from '#libs/platform';
import type { Identity } from '#proto';
import type { Connection, GatewayMetrics } from '../connection/index.js';
import type { FileContext, TimedFileDesk } from '../files/index.js';
import type { ParameterInjection } from './parameter-injection.js';
import type { PresenceBook } from './presence.client.js';

/** What all connections of devices share; nothing in here belongs to one of them. */
export interface Surroundings {
  readonly nc: NatsConnection;
  readonly book: PresenceBook;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  readonly instance: string;
  readonly answerWithinMs: number;
  readonly fileDesk: (context: FileContext) => TimedFileDesk;
  readonly largeFrames: LargeFrames;
  readonly injection: ParameterInjection;
}

/** The server that accepted the socket, as far as a device's connection needs it. */
export interface ConnectionEvents {
  /** Whose credential this is; null when it is nobody's. Throws when nobody can say. */
  identify(credential: string): Promise<Identity | null>;
  /** This connection holds the device's session now: who held it before has to look again. */
  claimed(connection: Connection): void;
  /** It took the session from one that was still there. True: once too often, and others are refused for a while. */
  replacing(): boolean;
  ended(connection: Connection): void;
}
