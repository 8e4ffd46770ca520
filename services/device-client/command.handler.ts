// One command, from its frame to its result. Facts first: nothing runs before `started` is on the disk, nothing is sent
// before `finished` is.
//
//   frame ──► known? ──yes──► its result again, or "running"
//               └─no──► refused, or queued ──slot──► started ──► tool ──► finished ──► result
//                                    └── stop, too late ──► result, nothing ran
import type { Logger } from 'pino';
import type { Action, AttemptKey, ClientMessage, CommandId, CommandMessage, CommandOutcome } from '#proto';
import { fitOutcome } from './fit.js';
import type { JournalFile } from './journal-file.adapter.js';
import { progressMessage, resultMessage, type Reply } from './messages.js';
import { DEVICE_STOPPED, endedWithout, outcomeOf } from './outcome.js';
import type { Toolbox } from './toolbox.client.js';

export interface CommandHandlerOptions {
  readonly file: JournalFile;
  readonly tools: Pick<Toolbox, 'has' | 'call'>;
  readonly commandsMax: number;
  /** Says it to the server when there is one; what must not get lost is in the journal. */
  readonly send: (message: ClientMessage) => void;
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
  /** The journal cannot be written: the client has to end. */
  readonly onFatal: (error: unknown) => void;
}

const QUEUE_MAX = 1_024;
/** A command that takes longer is announced as running; most are over before anybody could read that. */
const ANNOUNCE_MS = 1_000;

interface Open {
  readonly id: CommandId;
  readonly digest: string;
  readonly attempt: AttemptKey;
  readonly action: Action;
  readonly reply: Reply;
  readonly receivedMs: number;
  readonly startWithinMs: number;
  readonly stop: AbortController;
  state: 'queued' | 'running';
}

type OurCommand = CommandMessage & { orrery: NonNullable<CommandMessage['orrery']> };

/** The commands of our own servers: each id runs at most once, whatever happens to the connection or to this process. */
export class CommandHandler {
  private readonly open = new Map<CommandId, Open>();
  private readonly queue: Open[] = [];
  private readonly running = new Set<Promise<void>>();
  private accepting = true;

  constructor(private readonly options: CommandHandlerOptions) {}

  onCommand(message: OurCommand): void {
    if (!this.accepting) return;
    const { orrery } = message;
    const { command_id: id, digest, attempt } = orrery;
    const reply: Reply = { prev_response_id: message.response_id, session_id: message.session_id };
    const known = this.open.get(id);
    if (known?.digest === digest) {
      this.options.send(progressMessage(id, known.state, this.options.now()));
      return;
    }
    const verdict = this.options.file.journal.receive({ id, digest, attempt });
    switch (verdict.kind) {
      case 'finished':
      case 'refused':
        return this.answer(id, verdict.outcome, reply);
      case 'running':
        return this.options.send(progressMessage(id, 'running', this.options.now()));
      case 'start':
        return known === undefined ? this.admit(message, reply) : this.answer(id, REUSED, reply);
    }
  }

  /** Kills what is open of the attempt and refuses what comes later, also after a restart. */
  onStop(attempt: AttemptKey): void {
    const { file, now } = this.options;
    if (!file.journal.isStopped(attempt)) file.note({ type: 'stopped', attempt, at: now() });
    for (const open of this.open.values()) {
      if (!sameAttempt(open.attempt, attempt)) continue;
      open.stop.abort('ATTEMPT_STOPPED');
      if (open.state === 'queued')
        this.end(open, endedWithout('CANCELLED', 'ATTEMPT_STOPPED', 'the attempt was stopped'));
    }
  }

  /** The server has the result for good. */
  onStored(id: CommandId): void {
    const { file, now } = this.options;
    const record = file.journal.storedRecord(id, now());
    if (record === undefined) return;
    file.noteLazily(record);
    file.journal.forget(now());
  }

  /** After a reconnect: every result that the server has not acknowledged. */
  redeliver(): void {
    for (const { id, outcome } of this.options.file.journal.undelivered()) this.answer(id, outcome, {});
  }

  /** Takes nothing new, gives what runs some time, then ends it; its results are in the journal for the next start. */
  async drain(waitMs: number): Promise<void> {
    this.accepting = false;
    for (const open of this.queue.splice(0)) this.open.delete(open.id);
    const timer = setTimeout(() => {
      for (const { stop } of this.open.values()) stop.abort(DEVICE_STOPPED);
    }, waitMs);
    await Promise.all(this.running);
    clearTimeout(timer);
  }

  private admit(message: OurCommand, reply: Reply): void {
    const { command_id: id, digest, attempt, not_after_ms: startWithinMs } = message.orrery;
    const [action, ...more] = message.actions;
    const no = this.refusal(action, more.length);
    if (action === undefined || no !== undefined) {
      return this.answer(id, no ?? INVALID, { ...reply, call_id: action?.call_id });
    }
    const open: Open = {
      id,
      digest,
      attempt,
      action,
      startWithinMs,
      reply: { ...reply, call_id: action.call_id },
      receivedMs: this.options.monotonicMs(),
      stop: new AbortController(),
      state: 'queued',
    };
    this.open.set(id, open);
    this.queue.push(open);
    this.startNext();
    if (open.state === 'queued') this.options.send(progressMessage(id, 'queued', this.options.now()));
  }

  private refusal(action: Action | undefined, more: number): CommandOutcome | undefined {
    if (action === undefined || more > 0) return INVALID;
    if (!this.options.tools.has(action.tool_name)) {
      return endedWithout('FAILED', 'UNKNOWN_TOOL', `this device has no tool ${action.tool_name.slice(0, 128)}`);
    }
    return this.queue.length >= QUEUE_MAX ? BUSY : undefined;
  }

  private startNext(): void {
    while (this.running.size < this.options.commandsMax) {
      const open = this.queue.shift();
      if (open === undefined) return;
      if (this.options.monotonicMs() - open.receivedMs >= open.startWithinMs) {
        this.end(open, EXPIRED);
        continue;
      }
      open.state = 'running';
      const run = this.run(open);
      this.running.add(run);
      void run.finally(() => {
        this.running.delete(run);
        this.startNext();
      });
    }
  }

  /** Never rejects. */
  private async run(open: Open): Promise<void> {
    const { file, tools, now, monotonicMs, send } = this.options;
    const { id, digest, attempt, action, stop } = open;
    const announce = setTimeout(() => send(progressMessage(id, 'running', now())), ANNOUNCE_MS);
    try {
      const at = now();
      await file.append({ type: 'started', id, digest, attempt, at, until: at + open.startWithinMs });
      const calledMs = monotonicMs();
      const answer = await tools.call(action.tool_name, action.parameters ?? {}, stop.signal);
      const durationMs = Math.round((monotonicMs() - calledMs) * 1_000) / 1_000;
      const timing = { startedAt: new Date(at).toISOString(), durationMs };
      const outcome = fitOutcome(outcomeOf(action.tool_name, answer, stop.signal, timing));
      await file.append({ type: 'finished', id, outcome });
      this.end(open, outcome);
    } catch (error) {
      // Without its record nothing may be said about the command: the next start finds it interrupted.
      this.open.delete(id);
      this.options.onFatal(error);
    } finally {
      clearTimeout(announce);
    }
  }

  private end(open: Open, outcome: CommandOutcome): void {
    this.open.delete(open.id);
    const index = this.queue.indexOf(open);
    if (index >= 0) this.queue.splice(index, 1);
    this.answer(open.id, outcome, open.reply);
  }

  private answer(id: CommandId, outcome: CommandOutcome, reply: Reply): void {
    const { send, now, logger } = this.options;
    logger.debug({ commandId: id, state: outcome.state, code: outcome.error?.code }, 'command ended');
    send(resultMessage(id, outcome, reply, now()));
  }
}

const INVALID = endedWithout('FAILED', 'INVALID_COMMAND', 'a command has exactly one action');
const BUSY = endedWithout('FAILED', 'DEVICE_BUSY', `more than ${QUEUE_MAX} commands wait on this device`);
const EXPIRED = endedWithout('FAILED', 'EXPIRED', 'the time in which the command could start is over; it was not run');
const REUSED = endedWithout(
  'FAILED',
  'COMMAND_ID_REUSED',
  'the command id is in use with other content; this one was not run',
);

const sameAttempt = (a: AttemptKey, b: AttemptKey): boolean =>
  a.runId === b.runId && a.taskId === b.taskId && a.attempt === b.attempt;
