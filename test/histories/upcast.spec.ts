import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  commitShape,
  RecordedRunEvent,
  recordedEvents,
  RunId,
  schemaVersionOf,
  UPCASTERS,
  type RunCommit,
  type RunEventType,
} from '#proto';
import { parseCommits, verifyChain, type ChainedCommit } from '#libs/event-log';
import { foldText } from './fold-text.js';
import { recordedVersions, runHistories } from './history-folder.js';

/* What a later version would read: starts say why, completions have a version more and nothing new. What it folds to is what it was. */

const today = (type: RunEventType) => UPCASTERS[type] ?? [];
const LATER = z.strictObject({
  ...commitShape,
  runId: RunId,
  events: recordedEvents(z.preprocess(withoutWhy, RecordedRunEvent), {
    ...UPCASTERS,
    TASK_STARTED: [...today('TASK_STARTED'), (data) => ({ why: 'it was its turn', ...data })],
    TASK_COMPLETED: [...today('TASK_COMPLETED'), (data) => data],
  }),
});
const isLater = ({ type, schemaVersion }: RecordedRunEvent) => schemaVersion > schemaVersionOf(type);

/** The field is read, counted and taken away again: the fold of today has no use for it. */
let whys = 0;
function withoutWhy(event: unknown): unknown {
  const { type, data } = event as { type: string; data: Record<string, unknown> };
  if (type !== 'TASK_STARTED') return event;
  const { why, ...rest } = data;
  if (why === 'it was its turn') whys += 1;
  return { ...(event as object), data: rest };
}

const encoder = new TextEncoder();

describe.each(recordedVersions())('version %s, read by a later one', (version) => {
  it.each(runHistories(version).map((history) => [history.name, history] as const))('%s', (_, { lines, golden }) => {
    const own = lines.filter(({ stream }) => stream === 'RUNS');
    const stored = own.map(({ sequence, text }) => ({ sequence, data: encoder.encode(text) }));
    whys = 0;
    const commits = parseCommits<RunCommit>(own[0]?.subject ?? '', LATER, stored, { fromStart: true });
    const upcast = commits.map(({ commit }) => commit);
    const starts = upcast.flatMap(({ events }) => events).filter(({ type }) => type === 'TASK_STARTED');
    expect(whys).toBe(starts.length);
    expect(starts.every(isLater)).toBe(true);
    expect(foldText(upcast)).toBe(golden);
    // Hashes are over what is stored: over what was made of it they are others.
    expect(verifyChain(own.map(({ text }) => JSON.parse(text) as ChainedCommit))).toEqual([]);
    const changed = upcast.filter(({ events }) => events.some(isLater));
    const broken = changed.map(({ number }) => ({ kind: 'hash', number }));
    expect(verifyChain(upcast).map(({ kind, number }) => ({ kind, number }))).toEqual(broken);
  });
});
