import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { DeviceServerEndpoint, type RegisteredClient } from '#libs/aip';
import type { DeviceId, SessionId } from '#proto';
import { CommandDesk } from '../../services/aip-gateway/devices/command-desk.consumer.js';
import type { GatewayMetrics } from '../../services/aip-gateway/connection/gateway-metrics.adapter.js';
import { NO_INJECTION } from '../../services/aip-gateway/devices/parameter-injection.js';
import type { Wire } from './wire.js';

const nothing = (): void => undefined;
const METRICS: GatewayMetrics = {
  handshakeRefused: nothing,
  identityAnswered: nothing,
  registered: nothing,
  unregistered: nothing,
  replaced: nothing,
  contended: nothing,
  frameRefused: nothing,
  frame: nothing,
  latency: nothing,
  delivered: nothing,
  output: nothing,
  fileEnded: nothing,
  answered: nothing,
};
const ANSWER_WITHIN_MS = 10_000;
const SLOTS = 2;
const logger = pino({ level: 'silent' });
export const DEVICE: DeviceId = 'd';

/** PRESENCE of the one device: which session counts. */
export interface Presence {
  holder: GatewaySession | undefined;
  sessions: number;
}

/** What a gateway has of one connection of the device. */
export class GatewaySession {
  readonly wire: Wire;
  readonly endpoint: DeviceServerEndpoint;
  sessionId: SessionId | undefined;
  #desk: CommandDesk | undefined;
  /** Asked for, and not granted yet. */
  #claiming: RegisteredClient | undefined;
  readonly #presence: Presence;
  readonly #nc: NatsConnection;

  constructor(wire: Wire, presence: Presence, nc: NatsConnection) {
    this.wire = wire;
    this.#presence = presence;
    this.#nc = nc;
    this.endpoint = new DeviceServerEndpoint({
      identity: { id: DEVICE, role: 'device', targets: null, expiresAt: null },
      transport: wire.end('server'),
      clock: { now: () => Date.now() },
      port: {
        claim: ({ client }) => (this.#claiming = client),
        resume: ({ running }) => this.#desk?.takeOver(running),
        open: () => void this.#desk?.open(),
        started: ({ commandId }) => this.#desk?.started(commandId),
        result: ({ commandId, outcome }, bytes) => this.#desk?.finished(commandId, outcome, bytes),
        output: ({ commandId, piece }) => this.#desk?.output(commandId, piece),
        metrics: nothing,
        workspaces: nothing,
        telemetry: nothing,
        identify: nothing,
        drained: () => this.#desk?.sendNext(),
        left: () => this.#leave(),
        closed: nothing,
      },
      watch: { log: nothing, count: nothing, latency: nothing },
    });
  }

  get isClosed(): boolean {
    return this.endpoint.phase === 'CLOSED';
  }

  tick(): void {
    this.endpoint.tick();
    if (!this.isClosed) this.#desk?.tick(Date.now());
  }

  /** PRESENCE answers. */
  grant(): void {
    const client = this.#claiming;
    this.#claiming = undefined;
    if (client === undefined || this.isClosed) return;
    this.sessionId = `s${++this.#presence.sessions}`;
    this.#presence.holder = this;
    this.#desk = new CommandDesk({
      nc: this.#nc,
      clock: { now: () => Date.now() },
      logger,
      metrics: METRICS,
      answerWithinMs: ANSWER_WITHIN_MS,
      link: this.endpoint,
      deviceId: DEVICE,
      sessionId: this.sessionId,
      client,
      slots: SLOTS,
      holds: async () => this.#presence.holder === this,
      screen: async () => ({ taken: false, handedBackAt: null }),
      injection: NO_INJECTION,
    });
    this.endpoint.input({ kind: 'claimed', sessionId: this.sessionId });
  }

  /** The gateway looks whether the session still counts. */
  look(): void {
    if (this.sessionId !== undefined && this.#presence.holder !== this) this.endpoint.input({ kind: 'replaced' });
  }

  #leave(): void {
    this.#desk?.close();
    if (this.#presence.holder === this) this.#presence.holder = undefined;
  }
}
