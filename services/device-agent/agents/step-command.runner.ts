import {
  COMMAND_REFUSALS,
  commandIdOf,
  DEFAULTS,
  isWorkspaceTool,
  type AgentProfile,
  type CommandCall,
  type CommandId,
  type CommandOutcome,
  type PolicyVerdict,
  type RunCommandRequest,
} from '#proto';
import type { CommandPolicy } from '#libs/command-policy';
import type { ShownPlace, ToolCalled } from '#libs/device-agent';
import type { AttemptLog } from '#libs/event-log';
import { mayRunCommand } from '#libs/llm';
import type { Clock } from '#libs/platform';
import {
  answeredEnd,
  commandEnded,
  NOT_SENT,
  refusedEnd,
  UNREADABLE,
  type CommandEnd,
  openCommands,
  type CommandRecord,
  Ends,
  callOutcome,
  type NextMove,
  askedForApproval,
  commandJudged,
  errorOf,
  type AskOrigin,
  grantedWall,
  judgedByDevice,
  wantsPerson,
  judgedIn,
} from '#libs/attempt';
import type { Slots } from '#libs/slots';
import { Halt, type AttemptSession } from '../live/index.js';
import { type CommandAnswer, type CommandRunner, sessionFor, type GatewayLink } from '../devices/index.js';
import { preparedCommand, type Artifacts, resultOf, shownPicture } from '../inputs/index.js';

export interface StepParts {
  readonly runner: CommandRunner;
  readonly device: GatewayLink;
  readonly policy: CommandPolicy;
  readonly attempts: AttemptLog;
  readonly artifacts: Artifacts;
  readonly inputBytesMax?: number;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly profile: (deviceId: string) => AgentProfile | undefined;
}

/** A command at its place in the attempt. */
export interface StepCall {
  readonly step: number;
  readonly index: number;
  readonly command: CommandCall;
  /** `requester`: the requester of the run wrote it, so nobody judges it. `plan`: an exact one that a model may have written. */
  readonly origin: 'agent' | 'verify' | 'plan' | 'requester';
  readonly asker: Pick<AskOrigin, 'agent' | 'thought' | 'plan'>;
  /** Its agent wants a person to confirm it. */
  readonly confirm?: true;
  /** What a person who is asked about it is shown. */
  readonly shows?: ShownPlace;
}

/**
 * Brings one command of an attempt from where its record ends to an outcome. Each move is recorded before anything follows
 * from it, so that after a crash the next process goes on with the next move:
 *
 *   judge ──deny──────────────────────────────────────────► refused
 *     ├──approve──► ask ──► wait ──approved──► issue        rejected, expired ──► refused
 *     │                       └──edited──► judge-edited ──► issue, or refused
 *     └──allow, log──► issue ──► run ──► finished, or refused by the device
 *                        ▲        └──its device wants a person to be asked──► ask, once
 *                        └────────────────────────────────────────approved──┘
 */
export class StepCommands {
  readonly #parts: StepParts;
  readonly #session: AttemptSession;
  /** Results that the device brought and that it was not told yet are stored. */
  readonly #untold = new Set<CommandId>();

  constructor(parts: StepParts, session: AttemptSession) {
    this.#parts = parts;
    this.#session = session;
  }

  /** Throws Halt when the attempt is not to go on, and Ends when its budget does not allow the command. */
  async carryOut(call: StepCall): Promise<ToolCalled> {
    const commandId = commandIdOf(this.#session.live.order.key, call.step, call.index);
    let fresh = false;
    for (;;) {
      const record = this.#session.book.commands.get(commandId);
      const now = record === undefined ? 'judge' : callOutcome(record);
      if (typeof now !== 'string') {
        // A foreign device that has left does not go on where it was: neither does who works on it.
        if (call.step > 0 && record !== undefined && hasLeft(record)) throw new Halt('lost');
        return now;
      }
      if (now === 'run' && record !== undefined) {
        await this.#run(record, !fresh);
        continue;
      }
      const move = now === 'judge' && call.origin === 'requester' ? 'issue' : now;
      fresh = move === 'issue';
      await this.#move(move, call, commandId);
    }
  }

  async #move(move: NextMove, call: StepCall, commandId: CommandId): Promise<void> {
    const session = this.#session;
    if (move !== 'wait') session.check();
    switch (move) {
      case 'judge':
        return this.#judge(call, commandId, call.command);
      case 'judge-edited':
        return this.#judge(
          call,
          commandId,
          session.book.commands.get(commandId)?.decided?.command ?? call.command,
          true,
        );
      case 'ask':
        return this.#askPerson(call, commandId);
      case 'wait':
        return this.waitForPerson(commandId);
      default:
        return this.#issue(call, commandId);
    }
  }

  #judge({ step, index, origin, confirm }: StepCall, commandId: CommandId, command: CommandCall, edited = false): void {
    const { policy } = this.#parts;
    const { start } = this.#session.live.order;
    const mode = start.approval ?? 'policy';
    const profile = this.#parts.profile(start.deviceId);
    const judging = {
      policy,
      profile,
      deviceId: start.deviceId,
      mode: edited ? ('policy' as const) : mode,
      confirm: confirm === true && !edited,
    };
    const judged = judgedIn(judging, command);
    const from = edited ? 'person' : origin === 'requester' ? 'agent' : origin;
    this.#session.record(commandJudged({ step, index, commandId, command }, judged, from, policy.hash));
  }

  async #askPerson({ step, asker, shows }: StepCall, commandId: CommandId): Promise<void> {
    const judged = this.#session.book.commands.get(commandId)?.judged.at(-1);
    if (judged === undefined) throw new Error(`${commandId} was never judged`);
    const { runId } = this.#session.live.order.key;
    const picture =
      shows === undefined ? undefined : await shownPicture(shows, { runId, artifacts: this.#parts.artifacts });
    this.#session.check();
    this.#session.record(askedForApproval({ ...asker, ...this.askShape(step) }, judged, picture));
    await this.#session.flush('ask');
  }

  /** What every question to a person says: whose it is, and until when an answer helps. */
  askShape(step: number): Pick<AskOrigin, 'deviceId' | 'step' | 'expiresAt'> {
    const { deviceId, timeoutAt } = this.#session.live.order.start;
    const expires = Math.min(this.#parts.clock.now() + DEFAULTS.approvalMs, Date.parse(timeoutAt));
    return { deviceId, step, expiresAt: new Date(expires).toISOString() };
  }

  /** Gives the slot back meanwhile: a person may take a quarter of an hour. */
  async waitForPerson(commandId: CommandId): Promise<void> {
    const session = this.#session;
    const decided = () => (session.book.commands.get(commandId)?.decided ?? null) !== null;
    await this.#parts.slots.without(session.live.halted, async () => {
      for (;;) {
        const { news } = session.live;
        this.#parts.runner.noticeLoss(session.live);
        await session.refresh();
        session.check();
        if (decided()) return;
        await news;
      }
    });
  }

  async #issue({ step, index, command }: StepCall, commandId: CommandId): Promise<void> {
    const session = this.#session;
    const { start } = session.live.order;
    const exhausted = isWorkspaceTool(command.tool) ? null : mayRunCommand(start.budget ?? {}, session.book.used);
    if (exhausted !== null) throw new Ends({ kind: 'failed', ...exhausted });
    const record = session.book.commands.get(commandId);
    const approvalId = record?.decided?.approvalId;
    const issued = record?.judged.at(-1)?.command ?? command;
    // What the device has answered is not kept any more: it is asked anew, and looks again.
    if (record?.judged.some(({ origin }) => origin === 'device') === true)
      this.#parts.device.tell({ kind: 'stored', commandId, deviceId: start.deviceId });
    // What can never be sent is not issued.
    await this.#delivered(commandId, issued);
    session.check();
    session.record({
      type: 'COMMAND_ISSUED',
      data: {
        step,
        index,
        commandId,
        command: issued,
        deviceId: start.deviceId,
        ...sessionFor(this.#parts.profile(start.deviceId), start),
        notAfter: start.timeoutAt,
        ...(approvalId !== undefined && { approvalId }),
      },
    });
    await session.flush();
  }

  /** `before`: this or another process may have asked for it before. */
  async #run(record: CommandRecord, before: boolean): Promise<void> {
    const session = this.#session;
    const asked = await this.#parts.runner.run(session.live, await this.#request(record), before);
    if (asked.kind === 'answered' && wantsPerson(record, asked.outcome, session.live))
      return this.#judgedByDevice(record, asked.outcome);
    const end = await this.#endOf(asked);
    if (end !== null) session.record(commandEnded(record, end));
    if (asked.kind === 'interrupted') throw new Halt(asked.why);
    if (asked.kind === 'answered') this.tellLater(record.commandId);
    await session.flush();
    this.tellStored();
  }

  /** It never ran: the words of the device take the place of the order, and are what a person is shown. */
  #judgedByDevice({ judged, commandId }: CommandRecord, outcome: CommandOutcome): void {
    const last = judged.at(-1);
    if (last === undefined) throw new Error(`${commandId} was never judged`);
    this.#session.record(commandJudged(last, judgedByDevice(last, outcome), 'device', last.policyHash));
  }

  /** What may be running when the attempt is stopped: the device is told, and says what became of it. */
  async settleOpen(): Promise<void> {
    for (const record of openCommands(this.#session.book)) await this.#run(record, true);
  }

  /** The device is told as soon as its result is stored. */
  tellLater(commandId: CommandId): void {
    this.#untold.add(commandId);
  }

  /** The results are in the log: the device's journal may forget them. */
  tellStored(): void {
    const { deviceId } = this.#session.live.order.start;
    for (const commandId of this.#untold) this.#parts.device.tell({ kind: 'stored', commandId, deviceId });
    this.#untold.clear();
  }

  async #endOf(asked: CommandAnswer): Promise<CommandEnd | null> {
    switch (asked.kind) {
      case 'answered':
        return answeredEnd(asked.outcome, await resultOf(asked.outcome, this.#parts.artifacts));
      case 'refused':
        return refusedEnd(asked.code, asked.message);
      case 'not-sent':
        return NOT_SENT;
      case 'unreadable':
        return UNREADABLE;
      default:
        return asked.why === 'lost' && !asked.sent ? NOBODY_ASKED : null;
    }
  }

  /** The exact command of a task may take the outputs of others, which are put in on the way only: they are no part of what was judged. */
  async #delivered(commandId: CommandId, command: CommandCall): Promise<CommandCall> {
    const { order } = this.#session.live;
    if (commandId !== commandIdOf(order.key)) return command;
    const prepared = await preparedCommand({ ...order, start: { ...order.start, command } }, this.#parts);
    if (prepared.kind === 'ready') return prepared.command;
    throw new Ends({ ...prepared, kind: 'failed' });
  }

  async #request(record: CommandRecord): Promise<RunCommandRequest> {
    const { commandId, judged, issued } = record;
    if (issued === null) throw new Error(`${commandId} was never issued`);
    const { key, start } = this.#session.live.order;
    const { deviceId, sessionId, journalId, notAfter, approvalId } = issued;
    const command = await this.#delivered(commandId, issued.command);
    const last = judged.at(-1);
    const wall = approvalId === undefined ? undefined : grantedWall(record);
    return {
      kind: 'run',
      commandId,
      attempt: key,
      deviceId,
      sessionId,
      journalId,
      command,
      ...(last !== undefined && { judged: { ...judgedOf(last), ...(approvalId !== undefined && { approvalId }) } }),
      ...(wall !== undefined && { wall }),
      ...(start.workspace && { workspace: start.workspace, startedAt: start.startedAt }),
      priority: start.priority,
      notAfter,
    };
  }
}

const GONE: readonly string[] = [COMMAND_REFUSALS.outcomeUnknown, COMMAND_REFUSALS.notSent];

/** The session of a device without a journal in which the command was sent, or was to be sent, is over. */
const hasLeft = ({ issued, finished }: CommandRecord): boolean =>
  issued?.journalId === null && GONE.includes(finished?.error?.code ?? '');

const NOBODY_ASKED: CommandEnd = {
  ...NOT_SENT,
  error: errorOf({ code: 'DEVICE_LOST', message: 'the device was lost before it was sent', outcome: 'device_lost' }),
};

const judgedOf = ({ class: commandClass, decision, rule }: PolicyVerdict) => ({ class: commandClass, decision, rule });
