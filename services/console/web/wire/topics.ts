import { useEffect, useState, useSyncExternalStore } from 'react';
import {
  ListMessage,
  type AgentProfile,
  type AttentionEntry,
  type DeviceAtWork,
  type LiveMessage,
  type RunSummary,
} from '#proto';
import type { Observable } from '../model/index.js';
import { live } from './live.client.js';

/** What is behind what is shown: whether all that was there has come, and why it may be old. */
export interface Freshness {
  readonly ready: boolean;
  readonly stale: string | undefined;
  readonly problem: string | undefined;
}

export const NOTHING_YET: Freshness = { ready: false, stale: undefined, problem: undefined };

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
      reads: ListMessage,
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

export function freshnessAfter(message: LiveMessage): Partial<Freshness> {
  if (message.kind === 'live' || message.kind === 'end') return { ready: true, stale: undefined };
  if (message.kind === 'stale') return { stale: message.reason };
  if (message.kind === 'error') return { ready: true, problem: message.message };
  return {};
}
