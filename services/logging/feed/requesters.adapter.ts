import type { NatsConnection } from '@nats-io/transport-node';
import { storedPage } from '#libs/messaging';
import { type Actor, parseJson, parseWith, RunCommit, type RunId, subjects } from '#proto';
import { requesterIn } from './feed-message.js';

/** Runs whose events may come one between the other. */
const KNOWN_MAX = 20_000;

/** Who asked for a run: its first commit says it, which is read again when it was long ago. */
export class Requesters {
  readonly #nc: NatsConnection;
  readonly #known = new Map<RunId, Actor | undefined>();

  constructor(nc: NatsConnection) {
    this.#nc = nc;
  }

  /** Undefined for a run whose first message is no commit. Throws while RUNS cannot be read. */
  async of(commit: RunCommit): Promise<Actor | undefined> {
    const { runId, number } = commit;
    return number > 1 ? this.ofRun(runId) : this.#keep(runId, requesterIn(commit) ?? (await this.#read(runId)));
  }

  /** The same by the id of the run alone. */
  async ofRun(runId: RunId): Promise<Actor | undefined> {
    return this.#keep(runId, this.#known.has(runId) ? this.#known.get(runId) : await this.#read(runId));
  }

  #keep(runId: RunId, requester: Actor | undefined): Actor | undefined {
    // The one that was not needed for the longest time goes first.
    this.#known.delete(runId);
    this.#known.set(runId, requester);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
    return requester;
  }

  async #read(runId: RunId): Promise<Actor | undefined> {
    const { messages, failure } = await storedPage(this.#nc, {
      stream: 'RUNS',
      filter: subjects.run(runId),
      after: 0,
      messagesMax: 1,
    });
    if (failure !== undefined) throw failure;
    const first = parseWith(RunCommit, parseJson(messages[0]?.data ?? new Uint8Array()));
    return first.ok ? requesterIn(first.value) : undefined;
  }
}
