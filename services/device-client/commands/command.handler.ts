// One command, from its frame to its result. Facts first: nothing runs before `started` is on the disk, nothing is sent
// before `finished` is.
//
//   frame ──► known? ──yes──► its result again, or "running"
//               └─no──► refused, or queued ──slot──► gate ──► stdin, workspace ──► started ──► tool ──► finished ──► result
//                                    └── stop, too late ─┴─ no ──┴──► result, nothing ran
//
// Results in the journal are not sent but fetched, by a connection that has room for them: each once per connection, and
// again when no server has acknowledged it for minutes, because one that held too much may have dropped it.
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Holdings } from '#libs/aip';
import type { ToolAnswer, ToolOutput } from '#libs/mcp';
import {
  type Action,
  type AttemptKey,
  type ClientMessage,
  type CommandCall,
  type CommandId,
  type CommandOutcome,
  type CommandWall,
  type Instant,
  isWorkspaceTool,
  type Json,
  POLICY_MISMATCH,
  type RunId,
  type StdinPart,
} from '#proto';
import { callOf, type CommandGate, type JudgedOrder } from '../policy/index.js';
import { fitOutcome } from '../output/index.js';
import type { JournalRecord } from './command-journal.js';
import type { JournalFile } from './journal-file.adapter.js';
import {
  BUSY,
  NOT_IN_TIME,
  type CommandGiven,
  OPEN_MAX,
  REUSED,
  startDeadline,
  INVALID,
  judgedOf,
  type OpenCommand,
  type OurCommand,
  sameAttempt,
  workspaceOf,
  wrongPlace,
} from './open-command.js';
import { ScreenTurns } from './screen-turns.runner.js';
import { outputMessage, progressMessage, resultMessage, type AnsweredCommand } from './messages.js';
import {
  DEVICE_STOPPED,
  DISCONNECTED,
  endedWithout,
  mismatched,
  movedOutcome,
  outcomeOf,
  wallHit,
  stdinPartsOf,
  withoutStdin,
  withUnknownStdin,
} from '../exec/index.js';
import { diskFailure, type StdinFiles } from '../files/index.js';
import type { Toolbox } from '../tools/index.js';
import type { Workspaces, WorkspaceTools } from '../workspaces/index.js';

export interface CommandHandlerOptions {
  readonly file: Pick<JournalFile, 'journal' | 'append' | 'note' | 'noteLazily'>;
  readonly tools: Pick<Toolbox, 'has' | 'call' | 'screenUse'>;
  readonly gate: Pick<CommandGate, 'refusal'>;
  /** The wall around judged commands; undefined: there is none. */
  readonly wall?: AroundCommands | undefined;
  readonly stdin: Pick<StdinFiles, 'collect' | 'remove'>;
  readonly workspaces: Pick<Workspaces, 'pathOf' | 'make'>;
  /** What moves files of a workspace. */
  readonly mover: Pick<WorkspaceTools, 'call'>;
  readonly commandsMax: number;
  /** How long a command waits for the end of another attempt that has the screen. */
  readonly handOverMs?: number | undefined;
  /** How long commands go on without a server; null: to their ends. */
  readonly disconnectGraceMs: number | null;
  /** Says it to the server when there is one; what must not get lost is in the journal. */
  readonly send: (message: ClientMessage) => void;
  /** Live output: said now or never. */
  readonly sendOutput: (message: ClientMessage) => void;
  /** There is something for `nextResult`. */
  readonly sendResults: () => void;
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
  /** The journal cannot be written: the client has to end. */
  readonly onFatal: (error: unknown) => void;
}

/** A result that was not acknowledged from one of these times to the next is sent again. */
const OFFER_AGAIN_MS = 5 * 60 * 1_000;
/** A command that takes longer is announced as running; most are over before anybody could read that. */
const ANNOUNCE_MS = 1_000;

type Collected =
  | { readonly kind: 'left' }
  | { readonly kind: 'collected'; readonly file: string | undefined }
  | { readonly kind: 'ended'; readonly outcome: CommandOutcome };

export interface AroundCommands {
  /** What a command that was not refused is held to. */
  of(
    call: CommandCall,
    judged: JudgedOrder | undefined,
    workspace: string | undefined,
  ): Promise<CommandWall | undefined>;
  /** The wall kills with SIGSYS. */
  readonly hasFilter: boolean;
  readonly jailDir: string;
}

/** The commands of our own servers: each id runs at most once, whatever happens to the connection or to this process. */
export class CommandHandler {
  readonly #open = new Map<CommandId, OpenCommand>();
  readonly #queue: OpenCommand[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Results in the journal that this connection has not been sent yet, oldest first, with what their commands came with. */
  readonly #results = new Map<CommandId, AnsweredCommand>();
  /** Results that were not acknowledged when it was looked last. */
  #overdue: ReadonlySet<CommandId> = new Set();
  #offering: NodeJS.Timeout | undefined;
  #connected = false;
  #grace: NodeJS.Timeout | undefined;
  #accepting = true;

  readonly #options: CommandHandlerOptions;
  readonly #screen: ScreenTurns;

  constructor(options: CommandHandlerOptions) {
    this.#options = options;
    this.#screen = new ScreenTurns(options);
  }

  onCommand(message: OurCommand): void {
    if (!this.#accepting) return;
    const { orrery } = message;
    const { command_id: id, digest, attempt } = orrery;
    const reply: AnsweredCommand = { prev_response_id: message.response_id, session_id: message.session_id };
    const known = this.#open.get(id);
    if (known?.digest === digest) {
      this.#options.send(progressMessage(id, known.state, this.#options.now()));
      return;
    }
    const workspace = workspaceOf(message);
    const verdict = this.#options.file.journal.receive({ id, digest, attempt, workspace });
    switch (verdict.kind) {
      case 'finished':
        return this.#offer(id, reply);
      case 'refused':
        return this.#answer(id, verdict.outcome, reply);
      case 'running':
        return this.#options.send(progressMessage(id, 'running', this.#options.now()));
      case 'start':
        return known === undefined ? this.#admit(message, reply) : this.#answer(id, REUSED, reply);
    }
  }

  /** Kills what is open of the attempt and refuses what comes later, also after a restart. */
  onStop(attempt: AttemptKey): void {
    const { file, now } = this.#options;
    if (!file.journal.isStopped(attempt)) file.note({ type: 'stopped', attempt, at: now() });
    this.#screen.changed();
    for (const open of this.#open.values()) {
      if (!sameAttempt(open.attempt, attempt)) continue;
      open.stop.abort('ATTEMPT_STOPPED');
      if (open.state === 'queued')
        this.#end(open, endedWithout('CANCELLED', 'ATTEMPT_STOPPED', 'the attempt was stopped'));
    }
  }

  /**
   * A run has ended: what of it began before that ends, too. Resolves when it has. False: something of it goes on, because it was opened again
   * since.
   */
  async endRun(runId: RunId, endedAt: Instant): Promise<boolean> {
    const ofRun = (): OpenCommand[] =>
      [...this.#open.values()].filter(({ attempt, workspace }) => attempt.runId === runId && workspace !== undefined);
    const isOver = ({ workspace }: OpenCommand): boolean =>
      Date.parse(workspace?.startedAt ?? endedAt) <= Date.parse(endedAt);
    const over = ofRun().filter(isOver);
    for (const { attempt } of over) this.onStop(attempt);
    await Promise.all(over.map(async ({ run }) => run));
    return ofRun().every(isOver);
  }

  /** The server has the result for good. */
  onStored(id: CommandId): void {
    const { file, now } = this.#options;
    const record = file.journal.storedRecord(id, now());
    if (record === undefined) return;
    file.noteLazily(record);
    file.journal.forget(now());
    this.#startNext();
  }

  /** Everything whose end a server may still want to know. */
  holdings(): Holdings {
    const finished = this.#options.file.journal.undelivered();
    const ended = new Set(finished);
    return { running: [...this.#open.keys()].filter((id) => !ended.has(id)), finished };
  }

  /** What is not over, for people. */
  list(): { id: CommandId; tool: string; run: string; task: string; state: string }[] {
    return [...this.#open.values()].map(({ id, action, attempt, state }) => ({
      id,
      tool: action.tool_name,
      run: attempt.runId,
      task: attempt.taskId,
      state,
    }));
  }

  /** One of our servers is there: it gets every result that was not acknowledged. */
  onConnected(): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
    this.#connected = true;
    this.#results.clear();
    for (const id of this.#options.file.journal.undelivered()) this.#results.set(id, {});
    clearInterval(this.#offering);
    this.#overdue = new Set();
    this.#offering = setInterval(() => this.#offerAgain(), OFFER_AGAIN_MS);
  }

  /** It is gone. What runs goes on, as long as the configuration says. */
  onDisconnected(): void {
    const { disconnectGraceMs } = this.#options;
    if (!this.#connected) return;
    this.#connected = false;
    this.#results.clear();
    clearInterval(this.#offering);
    if (disconnectGraceMs !== null) this.#grace = setTimeout(() => this.#giveUp(), disconnectGraceMs);
  }

  /** The oldest result that this connection has not been sent yet. */
  nextResult(): ClientMessage | undefined {
    const { file, now } = this.#options;
    for (const [id, reply] of this.#results) {
      this.#results.delete(id);
      const outcome = file.journal.outcomeOf(id);
      if (outcome !== undefined) return resultMessage(id, outcome, reply, now());
    }
    return undefined;
  }

  /** Takes nothing new, gives what runs some time, then ends it; its results are in the journal for the next start. */
  async drain(waitMs: number): Promise<void> {
    this.#accepting = false;
    clearTimeout(this.#grace);
    clearInterval(this.#offering);
    for (const open of this.#queue.splice(0)) this.#open.delete(open.id);
    const timer = setTimeout(() => {
      for (const { stop } of this.#open.values()) stop.abort(DEVICE_STOPPED);
    }, waitMs);
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  #admit(message: OurCommand, reply: AnsweredCommand): void {
    const { command_id: id, digest, attempt, not_after_ms: startWithinMs } = message.orrery;
    const [action, ...more] = message.actions;
    const no = this.#refusal(action, more.length) ?? wrongPlace(message);
    if (action === undefined || no !== undefined) {
      return this.#answer(id, no ?? INVALID, { ...reply, call_id: action?.call_id });
    }
    const open: OpenCommand = {
      id,
      digest,
      attempt,
      action,
      judged: judgedOf(message.orrery),
      on: message.orrery.on ?? undefined,
      startWithinMs,
      workspace: workspaceOf(message),
      reply: { ...reply, call_id: action.call_id },
      receivedMs: this.#options.monotonicMs(),
      stop: new AbortController(),
      state: 'queued',
      run: undefined,
    };
    this.#open.set(id, open);
    this.#queue.push(open);
    this.#startNext();
    if (open.state === 'queued') this.#options.send(progressMessage(id, 'queued', this.#options.now()));
  }

  #refusal(action: Action | undefined, more: number): CommandOutcome | undefined {
    if (action === undefined || more > 0) return INVALID;
    if (!isWorkspaceTool(action.tool_name) && !this.#options.tools.has(action.tool_name)) {
      return endedWithout('FAILED', 'UNKNOWN_TOOL', `this device has no tool ${action.tool_name.slice(0, 128)}`);
    }
    return this.#open.size >= OPEN_MAX ? BUSY : undefined;
  }

  #startNext(): void {
    // What waits when the journal becomes full goes on waiting: its results would have no room.
    while (this.#running.size < this.#options.commandsMax && !this.#options.file.journal.isFull) {
      const open = this.#queue.shift();
      if (open === undefined) return;
      if (this.#options.monotonicMs() - open.receivedMs >= open.startWithinMs) {
        this.#end(open, NOT_IN_TIME);
        continue;
      }
      open.state = 'running';
      const run = this.#run(open);
      open.run = run;
      this.#running.add(run);
      void run.finally(() => {
        this.#running.delete(run);
        this.#startNext();
      });
    }
  }

  /** Never rejects. */
  async #run(open: OpenCommand): Promise<void> {
    const { gate, now, send, stdin, wall: around, workspaces } = this.#options;
    const { id, action, judged, attempt, on } = open;
    const { tool_name: tool } = action;
    const announce = setTimeout(() => send(progressMessage(id, 'running', now())), ANNOUNCE_MS);
    let file: string | undefined;
    try {
      if (isWorkspaceTool(tool)) return await this.#move(open);
      const workspace = open.workspace && workspaces.pathOf(attempt.runId);
      const args = action.parameters ?? {};
      const parts = stdinPartsOf(tool, args);
      const call = callOf(tool, parts === undefined ? args : withUnknownStdin(args), on);
      const refusal = (await gate.refusal(call, judged, workspace)) ?? (await this.#screen.refusal(open));
      if (refusal !== undefined) return this.#end(open, refusal);
      const wall = await around?.of(call, judged, workspace);
      if (parts !== undefined) {
        const collected = await this.#collect(open, parts);
        if (collected.kind === 'ended') return this.#end(open, collected.outcome);
        // Nothing is written down of it: the next start of the client gets it again.
        if (collected.kind === 'left') return void this.#open.delete(id);
        file = collected.file;
      }
      const none = workspace === undefined ? undefined : await this.#withoutWorkspace(attempt.runId);
      if (none !== undefined) return this.#end(open, none);
      const given = { stdinFile: file, wall, workspace };
      await this.#execute(open, parts === undefined ? args : withoutStdin(args), given);
    } catch (error) {
      // Without its record nothing may be said about the command: the next start finds it interrupted.
      this.#open.delete(id);
      this.#options.onFatal(error);
    } finally {
      clearTimeout(announce);
      this.#screen.leave(id);
      if (file !== undefined) await stdin.remove(file);
    }
  }

  /** Undefined: there is one. Never rejects. */
  async #withoutWorkspace(runId: RunId): Promise<CommandOutcome | undefined> {
    const { workspaces, logger } = this.#options;
    return workspaces.make(runId).then(
      () => undefined,
      (error: unknown) => {
        logger.warn({ err: error, runId }, 'a workspace cannot be made');
        return endedWithout('FAILED', 'NO_WORKSPACE', `the workspace cannot be made: ${diskFailure(error).message}`);
      },
    );
  }

  /**
   * Moves files of a workspace. Nothing is written down before it is done: after a crash of this process it may be done again, so it is.
   */
  async #move(open: OpenCommand): Promise<void> {
    const { file, mover, now, monotonicMs, workspaces } = this.#options;
    const { id, digest, attempt, action, stop, startWithinMs } = open;
    const { tool_name: tool } = action;
    const [at, calledMs] = [now(), monotonicMs()];
    const none = await this.#withoutWorkspace(attempt.runId);
    if (none !== undefined) return this.#end(open, none);
    const { signal, late } = startDeadline(open, monotonicMs());
    const errand = { commandId: id, signal };
    const moved = await mover.call(tool, action.parameters ?? {}, errand, workspaces.pathOf(attempt.runId));
    if (moved.kind === 'aborted' && stop.signal.reason === DEVICE_STOPPED) return void this.#open.delete(id);
    const durationMs = Math.round((monotonicMs() - calledMs) * 1_000) / 1_000;
    const timing = { startedAt: new Date(at).toISOString(), durationMs };
    const outcome = fitOutcome(movedOutcome(tool, moved, { stop: stop.signal, isLate: late.aborted, timing }));
    await Promise.all([
      file.append({ type: 'started', id, digest, attempt, at, until: at + startWithinMs }),
      file.append({ type: 'finished', id, outcome }),
    ]);
    this.#open.delete(id);
    this.#offer(id, open.reply);
  }

  /** What the command reads, before anything is written down of it: without it, it never began. Never rejects. */
  async #collect(open: OpenCommand, parts: readonly StdinPart[]): Promise<Collected> {
    const { id, stop } = open;
    const { signal } = startDeadline(open, this.#options.monotonicMs());
    const collected = await this.#options.stdin.collect(parts, { commandId: id, signal });
    if (collected.kind === 'file') return { kind: 'collected', file: collected.name };
    if (stop.signal.reason === DEVICE_STOPPED) return { kind: 'left' };
    // It is ended like every command that was stopped before its tool was called.
    if (stop.signal.aborted) return { kind: 'collected', file: undefined };
    if (collected.kind === 'aborted') return { kind: 'ended', outcome: NOT_IN_TIME };
    return { kind: 'ended', outcome: endedWithout('FAILED', collected.code, collected.message) };
  }

  async #execute(
    open: OpenCommand,
    args: Readonly<Record<string, Json>>,
    { stdinFile, wall, workspace }: CommandGiven,
  ): Promise<void> {
    const { tools, now, monotonicMs, sendOutput } = this.#options;
    const { id, digest, attempt, action, judged, on, stop } = open;
    const at = now();
    const started = { type: 'started', id, digest, attempt, at, until: at + open.startWithinMs } as const;
    await this.#record(started, ...this.#screen.facts(open, 'begins'));
    const calledMs = monotonicMs();
    const onOutput = (piece: ToolOutput): void => sendOutput(outputMessage(id, piece, now()));
    const answer = stop.signal.aborted
      ? NOT_CALLED
      : await tools.call(action.tool_name, args, {
          commandId: id,
          attempt,
          isAgents: judged !== undefined,
          on,
          signal: stop.signal,
          stdinFile,
          wall,
          workspace,
          onOutput,
        });
    const durationMs = Math.round((monotonicMs() - calledMs) * 1_000) / 1_000;
    const timing = { startedAt: new Date(at).toISOString(), durationMs };
    const ended = outcomeOf(action.tool_name, answer, stop.signal, timing);
    const outcome = fitOutcome(await this.#lookedAt(open, ended, { wall, workspace }));
    await this.#record({ type: 'finished', id, outcome }, ...this.#screen.facts(open, 'ends'));
    this.#open.delete(id);
    this.#offer(id, open.reply);
  }

  /** Together, and in this order. */
  async #record(...records: readonly JournalRecord[]): Promise<void> {
    await Promise.all(records.map((record) => this.#options.file.append(record)));
  }

  /** What ran into its wall was not what the policy understood: that is told, and is no ordinary failure. */
  async #lookedAt(
    { id, action }: OpenCommand,
    outcome: CommandOutcome,
    { wall, workspace }: Pick<CommandGiven, 'wall' | 'workspace'>,
  ): Promise<CommandOutcome> {
    const { wall: around, logger } = this.#options;
    if (around === undefined || wall === undefined || wall.kind === 'none') return outcome;
    const directory = action.parameters?.['working_directory'];
    const cwd = resolve(workspace ?? around.jailDir, typeof directory === 'string' ? directory : '.');
    const how = await wallHit(outcome, { wall, hasFilter: around.hasFilter, cwd });
    if (how === undefined) return outcome;
    logger.warn({ commandId: id, wall: wall.kind, code: POLICY_MISMATCH }, 'a command ran into its wall');
    return mismatched(outcome, how);
  }

  /** Without a server for too long: everything open ends, in the journal first. What waits still has its turn, without its tool. */
  #giveUp(): void {
    this.#options.logger.warn({ commands: this.#open.size }, 'no server for too long: commands are ended');
    for (const { stop } of this.#open.values()) stop.abort(DISCONNECTED);
  }

  /** A command that ended without having run, and without a record of it. */
  #end(open: OpenCommand, outcome: CommandOutcome): void {
    this.#open.delete(open.id);
    const index = this.#queue.indexOf(open);
    if (index >= 0) this.#queue.splice(index, 1);
    this.#answer(open.id, outcome, open.reply);
  }

  /** A result that is in the journal. */
  #offer(id: CommandId, reply: AnsweredCommand): void {
    this.#options.logger.debug({ commandId: id }, 'result in the journal');
    if (!this.#connected) return;
    this.#results.set(id, reply);
    this.#options.sendResults();
  }

  #offerAgain(): void {
    const waiting = this.#options.file.journal.undelivered();
    for (const id of waiting) if (this.#overdue.has(id) && !this.#results.has(id)) this.#results.set(id, {});
    this.#overdue = new Set(waiting);
    this.#options.sendResults();
  }

  #answer(id: CommandId, outcome: CommandOutcome, reply: AnsweredCommand): void {
    const { send, now, logger } = this.#options;
    logger.debug({ commandId: id, state: outcome.state, code: outcome.error?.code }, 'command ended');
    send(resultMessage(id, outcome, reply, now()));
  }
}

/** Ended between its record and its tool. */
const NOT_CALLED: ToolAnswer = { kind: 'cancelled', value: null };
