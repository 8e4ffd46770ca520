import { ulid } from 'ulid';
import { DeviceServerEndpoint } from '#libs/aip';
import type { Closed, DevicePort, DeviceWatch, RegisteredClient, Transport } from '#libs/aip';
import { AIP_LIMITS, DEFAULTS, instantOf, type ClientTelemetry, type DeviceId, type Identity } from '#proto';
import { CommandDesk } from './command-desk.consumer.js';
import type { Connection } from '../connection/index.js';
import type { FileContext, TimedFileDesk } from '../files/index.js';
import type { PresenceLease, SlotsAsked } from './presence.client.js';
import type { ScreenStanding } from './screen-door.js';
import { ShownTelemetry } from './shown-telemetry.js';
import type { ConnectionEvents, Surroundings } from './surroundings.js';

/** How often the profile is asked how many commands the device takes; the second as long as it does not know the session. */
const SLOTS_EVERY_MS = 60_000;
const SLOTS_SOON_MS = 1_000;
const REASON_CHARS_MAX = 200;

/** One device's connection as the bus sees it: its key in PRESENCE while the socket lives, and the desk for its commands. */
export class DeviceConnection implements Connection {
  readonly identity: Identity;
  readonly #around: Surroundings;
  readonly #events: ConnectionEvents;
  readonly #endpoint: DeviceServerEndpoint;
  readonly #files: TimedFileDesk;
  readonly #shown: ShownTelemetry;
  readonly #socketGone = Promise.withResolvers<void>();
  readonly #left = Promise.withResolvers<void>();
  #lease: PresenceLease | undefined;
  #desk: CommandDesk | undefined;
  #renewAtMs = Infinity;
  #slotsAtMs = Infinity;
  /** Somebody asked a foreign device for a tool that it has not named. */
  #toolWanted = false;

  constructor(identity: Identity, transport: Transport, around: Surroundings, events: ConnectionEvents) {
    const { clock } = around;
    this.identity = identity;
    this.#around = around;
    this.#events = events;
    this.#files = around.fileDesk(this.#fileContext());
    this.#shown = new ShownTelemetry(identity.id, around.injection);
    const [port, watch] = [this.#port(), this.#watch()];
    this.#endpoint = new DeviceServerEndpoint({ identity, transport, clock, port, watch });
  }

  get isRegistered(): boolean {
    return this.#lease !== undefined;
  }

  async gone(): Promise<void> {
    await Promise.all([this.#socketGone.promise, this.#left.promise]);
  }

  tick(nowMs: number): void {
    this.#endpoint.tick();
    if (this.#isClosed) return;
    this.#desk?.tick(nowMs);
    this.#showAgain();
    this.#askTools();
    this.#files.tick?.(nowMs);
    if (nowMs >= this.#slotsAtMs) {
      this.#slotsAtMs = nowMs + SLOTS_EVERY_MS;
      if (this.#desk !== undefined) void this.#followSlots(this.#desk);
    }
    if (nowMs < this.#renewAtMs) return;
    this.#renewAtMs = nowMs + AIP_LIMITS.presenceRenewMs;
    void this.#checkHold((lease) => lease.renew());
  }

  look(revision?: number): void {
    void this.#checkHold((lease) => lease.holds(revision));
  }

  get waitsForResult(): boolean {
    return this.#desk?.isBusy ?? false;
  }

  /** The device was about to send a message of so many bytes, and is sent away for it. */
  refusedFrame(bytes: number): void {
    this.#around.logger.warn({ deviceId: this.#deviceId, bytes }, 'a message of a device is too large');
    this.#desk?.refusedResult(bytes);
  }

  revoke(): void {
    this.#endpoint.revoke();
  }

  shutDown(): void {
    this.#endpoint.shutDown();
  }

  get #deviceId(): DeviceId {
    return this.identity.id;
  }

  get #isClosed(): boolean {
    return this.#endpoint.phase === 'CLOSED';
  }

  #fileContext(): FileContext {
    const endpoint = (): DeviceServerEndpoint => this.#endpoint;
    return {
      deviceId: this.#deviceId,
      say: (message) => endpoint().say(message),
      get congested() {
        return endpoint().congested;
      },
      openCommand: (commandId) => this.#desk?.openCommand(commandId),
    };
  }

  #port(): DevicePort {
    return {
      claim: ({ client }) => void this.#claim(client),
      resume: ({ running }) => this.#desk?.takeOver(running),
      open: () => void this.#open(),
      started: ({ commandId }) => this.#desk?.started(commandId),
      result: ({ commandId, outcome }, bytes) => this.#desk?.finished(commandId, outcome, bytes),
      output: ({ commandId, piece }) => this.#desk?.output(commandId, piece),
      metrics: ({ metrics }) => this.#lease?.tell({ metrics: { ...metrics, at: instantOf(this.#around.clock.now()) } }),
      workspaces: ({ message }) => this.#desk?.workspaces(message),
      telemetry: ({ telemetry }) => this.#told(telemetry),
      identify: ({ credential }) => void this.#identify(credential),
      drained: () => {
        this.#desk?.sendNext();
        this.#files.drained?.();
      },
      left: () => void this.#leave(),
      closed: (why) => this.#closed(why),
      files: this.#files,
    };
  }

  /** Never what is in a frame: only its type, and why it was refused. */
  #watch(): DeviceWatch {
    const { logger, metrics, injection } = this.#around;
    const deviceId = this.#deviceId;
    return {
      count: (direction, type) => metrics.frame(direction, type),
      latency: (ms) => metrics.latency(ms),
      log: (event) => {
        if (event.kind === 'refused') {
          metrics.frameRefused();
          logger.debug({ deviceId, type: event.type, error: event.error }, 'frame refused');
        } else if (event.kind === 'sent-away') {
          logger.info({ deviceId, code: event.code, reason: event.reason }, 'device sent away');
        } else {
          const error = injection.maskedText(deviceId, event.error);
          logger.warn({ deviceId, error }, 'device reports an error');
        }
      },
    };
  }

  /** The key first, then the device is told: nobody believes in a session that nobody else can see. */
  async #claim(client: RegisteredClient): Promise<void> {
    const { book, clock, instance, logger, metrics } = this.#around;
    const nowMs = clock.now();
    const session = { sessionId: ulid(nowMs), gateway: instance, journalId: client.journalId };
    const presence = { ...session, connectedAt: instantOf(nowMs), deviceId: this.#deviceId };
    try {
      const isForeign = client.journalId === null;
      const slots = await this.#slots({ deviceId: this.#deviceId, sessionId: session.sessionId, isForeign });
      const lease = await book.claim({ ...presence, telemetry: this.#shown.registered(client) });
      if (this.#isClosed) return await lease.release();
      this.#lease = lease;
      this.#desk = this.#makeDesk(client, lease, slots);
      metrics.registered();
      this.#renewAtMs = clock.now() + AIP_LIMITS.presenceRenewMs;
      this.#slotsAtMs = clock.now() + SLOTS_SOON_MS;
      this.#events.claimed(this);
      logger.info({ deviceId: this.#deviceId, ...session, slots, revision: client.revision }, 'device connected');
      if (client.telemetry.tools.length === 0) {
        logger.warn({ deviceId: this.#deviceId, answered: client.toolsKnown }, 'the device names no tools');
      }
      this.#endpoint.input({ kind: 'claimed', sessionId: session.sessionId });
      if (lease.replaced && this.#events.replacing()) this.#contended(lease);
    } catch (error) {
      logger.warn({ err: error, deviceId: this.#deviceId }, 'session not opened');
      this.#endpoint.input({ kind: 'claim-failed' });
    }
  }

  /** Only who runs the fleet can end it: two clients have the credential of one device. */
  #contended(lease: PresenceLease): void {
    const { clock, logger, metrics } = this.#around;
    metrics.contended();
    logger.warn({ deviceId: this.#deviceId }, 'two clients take one device from each other: newcomers are refused');
    lease.tell({ contendedAt: instantOf(clock.now()) });
    this.#renewAtMs = clock.now();
  }

  #makeDesk(client: RegisteredClient, { sessionId }: PresenceLease, slots: number): CommandDesk {
    const { nc, clock, logger, metrics, answerWithinMs, injection } = this.#around;
    const holds = async (): Promise<boolean> => (await this.#lease?.holds()) ?? false;
    const screen = (): Promise<ScreenStanding> => this.#around.book.screenOf(this.#deviceId);
    const shared = { nc, clock, logger, metrics, answerWithinMs, holds, screen, injection, link: this.#endpoint };
    const onUnknownTool = (): void => void (this.#toolWanted = true);
    return new CommandDesk({ ...shared, deviceId: this.#deviceId, sessionId, client, slots, onUnknownTool });
  }

  /** Between commands only: a foreign device does one thing after the other. */
  #askTools(): void {
    if (!this.#shown.isForeign || this.#desk === undefined || this.#desk.isBusy) return;
    const wanted = this.#toolWanted;
    this.#toolWanted = false;
    this.#endpoint.input({ kind: 'ask-tools', wanted });
  }

  /** Others see the tools of a foreign device as soon as it names them; everything else waits for the next renewal. */
  #told(telemetry: ClientTelemetry): void {
    this.#lease?.tell({ telemetry: this.#shown.of(telemetry) });
    if (!this.#shown.isForeign || this.#desk === undefined) return;
    this.#desk.tools = telemetry.tools;
    this.#renewAtMs = this.#around.clock.now();
    this.#around.logger.info(
      { deviceId: this.#deviceId, tools: telemetry.tools.length },
      'the device names other tools',
    );
  }

  #showAgain(): void {
    const telemetry = this.#lease && this.#shown.changed();
    if (telemetry !== undefined) this.#lease?.tell({ telemetry });
  }

  /** A bus that cannot be told now is told when it is back: the subscription is made again by the client. */
  async #open(): Promise<void> {
    try {
      await this.#desk?.open();
    } catch (error) {
      this.#around.logger.warn({ err: error, deviceId: this.#deviceId }, 'the bus does not confirm the desk yet');
    }
  }

  async #slots(asked: SlotsAsked): Promise<number> {
    try {
      return (await this.#around.book.slotsOf(asked)).slots;
    } catch (error) {
      this.#around.logger.warn({ err: error, deviceId: this.#deviceId }, 'profile not read, default slots');
      return asked.isForeign ? DEFAULTS.foreignTasksMax : DEFAULTS.deviceTasksMax;
    }
  }

  async #followSlots(desk: CommandDesk): Promise<void> {
    const { clock, book } = this.#around;
    try {
      const { slots, settled } = await book.slotsOf(desk.of);
      desk.slots = slots;
      if (!settled) this.#slotsAtMs = clock.now() + SLOTS_SOON_MS;
    } catch (error) {
      this.#around.logger.warn({ err: error, deviceId: this.#deviceId }, 'profile not read, slots stay');
    }
  }

  async #identify(credential: string): Promise<void> {
    try {
      const identity = await this.#events.identify(credential);
      this.#endpoint.input({ kind: 'identified', identity, error: 'the credential is not valid' });
    } catch (error) {
      this.#around.logger.warn({ err: error, deviceId: this.#deviceId }, 'nobody could say whose credential this is');
      const why = 'the credential cannot be checked now, try again';
      this.#endpoint.input({ kind: 'identified', identity: null, error: why });
    }
  }

  async #checkHold(ask: (lease: PresenceLease) => Promise<boolean>): Promise<void> {
    if (this.#lease === undefined || this.#isClosed) return;
    try {
      if ((await ask(this.#lease)) || this.#isClosed) return;
      this.#around.metrics.replaced();
      this.#endpoint.input({ kind: 'replaced' });
    } catch (error) {
      // The bus is away: the socket stays, and the next tick tries again.
      this.#around.logger.warn({ err: error, deviceId: this.#deviceId }, 'presence could not be checked');
    }
  }

  #closed({ code, reason }: Closed): void {
    const { logger, injection } = this.#around;
    const said = injection.maskedText(this.#deviceId, reason).slice(0, REASON_CHARS_MAX);
    logger.info({ deviceId: this.#deviceId, code, reason: said }, 'device disconnected');
    this.#events.ended(this);
    this.#socketGone.resolve();
  }

  /** Once, when the session is over, whether or not the socket is already closed. */
  async #leave(): Promise<void> {
    if (this.#desk !== undefined) {
      this.#desk.close();
      this.#around.metrics.unregistered();
    }
    try {
      await this.#lease?.release();
    } catch (error) {
      // The key expires by itself.
      this.#around.logger.warn({ err: error, deviceId: this.#deviceId }, 'presence not given back');
    }
    this.#left.resolve();
  }
}
