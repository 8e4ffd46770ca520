import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import type {
  AgentProfile,
  AttemptCommit,
  AttentionEntry,
  DeviceAtWork,
  PlanCommit,
  RunCommit,
  RunSummary,
} from '#proto';
import { RunRecord, type Observable } from '../model/index.js';
import { live } from './live.client.js';

/** What is behind what is shown: whether all that was there has come, and why it may be old. */
export interface Freshness {
  readonly ready: boolean;
  readonly stale: string | undefined;
  readonly problem: string | undefined;
}

const NOTHING_YET: Freshness = { ready: false, stale: undefined, problem: undefined };

export function useStore<T>(store: Observable<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}

interface Rows {
  readonly runs: RunSummary;
  readonly fleet: AgentProfile;
  readonly attention: AttentionEntry;
}

const idOf = (row: RunSummary | AgentProfile | AttentionEntry): string =>
  'runId' in row && 'tasks' in row ? row.runId : 'deviceId' in row && 'agent' in row ? row.deviceId : row.id;

export interface Listed<T> extends Freshness {
  readonly rows: readonly T[];
  readonly more: boolean;
  readonly work: readonly DeviceAtWork[];
  readonly counts: { readonly open: number; readonly taken: number };
}

/** A list as it is now. */
export function useRows<K extends keyof Rows>(kind: K): Listed<Rows[K]> {
  const [listed, setListed] = useState<Listed<Rows[K]>>({
    ...NOTHING_YET,
    rows: [],
    more: false,
    work: [],
    counts: { open: 0, taken: 0 },
  });
  useEffect(() => {
    let rows = new Map<string, Rows[K]>();
    const show = (change: Partial<Listed<Rows[K]>>): void => setListed((before) => ({ ...before, ...change }));
    const order = (): Rows[K][] => [...rows.values()];
    return live.follow({
      topic: () => ({ kind }),
      hear: (message) => {
        if (message.kind === 'rows') {
          rows = new Map((message.list.rows as Rows[K][]).map((row) => [idOf(row), row]));
          show({ rows: order(), more: message.more === true });
        } else if (message.kind === 'row') {
          const row = message.item.row as Rows[K];
          const id = idOf(row);
          // What is new stands first, as it does when it is asked for.
          rows = rows.has(id) ? new Map(rows).set(id, row) : new Map([[id, row], ...rows]);
          show({ rows: order() });
        } else if (message.kind === 'gone') {
          rows = new Map([...rows].filter(([id]) => id !== message.id));
          show({ rows: order() });
        } else if (message.kind === 'work') show({ work: message.tasks });
        else if (message.kind === 'counts') show({ counts: { open: message.open, taken: message.taken } });
        else show(freshnessAfter(message));
      },
    });
  }, [kind]);
  return listed;
}

type Said = Parameters<Parameters<typeof live.follow>[0]['hear']>[0];

function freshnessAfter(message: Said): Partial<Freshness> {
  if (message.kind === 'live' || message.kind === 'end') return { ready: true, stale: undefined };
  if (message.kind === 'stale') return { stale: message.reason };
  if (message.kind === 'error') return { ready: true, problem: message.message };
  return {};
}

export interface LiveRun extends Freshness {
  readonly record: RunRecord;
  readonly attempts: readonly AttemptCommit[];
  readonly plans: readonly PlanCommit[];
}

type Heard = {
  readonly run: { sequence: number };
  readonly attempts: { sequence: number };
  readonly plans: { sequence: number };
};

interface Waiting {
  readonly run: RunCommit[];
  readonly attempts: AttemptCommit[];
  readonly plans: PlanCommit[];
}

const joined = <T>(before: readonly T[], more: readonly T[]): readonly T[] =>
  more.length === 0 ? before : [...before, ...more];

/** Everything of one run, from its first commit on. What comes within one frame is shown at once. */
export function useRun(runId: string): LiveRun {
  const [followed, setFollowed] = useState<LiveRun>({
    ...NOTHING_YET,
    record: RunRecord.EMPTY,
    attempts: [],
    plans: [],
  });
  const held = useRef(followed);
  useEffect(() => {
    held.current = { ...NOTHING_YET, record: RunRecord.EMPTY, attempts: [], plans: [] };
    setFollowed(held.current);
    let frame: number | undefined;
    /** What came since the last frame is folded together, and painted in the next. */
    const waiting: Waiting = { run: [], attempts: [], plans: [] };
    const draw = (): void => {
      frame = undefined;
      const { record, attempts, plans } = held.current;
      held.current = {
        ...held.current,
        record: record.with(waiting.run.splice(0)),
        attempts: joined(attempts, waiting.attempts.splice(0)),
        plans: joined(plans, waiting.plans.splice(0)),
      };
      // Left to itself it would be drawn after this frame, and seen with the next.
      flushSync(() => setFollowed(held.current));
    };
    const show = (change: Partial<LiveRun>): void => {
      held.current = { ...held.current, ...change };
      frame ??= requestAnimationFrame(draw);
    };
    const after: Heard = { run: { sequence: 0 }, attempts: { sequence: 0 }, plans: { sequence: 0 } };
    const follow = (kind: keyof Heard) =>
      live.follow({
        topic: () => ({ kind, run: runId, ...(after[kind].sequence > 0 && { after: after[kind].sequence }) }),
        hear: (message) => {
          if (message.kind === 'commit') {
            after[kind].sequence = message.sequence;
            waiting.run.push(message.commit);
            show({});
          } else if (message.kind === 'attempt-commit') {
            if (message.sequence <= after[kind].sequence) return;
            after[kind].sequence = message.sequence;
            waiting.attempts.push(message.commit);
            show({});
          } else if (message.kind === 'plan-commit') {
            if (message.sequence <= after[kind].sequence) return;
            after[kind].sequence = message.sequence;
            waiting.plans.push(message.commit);
            show({});
          } else if (kind === 'run') show(freshnessAfter(message));
        },
      });
    const ends = (['run', 'attempts', 'plans'] as const).map(follow);
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame);
      for (const end of ends) end();
    };
  }, [runId]);
  return followed;
}
