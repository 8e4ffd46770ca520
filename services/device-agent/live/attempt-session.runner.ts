import type { Logger } from 'pino';
import { LIMITS, POLICY_MISMATCH, type ArtifactRef, type AttemptEvent, type AttemptSubjectKind } from '#proto';
import type { Loaded } from '#libs/event-log';
import { endOfSteps, type AgentEnding, evolveAttempt, type Attempt, type Book } from '#libs/attempt';
import { changeBy, type AttemptCommits } from './attempt-commits.adapter.js';
import type { Carried, Interruption, LiveAttempt } from './live-attempts.js';

/** Bytes of one commit before its facts are shared out over several; the rest is for what the commit says of itself. */
const COMMIT_BYTES = LIMITS.commitBytesMax - 256 * 1024;

/** Thrown through everything that is done for an attempt when it is not to go on. */
export class Halt extends Error {
  override readonly name = 'Halt';
  readonly why: Interruption | 'stopped';
  constructor(why: Interruption | 'stopped') {
    super(`the attempt does not go on: ${why}`);
    this.why = why;
  }
}

/**
 * The facts of one attempt while it is carried out. What is recorded here counts at once for who reads the book, and is
 * stored with the next `flush`: before anything is done that follows from it.
 */
export class AttemptSession {
  readonly live: LiveAttempt;
  /** What the agent was told of its device; its first fact names it. */
  given: ArtifactRef | null = null;
  readonly #commits: AttemptCommits;
  readonly #instance: string;
  readonly #logger: Pick<Logger, 'warn'>;
  #stored: Loaded<Attempt>;
  #view: Attempt;
  #pending: AttemptEvent[] = [];

  constructor(
    live: LiveAttempt,
    begun: Loaded<Attempt>,
    { commits, instance, logger }: { commits: AttemptCommits; instance: string; logger: Pick<Logger, 'warn'> },
  ) {
    this.#logger = logger;
    this.live = live;
    this.#commits = commits;
    this.#instance = instance;
    this.#stored = begun;
    this.#view = begun.state;
  }

  get book(): Book {
    return this.#view.book;
  }

  /** Stream sequence of the last commit that this process knows of. */
  get endsAt(): number {
    return this.#stored.end.sequence;
  }

  record(...events: readonly AttemptEvent[]): void {
    for (const event of events) {
      const fact = this.#naming(event);
      this.#pending.push(fact);
      this.#view = evolveAttempt(this.#view, [fact]);
    }
  }

  #naming(event: AttemptEvent): AttemptEvent {
    const { given } = this;
    if (given === null || this.book.given !== null) return event;
    switch (event.type) {
      case 'STEP_PLANNED':
        return { type: event.type, data: { ...event.data, given } };
      case 'STEP_FAILED':
        return { type: event.type, data: { ...event.data, given } };
      case 'COMMAND_JUDGED':
        return { type: event.type, data: { ...event.data, given } };
      default:
        return event;
    }
  }

  /** Throws Halt when the attempt is stopped, interrupted, or not this process's any more. */
  check(): void {
    const { interruption, stop } = this.live;
    if (interruption !== null) throw new Halt(interruption);
    if (stop !== null) throw new Halt('stopped');
  }

  /** Stores what was recorded. A stop that somebody wrote meanwhile is obeyed before a command is issued or a person asked. */
  async flush(kind: AttemptSubjectKind = 'step'): Promise<void> {
    const { key, commit: cause } = this.live.order;
    while (this.#pending.length > 0) {
      const { value: count, after } = await this.#commits.change(
        key,
        (_, { lost, loaded }) => {
          if (lost > 0) this.#takeOver(loaded);
          if (lost > 0 && kind !== 'end' && this.live.stop !== null) {
            this.forgetIntents();
            throw new Halt('stopped');
          }
          const events = firstCommit(this.#pending);
          const isLast = events.length === this.#pending.length;
          return changeBy({ key, kind: isLast ? kind : 'step', cause }, events, events.length);
        },
        { from: this.#stored },
      );
      this.#stored = after;
      this.#tellOperators(this.#pending.slice(0, count));
      this.#pending = this.#pending.slice(count);
    }
  }

  /** Of what is stored: a command that was not what the policy understood is a security event. */
  #tellOperators(events: readonly AttemptEvent[]): void {
    for (const event of events) {
      if (event.type !== 'COMMAND_FINISHED' || event.data.error?.code !== POLICY_MISMATCH) continue;
      const { commandId, deviceId, error } = event.data;
      const fields = { commandId, deviceId, code: POLICY_MISMATCH, how: error.message, event: 'security' };
      this.#logger.warn(fields, 'a command ran into its wall: it was not what the policy understood');
    }
  }

  /** Takes over what others wrote: signals. Throws Halt when that was an end, or a new owner. */
  async refresh(): Promise<void> {
    if ((await this.#commits.endsAt(this.live.order.key)) !== this.endsAt)
      this.#takeOver(await this.#commits.load(this.live.order.key));
  }

  /** The one end. Who finds another one already there leaves it as it is. */
  async end(ending: AgentEnding, ...before: readonly AttemptEvent[]): Promise<Carried> {
    this.forgetIntents();
    this.record(...before, ...endOfSteps(this.book, ending));
    try {
      await this.flush('end');
      return 'ended';
    } catch (error) {
      if (!(error instanceof Halt)) throw error;
      return error.why === 'finished' ? 'ended' : 'left';
    }
  }

  /** What was only meant to be done, and is not stored yet, is not going to be done. */
  forgetIntents(): void {
    this.#pending = this.#pending.filter(({ type }) => type !== 'COMMAND_ISSUED' && type !== 'ATTEMPT_ASKED');
    this.#view = evolveAttempt(this.#stored.state, this.#pending);
  }

  #takeOver(stored: Loaded<Attempt>): void {
    const { state } = stored;
    if (state.stop !== null) this.live.requestStop(state.stop);
    const over = this.#isOver(state);
    if (over !== null) {
      this.live.interrupt(over);
      throw new Halt(over);
    }
    this.#stored = stored;
    this.#view = evolveAttempt(state, this.#pending);
  }

  /** What the log says counts, whatever this process was interrupted by before: nobody adds to what is not his any more. */
  #isOver({ writer, finished }: Attempt): 'finished' | 'foreign' | null {
    if (finished !== null) return 'finished';
    return writer !== null && writer !== this.#instance ? 'foreign' : null;
  }
}

/** As many of the facts as fit into one commit; at least one. */
function firstCommit(events: readonly AttemptEvent[]): AttemptEvent[] {
  if (events.length === 1) return [...events];
  let bytes = 0;
  const fitting = events.findIndex((event, index) => {
    bytes += Buffer.byteLength(JSON.stringify(event));
    return index > 0 && bytes > COMMIT_BYTES;
  });
  return events.slice(0, fitting === -1 ? events.length : fitting);
}
