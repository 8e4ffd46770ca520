import { AIP_LIMITS, LIMITS } from '#proto';
import type { AttemptKey, CommandId, CommandOutcome, DeviceAnswer, RunCommandRequest } from '#proto';
import {
  CANCELLED,
  CONFLICT,
  DISCONNECTED,
  EXPIRED,
  NOBODY_KNOWS,
  TOO_LARGE,
  UNKNOWN,
  unknownTool,
} from './command-answers.js';
import type { Admission, Answered, CommandTableOptions, TableEffect } from './command-effects.js';
import { chooseNext } from './command-queue.js';

/*
 * The commands of one session. An id is answered finally once; what the device did decides, not what was asked last.
 *
 *   admit --> queued --> sent --> running --> finished --stored--> remembered as sent
 *                \--notAfter: refused  \--session closed: the journal's device answers the repeat,
 *                 \--stop: CANCELLED       a device without one gives OUTCOME_UNKNOWN
 *
 * Deterministic: no clock, no waiting, no I/O. Its maps are its own, so a session of a thousand commands stays cheap.
 */

/** After a stop the device has this long; then the table waits no more. Twice the grace: the device-agent gives up first. */
const GIVE_UP_MS = 2 * LIMITS.stopGraceMs;

/** A command that has no outcome yet. */
interface OpenCommand {
  readonly request: RunCommandRequest;
  readonly digest: string;
  readonly notAfterMs: number;
  /** May have been sent before: only the device's journal knows, so it is asked whatever the time. */
  readonly again: boolean;
  state: 'queued' | 'sent' | 'running';
  sentAtMs: number | null;
  /** Set by a stop: when the table no longer waits for the device. */
  giveUpAtMs: number | null;
}

interface Finished {
  readonly outcome: CommandOutcome;
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
  #atDevice = 0;
  #resultBytes = 0;

  constructor(options: CommandTableOptions) {
    this.#options = options;
  }

  /** How many commands have no outcome yet. */
  get openCount(): number {
    return this.#open.size;
  }

  /**
   * A request to run a command, or its repeat: a known id is never sent twice in a session. Null: not known yet, an
   * `answered` effect or `stateOf` will say more.
   */
  admit({ request, digest, bytes }: Admission, nowMs: number): DeviceAnswer | null {
    const { commandId } = request;
    const open = this.#open.get(commandId);
    const finished = this.#finished.get(commandId);
    if ((open?.digest ?? finished?.digest ?? digest) !== digest) return CONFLICT;
    if (finished !== undefined) return { state: 'finished', outcome: finished.outcome };
    if (open !== undefined) return null;

    if (bytes > AIP_LIMITS.commandBytesMax) return TOO_LARGE;
    const notAfterMs = Date.parse(request.notAfter);
    const again = this.#maybeSentBefore(request, notAfterMs);
    if (again && (this.#foreign || request.journalId !== this.#options.journalId)) return NOBODY_KNOWS;
    if (!again && notAfterMs <= nowMs) return EXPIRED;
    const { tools } = this.#options;
    const { tool } = request.command;
    if (!again && tools?.has(tool) === false) return unknownTool(tool, tools);
    // Not refused for good: the caller repeats it, and room there will be.
    if (!this.#makeRoom()) return { state: 'queued' };
    if (!again && this.#stopped.has(keyOf(request.attempt))) {
      this.#keep(commandId, { outcome: CANCELLED, digest, notAfterMs, bytes: 0 });
      return { state: 'finished', outcome: CANCELLED };
    }
    const fresh = { request, digest, notAfterMs, again, sentAtMs: null, giveUpAtMs: null };
    this.#open.set(commandId, { ...fresh, state: 'queued' });
    return null;
  }

  /** What may be sent now: the highest priority first, then the run that has the least at the device. */
  next(nowMs: number): TableEffect[] {
    const effects: TableEffect[] = [];
    while (this.#atDevice < this.#slots) {
      const chosen = chooseNext(this.#open.values(), this.#turns);
      if (chosen === undefined) break;
      const { request, digest, notAfterMs } = chosen;
      const { commandId, attempt, command } = request;
      chosen.state = 'sent';
      chosen.sentAtMs = nowMs;
      if (chosen.giveUpAtMs !== null) chosen.giveUpAtMs = nowMs + GIVE_UP_MS;
      this.#atDevice++;
      this.#turns.set(attempt.runId, ++this.#turn);
      effects.push({
        kind: 'send',
        command: { commandId, attempt, command, digest, startWithinMs: Math.max(0, notAfterMs - nowMs) },
      });
    }
    return effects;
  }

  started(commandId: CommandId): void {
    const open = this.#open.get(commandId);
    if (open?.state === 'sent') open.state = 'running';
  }

  /** The first result counts. One that nobody asked for in this session is kept for the repeat that will, if a journal stands behind it. */
  finish(commandId: CommandId, outcome: CommandOutcome, bytes: number): TableEffect[] {
    if (this.#finished.has(commandId)) return [];
    const open = this.#open.get(commandId);
    if (open !== undefined) {
      if (open.state === 'queued' && this.#foreign) return [];
      return this.#settle(open, outcome, bytes);
    }
    if (this.#foreign) return [];
    // The device repeats what is stored already: it has missed `result_stored`.
    if (this.#sent.get(commandId)?.stored === true) return [{ kind: 'stored', commandId }];
    if (this.#makeRoom()) this.#keep(commandId, { outcome, digest: null, notAfterMs: -Infinity, bytes });
    return [];
  }

  /** Ends what is queued of the attempt, tells the device about the rest, and refuses what comes later. */
  stop(attempt: AttemptKey, nowMs: number): TableEffect[] {
    this.#stopped.add(keyOf(attempt));
    const [oldest] = this.#stopped.size > AIP_LIMITS.stoppedAttemptsMax ? this.#stopped : [];
    if (oldest !== undefined) this.#stopped.delete(oldest);
    const effects: TableEffect[] = this.#foreign ? [] : [{ kind: 'stop', attempt }];
    for (const open of this.#open.values()) {
      if (keyOf(open.request.attempt) !== keyOf(attempt)) continue;
      if (open.state === 'queued' && !open.again) effects.push(...this.#settle(open, CANCELLED, 0));
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
      if (open.state === 'queued' && !open.again && open.notAfterMs <= nowMs) {
        this.#drop(open);
        effects.push(ended(open, EXPIRED));
      } else if (open.state !== 'queued' && open.giveUpAtMs !== null && open.giveUpAtMs <= nowMs) {
        effects.push(...this.#giveUp(open));
      }
    }
    return effects;
  }

  /** The connection is gone: a journal will tell; without one nobody can. */
  close(): TableEffect[] {
    const effects = [...this.#open.values()].map((open): TableEffect => {
      if (!this.#foreign) return ended(open, stateAnswer(open));
      return ended(open, open.state === 'queued' ? DISCONNECTED : { state: 'finished', outcome: UNKNOWN });
    });
    this.#open.clear();
    this.#atDevice = 0;
    return effects;
  }

  /** What to tell who has waited long enough; undefined when the command is not open. */
  stateOf(commandId: CommandId): DeviceAnswer | undefined {
    const open = this.#open.get(commandId);
    return open === undefined ? undefined : stateAnswer(open);
  }

  get #foreign(): boolean {
    return this.#options.journalId === null;
  }

  /** A foreign client executes one after the other whatever it is sent; kept here, the rest can still be stopped. */
  get #slots(): number {
    return this.#foreign ? 1 : this.#options.slots;
  }

  #maybeSentBefore({ commandId, sessionId }: RunCommandRequest, notAfterMs: number): boolean {
    return sessionId !== this.#options.sessionId || this.#sent.has(commandId) || notAfterMs <= this.#forgottenUpToMs;
  }

  #settle(open: OpenCommand, outcome: CommandOutcome, bytes: number): TableEffect[] {
    const { digest, notAfterMs, request } = open;
    this.#drop(open);
    this.#keep(request.commandId, { outcome, digest, notAfterMs, bytes });
    return [ended(open, { state: 'finished', outcome })];
  }

  /** The slot is needed; a journal may still deliver the truth later. */
  #giveUp(open: OpenCommand): TableEffect[] {
    if (this.#foreign) return this.#settle(open, UNKNOWN, 0);
    this.#drop(open);
    this.#rememberSent(open.request.commandId, { notAfterMs: open.notAfterMs, stored: false });
    return [ended(open, stateAnswer(open))];
  }

  #drop({ request, state }: OpenCommand): void {
    this.#open.delete(request.commandId);
    if (state !== 'queued') this.#atDevice--;
    if (this.#open.size === 0) this.#turns.clear();
  }

  #keep(commandId: CommandId, finished: Finished): void {
    this.#finished.set(commandId, finished);
    this.#resultBytes += finished.bytes;
  }

  #forget(commandId: CommandId, { notAfterMs, bytes }: Finished, stored: boolean): void {
    this.#finished.delete(commandId);
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

const ended = ({ request, sentAtMs }: OpenCommand, answer: DeviceAnswer): Answered => ({
  kind: 'answered',
  commandId: request.commandId,
  answer,
  sentAtMs,
});
