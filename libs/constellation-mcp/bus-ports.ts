import type { NatsConnection } from '@nats-io/transport-node';
import { evolveCommit, foldRun, type Run } from '#libs/constellation';
import { openRunLog, type RunLog } from '#libs/event-log';
import { parseVerbFields, sendVerb, type VerbOutcome } from '#libs/messaging';
import { sentenceOf, type Edit, type EditGrant, type RunId } from '#proto';
import { DeskError } from './desk.js';
import type { LivePorts } from './live-constellation.js';

export interface BusPortsOptions {
  readonly nc: NatsConnection;
  readonly runId: RunId;
  /** Of the bus key that signs what is sent. */
  readonly seed: string;
  /** Who allows the edits, made or checked anew for each: with it, they are theirs and judged as a model's. */
  readonly grant: () => EditGrant;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long an edit is repeated before its outcome counts as unknown. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** A run over the bus: read from its log, changed with PROPOSE. */
export function busPorts(options: BusPortsOptions): LivePorts {
  const reader = new RunReader(openRunLog(options.nc), options.runId);
  return { loadRun: () => reader.load(), propose: (edits) => propose(options, edits) };
}

interface Known {
  readonly run: Run;
  /** Position of its last commit in the stream. */
  readonly end: number;
}

/** Reads the commits of a run once: what was read is folded on. */
class RunReader {
  readonly #log: RunLog;
  readonly #runId: RunId;
  #known: Known | undefined;

  constructor(log: RunLog, runId: RunId) {
    this.#log = log;
    this.#runId = runId;
  }

  async load(): Promise<Run | undefined> {
    const before = this.#known;
    const stored = await this.#log.load(this.#runId, before?.end ?? 0);
    const end = stored.at(-1)?.sequence;
    if (end === undefined) return before?.run;
    const commits = stored.map(({ commit }) => commit);
    const run = before === undefined ? foldRun(commits) : commits.reduce(evolveCommit, before.run);
    // Another load may have come further meanwhile.
    if (run !== undefined && end > (this.#known?.end ?? 0)) this.#known = { run, end };
    return run;
  }
}

/** One intent per call: the verb has an id of its own, and only the sending of this call repeats it. */
async function propose(options: BusPortsOptions, edits: readonly Edit[]): Promise<VerbOutcome> {
  const { nc, runId, seed, grant, now, deadlineMs, signal } = options;
  const fields = parseVerbFields('PROPOSE', { proposal: { editId: null, edits }, grant: grant() });
  if (!fields.ok) throw new DeskError(fields.issues.map(sentenceOf).join('; '));
  return sendVerb(nc, {
    runId,
    verb: 'PROPOSE',
    fields: fields.value,
    seed,
    now,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(signal === undefined ? {} : { signal }),
  });
}
