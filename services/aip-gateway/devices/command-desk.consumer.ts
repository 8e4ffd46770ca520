import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { commandMessage, CommandTable, dialectOf, dialectProblem, digestOf, isOwnWord, withoutResult } from '#libs/aip';
import type {
  OpenAtDevice,
  OutgoingCommand,
  OutputPiece,
  RegisteredClient,
  TableEffect,
  WorkspaceMessage,
} from '#libs/aip';
import { EXEC_CLI, isExecAliased } from '#libs/constellation';
import { isAsked, putArtifact, query } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import {
  instantOf,
  AIP_LIMITS,
  COMMAND_REFUSALS,
  DeviceRequest,
  isForScreen,
  parseWith,
  sentenceOf,
  subjects,
  HAS_WORKSPACES,
  TAKES_STDIN_FILES,
  attemptOfCommand,
  type CommandId,
  type CommandOutcome,
  type DeviceAnswer,
  type DeviceId,
  type ServerMessage,
  type SessionId,
  type CommandCall,
  type RunCommandRequest,
  type ToolInfo,
} from '#proto';
import { Callers } from './callers.adapter.js';
import { aliasedCall, execOutcome, type Aliased } from './exec-alias.js';
import type { GatewayMetrics } from '../connection/index.js';
import { GuestLooks } from './guest-looks.js';
import { LiveOutput } from './live-output.adapter.js';
import type { ParameterInjection } from './parameter-injection.js';
import type { SlotsAsked } from './presence.client.js';
import { LOOK_AGAIN, ScreenDoor, type ScreenStanding } from './screen-door.js';
import { isPicture, withPicture } from './screen-pictures.adapter.js';
import { WorkspaceDesk } from './workspace-desk.adapter.js';

/** The device's end, as far as the desk has to know it. */
export interface DeskLink {
  /** `lost` is called when no byte of it was handed to the socket, and none will be. */
  say(message: ServerMessage, lost?: () => void): void;
  readonly congested: boolean;
}

export interface DeskOptions {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  /** How long a caller waits for the outcome before it is told that the command is queued or running. */
  readonly answerWithinMs: number;
  readonly link: DeskLink;
  readonly deviceId: DeviceId;
  readonly sessionId: SessionId;
  readonly client: RegisteredClient;
  /** Commands that may be at the device at once. */
  readonly slots: number;
  /** Whether PRESENCE still holds this session, read now. */
  readonly holds: () => Promise<boolean>;
  /** Who has the screen of the device, read now. */
  readonly screen: () => Promise<ScreenStanding>;
  /** Of a foreign client: what its tools want beside what a command says. */
  readonly injection: ParameterInjection;
  /** A command was refused because the device has not named its tool. */
  readonly onUnknownTool?: () => void;
}

/** Takes the commands for one device while its session lasts: requests on the bus, frames to the device, answers back. */
export class CommandDesk {
  readonly #options: DeskOptions;
  readonly #table: CommandTable;
  readonly #callers: Callers;
  readonly #output: LiveOutput;
  readonly #workspaces: WorkspaceDesk;
  readonly #door = new ScreenDoor();
  /** Of a client that compares nothing itself. */
  readonly #guest: GuestLooks | undefined;
  /** Commands for the screen whose callers wait for it, or for a place at the device. */
  readonly #kept = new Set<CommandId>();
  #askAtMs = 0;
  /** EXEC_CLI is another tool there; when commands of that name were sent. */
  #isAliased = false;
  readonly #aliasedAtMs = new Map<CommandId, number>();
  #subscription: Subscription | undefined;
  #inquiries: Subscription | undefined;
  #closed = false;

  constructor(options: DeskOptions) {
    const { sessionId, slots, client, answerWithinMs } = options;
    const { journalId, revision, telemetry, toolsKnown } = client;
    const takesStdinFiles = revision !== null && telemetry.capabilities.includes(TAKES_STDIN_FILES);
    this.#options = options;
    const hasWorkspaces = revision !== null && telemetry.capabilities.includes(HAS_WORKSPACES);
    this.#table = new CommandTable({ sessionId, journalId, slots, tools: undefined, takesStdinFiles, hasWorkspaces });
    this.#workspaces = new WorkspaceDesk({ isKept: hasWorkspaces, say: (message) => this.#send(message) });
    if (toolsKnown) this.tools = telemetry.tools;
    this.#callers = new Callers(answerWithinMs, (commandId) => this.#table.stateOf(commandId) ?? { state: 'queued' });
    this.#output = new LiveOutput(options);
    this.#guest = revision === null ? new GuestLooks() : undefined;
  }

  /** Whose commands these are. */
  get of(): SlotsAsked {
    const { deviceId, sessionId, client } = this.#options;
    return { deviceId, sessionId, isForeign: client.journalId === null };
  }

  /** What the device names now; an empty list forbids nothing: a tool server that is not up yet has no tools, and the device says so for it. */
  set tools(named: readonly ToolInfo[]) {
    const tools = named.length > 0 ? new Set(named.map(({ name }) => name)) : undefined;
    this.#isAliased = this.#options.client.revision === null && isExecAliased(named);
    if (this.#isAliased) tools?.add(EXEC_CLI);
    this.#table.tools = tools;
  }

  /** Commands that may be at the device at once. */
  set slots(slots: number) {
    this.#table.slots = slots;
    this.sendNext();
  }

  /** These run at the device from before this connection. */
  takeOver(running: readonly CommandId[]): void {
    this.#table.takeOver(running);
  }

  /** A command that was sent to the device in this session and has no outcome yet; undefined for every other id. */
  openCommand(commandId: CommandId): OpenAtDevice | undefined {
    return this.#closed ? undefined : this.#table.openCommand(commandId);
  }

  /** Resolves when the bus knows that requests for the device come here. */
  async open(): Promise<void> {
    const { nc, deviceId, logger } = this.#options;
    this.#subscription = nc.subscribe(subjects.deviceCommand(deviceId), {
      callback: (error, message) => {
        if (error !== null) logger.error({ err: error, deviceId }, 'commands cannot be received');
        else if (isAsked(message)) this.#receive(message);
      },
    });
    // Only without a journal does it matter afterwards what was sent: with one, the device is asked.
    if (this.#options.client.journalId === null) this.#inquiries = this.#listenForInquiries();
    await nc.flush();
  }

  /** Answers everybody who waits; who asks afterwards finds nobody here. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscription?.unsubscribe();
    this.#perform(this.#table.close());
    this.#callers.close();
    this.#workspaces.close();
    const inquiries = this.#inquiries;
    if (inquiries !== undefined) setTimeout(() => inquiries.unsubscribe(), AIP_LIMITS.endedSessionMs).unref();
  }

  /** What was sent in this session, for as long as somebody may ask after its end. */
  #listenForInquiries(): Subscription {
    const { nc, deviceId, sessionId, logger } = this.#options;
    return nc.subscribe(subjects.deviceSession(deviceId, sessionId), {
      callback: (error, message) => {
        if (error !== null) return logger.error({ err: error, deviceId }, 'inquiries cannot be received');
        if (!isAsked(message)) return;
        const request = parseRequest(message);
        if (!request.ok) return respond(message, invalid(request.error));
        const { value } = request;
        if (value.kind !== 'sent' || value.sessionId !== sessionId) return respond(message, invalid('no such inquiry'));
        const { commandId, notAfter } = value;
        respond(message, this.#closed ? this.#table.answerAfterEnd(commandId, Date.parse(notAfter)) : RUNNING);
      },
    });
  }

  /** What the device says of the workspaces of runs. */
  workspaces(said: WorkspaceMessage): void {
    this.#workspaces.take(said);
  }

  started(commandId: CommandId): void {
    this.#table.started(commandId);
  }

  finished(commandId: CommandId, outcome: CommandOutcome, bytes: number): void {
    const { client, deviceId, injection } = this.#options;
    const masked = client.revision === null ? injection.masked(deviceId, outcome) : outcome;
    const tool = client.revision === null ? (this.openCommand(commandId)?.command?.tool ?? '') : '';
    if (isPicture(tool, masked)) return void this.#keepPicture(commandId, tool, { outcome: masked, bytes });
    const own = this.#execOutcome(commandId, masked);
    this.#finish(commandId, { outcome: own, bytes });
  }

  /** The device does nothing meanwhile, and its command stays open until the picture is kept. */
  async #keepPicture(commandId: CommandId, tool: string, { outcome, bytes }: Finished): Promise<void> {
    const { nc, logger } = this.#options;
    const store = { put: (content: Uint8Array) => putArtifact(nc, content) };
    const kept = await withPicture(tool, outcome, { runId: attemptOfCommand(commandId)?.runId, store, logger });
    if (!this.#closed) this.#finish(commandId, { outcome: kept, bytes });
  }

  #finish(commandId: CommandId, { outcome, bytes }: Finished): void {
    const fitting = this.#door.ended(commandId, this.#fitting(outcome));
    const nowMs = this.#options.clock.now();
    const command = this.openCommand(commandId)?.command ?? null;
    const isOwnLook = command !== null && this.#guest?.ended({ commandId, command }, fitting, nowMs) === true;
    this.#perform(this.#table.finish(commandId, { outcome: fitting, bytes }, nowMs));
    if (isOwnLook) this.#perform(this.#table.stored(commandId));
    this.sendNext();
    this.#askAgain();
  }

  /** A command is at the device. */
  get isBusy(): boolean {
    return this.#table.isBusy;
  }

  /** The device executes one command after the other: what was too large to be taken is the answer to the oldest it has. */
  refusedResult(bytes: number): void {
    const message = `the device answered with ${bytes} bytes, and at most ${AIP_LIMITS.largeFrameBytesMax} are taken`;
    this.#perform(this.#table.failOldest(withoutResult('FAILED', 'RESULT_TOO_LARGE', message)));
  }

  #execOutcome(commandId: CommandId, outcome: CommandOutcome): CommandOutcome {
    const sentAtMs = this.#aliasedAtMs.get(commandId);
    const command = this.openCommand(commandId)?.command ?? null;
    this.#aliasedAtMs.delete(commandId);
    if (sentAtMs === undefined || command === null) return outcome;
    return execOutcome(outcome, { command, sentAtMs, nowMs: this.#options.clock.now() });
  }

  /** Only of a command that somebody has given to this device, and that runs: a device may say any id. */
  output(commandId: CommandId, piece: OutputPiece): void {
    const isGiven = (this.openCommand(commandId)?.command ?? null) !== null;
    this.#options.metrics.output(isGiven && this.#output.publish(commandId, piece) ? 'published' : 'left out');
  }

  tick(nowMs: number): void {
    if (this.#closed) return;
    if (this.#kept.size > 0 && nowMs >= this.#askAtMs) this.#askAgain();
    if (this.#table.isIdle) return;
    this.#perform(this.#table.tick(nowMs));
    this.sendNext();
  }

  /** Sends what may be sent, unless the device takes its frames more slowly than they come. */
  sendNext(): void {
    if (this.#closed || this.#options.link.congested) return;
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
        return value.sessionId === sessionId ? this.#let(message, value) : void this.#admitIfHeld(message, value);
      case 'stop':
        this.#perform(this.#table.stop(value.attempt, clock.now()));
        this.sendNext();
        this.#askAgain();
        // The device-agent that hears this sends the command again: it must have been said where that will arrive.
        return void this.#ifHeld(value.kind, () => respond(message, { state: 'done' }));
      case 'stored':
        this.#perform(this.#table.stored(value.commandId));
        return respond(message, { state: 'done' });
      case 'forget':
      case 'workspaces':
        return this.#workspaces.ask(message, value, clock.now());
      case 'sent':
        return respond(message, invalid('asked of a device, and not of a session'));
    }
  }

  /** Asked for another session: an older one, or a newer one that we have not heard of, and then nobody may be answered here. */
  #admitIfHeld(message: Msg, request: RunCommandRequest): Promise<void> {
    return this.#ifHeld(request.commandId, () => this.#let(message, request));
  }

  #let(message: Msg, request: RunCommandRequest): void {
    const isNew = !this.#table.knows(request);
    if (isNew && isForScreen(request.command)) void this.#letToScreen(message, request);
    else this.#admit(message, request);
  }

  /** Who has the screen is read for each command, and what may pass is sent at once or not taken yet: nothing for it waits here that was let through before a person came. */
  async #letToScreen(message: Msg, request: RunCommandRequest): Promise<void> {
    const { deviceId, link, logger, screen } = this.#options;
    const standing = await screen().catch((err: unknown) => {
      logger.warn({ err, deviceId }, 'who has the screen could not be read, its commands wait');
      return null;
    });
    if (this.#closed) return;
    const isOver = this.#table.knows(request) || Date.parse(request.notAfter) <= this.#options.clock.now();
    if (isOver) return this.#admit(message, request);
    const isRoom = this.#table.hasRoom && !link.congested;
    const passage = standing === null || !isRoom ? 'wait' : this.#door.judge(request, standing);
    // What may have reached the device in another session is a question to its journal.
    const isFirst = request.sessionId === this.#options.sessionId;
    if (passage === 'pass') return isFirst ? this.#letToGuest(message, request) : this.#admit(message, request);
    if (passage === 'look-again' && !isFirst)
      return this.#admit(message, this.#door.onlyIfBegun(request, this.#options.clock.now()));
    if (passage === 'look-again') return respond(message, { state: 'finished', outcome: LOOK_AGAIN });
    this.#keep(message, request.commandId);
  }

  /** A foreign client is sent nothing about what it has not listed so; its answer to a listing that comes first has the caller ask again. */
  #letToGuest(message: Msg, request: RunCommandRequest): void {
    const nowMs = this.#options.clock.now();
    const passage = this.#guest?.judge(request, nowMs) ?? { kind: 'pass' };
    if (passage.kind === 'pass') return this.#admit(message, request);
    if (passage.kind === 'answer') return respond(message, { state: 'finished', outcome: passage.outcome });
    const { command, commandId } = passage;
    const look = { ...request, command, commandId, judged: undefined };
    const answer = this.#table.admit({ request: look, digest: digestOf(command), bytes: 0 }, nowMs);
    if (answer !== null) return respond(message, answer);
    this.#keep(message, request.commandId);
    this.sendNext();
  }

  #keep(message: Msg, commandId: CommandId): void {
    if (this.#kept.size === 0) this.#askAtMs = this.#options.clock.now() + KEPT_MS;
    this.#kept.add(commandId);
    this.#callers.add(commandId, message);
  }

  /** Who waits for the screen asks again: there may be a place by now, or nobody who has it. */
  #askAgain(): void {
    for (const commandId of this.#kept) this.#callers.answer(commandId, { state: 'queued' });
    this.#kept.clear();
  }

  /** For what only the session that counts may say or do; any other is silent, so that one is heard. */
  async #ifHeld(what: string, act: () => void): Promise<void> {
    try {
      if ((await this.#options.holds()) && !this.#closed) act();
    } catch (error) {
      this.#options.logger.warn({ err: error, what }, 'the session could not be checked');
    }
  }

  #admit(message: Msg, request: RunCommandRequest): void {
    const { clock, metrics } = this.#options;
    const { commandId, command } = request;
    const aliased = this.#aliased(command);
    const problem = aliased?.ok === false ? aliased.message : this.#unsendable(command);
    if (problem !== null) return respond(message, invalid(problem));
    const admission = { request, digest: digestOf(command), bytes: message.data.length };
    const answer = this.#table.admit(admission, clock.now());
    // `queued` from here means that there is no room: the caller waits like the others and then asks again.
    if (answer === null || answer.state === 'queued') this.#callers.add(commandId, message);
    else if (isOwnWord(answer)) void this.#ifHeld(commandId, () => respond(message, answer));
    else respond(message, answer);
    if (answer?.state === 'refused') {
      metrics.answered(answer, null);
      if (answer.code === COMMAND_REFUSALS.unknownTool) this.#options.onUnknownTool?.();
    }
    this.sendNext();
  }

  #perform(effects: readonly TableEffect[]): void {
    const { clock, sessionId, metrics } = this.#options;
    for (const effect of effects) {
      const nowMs = clock.now();
      switch (effect.kind) {
        case 'send':
          this.#options.link.say(this.#commandMessage(effect.command, { sessionId, nowMs }), () =>
            this.#table.unsent(effect.command.commandId),
          );
          break;
        case 'stop':
          this.#send({ ...OK, type: 'stop_attempt', timestamp: instantOf(nowMs), orrery: { attempt: effect.attempt } });
          break;
        case 'stored':
          this.#send({ ...OK, type: 'result_stored', orrery: { command_id: effect.commandId } });
          break;
        case 'deliver':
          void this.#deliver(effect.commandId, effect.outcome);
          break;
        case 'answered':
          this.#answer(effect.commandId, effect.answer);
          metrics.answered(effect.answer, effect.sentAtMs === null ? null : nowMs - effect.sentAtMs);
          break;
      }
    }
  }

  /** At its end a desk says what it knows at once: of a device without a journal no other session will say it. */
  #answer(commandId: CommandId, answer: DeviceAnswer): void {
    const say = (): void => this.#callers.answer(commandId, answer);
    if (this.#closed || !isOwnWord(answer)) say();
    else void this.#ifHeld(commandId, say);
  }

  /** Hands over a result that nobody asks for; the table says when it is tried again. */
  async #deliver(commandId: CommandId, outcome: CommandOutcome): Promise<void> {
    const { nc, clock, logger, metrics, deviceId } = this.#options;
    const request = { deviceId, commandId, outcome };
    const state = await query(nc, 'device-agent', 'deliver', request, { timeoutMs: DELIVER_MS }).then(
      (answer) => answer.state,
      (error: unknown) => {
        logger.warn({ err: error, deviceId, commandId }, 'a result that nobody asks for was not taken');
        return null;
      },
    );
    metrics.delivered(state);
    if (!this.#closed) this.#perform(this.#table.delivered(commandId, state, clock.now()));
  }

  /** Why a client that is not one of ours is not sent this call. */
  #unsendable(command: CommandCall): string | null {
    const { client } = this.#options;
    return client.revision === null ? dialectProblem(dialectOf(client), command) : null;
  }

  #aliased(command: CommandCall): Aliased | undefined {
    return this.#isAliased && command.tool === EXEC_CLI ? aliasedCall(command) : undefined;
  }

  /** What is injected stands in this frame and nowhere else: the digest, the table and the bus know the command as it was given. */
  #commandMessage(
    given: OutgoingCommand,
    { sessionId, nowMs }: { readonly sessionId: SessionId; readonly nowMs: number },
  ): ServerMessage {
    const { client, deviceId, injection } = this.#options;
    const { revision } = client;
    const aliased = this.#aliased(given.command);
    if (aliased?.ok === true) this.#aliasedAtMs.set(given.commandId, nowMs);
    const called = aliased?.ok === true ? aliased.command : given.command;
    const command = revision === null ? injection.injected(deviceId, called) : called;
    return commandMessage({ ...given, command }, { sessionId, revision, dialect: dialectOf(client) }, nowMs);
  }

  #send(message: ServerMessage): void {
    this.#options.link.say(message);
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

interface Finished {
  readonly outcome: CommandOutcome;
  readonly bytes: number;
}

/** Who waits for the screen asks again after so long: nobody tells a gateway that a person has handed it back. */
const KEPT_MS = 1_000;
const OK = { status: 'ok' } as const;
/** The session goes on. */
const RUNNING: DeviceAnswer = { state: 'running' };
/** The device-agent reads the run and writes at most one commit. */
const DELIVER_MS = 5_000;
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
