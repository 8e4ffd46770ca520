import type { CommitAuthor, RunCommit, RunId } from '#proto';
import {
  ANY_DEVICE,
  type RunDecision,
  emptyRun,
  findTask,
  isTerminal,
  KnownTruths,
  type Run,
  withVerbs,
} from '#libs/constellation';
import { OVERTAKEN, CorruptLogError, newCommitId, type RunLog, sealNext, uncontended } from '#libs/event-log';
import type { Clock } from '#libs/platform';
import { answerAll, recordedCause, isNew, turnOf } from './batch.js';
import { RunDecider, UndecidableError, type DeciderParts } from './run-decider.js';
import type { RunFigures } from './run-figures.adapter.js';
import type { ServedRun, StoredEnd, Waiting } from './served-run.js';
import { soundRun, UnsoundRunError } from './sound-run.js';
import { Starved } from './starved.js';
import { takeBatch } from './take-batch.js';
import { ArmedWakeUps, type WakeUps } from './wake-ups.handler.js';

export interface RunServerParts extends DeciderParts {
  readonly log: RunLog;
  /** What is stored already of what a loaded run believes to be open: ends of attempts, and the planner's word in its round. */
  readonly endsOf: (run: Run) => Promise<StoredEnd[]>;
  readonly wakeUps: WakeUps;
  readonly clock: Clock;
  /** Whether the other replicas still count on this one: without that nothing is written and nothing is answered. */
  readonly alive: () => boolean;
  readonly by: CommitAuthor;
  /** One turn of the event loop, so that messages that arrived together are decided together. */
  readonly turn?: () => Promise<void>;
  /** The id of the next commit, a ULID. */
  readonly commitId?: (now: number) => string;
  /** What is stored, for those who count. */
  readonly figures?: RunFigures;
}

/**
 * Serves runs: load -> decide (pure) -> append -> settle. One append in flight per run; what waits for a run is decided
 * together and leaves as one commit, so a fan-in of 200 results costs a few appends.
 */
export class RunServer {
  readonly #parts: RunServerParts;
  readonly #armed: ArmedWakeUps;
  readonly #decider: RunDecider;
  readonly #served = new Map<RunId, ServedRun>();
  /** Fairness between runs: who waits for a device, first come first served. */
  readonly #starved = new Starved();
  #owns: (runId: RunId) => boolean = () => true;

  constructor(parts: RunServerParts) {
    this.#parts = parts;
    this.#armed = new ArmedWakeUps(parts);
    this.#decider = new RunDecider(parts, this.#starved);
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

  async #serve(served: ServedRun): Promise<void> {
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

  async #serveBatch(served: ServedRun, batch: readonly Waiting[]): Promise<void> {
    try {
      try {
        await this.#serveAll(served, batch);
      } catch (error) {
        if (!(error instanceof UndecidableError)) throw error;
        const { run } = await this.#load(served);
        await this.#serveAll(served, this.#decider.isolate(run, batch, this.#nowOf(batch)));
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

  async #serveAll(served: ServedRun, batch: readonly Waiting[]): Promise<void> {
    for (let more = true, inputs = batch; more; inputs = []) more = await this.#decideAndAppend(served, inputs);
  }

  /** True when the commit was full and the rest of what is owed goes into another one. */
  #decideAndAppend(served: ServedRun, batch: readonly Waiting[]): Promise<boolean> {
    const truths = new KnownTruths();
    return uncontended(`run ${served.runId}`, async (lost) => {
      // A run is new far more often than it is asked for again: the expected sequences show when it is not.
      const { run, end } = lost === 0 && isNew(served, batch) ? this.#begin(served) : await this.#load(served);
      this.#armed.noticeFired(served, batch);
      this.#requireMembership(served);
      let now = this.#nowOf(batch);
      let decision = this.#decider.decide(run, batch, { now, truths });
      // What follows from a truth may ask for another one, but never for the same. Other runs go on meanwhile.
      while (decision.wanted.length > 0) {
        await this.#decider.findOut(decision.wanted, truths);
        this.#requireMembership(served);
        now = this.#nowOf(batch);
        decision = this.#decider.decide(run, batch, { now, truths });
      }
      // Before anything is awaited: other runs see what this one takes, and a slot that becomes free meanwhile wakes it, too.
      const released = this.#starved.set(served.runId, decision.starvedOf, turnOf(decision));
      this.#parts.fleet.occupy(served.runId, decision.run);
      // Who was granted a slot and waits for it all the same has shown that there is none: offering it on would go round for ever.
      for (const deviceId of released) if (!decision.starvedOf.has(deviceId)) this.#parts.fleet.offer(deviceId);
      if (!(await this.#armed.arm(served, decision, now))) {
        return this.#conflict(served, 'timer');
      }
      if (decision.events.length === 0) {
        if (batch.length > 0 && (await this.#parts.log.endsAt(served.runId)) !== end) {
          return this.#conflict(served, 'end');
        }
        // What was read may have waited here while this process was frozen.
        this.#requireMembership(served);
        await this.#armed.keepArmed(served, decision);
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
      this.#parts.figures?.({ before: run, after: decision.run, events: decision.events, now });
      await this.#armed.keepArmed(served, decision);
      answerAll(batch, decision, sequence);
      return decision.wakeAt !== null && decision.wakeAt <= now;
    });
  }

  /** Somebody else has written: what is in memory is loaded again. */
  #conflict(served: ServedRun, seenBy: 'timer' | 'end' | 'append'): typeof OVERTAKEN {
    this.#parts.logger.info({ runId: served.runId, seenBy }, 'conflict: the run is loaded again');
    served.loaded = undefined;
    return OVERTAKEN;
  }

  /** Throws when this replica counts as dead. It may have been frozen for long; its partitions are served by others now. */
  #requireMembership({ runId }: ServedRun): void {
    if (!this.#parts.alive()) throw new MembershipOverError(`run ${runId} is left to the other replicas`);
  }

  #begin(served: ServedRun): { readonly run: Run; readonly end: number } {
    this.#parts.wakeUps.expectNone(served.runId);
    served.loaded = { run: emptyRun(served.runId), end: 0 };
    return served.loaded;
  }

  async #load(served: ServedRun): Promise<{ readonly run: Run; readonly end: number }> {
    if (served.loaded !== undefined) return served.loaded;
    const stored = await this.#parts.log.load(served.runId);
    const run = soundRun(
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

  #seal(run: Run, { answers, events }: RunDecision, batch: readonly Waiting[], now: number): RunCommit {
    const { runId, number, sequence, hash } = run;
    return sealNext({ number, events: sequence, hash }, { runId }, events, {
      commit: (this.#parts.commitId ?? newCommitId)(now),
      now,
      by: this.#parts.by,
      causes: batch.flatMap(({ cause }, index) => recordedCause(cause, answers[index])),
      eventId: (at) => `${runId}-${at}`,
    });
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

  #isOver({ runId, loaded }: ServedRun): boolean {
    if (loaded === undefined || !this.#owns(runId)) return true;
    return isTerminal(loaded.run) || loaded.run.phase === 'NONE';
  }

  #forget(served: ServedRun): void {
    if (served.waiting.length > 0) return void this.#serve(served);
    this.#served.delete(served.runId);
    this.#starved.remove(served.runId);
    this.#parts.fleet.vacate(served.runId);
    this.#parts.wakeUps.forget(served.runId);
  }
}

/** This replica could not renew its membership in time. */
class MembershipOverError extends Error {}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
