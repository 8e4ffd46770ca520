import type { NatsConnection } from '@nats-io/transport-node';
import { HEADER_TYPES, parseJson, parseWith, RunCommit, subjects, type AttemptKey, type RunId } from '#proto';
import { storedPage } from '#libs/messaging';
import { startsOf } from '../projection/index.js';

/** Runs whose attempts may be asked for one after the other. */
const KNOWN_MAX = 100;

interface KnownRun {
  readonly devices: Map<string, string>;
  /** Read up to this message of RUNS. */
  after: number;
}

/** Where an attempt was started: its run says it, before anything that the attempt itself says. */
export class AttemptDevices {
  readonly #nc: NatsConnection;
  readonly #known = new Map<RunId, KnownRun>();

  constructor(nc: NatsConnection) {
    this.#nc = nc;
  }

  /** Null of an attempt that its run does not know. Throws while RUNS cannot be read. */
  async of(attempt: AttemptKey): Promise<string | null> {
    const { runId } = attempt;
    const run = this.#known.get(runId) ?? { devices: new Map<string, string>(), after: 0 };
    this.#known.delete(runId);
    this.#known.set(runId, run);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
    const key = keyOf(attempt);
    for (let more = true; more && !run.devices.has(key);) more = await this.#readOn(runId, run);
    return run.devices.get(key) ?? null;
  }

  /** Whether there is more behind it. */
  async #readOn(runId: RunId, run: KnownRun): Promise<boolean> {
    const page = { stream: 'RUNS', filter: subjects.run(runId), after: run.after };
    const { messages, pending, failure } = await storedPage(this.#nc, page);
    if (failure !== undefined) throw failure;
    for (const { seq, header, data } of messages) {
      run.after = seq;
      if (!header.get(HEADER_TYPES).includes('TASK_STARTED')) continue;
      const commit = parseWith(RunCommit, parseJson(data));
      const starts = commit.ok ? startsOf(commit.value) : [];
      for (const start of starts) if (start.device !== null) run.devices.set(keyOf(start), start.device);
    }
    return pending > 0 && messages.length > 0;
  }
}

const keyOf = ({ taskId, attempt }: Omit<AttemptKey, 'runId'>): string => `${taskId} ${attempt}`;
