import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PlanCommit, RunCommit } from '#proto';
import { foldRun, jsonBytes } from '#libs/constellation';
import { memoryPlanLog, memoryRunLog, type EventLog, type RunLog, type Loaded } from '#libs/event-log';
import { foldPlan } from '#libs/planner';
import { generateEditedHistory, planCommitsOf, runCommitsOf } from '#libs/testing';
import { FollowedRun, type ReadRun } from './followed-run.adapter.js';
import { PlanCommits, type StoredPlan } from './plan-commits.adapter.js';
import { PlannerWorld } from '../testing/planner-world.js';
import { plan, task } from '../testing/replies.js';

const SEEDS = 12;

/** A run with rounds, and its plans. */
interface History {
  readonly runs: readonly RunCommit[];
  readonly plans: readonly PlanCommit[];
}

const histories: readonly History[] = Array.from({ length: SEEDS }, (_, seed) => {
  const steps = generateEditedHistory({ seed, goal: true });
  return { runs: runCommitsOf(steps), plans: planCommitsOf(steps) };
});

type Step =
  /** So many commits more. */
  | { readonly kind: 'goes-on'; readonly runs: number; readonly plans: number }
  /** A round; what was read is kept for the next one. */
  | { readonly kind: 'read' }
  | { readonly kind: 'forget' }
  /** The logs are as they were when they had this part of what they have. */
  | { readonly kind: 'restore'; readonly part: number };

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('goes-on' as const), runs: fc.nat({ max: 6 }), plans: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('read' as const) }),
  fc.record({ kind: fc.constant('forget' as const) }),
  fc.record({ kind: fc.constant('restore' as const), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
);

/** A log of the first commits of a history. */
async function logOf<K, C extends RunCommit | PlanCommit>(
  open: () => EventLog<K, C>,
  key: K,
  commits: readonly C[],
): Promise<EventLog<K, C>> {
  const log = open();
  for (const commit of commits) await log.append(key, commit, await log.endsAt(key));
  return log;
}

const sum = (commits: readonly object[]): number => commits.reduce((bytes, commit) => bytes + jsonBytes(commit), 0);
const opensRound = ({ events }: RunCommit): boolean => events.some(({ type }) => type === 'EDIT_OPENED');

async function checkHistory({ runs, plans }: History, steps: readonly Step[]): Promise<void> {
  const runId = runs[0]?.runId ?? '';
  let [runsThere, plansThere] = [1, 0];
  let read: ReadRun | null = null;
  let known: Loaded<StoredPlan> | undefined;
  for (const step of [...steps, { kind: 'read' } as const]) {
    if (step.kind === 'goes-on') {
      runsThere = Math.min(runs.length, runsThere + step.runs);
      plansThere = Math.min(plans.length, plansThere + step.plans);
    }
    if (step.kind === 'restore') {
      runsThere = Math.floor(runsThere * step.part);
      plansThere = Math.floor(plansThere * step.part);
    }
    if (step.kind === 'forget') [read, known] = [null, undefined];
    if (step.kind !== 'read') continue;
    const there = { runs: runs.slice(0, runsThere), plans: plans.slice(0, plansThere) };
    const followed: FollowedRun = new FollowedRun(await logOf(memoryRunLog, runId, there.runs), runId, read);
    await Promise.all([followed.look(), followed.look()]);
    read = followed.read;
    expect(read?.run).toEqual(foldRun(there.runs));
    expect(read?.opening ?? null).toEqual(there.runs.findLast(opensRound) ?? null);
    expect(read?.bytes ?? 0).toBe(sum(there.runs));
    const log = await logOf(memoryPlanLog, runId, there.plans);
    const commits = new PlanCommits({ plans: log, clock: { now: () => 0 }, instance: 'i1' });
    known = await commits.load(runId, known);
    expect(known).toEqual(await commits.load(runId));
    expect(known.state.state).toEqual(foldPlan(there.plans));
    expect(known.state.bytes).toBe(sum(there.plans));
  }
}

describe('what is kept of a run', () => {
  it('is what its log says, however it was read', async () => {
    expect(histories.some(({ plans }) => plans.length > 2)).toBe(true);
    const property = fc.asyncProperty(fc.constantFrom(...histories), fc.array(aStep, { maxLength: 12 }), checkHistory);
    await fc.assert(property, { numRuns: 60 });
  });

  it('stays as it was when somebody reads on', async () => {
    const { runs = [] } = histories[1] ?? {};
    const runId = runs[0]?.runId ?? '';
    const there = runs.slice(0, runs.length / 2);
    const half = new FollowedRun(await logOf(memoryRunLog, runId, there), runId);
    await half.look();
    const { read } = half;
    const whole = new FollowedRun(await logOf(memoryRunLog, runId, runs), runId, read);
    await whole.look();
    expect(whole.run).toEqual(foldRun(runs));
    expect(read?.run).toEqual(foldRun(there));
  });
});

describe('a run that was read before', () => {
  it('is unknown until its log was seen to go on from there', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    await world.submit();
    const first = new FollowedRun(world.runs, world.runId);
    expect(await first.look()).toBe(true);
    const next = new FollowedRun(world.runs, world.runId, first.read);
    expect([next.run, next.read]).toEqual([undefined, null]);
    expect(await next.look()).toBe(false);
    expect(next.read).toBe(first.read);
    await world.cancel();
    expect(await next.look()).toBe(true);
    expect([next.run?.phase, first.run?.phase]).toEqual(['CANCELLED', 'RUNNING']);
  });

  it('does not go back when a look that began earlier ends later', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    await world.submit();
    const late = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let loads = 0;
    const runs: RunLog = {
      append: (...args) => world.runs.append(...args),
      endsAt: (runId) => world.runs.endsAt(runId),
      load: async (...args) => {
        const stored = await world.runs.load(...args);
        if (++loads > 1) return stored;
        begun.resolve();
        await late.promise;
        return stored;
      },
    };
    const followed = new FollowedRun(runs, world.runId);
    const first = followed.look();
    await begun.promise;
    await world.cancel();
    await followed.look();
    late.resolve();
    await first;
    expect(followed.run?.phase).toBe('CANCELLED');
  });
});
