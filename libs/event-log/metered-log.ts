import type { Metrics } from '#libs/platform';
import type { Appended, EventLog } from './event-log.js';

/** From an append that one fsync ends to one that is looked up again and again until it is given up. */
const APPEND_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface MeteredCommit {
  readonly events: readonly { readonly type: string }[];
}

export interface Meter<C> {
  readonly metrics: Metrics;
  /** Of the log. */
  readonly stream: string;
  /** What it now holds, for figures of its own. */
  readonly appended?: (commit: C) => void;
}

/** The same log, with how long appends take, how they end and which facts they store as metrics. */
export function meteredLog<K, C extends MeteredCommit>(log: EventLog<K, C>, meter: Meter<C>): EventLog<K, C> {
  const { metrics, stream, appended: tell } = meter;
  const seconds = metrics.histogram('append_seconds', 'Time of an append to the event log, lost answers included', {
    labelNames: ['stream', 'outcome'],
    buckets: APPEND_SECONDS,
  });
  const conflicts = metrics.counter('append_conflicts_total', 'Appends that somebody else was faster than', ['stream']);
  const facts = metrics.counter('facts_total', 'Facts that were stored, by their type', ['stream', 'type']);
  // From 0 on: a rate does not see a series begin.
  conflicts.inc({ stream }, 0);
  for (const outcome of ['appended', 'conflict', 'failed']) seconds.zero({ stream, outcome });
  const timed = async (append: () => Promise<Appended>): Promise<Appended> => {
    const end = seconds.startTimer({ stream });
    try {
      const made = await append();
      end({ outcome: made.kind });
      return made;
    } catch (error) {
      end({ outcome: 'failed' });
      throw error;
    }
  };
  return {
    load: (key, after) => log.load(key, after),
    endsAt: (key) => log.endsAt(key),
    append: async (key, commit, end) => {
      const made = await timed(() => log.append(key, commit, end));
      if (made.kind === 'conflict') conflicts.inc({ stream });
      else {
        for (const { type } of commit.events) facts.inc({ stream, type });
        tell?.(commit);
      }
      return made;
    },
  };
}
