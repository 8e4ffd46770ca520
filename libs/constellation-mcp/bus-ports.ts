import { createHash } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { evolveCommit, foldRun, type Run } from '#libs/constellation';
import { openRunLog, type RunLog } from '#libs/event-log';
import { parseVerbFields, sendVerb, type VerbOutcome } from '#libs/messaging';
import { sentenceOf, type EditGrant, type RunId, type VerbId } from '#proto';
import { DeskError } from './desk.js';
import type { LivePorts } from './live-constellation.js';
import type { RunPorts, RunVerbWords } from './live-run.js';

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

/** A run over the bus: read from its log, changed with PROPOSE, told what is said with verbs of its own. */
export function busPorts(options: BusPortsOptions): LivePorts & RunPorts {
  const reader = new RunReader(openRunLog(options.nc), options.runId);
  return {
    loadRun: () => reader.load(),
    propose: (edits) => send(options, 'PROPOSE', { fields: { proposal: { editId: null, edits } } }),
    say: ({ verb, fields, ...words }) => send(options, verb, { fields, id: idOf(options, fields, words) }),
  };
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
async function send(
  { runId, nc, seed, grant, now, deadlineMs, signal }: BusPortsOptions,
  verb: Granted,
  { fields, id }: { readonly fields: object; readonly id?: VerbId | undefined },
): Promise<VerbOutcome> {
  const parsed = parseVerbFields(verb, { ...fields, grant: grant() });
  if (!parsed.ok) throw new DeskError(parsed.issues.map(sentenceOf).join('; '));
  return sendVerb(nc, {
    runId,
    verb,
    fields: parsed.value,
    id,
    seed,
    now,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** What may come with a grant. */
type Granted = 'PROPOSE' | RunVerbWords['verb'];

/**
 * Words that their caller has given an id keep it, however often they come. The orchestrator knows it of the sender, which is one for
 * all callers: so it is made of theirs, of who allowed it, and of what is said.
 */
function idOf(
  { grant }: BusPortsOptions,
  fields: object,
  { id }: { readonly id?: VerbId | undefined },
): VerbId | undefined {
  if (id === undefined) return undefined;
  const said = JSON.stringify([grant().key, id, fields]);
  return `mcp-${createHash('sha256').update(said).digest('hex').slice(0, 40)}`;
}
