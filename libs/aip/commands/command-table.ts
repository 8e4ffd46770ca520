import { AIP_LIMITS, attemptOfCommand, isWorkspaceTool, LIMITS, StdinParts, workspaceCommandIdOf } from '#proto';
import type { AttemptKey, CommandId, CommandOutcome, DeviceAnswer, RunCommandRequest, RunId } from '#proto';
import {
  CANCELLED,
  CONFLICT_REFUSED,
  EXPIRED,
  inputUnavailable,
  NO_WORKSPACES,
  NOBODY_KNOWS,
  notOfSystem,
  UNSENT_REFUSED,
  TOO_LARGE,
  UNKNOWN_ANSWER,
  unknownTool,
} from './command-answers.js';
import type {
  CommandAdmission,
  Answered,
  CommandTableOptions,
  OpenAtDevice,
  Reported,
  TableEffect,
} from './command-effects.js';
import { chooseNext } from './command-queue.js';
import { UnclaimedResults } from './unclaimed.js';

/*
 * The commands of one session. An id is answered finally once; what the device did decides, not what was asked last.
 *
 *   admit --> queued --> sent --> running --> finished --stored--> remembered as sent
 *                \--notAfter: refused  |  ^        \--nobody asks: deliver
 *                 \--stop: CANCELLED   |  takeOver: it runs from before this connection
 *                                      \--session closed: the journal's device answers the repeat,
 *                                         a device without one gives OUTCOME_UNKNOWN, or NOT_SENT for what was queued
 *
 * Deterministic: no clock, no waiting, no I/O. Its maps are its own, so a session of a thousand commands stays cheap.
 */

/** After a stop the device has this long; then the table waits no more. Twice the grace: the device-agent gives up first. */
const GIVE_UP_MS = 2 * LIMITS.stopGraceMs;

/** A command that has no outcome yet. */
interface OpenCommand {
  readonly commandId: CommandId;
  readonly runId: RunId;
  readonly attempt: AttemptKey;
  readonly priority: number;
  /** Null for one that was taken over and not asked for here yet. */
  asked: Asked | null;
  /** May have been sent before: only the device's journal knows, so it is asked whatever the time. */
  readonly again: boolean;
  state: 'queued' | 'sent' | 'running';
  sentAtMs: number | null;
  /** Set by a stop: when the table no longer waits for the device. */
  giveUpAtMs: number | null;
}

/** What somebody has asked for. */
interface Asked {
  readonly request: RunCommandRequest;
  readonly digest: string;
  readonly notAfterMs: number;
}

interface Finished {
  /** The outcome as JSON: parsed, a hostile one takes nine times its bytes. */
  readonly text: string;
  /** Null for a result that came without being asked for in this session. */
  readonly digest: string | null;
  readonly notAfterMs: number;
  readonly bytes: number;
}

interface Sent {
  readonly notAfterMs: number;
  readonly stored: boolean;
}

export class CommandTable {
  readonly #options: CommandTableOptions;
  /** In the order they came. */
  readonly #open = new Map<CommandId, OpenCommand>();
  readonly #finished = new Map<CommandId, Finished>();
  readonly #sent = new Map<CommandId, Sent>();
  /** No id with a `notAfter` up to here can be said never to have been sent. */
  #forgottenUpToMs = -Infinity;
  readonly #stopped = new Set<string>();
  readonly #turns = new Map<string, number>();
  #turn = 0;
  readonly #unclaimed = new UnclaimedResults();
  #slots = 0;
  #tools: ReadonlySet<string> | undefined;
  #atDevice = 0;
  #resultBytes = 0;

  constructor(options: CommandTableOptions) {
    this.#options = options;
    this.slots = options.slots;
    this.tools = options.tools;
  }

  /** What the device has named since; what was admitted before stays. Undefined: any. */
  set tools(tools: ReadonlySet<string> | undefined) {
    this.#tools = tools;
  }

  /** Commands that may be at the device at once; kept here, the rest can still be stopped. */
  set slots(slots: number) {
    this.#slots = slots;
  }

  /** Nothing is open and no result waits: there is nothing to tick for. */
  get isIdle(): boolean {
    return this.#open.size === 0 && this.#unclaimed.size === 0;
  }

  /** A command is at the device. */
  get isBusy(): boolean {
    return this.#atDevice > 0;
  }

  /** What is admitted now is sent now. */
  get hasRoom(): boolean {
    return this.#atDevice < this.#slots && [...this.#open.values()].every(({ state }) => state !== 'queued');
  }

  /** Whether a command was asked for in this session already, or its attempt is stopped: admitting it starts nothing. */
  knows({ commandId, attempt }: Pick<RunCommandRequest, 'commandId' | 'attempt'>): boolean {
    const isKnown = this.#open.has(commandId) || this.#finished.has(commandId) || this.#sent.has(commandId);
    return isKnown || this.#stopped.has(keyOf(attempt));
  }

  /** How many commands have no outcome yet. */
  get openCount(): number {
    return this.#open.size;
  }

  /**
   * A request to run a command, or its repeat: a known id is never sent twice in a session. Null: not known yet, an
   * `answered` effect or `stateOf` will say more.
   */
  admit({ request, digest, bytes }: CommandAdmission, nowMs: number): DeviceAnswer | null {
    const { commandId } = request;
    const open = this.#open.get(commandId);
    const finished = this.#finished.get(commandId);
    if ((open?.asked?.digest ?? finished?.digest ?? digest) !== digest) return CONFLICT_REFUSED;
    if (finished !== undefined) {
      this.#unclaimed.asked(commandId, nowMs);
      return { state: 'finished', outcome: outcomeIn(finished) };
    }
    if (open !== undefined) return this.#askAgain(open, { request, digest });

    if (bytes > AIP_LIMITS.commandBytesMax) return TOO_LARGE;
    const notAfterMs = Date.parse(request.notAfter);
    const again = this.#maybeSentBefore(request, notAfterMs);
    if (again && (this.#foreign || request.journalId !== this.#options.journalId)) return NOBODY_KNOWS;
    if (!again && notAfterMs <= nowMs) return EXPIRED;
    const tools = this.#tools;
    const { tool } = request.command;
    const isOfSystem = isWorkspaceTool(tool);
    if (isOfSystem && commandId !== workspaceCommandIdOf(request.attempt, tool)) return notOfSystem(tool);
    if (!again && (isOfSystem || request.workspace === true) && !this.#hasWorkspaces) return NO_WORKSPACES;
    if (!again && !isOfSystem && tools?.has(tool) === false) return unknownTool(tool, tools);
    if (!again && !this.#canDeliver(request)) return inputUnavailable(request);
    // Not refused for good: the caller repeats it, and room there will be.
    if (!this.#makeRoom()) return { state: 'queued' };
    if (!again && this.#stopped.has(keyOf(request.attempt))) {
      this.#keep(commandId, { text: JSON.stringify(CANCELLED), digest, notAfterMs, bytes: 0 });
      return { state: 'finished', outcome: CANCELLED };
    }
    const { attempt, priority } = request;
    const fresh = { commandId, attempt, priority, runId: attempt.runId, again, sentAtMs: null, giveUpAtMs: null };
    this.#open.set(commandId, { ...fresh, state: 'queued', asked: { request, digest, notAfterMs } });
    return null;
  }

  /** What a command reads stands in it, or the device can get it. */
  #canDeliver({ command }: RunCommandRequest): boolean {
    return this.#options.takesStdinFiles === true || !StdinParts.safeParse(command.arguments['stdin']).success;
  }

  /** These run at the device, from before this connection: they have their slots, and are not sent again. Ids that nobody gives are ignored. */
  takeOver(running: readonly CommandId[]): void {
    for (const commandId of running) {
      const attempt = attemptOfCommand(commandId);
      if (attempt === undefined || this.#open.has(commandId) || this.#finished.has(commandId)) continue;
      const unasked = { runId: attempt.runId, priority: 0, asked: null, again: true, sentAtMs: null };
      this.#open.set(commandId, { commandId, attempt, ...unasked, state: 'running', giveUpAtMs: null });
      this.#atDevice++;
    }
  }

  /** What may be sent now: the highest priority first, then the run that has the least at the device. */
  next(nowMs: number): TableEffect[] {
    const effects: TableEffect[] = [];
    while (this.#atDevice < this.#slots) {
      const chosen = chooseNext(this.#open.values(), this.#turns);
      if (chosen === undefined) break;
      const { commandId, asked, runId } = chosen;
      if (asked === null) break; // what waits was asked for
      const { request, digest, notAfterMs } = asked;
      const { attempt, command, judged, wall, workspace, startedAt } = request;
      chosen.state = 'sent';
      chosen.sentAtMs = nowMs;
      if (chosen.giveUpAtMs !== null) chosen.giveUpAtMs = nowMs + GIVE_UP_MS;
      this.#atDevice++;
      this.#turns.set(runId, ++this.#turn);
      effects.push({
        kind: 'send',
        command: {
          commandId,
          attempt,
          command,
          digest,
          startWithinMs: Math.max(0, notAfterMs - nowMs),
          ...(judged !== undefined && { judged }),
          ...(wall !== undefined && { wall }),
          ...(workspace !== undefined && { workspace, startedAt }),
        },
      });
    }
    return effects;
  }

  /** It could not be handed to the socket: no byte of it has left, and it waits again. */
  unsent(commandId: CommandId): void {
    const open = this.#open.get(commandId);
    if (open?.state !== 'sent') return;
    open.state = 'queued';
    open.sentAtMs = null;
    this.#atDevice--;
  }

  started(commandId: CommandId): void {
    const open = this.#open.get(commandId);
    if (open?.state === 'sent') open.state = 'running';
  }

  /** The first result counts. One that nobody asked for in this session is kept for the repeat that will, if a journal stands behind it. */
  finish(commandId: CommandId, { outcome, bytes }: Reported, nowMs: number): TableEffect[] {
    if (this.#finished.has(commandId)) return [];
    const open = this.#open.get(commandId);
    if (open !== undefined) {
      if (open.state === 'queued' && this.#foreign) return [];
      if (!this.#foreign) this.#unclaimed.keep(commandId, open.asked !== null, nowMs);
      return this.#settle(open, { outcome, bytes });
    }
    if (this.#foreign) return [];
    // The device repeats what is stored already: it has missed `result_stored`.
    if (this.#sent.get(commandId)?.stored === true) return [{ kind: 'stored', commandId }];
    if (!this.#makeRoom()) return [];
    this.#keep(commandId, { text: JSON.stringify(outcome), digest: null, notAfterMs: -Infinity, bytes });
    this.#unclaimed.keep(commandId, false, nowMs);
    return [];
  }

  /** Ends the command that has been at the device for longest. */
  failOldest(outcome: CommandOutcome): TableEffect[] {
    const sent = [...this.#open.values()].filter(({ state }) => state !== 'queued');
    const [oldest] = sent.toSorted((one, other) => (one.sentAtMs ?? 0) - (other.sentAtMs ?? 0));
    return oldest === undefined ? [] : this.#settle(oldest, { outcome, bytes: 0 });
  }

  /** What became of a result that was handed over. Null: nobody has answered. */
  delivered(commandId: CommandId, state: 'stored' | 'wanted' | 'unknown' | null, nowMs: number): TableEffect[] {
    // Nobody knows the command: the device need not keep what nobody will ever take.
    if (state === 'stored' || state === 'unknown') return this.stored(commandId);
    this.#unclaimed.undelivered(commandId, nowMs);
    return [];
  }

  /** A command that was sent and has no outcome yet; undefined for every other id. */
  openCommand(commandId: CommandId): OpenAtDevice | undefined {
    const open = this.#open.get(commandId);
    if (open === undefined || open.state === 'queued') return undefined;
    return { command: open.asked?.request.command ?? null };
  }

  /** Ends what is queued of the attempt, tells the device about the rest, and refuses what comes later. */
  stop(attempt: AttemptKey, nowMs: number): TableEffect[] {
    this.#stopped.add(keyOf(attempt));
    const [oldest] = this.#stopped.size > AIP_LIMITS.stoppedAttemptsMax ? this.#stopped : [];
    if (oldest !== undefined) this.#stopped.delete(oldest);
    const effects: TableEffect[] = this.#foreign ? [] : [{ kind: 'stop', attempt }];
    for (const open of this.#open.values()) {
      if (keyOf(open.attempt) !== keyOf(attempt)) continue;
      if (open.state === 'queued' && !open.again) effects.push(...this.#settle(open, NEVER_SENT));
      else open.giveUpAtMs ??= nowMs + GIVE_UP_MS;
    }
    return effects;
  }

  /** The result is in the log. The device is told even when this session has never heard of the command. */
  stored(commandId: CommandId): TableEffect[] {
    const finished = this.#finished.get(commandId);
    if (finished !== undefined) this.#forget(commandId, finished, true);
    return this.#foreign ? [] : [{ kind: 'stored', commandId }];
  }

  /** To be called a few times a second: refuses what can no longer start, gives up what was stopped and never ended. */
  tick(nowMs: number): TableEffect[] {
    const effects: TableEffect[] = [];
    for (const open of this.#open.values()) {
      if (open.state === 'queued' && !open.again && notAfterOf(open) <= nowMs) {
        this.#drop(open);
        effects.push(ended(open, EXPIRED));
      } else if (open.state !== 'queued' && open.giveUpAtMs !== null && open.giveUpAtMs <= nowMs) {
        effects.push(...this.#giveUp(open));
      }
    }
    for (const commandId of this.#unclaimed.due(nowMs)) {
      const finished = this.#finished.get(commandId);
      if (finished === undefined) this.#unclaimed.forget(commandId);
      else effects.push({ kind: 'deliver', commandId, outcome: outcomeIn(finished) });
    }
    return effects;
  }

  /** The connection is gone: a journal will tell; without one nobody can. */
  close(): TableEffect[] {
    const effects = [...this.#open.values()].map((open): TableEffect => {
      if (!this.#foreign) return ended(open, stateAnswer(open));
      if (open.state === 'queued') return ended(open, UNSENT_REFUSED);
      this.#rememberSent(open.commandId, { notAfterMs: notAfterOf(open), stored: false });
      return ended(open, { state: 'finished', outcome: UNKNOWN_ANSWER });
    });
    this.#open.clear();
    this.#atDevice = 0;
    // Nothing but the ids is of use any more.
    if (this.#foreign) for (const [commandId, finished] of this.#finished) this.#forget(commandId, finished, false);
    return effects;
  }

  /**
   * Whether a command was sent in this session, which is over. A foreign device keeps no journal: nobody else can say that it
   * was not.
   */
  answerAfterEnd(commandId: CommandId, notAfterMs: number): DeviceAnswer {
    const maybe = this.#sent.has(commandId) || notAfterMs <= this.#forgottenUpToMs;
    return maybe ? { state: 'done' } : UNSENT_REFUSED;
  }

  /** What to tell who has waited long enough; undefined when the command is not open. */
  stateOf(commandId: CommandId): DeviceAnswer | undefined {
    const open = this.#open.get(commandId);
    return open === undefined ? undefined : stateAnswer(open);
  }

  get #hasWorkspaces(): boolean {
    return this.#options.hasWorkspaces === true;
  }

  get #foreign(): boolean {
    return this.#options.journalId === null;
  }

  #maybeSentBefore({ commandId, sessionId }: RunCommandRequest, notAfterMs: number): boolean {
    return sessionId !== this.#options.sessionId || this.#sent.has(commandId) || notAfterMs <= this.#forgottenUpToMs;
  }

  /** A repeat of what is open waits with the others. What was taken over is known by its id and its journal. */
  #askAgain(open: OpenCommand, { request, digest }: Omit<CommandAdmission, 'bytes'>): DeviceAnswer | null {
    if (open.asked !== null) return null;
    if (request.journalId !== this.#options.journalId) return NOBODY_KNOWS;
    open.asked = { request, digest, notAfterMs: Date.parse(request.notAfter) };
    return null;
  }

  #settle(open: OpenCommand, { outcome, bytes }: Reported): TableEffect[] {
    this.#drop(open);
    const digest = open.asked?.digest ?? null;
    this.#keep(open.commandId, { text: JSON.stringify(outcome), digest, notAfterMs: notAfterOf(open), bytes });
    this.#makeRoomBeside(open.commandId);
    return [ended(open, { state: 'finished', outcome })];
  }

  /** The slot is needed; a journal may still deliver the truth later. */
  #giveUp(open: OpenCommand): TableEffect[] {
    if (this.#foreign) return this.#settle(open, { outcome: UNKNOWN_ANSWER, bytes: 0 });
    this.#drop(open);
    this.#rememberSent(open.commandId, { notAfterMs: notAfterOf(open), stored: false });
    return [ended(open, stateAnswer(open))];
  }

  #drop({ commandId, state }: OpenCommand): void {
    this.#open.delete(commandId);
    if (state !== 'queued') this.#atDevice--;
    if (this.#open.size === 0) this.#turns.clear();
  }

  #keep(commandId: CommandId, finished: Finished): void {
    this.#finished.set(commandId, finished);
    this.#resultBytes += finished.bytes;
  }

  #forget(commandId: CommandId, { notAfterMs, bytes }: Finished, stored: boolean): void {
    this.#finished.delete(commandId);
    this.#unclaimed.forget(commandId);
    this.#resultBytes -= bytes;
    this.#rememberSent(commandId, { notAfterMs, stored });
  }

  #rememberSent(commandId: CommandId, sent: Sent): void {
    this.#sent.set(commandId, sent);
    const [oldest] = this.#sent.size > AIP_LIMITS.sentIdsMax ? this.#sent : [];
    if (oldest === undefined) return;
    this.#sent.delete(oldest[0]);
    this.#forgottenUpToMs = Math.max(this.#forgottenUpToMs, oldest[1].notAfterMs);
  }

  /** A thousand commands may end one after the other without one more being asked for. */
  #makeRoomBeside(newest: CommandId): void {
    for (const [commandId, finished] of this.#finished) {
      if (this.#resultBytes <= AIP_LIMITS.resultBytesMax || commandId === newest) return;
      this.#forget(commandId, finished, false);
    }
  }

  /** The oldest results go first: a journal gives them again, and who cares has asked long ago. False when all is open. */
  #makeRoom(): boolean {
    const full = (): boolean =>
      this.#open.size + this.#finished.size >= AIP_LIMITS.commandsMax || this.#resultBytes > AIP_LIMITS.resultBytesMax;
    for (const [commandId, finished] of this.#finished) {
      if (!full()) return true;
      this.#forget(commandId, finished, false);
    }
    return !full();
  }
}

const keyOf = ({ runId, taskId, attempt }: AttemptKey): string => `${runId}.${taskId}.${attempt}`;

const stateAnswer = ({ state }: OpenCommand): DeviceAnswer => ({ state: state === 'queued' ? 'queued' : 'running' });

/** As it was kept. */
const outcomeIn = ({ text }: Finished): CommandOutcome => JSON.parse(text) as CommandOutcome;

const NEVER_SENT: Reported = { outcome: CANCELLED, bytes: 0 };

/** Of what was taken over and never asked for nobody knows it. */
const notAfterOf = ({ asked }: OpenCommand): number => asked?.notAfterMs ?? -Infinity;

const ended = ({ commandId, sentAtMs }: OpenCommand, answer: DeviceAnswer): Answered => ({
  kind: 'answered',
  commandId,
  answer,
  sentAtMs,
});
