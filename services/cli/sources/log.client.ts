import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { readCommits, readStored, type StreamEntry } from '#libs/event-log';
import { lastStored } from '#libs/messaging';
import { parseWith, RunCommit, runIdOfSubject, sentenceOf, subjects, type RunId } from '#proto';
import { storedRecords, type ChainStream, type ExportRecord } from '#libs/audit';
import { failure } from '../terminal/index.js';
import { unknownRun } from './run-history.js';

/** A commit of a stream that is of the whole installation, as it is stored. */
type ChainRecord = Pick<ExportRecord, 'commit'>;

const decoder = new TextDecoder();

/**
 * All records of a run as they are stored, unchecked: first its commits, then those of its attempts and of its planner, what people have said
 * to entries of the inbox that are about it, and those of its actors. `inbox`: all of ATTENTION, where somebody has read it for several runs.
 */
export async function loadRecords(
  nc: NatsConnection,
  runId: RunId,
  inbox?: readonly ExportRecord[],
): Promise<ExportRecord[]> {
  const read = (stream: ExportRecord['stream'], subject: string) => readRecords(nc, stream, subject);
  const records: ExportRecord[] = [];
  for await (const record of storedRecords(runId, read, inbox)) records.push(record);
  if (records.length === 0) throw unknownRun(runId);
  return records;
}

/** All that people have said to entries of the inbox. */
export function loadInbox(nc: NatsConnection): Promise<ExportRecord[]> {
  return loadStream(nc, 'ATTENTION', subjects.anyAttention);
}

const ANY = { ATTENTION: subjects.anyAttention, ACTORS: subjects.anyActor, FLEET: subjects.anyFleet } as const;

/** Each chain of a stream that is of the whole installation, one in memory at a time. */
export async function* chainsOf(
  nc: NatsConnection,
  stream: ChainStream,
): AsyncGenerator<{ readonly subject: string; readonly records: readonly ChainRecord[] }, void, undefined> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const { state } = await jsm.streams.info(stream, { subjects_filter: ANY[stream] });
  for (const subject of Object.keys(state.subjects ?? {}).toSorted()) {
    const records: ChainRecord[] = [];
    for await (const entry of readStored(nc, stream, subject)) records.push({ commit: jsonOf(entry) });
    yield { subject, records };
  }
}

/** The commits of a run only. */
export async function loadRunRecords(nc: NatsConnection, runId: RunId): Promise<ExportRecord[]> {
  const own = await loadStream(nc, 'RUNS', subjects.run(runId));
  if (own.length === 0) throw unknownRun(runId);
  return own;
}

/** Every run that the log knows, in no particular order. */
export async function runIds(nc: NatsConnection): Promise<RunId[]> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const { state } = await jsm.streams.info('RUNS', { subjects_filter: subjects.anyRun });
  return Object.keys(state.subjects ?? {}).flatMap((subject) => runIdOfSubject(subject) ?? []);
}

/**
 * The commits of a run: those that are there, then those that come, through one reader, so nothing is missed or seen twice
 * between the two. `behind` is how many more are there already. Ends only by `break` or `signal`.
 */
export async function* followRun(
  nc: NatsConnection,
  runId: RunId,
  signal: AbortSignal,
): AsyncGenerator<{ commit: RunCommit; behind: number }, void, undefined> {
  for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, filter: subjects.run(runId), signal })) {
    const parsed = parseWith(RunCommit, jsonOf(entry));
    if (!parsed.ok) {
      throw failure(`Run ${runId} cannot be read: ${parsed.issues.map(sentenceOf).join('; ')}. Try: orrery verify`);
    }
    yield { commit: parsed.value, behind: entry.pending };
  }
}

/** Whether the log has anything of this run. */
export async function isKnownRun(nc: NatsConnection, runId: RunId): Promise<boolean> {
  return (await lastStored(nc, 'RUNS', subjects.run(runId))) > 0;
}

async function loadStream(nc: NatsConnection, stream: ExportRecord['stream'], filter: string): Promise<ExportRecord[]> {
  const records: ExportRecord[] = [];
  for await (const record of readRecords(nc, stream, filter)) records.push(record);
  return records;
}

async function* readRecords(
  nc: NatsConnection,
  stream: ExportRecord['stream'],
  filter: string,
): AsyncGenerator<ExportRecord, void, undefined> {
  for await (const entry of readStored(nc, stream, filter)) {
    yield { stream, subject: entry.subject, sequence: entry.sequence, commit: jsonOf(entry) };
  }
}

/** What is no JSON is kept as text: the audit will say so. */
function jsonOf({ data }: StreamEntry): unknown {
  const text = decoder.decode(data);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
