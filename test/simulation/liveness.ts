import { assign, type FleetView, isHeld, isTerminal, Purse, type Run, waitingFor } from '#libs/constellation';
import type { Fail } from './failure.js';
import type { Replicas } from './replicas.js';
import type { Scheduler } from './scheduler.js';
import type { Attempts } from './simulated-attempts.js';
import { textOf } from './simulated-attempts.js';
import type { Bus, Message } from './simulated-bus.js';
import type { DeviceFleet } from './simulated-devices.js';
import type { WorldAudit } from './world-audit.js';

/** What is owed is done within this, when nothing goes wrong: polls and redeliveries are well inside of it. */
const OVERDUE_MS = 15_000;

export interface LivenessParts {
  readonly scheduler: Scheduler;
  readonly fail: Fail;
  readonly audit: WorldAudit;
  readonly fleet: DeviceFleet;
  readonly attempts: Attempts;
  readonly bus: Bus;
  readonly replicas: Replicas;
}

/** That what is owed happens: looked at while nothing goes wrong any more, and when everything has come to rest. */
export class Liveness {
  readonly #parts: LivenessParts;
  /** Since when a task could have been started. */
  readonly #ready = new Map<string, number>();

  constructor(parts: LivenessParts) {
    this.#parts = parts;
  }

  /** Everything has happened: no input is open, every run is over. */
  get isAtRest(): boolean {
    const { bus, audit, attempts } = this.#parts;
    if (bus.open > 0) return false;
    for (const { run } of audit.runs.values()) if (run === undefined || !isTerminal(run)) return false;
    for (const { end } of attempts.all) if (end === null) return false;
    return true;
  }

  /** Nothing that a run waits for is long over. */
  checkOwed(): void {
    const { scheduler, audit } = this.#parts;
    const now = scheduler.now();
    const late = new Date(now - OVERDUE_MS).toISOString();
    const since = new Map(this.#ready);
    this.#ready.clear();
    for (const { run, lock, asks } of audit.runs.values()) {
      if (run === undefined || isTerminal(run)) continue;
      if (waitingFor(run) === null) this.#fail(run, 'NO_REASON', 'waits for nothing');
      for (const { star, status, stopping, timeoutAt, deadlineAt } of run.tasks) {
        if (status !== 'PENDING' && status !== 'RUNNING') continue;
        const due = stopping?.graceUntil ?? earliest(status === 'RUNNING' ? timeoutAt : null, deadlineAt);
        if (due !== null && due < late) this.#fail(run, 'OVERDUE', `${star.id} was to end at ${due}`);
      }
      const { deadlineAt, ending } = run;
      if (deadlineAt !== null && deadlineAt < late && ending === null) {
        this.#fail(run, 'OVERDUE', `the run was to end at ${deadlineAt}`);
      }
      const lockUntil = lock.deadlineAt;
      if (lockUntil !== null && lockUntil < late) this.#fail(run, 'LOCK', `the open round was to end at ${lockUntil}`);
      for (const id of asks.overdue(late)) this.#fail(run, 'OVERDUE', `${id} was to be decided by now`);
      this.#checkStarts(run, now, since);
    }
  }

  /** Nothing is left over when all is done. */
  checkRest(): void {
    const { bus, attempts, replicas, fail } = this.#parts;
    for (const message of bus.messages) this.#checkMessage(message);
    for (const { end, key, told } of attempts.all) {
      if (end === null || told === null) fail('LOST_INPUT', `${textOf(key)} came to no end`);
    }
    if (this.#isBlind) return;
    for (const { name, server, fleet } of replicas.living) {
      if (server.size > 0) fail('LEAK', `${name} keeps ${server.size} runs that are over`);
      for (const [deviceId, count] of fleet.own) {
        if (count !== 0) fail('LEAK', `${name} counts ${count} tasks on ${deviceId} when none runs`);
      }
    }
  }

  /** What was accepted is recorded, once. */
  #checkMessage({ stream, runId, about, buried, answers, read }: Message): void {
    const { audit, fail, scheduler } = this.#parts;
    if (buried !== null) fail('DEAD_LETTER', `${about}: ${buried}`);
    const accepted = answers.filter(({ answer }) => answer.kind === 'accepted');
    if (accepted.length === 0 || stream === 'TIMERS') return;
    const isRecorded = audit.runs.get(runId)?.hasCause(read(scheduler.now()).cause) === true;
    if (!isRecorded) fail('LOST_INPUT', `${about} was accepted and is not recorded`);
    const sequences = new Set(accepted.map(({ sequence }) => sequence));
    if (stream === 'VERBS' && sequences.size > 1) {
      fail('ANSWERS', `${about} was accepted at ${[...sequences].join(' and at ')}`);
    }
  }

  /** Once the limit has passed: what has not come to an end, and why it says it has not. */
  checkEnded(): void {
    const { bus, audit, attempts, fail } = this.#parts;
    for (const { run } of audit.runs.values()) {
      if (run === undefined || isTerminal(run)) continue;
      const why = waitingFor(run);
      if (this.#isBlind && why?.reason === 'device') continue;
      fail('NEVER_ENDS', `run ${run.runId.slice(0, 6)} is ${run.phase}: ${why?.reason} ${why?.detail}`);
    }
    for (const { about, done } of bus.messages) if (!done) fail('LOST_INPUT', `${about} was never settled`);
    for (const { key, end } of attempts.all) if (end === null) fail('NEVER_ENDS', `${textOf(key)} has no end`);
  }

  /** An owner was passed over when a run came to its end: it may go on counting the run's tasks, and others wait for them. */
  get #isBlind(): boolean {
    return this.#parts.replicas.strays > 0;
  }

  /** Those that could have been started at the last look and still wait count on. */
  #checkStarts(run: Run, now: number, since: ReadonlyMap<string, number>): void {
    if (run.phase !== 'RUNNING' || run.ending !== null || this.#isBlind) return;
    const { audit } = this.#parts;
    const { concurrency = Infinity } = run.request?.options ?? {};
    const held = isHeld(run);
    const view = this.#view(run);
    const purse = new Purse(run);
    for (const index of run.ready) {
      const { star, notBefore, error, failedOn } = run.tasks.at(index);
      const id = `${run.runId} ${star.id}`;
      const isDue = notBefore === null || Date.parse(notBefore) <= now;
      // A device that was lost under a task is not taken again in the same session.
      const isFree =
        view.slotsLeft > run.running.size &&
        isDue &&
        !held(index) &&
        purse.lacking(star).length === 0 &&
        run.running.size < concurrency &&
        error?.outcome !== 'device_lost';
      const couldStart = isFree && assign(star, view, { session: null, failedOn }).kind === 'device';
      if (!couldStart) continue;
      // While others are started it may be their turn.
      const from = Math.max(since.get(id) ?? now, audit.startedAt);
      this.#ready.set(id, from);
      if (now - from > OVERDUE_MS) this.#fail(run, 'OVERDUE', `${star.id} could start since ${now - from} ms`);
    }
  }

  /** The fleet as it is, and circuits as the replicas have them. */
  #view({ runId }: Run): FleetView {
    const { audit, fleet, replicas, scheduler } = this.#parts;
    const now = scheduler.now();
    const views = replicas.living.map((replica) => replica.fleet.viewOf(runId, { now, reserved: () => 0 }));
    return {
      complete: false,
      watchedMs: 0,
      devices: new Map(fleet.profiles.map((profile) => [profile.deviceId, profile])),
      running: (deviceId) => audit.running(deviceId),
      reserved: () => 0,
      agents: new Set(['LinuxAgent']),
      circuit: (deviceId) => {
        const circuits = views.map((view) => view.circuit(deviceId));
        return circuits.find(({ state }) => state !== 'closed') ?? { state: 'closed' };
      },
      slotsLeft: Math.min(...views.map(({ slotsLeft }) => slotsLeft)),
    };
  }

  #fail(run: Run, check: string, message: string): void {
    this.#parts.fail(check, `run ${run.runId.slice(0, 6)}: ${message}`);
  }
}

function earliest(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
