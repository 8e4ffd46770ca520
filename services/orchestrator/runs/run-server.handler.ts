import type { Logger } from 'pino';
import type { Cause, CommitAuthor, DeviceId, RunCommit, RunId, Sha256 } from '#proto';
import {
  ANY_DEVICE,
  type Answer,
  type Circumstances,
  checkInvariants,
  decide,
  type RunDecision,
  emptyRun,
  findTask,
  foldRun,
  type Input,
  isTerminal,
  KnownTruths,
  type StandingApproval,
  type Question,
  type Run,
  type Truth,
  undecided,
  withVerbs,
} from '#libs/constellation';
import {
  OVERTAKEN,
  CorruptLogError,
  hashCommit,
  newCommitId,
  type RunLog,
  sealNext,
  uncontended,
} from '#libs/event-log';
import { TimerConflictError } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { Fleet } from '../fleet/index.js';
import { Starved, type StarvedTurn } from './starved.js';
import { takeBatch } from './take-batch.js';

/** What becomes of something that waited for a run. */
export type Settled =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly sequence: number }
  /** Infrastructure: nothing is known to be stored; the same input comes again. */
  | { readonly kind: 'retry'; readonly reason: string }
  /** The input is itself bad, or its run cannot be folded: for the dead letters. */
  | { readonly kind: 'poison'; readonly reason: string };

/** One input with its cause, and who waits for what becomes of it. */
export interface Waiting {
  readonly input: Input;
  readonly cause: Cause;
  /** Size of the facts it may leave in a commit. */
  readonly bytes: number;
  /** It is the run's armed wake-up that fired: another one is armed before it is settled. */
  readonly due?: boolean;
  /** Server time the input carries, for a due wake-up: the run is decided at the later of it and the clock. */
  readonly at?: number;
  /** Read from ATTEMPTS or PLANS when the run was loaded: nobody waits for what becomes of it. */
  readonly isStored?: boolean;
  settle(settled: Settled): void;
}

/** Durable wake-ups of runs; `armed` is undefined when none is pending. Milliseconds since the epoch. */
export interface WakeUps {
  arm(runId: RunId, at: number): Promise<void>;
  armed(runId: RunId): Promise<number | undefined>;
  /** The run is thought to be new; `arm` throws TimerConflictError when it is not. */
  expectNone(runId: RunId): void;
  /** What was seen of a run is not needed any more. */
  forget(runId: RunId): void;
}

interface Served {
  readonly runId: RunId;
  waiting: Waiting[];
  busy: boolean;
  /** Its partition was given up while it was busy: what is in memory ends with what is in work. */
  givenUp: boolean;
  loaded: { readonly run: Run; readonly end: number } | undefined;
  armedAt: number | undefined;
}

/** An end of an attempt, or a word of the planner, as it is stored: for a run that is loaded while a dead replica still holds its inputs. */
export type StoredEnd = Pick<Waiting, 'input' | 'cause' | 'bytes'>;

export interface RunServerParts {
  readonly log: RunLog;
  /** What is stored already of what a loaded run believes to be open: ends of attempts, and the planner's word in its round. */
  readonly endsOf: (run: Run) => Promise<StoredEnd[]>;
  readonly wakeUps: WakeUps;
  readonly fleet: Fleet;
  readonly clock: Clock;
  /** Whether the other replicas still count on this one: without that nothing is written and nothing is answered. */
  readonly alive: () => boolean;
  readonly by: CommitAuthor;
  readonly logger: Logger;
  /** Somebody is there who makes plans. */
  readonly planner: () => boolean;
  /** Ids of the persons who may approve; without it nobody knows. */
  readonly approvers?: () => readonly string[] | undefined;
  /** Words for the content of plans with this hash that count now. */
  readonly standing?: (contentHash: Sha256, now: number) => readonly StandingApproval[];
  /** What conditions come to that take time, or need more than an event holds; throws when the infrastructure is away. */
  readonly judge: (questions: readonly Question[]) => Promise<readonly Truth[]>;
  /** One turn of the event loop, so that messages that arrived together are decided together. */
  readonly turn?: () => Promise<void>;
  readonly decide?: typeof decide;
  /** The id of the next commit, a ULID. */
  readonly commitId?: (now: number) => string;
}

/**
 * Serves runs: load -> decide (pure) -> append -> settle. One append in flight per run; what waits for a run is decided
 * together and leaves as one commit, so a fan-in of 200 results costs a few appends.
 */
export class RunServer {
  readonly #parts: RunServerParts;
  readonly #served = new Map<RunId, Served>();
  /** Fairness between runs: who waits for a device, first come first served. */
  readonly #starved = new Starved();
  #owns: (runId: RunId) => boolean = () => true;

  constructor(parts: RunServerParts) {
    this.#parts = parts;
    parts.fleet.onFree((deviceId, slots) => this.#wake(this.#starved.take(deviceId, slots), deviceId));
    parts.fleet.onChanged((deviceId) => this.#wake(this.#starved.take(ANY_DEVICE, Infinity), deviceId));
  }

  /** Runs in memory: those that are not terminal, and those that something waits for. */
  get size(): number {
    return this.#served.size;
  }

  /** Runs in memory that this actor asked for and that have not ended. */
  openRunsOf(actorId: string): number {
    let open = 0;
    for (const { loaded } of this.#served.values()) {
      if (loaded !== undefined && !isTerminal(loaded.run) && loaded.run.authors[0]?.actor.id === actorId) open++;
    }
    return open;
  }

  deliver(runId: RunId, waiting: Waiting): void {
    const served = this.#served.get(runId) ?? {
      runId,
      waiting: [],
      busy: false,
      givenUp: false,
      loaded: undefined,
      armedAt: undefined,
    };
    this.#served.set(runId, served);
    served.waiting.push(waiting);
    if (!served.busy) void this.#serve(served);
  }

  /** Forgets the runs of partitions that another replica owns now; what is in flight ends by the fence of its append. */
  drop(owns: (runId: RunId) => boolean): void {
    this.#owns = owns;
    const lost = [...this.#served.values()].filter(({ runId }) => !owns(runId));
    // First of all: a slot that one of them seems to leave must not wake another one.
    for (const { runId } of lost) this.#starved.remove(runId);
    for (const served of lost) {
      if (served.busy) served.givenUp = true;
      else this.#forget(served);
    }
  }

  async #serve(served: Served): Promise<void> {
    served.busy = true;
    try {
      await (this.#parts.turn ?? eventLoopTurn)();
      while (served.waiting.length > 0) {
        await this.#serveBatch(served, takeBatch(served.waiting));
        if (served.givenUp) served.loaded = undefined;
        served.givenUp = false;
      }
    } finally {
      served.busy = false;
      if (this.#isOver(served)) this.#forget(served);
    }
  }

  async #serveBatch(served: Served, batch: readonly Waiting[]): Promise<void> {
    try {
      try {
        await this.#serveAll(served, batch);
      } catch (error) {
        if (!(error instanceof UndecidableError)) throw error;
        await this.#serveAll(served, await this.#isolate(served, batch));
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const { runId } = served;
      if (error instanceof MembershipOverError)
        this.#parts.logger.info({ runId, inputs: batch.length }, 'handed back: this replica is no member');
      else this.#parts.logger.error({ runId, err: error }, 'run not served');
      served.loaded = undefined;
      // What was read with the run is read again with it.
      served.waiting = served.waiting.filter(({ isStored }) => isStored !== true);
      const kind = error instanceof CorruptLogError || error instanceof UnsoundRunError ? 'poison' : 'retry';
      for (const waiting of batch) waiting.settle({ kind, reason });
    }
  }

  async #serveAll(served: Served, batch: readonly Waiting[]): Promise<void> {
    for (let more = true, inputs = batch; more; inputs = []) more = await this.#decideAndAppend(served, inputs);
  }

  /** TakesMessages on which `decide` throws are poison: each becomes a pause of the run, for a person to look, and a dead letter. */
  async #isolate(served: Served, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const { run } = await this.#load(served);
    const circumstances = this.#circumstances(run, this.#nowOf(batch));
    return batch.map((waiting): Waiting => {
      try {
        this.#decide(run, [waiting.input], circumstances);
        return waiting;
      } catch (error) {
        const reason = `decide threw on ${waiting.cause.kind} ${waiting.cause.id}: ${String(error)}`;
        this.#parts.logger.error({ runId: served.runId, reason }, 'poison input');
        const settle = (settled: Settled) =>
          waiting.settle(settled.kind === 'answered' ? { kind: 'poison', reason } : settled);
        return { input: { kind: 'pause', reason }, cause: waiting.cause, bytes: reason.length, settle };
      }
    });
  }

  /** True when the commit was full and the rest of what is owed goes into another one. */
  #decideAndAppend(served: Served, batch: readonly Waiting[]): Promise<boolean> {
    const truths = new KnownTruths();
    return uncontended(`run ${served.runId}`, async (lost) => {
      // A run is new far more often than it is asked for again: the expected sequences show when it is not.
      const { run, end } = lost === 0 && isNew(served, batch) ? this.#begin(served) : await this.#load(served);
      this.#noticeFired(served, batch);
      this.#requireMembership(served);
      let now = this.#nowOf(batch);
      let decision = this.#decideOrExplain(run, batch, { now, truths });
      // What follows from a truth may ask for another one, but never for the same. Other runs go on meanwhile.
      while (decision.wanted.length > 0) {
        await this.#findOut(decision.wanted, truths);
        this.#requireMembership(served);
        now = this.#nowOf(batch);
        decision = this.#decideOrExplain(run, batch, { now, truths });
      }
      // Before anything is awaited: other runs see what this one takes, and a slot that becomes free meanwhile wakes it, too.
      const released = this.#starved.set(served.runId, decision.starvedOf, turnOf(decision));
      this.#parts.fleet.occupy(served.runId, decision.run);
      // Who was granted a slot and waits for it all the same has shown that there is none: offering it on would go round for ever.
      for (const deviceId of released) if (!decision.starvedOf.has(deviceId)) this.#parts.fleet.offer(deviceId);
      if (!(await this.#arm(served, decision, now))) {
        return this.#conflict(served, 'timer');
      }
      if (decision.events.length === 0) {
        if (batch.length > 0 && (await this.#parts.log.endsAt(served.runId)) !== end) {
          return this.#conflict(served, 'end');
        }
        // What was read may have waited here while this process was frozen.
        this.#requireMembership(served);
        await this.#keepArmed(served, decision);
        answerAll(batch, decision, run.sequence);
        return false;
      }
      const commit = this.#seal(run, decision, batch, now);
      this.#requireMembership(served);
      const appended = await this.#parts.log.append(served.runId, commit, end);
      if (appended.kind === 'conflict') {
        return this.#conflict(served, 'append');
      }
      const sequence = run.sequence + decision.events.length;
      const verbs = withVerbs(run.verbs, commit.causes, sequence);
      served.loaded = {
        run: { ...decision.run, verbs, sequence, number: commit.number, hash: commit.hash },
        end: appended.sequence,
      };
      this.#tellEnds(run, decision, now);
      await this.#keepArmed(served, decision);
      answerAll(batch, decision, sequence);
      return decision.wakeAt !== null && decision.wakeAt <= now;
    });
  }

  /**
   * A due wake-up says that it has fired. One that was not counted on may have been armed in place of the one that was, by a
   * replica that was frozen meanwhile: `#arm` takes its instant for over, and reads what is armed.
   */
  #noticeFired(served: Served, batch: readonly Waiting[]): void {
    for (const { due, at = Infinity } of batch) {
      if (due !== true || served.armedAt === undefined) continue;
      served.armedAt = served.armedAt <= at ? undefined : at;
    }
  }

  /** Somebody else has written: what is in memory is loaded again. */
  #conflict(served: Served, seenBy: 'timer' | 'end' | 'append'): typeof OVERTAKEN {
    this.#parts.logger.info({ runId: served.runId, seenBy }, 'conflict: the run is loaded again');
    served.loaded = undefined;
    return OVERTAKEN;
  }

  /** Throws when this replica counts as dead. It may have been frozen for long; its partitions are served by others now. */
  #requireMembership({ runId }: Served): void {
    if (!this.#parts.alive()) throw new MembershipOverError(`run ${runId} is left to the other replicas`);
  }

  #begin(served: Served): { readonly run: Run; readonly end: number } {
    this.#parts.wakeUps.expectNone(served.runId);
    served.loaded = { run: emptyRun(served.runId), end: 0 };
    return served.loaded;
  }

  async #load(served: Served): Promise<{ readonly run: Run; readonly end: number }> {
    if (served.loaded !== undefined) return served.loaded;
    const stored = await this.#parts.log.load(served.runId);
    const run = fold(
      served.runId,
      stored.map(({ commit }) => commit),
    );
    served.loaded = { run, end: stored.at(-1)?.sequence ?? 0 };
    this.#parts.fleet.occupy(served.runId, run);
    served.armedAt = stored.length === 0 || isTerminal(run) ? undefined : await this.#parts.wakeUps.armed(served.runId);
    if (run.running.size > 0 || run.editing !== null) {
      const ends = await this.#parts.endsOf(run);
      served.waiting.push(...ends.map((end) => ({ ...end, isStored: true, settle: () => undefined })));
    }
    return served.loaded;
  }

  /** Stored before the commit that needs it: a spurious wake-up is harmless, a missing one is a dead run. False: reload. */
  async #arm(served: Served, { wakeAt }: RunDecision, now: number): Promise<boolean> {
    if (wakeAt === null) return true;
    // One that should have fired by now may have, at a replica that owned the run before.
    if (served.armedAt !== undefined && served.armedAt <= now) {
      served.armedAt = await this.#parts.wakeUps.armed(served.runId);
    }
    if (served.armedAt !== undefined && served.armedAt <= wakeAt) return true;
    try {
      await this.#parts.wakeUps.arm(served.runId, wakeAt);
    } catch (error) {
      if (error instanceof TimerConflictError) return false;
      throw error;
    }
    served.armedAt = wakeAt;
    return true;
  }

  /** The wake-up that was counted on may have fired meanwhile, at a replica that decided on the state before. */
  async #keepArmed(served: Served, decision: RunDecision): Promise<void> {
    await uncontended(`the wake-up of run ${served.runId}`, async () =>
      (await this.#arm(served, decision, this.#parts.clock.now())) ? null : OVERTAKEN,
    );
  }

  #seal(run: Run, { answers, events }: RunDecision, batch: readonly Waiting[], now: number): RunCommit {
    const { runId, number, sequence, hash } = run;
    return sealNext({ number, events: sequence, hash }, { runId }, events, {
      commit: (this.#parts.commitId ?? newCommitId)(now),
      now,
      by: this.#parts.by,
      causes: batch.flatMap(({ cause }, index) => causeOf(cause, answers[index])),
      eventId: (at) => `${runId}-${at}`,
    });
  }

  async #findOut(wanted: readonly Question[], truths: KnownTruths): Promise<void> {
    const found = await this.#parts.judge(wanted);
    wanted.forEach((question, index) => truths.add(question, found[index] ?? undecided('nobody has judged it')));
  }

  #decideOrExplain(
    run: Run,
    batch: readonly Waiting[],
    { now, truths }: { readonly now: number; readonly truths: KnownTruths },
  ): RunDecision {
    try {
      return this.#decide(run, inputsOf(batch), { ...this.#circumstances(run, now), truths });
    } catch (error) {
      throw new UndecidableError(`run ${run.runId} cannot be decided: ${String(error)}`, { cause: error });
    }
  }

  get #decide(): typeof decide {
    return this.#parts.decide ?? decide;
  }

  #circumstances(run: Run, now: number): Circumstances {
    const { runId } = run;
    const reserved = (deviceId: DeviceId) => this.#starved.reserved(runId, deviceId, priorityOf(run));
    const { fleet, planner, approvers, standing } = this.#parts;
    return {
      fleet: fleet.viewOf(runId, { now, reserved }),
      now,
      planner: planner(),
      approvers: approvers?.(),
      standing: standing && ((content) => standing(hashCommit(content), now)),
    };
  }

  /** What the recorded ends say about the devices. */
  #tellEnds(before: Run, { events }: RunDecision, now: number): void {
    for (const { type, data } of events) {
      if (type !== 'TASK_COMPLETED' && type !== 'TASK_FAILED') continue;
      const task = findTask(before, data.taskId);
      if (task?.status !== 'RUNNING') continue;
      // What never reached the device says nothing about it.
      if (type === 'TASK_FAILED' && data.error.sent === false) continue;
      this.#parts.fleet.attemptEnded(task.deviceId, type === 'TASK_COMPLETED' ? 'completed' : data.error.outcome, now);
    }
  }

  #wake(runIds: readonly RunId[], deviceId: string): void {
    for (const runId of runIds) {
      const cause = { kind: 'fleet', id: deviceId } as const;
      this.deliver(runId, { input: { kind: 'wake' }, cause, bytes: 0, settle: () => undefined });
    }
  }

  #nowOf(batch: readonly Waiting[]): number {
    return batch.reduce((latest, { at }) => Math.max(latest, at ?? 0), this.#parts.clock.now());
  }

  #isOver({ runId, loaded }: Served): boolean {
    if (loaded === undefined || !this.#owns(runId)) return true;
    return isTerminal(loaded.run) || loaded.run.phase === 'NONE';
  }

  #forget(served: Served): void {
    if (served.waiting.length > 0) return void this.#serve(served);
    this.#served.delete(served.runId);
    this.#starved.remove(served.runId);
    this.#parts.fleet.vacate(served.runId);
    this.#parts.wakeUps.forget(served.runId);
  }
}

/** This replica could not renew its membership in time. */
class MembershipOverError extends Error {}

/** `decide` threw on a batch: one of its inputs is poison. */
class UndecidableError extends Error {}

/** The log holds a run that breaks an invariant: nothing is decided on it. */
class UnsoundRunError extends Error {}

function fold(runId: RunId, commits: readonly RunCommit[]): Run {
  try {
    const run = foldRun(commits) ?? emptyRun(runId);
    const [violation] = checkInvariants(run);
    if (violation === undefined) return run;
    throw new UnsoundRunError(
      `run ${runId} breaks ${violation.invariant}: ${violation.tasks.join(', ')} ${violation.message}`,
    );
  } catch (error) {
    if (error instanceof UnsoundRunError) throw error;
    throw new UnsoundRunError(`run ${runId} cannot be folded: ${String(error)}`, { cause: error });
  }
}

function isNew(served: Served, batch: readonly Waiting[]): boolean {
  return (
    served.loaded === undefined &&
    batch.length > 0 &&
    batch.every(({ input }) => input.kind === 'submit' || input.kind === 'fork')
  );
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function turnOf({ events, run }: RunDecision): StarvedTurn {
  const started = events.flatMap(({ type, data }) => (type === 'TASK_STARTED' ? data.deviceId : []));
  return { priority: priorityOf(run), served: new Set(started) };
}

function priorityOf({ request }: Run): number {
  return request?.options.priority ?? 0;
}

/** A commit names what it decided; what was ignored or refused without a trace is not among it. */
function causeOf(cause: Cause, answer: Answer | undefined): Cause[] {
  // What was decided before keeps its place in the commit of then.
  if (answer?.kind === 'accepted') return answer.sequence === undefined ? [cause] : [];
  return answer?.kind === 'rejected' && answer.recorded === true ? [{ ...cause, rejected: true }] : [];
}

function inputsOf(batch: readonly Waiting[]): Input[] {
  return batch.map(({ input }) => input);
}

function answerAll(batch: readonly Waiting[], { answers }: RunDecision, sequence: number): void {
  for (const [index, waiting] of batch.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    const decidedAt = answer.kind === 'accepted' ? answer.sequence : undefined;
    waiting.settle({ kind: 'answered', answer, sequence: decidedAt ?? sequence });
  }
}
