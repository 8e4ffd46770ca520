import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { commandMessage, CommandTable, digestOf, instantOf } from '#libs/aip';
import type { RegisteredClient, TableEffect, Transport } from '#libs/aip';
import type { Clock } from '#libs/platform';
import { COMMAND_REFUSALS, DeviceRequest, parseWith, sentenceOf, subjects } from '#proto';
import type { CommandId, CommandOutcome, DeviceAnswer, DeviceId, ServerMessage, SessionId } from '#proto';
import type { RunCommandRequest } from '#proto';
import { Callers } from './callers.adapter.js';
import type { GatewayMetrics } from './gateway-metrics.adapter.js';

export interface DeskOptions {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  /** How long a caller waits for the outcome before it is told that the command is queued or running. */
  readonly answerWithinMs: number;
  readonly transport: Transport;
  readonly deviceId: DeviceId;
  readonly sessionId: SessionId;
  readonly client: RegisteredClient;
  /** Commands that may be at the device at once. */
  readonly slots: number;
  /** Whether PRESENCE still holds this session, read now. */
  readonly holds: () => Promise<boolean>;
}

/** Takes the commands for one device while its session lasts: requests on the bus, frames to the device, answers back. */
export class CommandDesk {
  readonly #options: DeskOptions;
  readonly #table: CommandTable;
  readonly #callers: Callers;
  #subscription: Subscription | undefined;
  #closed = false;

  constructor(options: DeskOptions) {
    const { sessionId, slots, client, answerWithinMs } = options;
    const { journalId, telemetry, toolsKnown } = client;
    const tools = toolsKnown ? new Set(telemetry.tools.map(({ name }) => name)) : undefined;
    this.#options = options;
    this.#table = new CommandTable({ sessionId, journalId, slots, tools });
    this.#callers = new Callers(answerWithinMs, (commandId) => this.#table.stateOf(commandId) ?? { state: 'queued' });
  }

  /** Resolves when the bus knows that requests for the device come here. */
  async open(): Promise<void> {
    const { nc, deviceId, logger } = this.#options;
    this.#subscription = nc.subscribe(subjects.deviceCommand(deviceId), {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
        else logger.error({ err: error, deviceId }, 'commands cannot be received');
      },
    });
    await nc.flush();
  }

  /** Answers everybody who waits; who asks afterwards finds nobody here. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscription?.unsubscribe();
    this.#perform(this.#table.close());
  }

  started(commandId: CommandId): void {
    this.#table.started(commandId);
  }

  finished(commandId: CommandId, outcome: CommandOutcome, bytes: number): void {
    this.#perform(this.#table.finish(commandId, this.#fitting(outcome), bytes));
    this.sendNext();
  }

  tick(nowMs: number): void {
    if (this.#table.openCount === 0) return;
    this.#perform(this.#table.tick(nowMs));
    this.sendNext();
  }

  /** Sends what may be sent, unless the device takes its frames more slowly than they come. */
  sendNext(): void {
    if (this.#closed || this.#options.transport.congested) return;
    this.#perform(this.#table.next(this.#options.clock.now()));
  }

  #receive(message: Msg): void {
    const request = parseRequest(message);
    if (!request.ok) return respond(message, invalid(request.error));
    const { value } = request;
    const { deviceId, sessionId, clock } = this.#options;
    if (value.deviceId !== deviceId) return respond(message, invalid('the request names another device'));
    switch (value.kind) {
      case 'run':
        return value.sessionId === sessionId ? this.#admit(message, value) : void this.#admitIfHeld(message, value);
      case 'stop':
        this.#perform(this.#table.stop(value.attempt, clock.now()));
        this.sendNext();
        return respond(message, { state: 'done' });
      case 'stored':
        this.#perform(this.#table.stored(value.commandId));
        return respond(message, { state: 'done' });
    }
  }

  /** Asked for another session: an older one, or a newer one that we have not heard of, and then nobody may be answered here. */
  async #admitIfHeld(message: Msg, request: RunCommandRequest): Promise<void> {
    try {
      if ((await this.#options.holds()) && !this.#closed) this.#admit(message, request);
    } catch (error) {
      this.#options.logger.warn({ err: error, commandId: request.commandId }, 'the session could not be checked');
    }
  }

  #admit(message: Msg, request: RunCommandRequest): void {
    const { clock, metrics } = this.#options;
    const { commandId, command } = request;
    const admission = { request, digest: digestOf(command), bytes: message.data.length };
    const answer = this.#table.admit(admission, clock.now());
    // `queued` from here means that there is no room: the caller waits like the others and then asks again.
    if (answer === null || answer.state === 'queued') this.#callers.add(commandId, message);
    else respond(message, answer);
    if (answer?.state === 'refused') metrics.answered(answer, null);
    this.sendNext();
  }

  #perform(effects: readonly TableEffect[]): void {
    const { clock, client, sessionId, metrics } = this.#options;
    for (const effect of effects) {
      const nowMs = clock.now();
      switch (effect.kind) {
        case 'send':
          this.#send(commandMessage(effect.command, { sessionId, revision: client.revision }, nowMs));
          break;
        case 'stop':
          this.#send({ ...OK, type: 'stop_attempt', timestamp: instantOf(nowMs), orrery: { attempt: effect.attempt } });
          break;
        case 'stored':
          this.#send({ ...OK, type: 'result_stored', orrery: { command_id: effect.commandId } });
          break;
        case 'answered':
          this.#callers.answer(effect.commandId, effect.answer);
          metrics.answered(effect.answer, effect.sentAtMs === null ? null : nowMs - effect.sentAtMs);
          break;
      }
    }
  }

  #send(message: ServerMessage): void {
    this.#options.transport.send(JSON.stringify(message));
  }

  /** An answer that the bus cannot carry would leave the caller asking for ever. */
  #fitting(outcome: CommandOutcome): CommandOutcome {
    const bytesMax = (this.#options.nc.info?.max_payload ?? BUS_BYTES_MAX_DEFAULT) - ENVELOPE_BYTES;
    const bytes = Buffer.byteLength(JSON.stringify(outcome));
    if (bytes <= bytesMax) return outcome;
    const message = `the answer has ${bytes} bytes, more than the bus carries`;
    return {
      ...outcome,
      state: 'FAILED',
      result: null,
      error: { code: 'RESULT_TOO_LARGE', message, outcome: 'failed' },
    };
  }
}

const OK = { status: 'ok' } as const;
/** What every server carries. */
const BUS_BYTES_MAX_DEFAULT = 1024 * 1024;
/** Room for what the bus puts around an answer. */
const ENVELOPE_BYTES = 1_024;

const respond = (message: Msg, answer: DeviceAnswer): void => void message.respond(JSON.stringify(answer));

const invalid = (message: string): DeviceAnswer => ({ state: 'refused', code: COMMAND_REFUSALS.invalid, message });

type ParsedRequest =
  { readonly ok: true; readonly value: DeviceRequest } | { readonly ok: false; readonly error: string };

function parseRequest(message: Msg): ParsedRequest {
  try {
    const parsed = parseWith(DeviceRequest, message.json());
    return parsed.ok ? parsed : { ok: false, error: parsed.issues.map(sentenceOf).join('; ') };
  } catch {
    return { ok: false, error: 'not JSON' };
  }
}
