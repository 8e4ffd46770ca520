import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { CommitsMessage, type AttemptCommit, type PlanCommit, type RunCommit } from '#proto';
import { RunRecord } from '../model/index.js';
import { live } from './live.client.js';
import { freshnessAfter, NOTHING_YET, type Freshness } from './topics.js';

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
        reads: CommitsMessage,
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
