import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { ulid } from 'ulid';
import { decodeClientMessage, fullRate, instantOf, openSession, step, takeToken } from '#libs/aip';
import type { Closed, Rate, RegisteredClient, Session, SessionEffect, SessionInput, Transport } from '#libs/aip';
import type { Clock } from '#libs/platform';
import { AIP_LIMITS, DEFAULTS } from '#proto';
import type { DeviceId } from '#proto';
import { CommandDesk } from './command-desk.consumer.js';
import type { GatewayMetrics } from './gateway-metrics.adapter.js';
import type { PresenceBook, PresenceLease } from './presence.client.js';

/** What all connections of a gateway share; nothing in here belongs to one of them. */
export interface Surroundings {
  readonly nc: NatsConnection;
  readonly book: PresenceBook;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  readonly instance: string;
  readonly answerWithinMs: number;
}

export interface ConnectionEvents {
  /** This connection holds the device's session now: who held it before has to look again. */
  claimed(connection: DeviceConnection): void;
  ended(connection: DeviceConnection): void;
}

const RATE = { perSecond: AIP_LIMITS.framesPerSecond, burst: AIP_LIMITS.framesBurst };

/** One device's socket: carries the pure session's effects out, and holds its key in PRESENCE while the socket lives. */
export class DeviceConnection {
  readonly identity: DeviceId;
  readonly #transport: Transport;
  readonly #around: Surroundings;
  readonly #events: ConnectionEvents;
  readonly #socketGone = Promise.withResolvers<void>();
  readonly #left = Promise.withResolvers<void>();
  #session: Session;
  #rate: Rate;
  #resuming: NodeJS.Timeout | undefined;
  #lease: PresenceLease | undefined;
  #desk: CommandDesk | undefined;
  #renewAtMs = Infinity;

  constructor(identity: DeviceId, transport: Transport, around: Surroundings, events: ConnectionEvents) {
    const nowMs = around.clock.now();
    this.identity = identity;
    this.#transport = transport;
    this.#around = around;
    this.#events = events;
    this.#session = openSession(identity, nowMs);
    this.#rate = fullRate(RATE, nowMs);
    transport.handle({
      frame: (text) => this.#receive(text),
      closed: (why) => this.#closed(why),
      drained: () => this.#desk?.sendNext(),
    });
  }

  get isRegistered(): boolean {
    return this.#lease !== undefined;
  }

  /** Resolves when the socket is closed and the device's key is given back. */
  async gone(): Promise<void> {
    await Promise.all([this.#socketGone.promise, this.#left.promise]);
  }

  /** A few times a second. */
  tick(nowMs: number): void {
    this.#input({ kind: 'tick' });
    this.#desk?.tick(nowMs);
    if (nowMs < this.#renewAtMs) return;
    this.#renewAtMs = nowMs + AIP_LIMITS.presenceRenewMs;
    void this.#checkHold((lease) => lease.renew());
  }

  /** The device's key may have changed, at this revision of the bucket. */
  look(revision?: number): void {
    void this.#checkHold((lease) => lease.holds(revision));
  }

  shutDown(): void {
    this.#input({ kind: 'shutdown' });
  }

  #receive(text: string | null): void {
    const { clock } = this.#around;
    const [rate, { waitMs }] = takeToken(this.#rate, RATE, clock.now());
    this.#rate = rate;
    if (waitMs > 0 && this.#resuming === undefined) {
      this.#transport.pause();
      this.#resuming = setTimeout(() => {
        this.#resuming = undefined;
        this.#transport.resume();
      }, waitMs);
    }
    const decoded = decodeClientMessage(text);
    if (decoded.ok) this.#input({ kind: 'message', message: decoded.message }, text?.length);
    else this.#input({ kind: 'unreadable', error: decoded.error });
  }

  #input(input: SessionInput, bytes = 0): void {
    if (this.#session.phase === 'CLOSED') return;
    const [session, effects] = step(this.#session, input, this.#around.clock.now());
    this.#session = session;
    for (const effect of effects) this.#perform(effect, bytes);
    if (session.phase === 'CLOSED') void this.#leave();
  }

  #perform(effect: SessionEffect, bytes: number): void {
    const { logger, metrics } = this.#around;
    switch (effect.kind) {
      case 'send':
        if (effect.message.type === 'error') metrics.frameRefused();
        return this.#transport.send(JSON.stringify(effect.message));
      case 'close':
        logger.info({ deviceId: this.identity, code: effect.code, reason: effect.reason }, 'device sent away');
        return this.#transport.close(effect.code, effect.reason);
      case 'claim':
        return void this.#claim(effect.client);
      case 'started':
        return this.#desk?.started(effect.commandId);
      case 'result':
        return this.#desk?.finished(effect.commandId, effect.outcome, bytes);
      case 'complaint':
        return logger.warn({ deviceId: this.identity, error: effect.error }, 'device reports an error');
    }
  }

  async #claim(client: RegisteredClient): Promise<void> {
    const { book, clock, instance, logger } = this.#around;
    const nowMs = clock.now();
    const session = { sessionId: ulid(nowMs), gateway: instance, journalId: client.journalId };
    const presence = { ...session, connectedAt: instantOf(nowMs), deviceId: this.identity };
    try {
      const slots = await this.#slots();
      const lease = await book.claim({ ...presence, telemetry: client.telemetry });
      if (this.#isClosed) return await lease.release();
      this.#lease = lease;
      this.#events.claimed(this);
      const desk = this.#openDesk(client, lease, slots);
      await desk.open();
      if (this.#isClosed) return;
      this.#renewAtMs = clock.now() + AIP_LIMITS.presenceRenewMs;
      logger.info({ deviceId: this.identity, ...session, slots }, 'device connected');
      this.#input({ kind: 'claimed', sessionId: session.sessionId });
    } catch (error) {
      logger.warn({ err: error, deviceId: this.identity }, 'session not opened');
      this.#input({ kind: 'claim-failed' });
    }
  }

  #openDesk(client: RegisteredClient, lease: PresenceLease, slots: number): CommandDesk {
    const { nc, clock, logger, metrics, answerWithinMs } = this.#around;
    const { sessionId } = lease;
    const holds = (): Promise<boolean> => lease.holds();
    const shared = { nc, clock, logger, metrics, answerWithinMs, holds, transport: this.#transport };
    this.#desk = new CommandDesk({ ...shared, deviceId: this.identity, sessionId, client, slots });
    metrics.registered();
    return this.#desk;
  }

  async #slots(): Promise<number> {
    try {
      return await this.#around.book.slotsOf(this.identity);
    } catch (error) {
      this.#around.logger.warn({ err: error, deviceId: this.identity }, 'profile not read, default slots');
      return DEFAULTS.deviceTasksMax;
    }
  }

  async #checkHold(ask: (lease: PresenceLease) => Promise<boolean>): Promise<void> {
    if (this.#lease === undefined || this.#isClosed) return;
    try {
      if ((await ask(this.#lease)) || this.#isClosed) return;
      this.#around.metrics.replaced();
      this.#input({ kind: 'replaced' });
    } catch (error) {
      // The bus is away: the socket stays, and the next tick tries again.
      this.#around.logger.warn({ err: error, deviceId: this.identity }, 'presence could not be checked');
    }
  }

  get #isClosed(): boolean {
    return this.#session.phase === 'CLOSED';
  }

  #closed({ code, reason }: Closed): void {
    const { logger } = this.#around;
    logger.info({ deviceId: this.identity, code, reason: reason.slice(0, REASON_CHARS_MAX) }, 'device disconnected');
    clearTimeout(this.#resuming);
    this.#input({ kind: 'closed' });
    this.#events.ended(this);
    this.#socketGone.resolve();
  }

  /** Once, when the session is closed, whether or not the socket is already. */
  async #leave(): Promise<void> {
    if (this.#desk !== undefined) {
      this.#desk.close();
      this.#around.metrics.unregistered();
    }
    try {
      await this.#lease?.release();
    } catch (error) {
      // The key expires by itself.
      this.#around.logger.warn({ err: error, deviceId: this.identity }, 'presence not given back');
    }
    this.#left.resolve();
  }
}

const REASON_CHARS_MAX = 200;
