import {
  type ApprovalDecision,
  type ApprovalId,
  type Ask,
  type AttemptCommit,
  type AttemptFinished,
  type AttemptKey,
  commandIdOf,
  DEFAULTS,
  type RunCommit,
  type RunEventData,
  type TaskError,
  type Usage,
} from '#proto';
import type { AttemptLog } from '#libs/event-log';
import { attemptEnded, causeOf } from '../../services/orchestrator/runs/attempt-ends.client.js';
import type { Faults } from './faults.js';
import type { Process } from './process.js';
import { Dice, hashOf } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Bus, Message } from './simulated-bus.js';
import { instant, type Device, type DeviceFleet } from './simulated-devices.js';
import type { Trace } from './trace.js';

type TaskStart = RunEventData<'TASK_STARTED'>;

/** One try of one task, as its device agent and its device have it. */
export interface Attempt {
  readonly key: AttemptKey;
  readonly start: TaskStart;
  readonly device: Device;
  /** When the device began to execute it, milliseconds since the start; null while it has not. */
  begunAt: number | null;
  /** When it came to its end on the device. */
  doneAt: number | null;
  stopped: boolean;
  end: AttemptCommit | null;
  /** The message that carries its end to the run. */
  told: Message | null;
  late: boolean;
  /** The person's word that it waits for, and what comes then. */
  waits: { readonly approvalId: string; readonly goOn: (decision: ApprovalDecision) => void } | null;
}

const FAIL_SHARE = 0.12;
const DURATION_MS_MIN = 20;
const DURATION_MS_MAX = 6_000;
const SLOW_MS_MAX = 180_000;
const ASKS_SHARE = 0.7;
const ASKS_AGAIN_SHARE = 0.4;
const CALLS_MAX = 5;
const STOP_MS_MAX = 3_000;
const DELAY_MS_MAX = 30_000;
const READ_TIMEOUT_MS = 1_000;

export interface AttemptsParts {
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly bus: Bus;
  readonly fleet: DeviceFleet;
  /** A device begins to execute: an effect in the world that cannot be taken back. */
  readonly begins: (attempt: Attempt) => void;
  /** The command of an agent that was let through: another such effect. */
  readonly acts: (attempt: Attempt, approvalId: ApprovalId) => void;
}

/** Device agents and devices: what a run starts is executed once, and comes to exactly one end in ATTEMPTS. */
export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #attempts = new Map<string, Attempt>();
  readonly #stoppedBefore = new Set<string>();

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
  }

  get all(): Iterable<Attempt> {
    return this.#attempts.values();
  }

  find(key: AttemptKey): Attempt | undefined {
    return this.#attempts.get(textOf(key));
  }

  /** A commit of RUNS on its way to the device agents: at least once, each stop after its start or before it. */
  follow(commit: RunCommit): void {
    const { scheduler, dice, faults } = this.#parts;
    if (!commit.events.some(({ type }) => type.startsWith('TASK_') || type === 'APPROVAL_DECIDED')) return;
    const about = `${commit.runId} ${commit.number}`;
    const way = dice.spread(0.3, 10) + (faults.strike('order-delayed', about)?.spread(100, DELAY_MS_MAX) ?? 0);
    scheduler.after(way, () => this.#take(commit));
    const twice = faults.strike('order-twice', about);
    if (twice !== undefined) scheduler.after(way + twice.spread(1, DELAY_MS_MAX), () => this.#take(commit));
  }

  /** As a replica reads ATTEMPTS. */
  logFor(process: Process): Pick<AttemptLog, 'load'> {
    const { faults, dice } = this.#parts;
    const load = async (key: AttemptKey) => {
      const mishap = faults.strike('read-lost', textOf(key)) && ({ kind: 'request-lost' } as const);
      const call = { there: dice.spread(0.2, 3), back: dice.spread(0.2, 3), timeoutMs: READ_TIMEOUT_MS, mishap };
      return process.call({ ...call, work: () => this.#ends(key) });
    };
    return { load };
  }

  /** The registry gave the session up: whoever has not heard of an end will not. */
  lost(device: Device): void {
    for (const attempt of this.#open(device)) this.#fail(attempt, 'DEVICE_LOST', 'device_lost');
  }

  /** The journal says what was begun and not finished. */
  crashed(device: Device): void {
    for (const attempt of this.#open(device)) {
      if (attempt.begunAt === null || attempt.doneAt !== null) continue;
      attempt.doneAt = this.#parts.scheduler.elapsed;
      device.uponConnection.push(() => this.#fail(attempt, 'OUTCOME_UNKNOWN', 'unknown'));
    }
  }

  #open(device: Device): Attempt[] {
    return [...this.#attempts.values()].filter((attempt) => attempt.device === device && attempt.end === null);
  }

  #ends(key: AttemptKey) {
    const commit = this.find(key)?.end ?? null;
    return commit === null ? [] : [{ commit, sequence: 1 }];
  }

  #take({ runId, events }: RunCommit): void {
    for (const { type, data } of events) {
      if (type === 'TASK_STARTED') this.#order({ runId, taskId: data.taskId, attempt: data.attempt }, data);
      else if (type === 'APPROVAL_DECIDED') this.#decided(runId, data);
      else if (type === 'TASK_STOP_REQUESTED') this.#stop({ runId, taskId: data.taskId, attempt: data.attempt });
      else if (type === 'TASK_CANCELLED' || (type === 'TASK_FAILED' && data.attemptHash === null)) {
        const attempt = this.find({ runId, taskId: data.taskId, attempt: data.attempt });
        if (attempt !== undefined) this.#close(attempt);
      }
    }
  }

  #order(key: AttemptKey, start: TaskStart): void {
    if (this.find(key) !== undefined) return;
    const { fleet, scheduler } = this.#parts;
    const stopped = this.#stoppedBefore.has(textOf(key));
    const state = { begunAt: null, doneAt: null, stopped, end: null, told: null, late: false, waits: null };
    const attempt: Attempt = { key, start, device: fleet.find(start.deviceId), ...state };
    this.#attempts.set(textOf(key), attempt);
    scheduler.at(Date.parse(start.timeoutAt), () => this.#try(attempt));
    this.#try(attempt);
  }

  #try(attempt: Attempt): void {
    const { device, start } = attempt;
    if (attempt.end !== null || attempt.begunAt !== null) return;
    if (attempt.stopped) return this.#fail(attempt, 'CANCELLED', 'cancelled');
    if (Date.parse(start.timeoutAt) <= this.#parts.scheduler.now()) return this.#fail(attempt, 'EXPIRED', 'timed_out');
    if (device.profile.status === 'lost') return this.#fail(attempt, 'DEVICE_LOST', 'device_lost');
    if (device.connected) this.#begin(attempt);
    else device.uponConnection.push(() => this.#try(attempt));
  }

  #begin(attempt: Attempt): void {
    const { seed, scheduler, faults, begins, trace } = this.#parts;
    const { key, device } = attempt;
    const about = textOf(key);
    attempt.begunAt = scheduler.elapsed;
    trace.note(device.id, `executes ${about}`);
    begins(attempt);
    if (faults.strike('device-mute', about) !== undefined) return;
    const dice = new Dice(seed, 'attempt', about);
    const slow = faults.strike('device-slow', about);
    const ms = slow?.spread(DURATION_MS_MAX, SLOW_MS_MAX) ?? dice.spread(DURATION_MS_MIN, DURATION_MS_MAX);
    const isFailure = dice.chance(FAIL_SHARE);
    const value = { exit_code: isFailure ? 1 : 0, n: dice.int(0, 9) };
    const { life } = device;
    if (attempt.start.agent !== undefined) return this.#think(attempt, { ms, isFailure, dice });
    scheduler.after(ms, () => {
      if (device.life !== life || attempt.doneAt !== null) return;
      const error = { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed', output: { value } } as const;
      this.#done(attempt, isFailure ? { status: 'failed', error } : { status: 'completed', result: { value } });
    });
  }

  /** An agent: it looks around, perhaps asks a person, acts when it may, and says how it ended and what it used. */
  #think(attempt: Attempt, { ms, isFailure, dice }: { ms: number; isFailure: boolean; dice: Dice }): void {
    const { scheduler, acts } = this.#parts;
    const { start, device } = attempt;
    const { life } = device;
    const spent = dice.int(1, CALLS_MAX);
    const calls = Math.min(spent, start.budget?.llmCalls ?? spent);
    const used: Usage = { llmCalls: calls, tokens: calls * 100, commands: 1, costUsd: calls / 1_000 };
    const isAlive = () => device.life === life && attempt.doneAt === null;
    const later = (share: number, then: () => void) => scheduler.after(ms * share, () => isAlive() && then());
    const done = (isGood: boolean) => {
      const error = { code: 'AGENT_FAILED', message: 'it could not be done', outcome: 'failed' } as const;
      const value = { exit_code: 0, n: dice.int(0, 9) };
      const ended = isGood
        ? ({ status: 'completed', result: { value } } as const)
        : ({ status: 'failed', error } as const);
      this.#done(attempt, { ...ended, used, notes: [`note of ${start.taskId}`] });
    };
    if (!dice.chance(ASKS_SHARE)) return later(1, () => done(!isFailure));
    const ask = (step: number): void =>
      this.#ask(attempt, { step, dice }, (decision) => {
        if (!isAlive()) return;
        const isLetThrough = decision === 'approved' || decision === 'edited';
        if (isLetThrough) acts(attempt, commandIdOf(attempt.key, step));
        if (step === 1 && dice.chance(ASKS_AGAIN_SHARE)) return later(0.2, () => ask(2));
        later(0.5, () => done(isLetThrough || decision === 'answered'));
      });
    later(0.5, () => ask(1));
  }

  #ask(
    attempt: Attempt,
    { step, dice }: { step: number; dice: Dice },
    goOn: (decision: ApprovalDecision) => void,
  ): void {
    const { scheduler, bus, trace } = this.#parts;
    const { key, start } = attempt;
    const { runId, taskId } = key;
    const ask = askOf(attempt, { step, isQuestion: dice.chance(0.2), what: dice.int(1, 2), now: scheduler.now() });
    attempt.waits = { approvalId: ask.approvalId, goOn };
    const about = `${ask.kind} ${step} of ${textOf(key)}`;
    trace.note(start.deviceId, about);
    const input = { kind: 'asked', taskId, attempt: key.attempt, ask, attemptHash: 'a'.repeat(64) } as const;
    const read = () => ({ input, cause: causeOf({ ...key, number: step }, 'ask'), bytes: 1_000 });
    bus.publish({ stream: 'ATTEMPTS', runId, about, read });
  }

  #decided(runId: string, { taskId, attempt: number, approvalId, decision }: RunEventData<'APPROVAL_DECIDED'>): void {
    const attempt = this.find({ runId, taskId, attempt: number });
    if (attempt?.waits?.approvalId !== approvalId || decision === 'revoked') return;
    const { goOn } = attempt.waits;
    attempt.waits = null;
    if (!attempt.stopped) goOn(decision);
  }

  /** The device has an outcome and says so as soon as somebody hears it. */
  #done(attempt: Attempt, finished: AttemptFinished): void {
    attempt.doneAt = this.#parts.scheduler.elapsed;
    this.#whenConnected(attempt, () => this.#finish(attempt, finished));
  }

  #whenConnected({ device }: Attempt, then: () => void): void {
    if (device.connected) then();
    else device.uponConnection.push(then);
  }

  #stop(key: AttemptKey): void {
    const attempt = this.find(key);
    if (attempt === undefined) return void this.#stoppedBefore.add(textOf(key));
    if (attempt.end !== null || attempt.stopped) return;
    attempt.stopped = true;
    if (attempt.begunAt === null) return this.#try(attempt);
    const { faults } = this.#parts;
    if (faults.strike('stop-ignored', textOf(key)) === undefined)
      this.#whenConnected(attempt, () => this.#kill(attempt));
  }

  #kill(attempt: Attempt): void {
    const { scheduler, dice } = this.#parts;
    scheduler.after(dice.spread(5, STOP_MS_MAX), () => {
      if (attempt.doneAt !== null) return;
      const error = { code: 'CANCELLED', message: 'it was stopped', outcome: 'cancelled' } as const;
      this.#done(attempt, { status: 'failed', error });
    });
  }

  /** The run went on without this attempt's end: it gets the only one that is true. */
  #close(attempt: Attempt): void {
    if (attempt.end !== null) return;
    this.#fail(attempt, 'OUTCOME_UNKNOWN', 'unknown');
    this.#whenConnected(attempt, () => this.#kill(attempt));
  }

  #fail(attempt: Attempt, code: string, outcome: TaskError['outcome']): void {
    if (attempt.end !== null) return;
    this.#finish(attempt, { status: 'failed', error: { code, message: code.toLowerCase(), outcome } });
  }

  /** Exactly one end; what comes after it is told as late, once. */
  #finish(attempt: Attempt, finished: AttemptFinished): void {
    const { bus, trace } = this.#parts;
    const { key } = attempt;
    const { runId, taskId } = key;
    if (attempt.end !== null) {
      const isOutcome = finished.status === 'completed' || finished.error.outcome === 'failed';
      if (!isOutcome || attempt.late) return;
      attempt.late = true;
      const { hash: attemptHash } = attempt.end;
      const input = { kind: 'late-result', taskId, attempt: key.attempt, attemptHash, text: 'late' } as const;
      const read = () => ({ input, cause: causeOf(key, 'late'), bytes: 200 });
      bus.publish({ stream: 'ATTEMPTS', runId, about: `late result of ${textOf(key)}`, read });
      return;
    }
    const end = this.#commitOf(key, finished);
    const input = attemptEnded(end);
    if (input === undefined) throw new Error('the end of an attempt has no ATTEMPT_FINISHED');
    attempt.end = end;
    const what = finished.status === 'completed' ? 'completed' : finished.error.outcome;
    trace.note(attempt.device.id, `${textOf(key)} ${what}`);
    const read = () => ({ input, cause: causeOf(key, 'end'), bytes: 400 });
    attempt.told = bus.publish({ stream: 'ATTEMPTS', runId, about: `end of ${textOf(key)}`, ends: key, read });
  }

  #commitOf(key: AttemptKey, finished: AttemptFinished): AttemptCommit {
    const text = textOf(key);
    const hash = Array.from({ length: 8 }, (_, part) => hashOf(part, text).toString(16).padStart(8, '0')).join('');
    const event = { id: `${text}.1`, sequence: 1, schemaVersion: 1, type: 'ATTEMPT_FINISHED', data: finished } as const;
    return {
      commit: '0'.repeat(26),
      ...key,
      number: 1,
      at: instant(this.#parts.scheduler.now()),
      by: { service: 'device-agent', instance: 'agent-1' },
      causes: [],
      events: [event],
      prevHash: '0'.repeat(64),
      hash,
    };
  }
}

function askOf(
  { key, start }: Attempt,
  { step, isQuestion, what, now }: { step: number; isQuestion: boolean; what: number; now: number },
): Ask {
  const until = Math.min(now + DEFAULTS.approvalMs, Date.parse(start.timeoutAt));
  const head = { agent: 'LinuxAgent', step, thought: '', plan: [], expiresAt: instant(until) };
  const asked = { ...head, approvalId: commandIdOf(key, step), deviceId: start.deviceId };
  if (isQuestion) return { kind: 'question', ...asked, question: 'Which of the two?' };
  const command = { tool: 'EXEC_CLI', arguments: { command: `rm /srv/${what}` } };
  const verdict = { class: 'destructive', rule: 'program.rm' } as const;
  return { kind: 'approval', ...asked, command, ...verdict, reasons: [], policyHash: 'a'.repeat(64), grantable: true };
}

export function textOf({ runId, taskId, attempt }: AttemptKey): string {
  return `${runId.slice(0, 6)}.${taskId}.${attempt}`;
}
