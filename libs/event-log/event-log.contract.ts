import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIMITS } from '#proto';
import { verifyChain } from './sealing.js';
import { AppendError, CorruptLogError } from './errors.js';
import type { AttemptLog, FleetLog, PlanLog, RunLog, Stored } from './event-log.js';
import { readOn } from './read-on.js';
import {
  headOf,
  sampleAttemptCommit,
  sampleFleetCommit,
  sampleId,
  samplePlanCommit,
  sampleRunCommit,
  START,
} from './sample-commits.testing.js';

/** A stream takes a commit id once, whatever the aggregate: each test needs its own. */
let ids = 1_000_000;
const freshId = () => sampleId(ids++);

/** Two writers on the same, empty store. */
export interface Opened {
  readonly runs: RunLog;
  readonly otherRuns: RunLog;
  readonly attempts: AttemptLog;
  readonly plans: PlanLog;
  readonly fleet: FleetLog;
  close(): Promise<void>;
}

/** What every event log promises, whatever it is made of. */
export function eventLogContract(name: string, open: () => Promise<Opened>): void {
  describe(`${name} as an event log`, () => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    describe('a run', () => appendContract(() => opened));
    describe('an attempt', () => attemptContract(() => opened));
    describe('a run that was read before', () => readOnContract(() => opened));
    describe('competing writers', () => competitionContract(() => opened));

    it('keeps the steps of the planner beside the run, and lets one of two that plan win', async () => {
      const { plans, runs } = opened;
      const first = samplePlanCommit('planned', START, freshId());
      const appended = await plans.append('planned', first, 0);
      expect(await plans.append('planned', samplePlanCommit('planned', START, freshId()), 0)).toEqual({
        kind: 'conflict',
      });
      const second = samplePlanCommit('planned', headOf([first]), freshId());
      const after = await plans.append('planned', second, sequenceOf(appended));
      expect(await plans.load('planned')).toEqual([
        { commit: first, sequence: sequenceOf(appended) },
        { commit: second, sequence: sequenceOf(after) },
      ]);
      expect(await plans.endsAt('planned')).toBe(sequenceOf(after));
      expect(await runs.load('planned')).toEqual([]);
    });

    it('keeps the facts of a device', async () => {
      const commit = sampleFleetCommit('web-1', START, freshId());
      const appended = await opened.fleet.append('web-1', commit, 0);
      expect(await opened.fleet.load('web-1')).toEqual([{ commit, sequence: sequenceOf(appended) }]);
    });
  });
}

function appendContract(opened: () => Opened): void {
  it('is empty before its first commit', async () => {
    expect(await opened().runs.load('nothing')).toEqual([]);
    expect(await opened().runs.endsAt('nothing')).toBe(0);
  });

  it('gives back what was appended, in order, and after a position only what follows', async () => {
    const { runs } = opened();
    const stored = await fill(runs, 'in-order', 3);
    expect(await runs.load('in-order')).toEqual(stored);
    expect(await runs.load('in-order', stored[0]?.sequence)).toEqual(stored.slice(1));
    expect(await runs.load('in-order', stored[2]?.sequence)).toEqual([]);
    expect(await runs.endsAt('in-order')).toBe(stored[2]?.sequence);
  });

  it('refuses a commit decided on an older state and keeps nothing of it', async () => {
    const { runs } = opened();
    const stored = await fill(runs, 'stale', 1);
    const commit = sampleRunCommit('stale', START, freshId());
    expect(await runs.append('stale', commit, 0)).toEqual({ kind: 'conflict' });
    expect(await runs.load('stale')).toEqual(stored);
  });

  it('refuses a commit that expects more than there is', async () => {
    const { runs } = opened();
    expect(await runs.append('ahead', sampleRunCommit('ahead', START, freshId()), 7)).toEqual({ kind: 'conflict' });
    expect(await runs.load('ahead')).toEqual([]);
  });

  it('recognises its own commit when it is appended again because the first answer was lost', async () => {
    const { runs, otherRuns } = opened();
    const first = sampleRunCommit('again', START, freshId());
    const appended = await runs.append('again', first, 0);
    await otherRuns.append('again', sampleRunCommit('again', headOf([first]), freshId()), sequenceOf(appended));
    expect(await runs.append('again', first, 0)).toEqual(appended);
    expect(await runs.load('again')).toHaveLength(2);
  });

  it('raises the alarm when a commit id was used for another run', async () => {
    const { runs } = opened();
    const id = freshId();
    await runs.append('first-user', sampleRunCommit('first-user', START, id), 0);
    const abuse = runs.append('second-user', sampleRunCommit('second-user', START, id), 0);
    await expect(abuse).rejects.toThrow(AppendError);
    expect(await runs.load('second-user')).toEqual([]);
  });

  it('is not disturbed by other runs', async () => {
    const { runs } = opened();
    const one = await fill(runs, 'apart', 2);
    const other = await fill(runs, 'apart-2', 2);
    expect(await runs.load('apart')).toEqual(one);
    expect(await runs.load('apart-2')).toEqual(other);
  });

  it('loads more commits than fit into a page', async () => {
    const stored = await fill(opened().runs, 'long', 600);
    expect(await opened().runs.load('long')).toEqual(stored);
  });

  it('refuses a commit that is too large for good', async () => {
    const { runs } = opened();
    const commit = sampleRunCommit('large', START, freshId(), 'x'.repeat(LIMITS.commitBytesMax));
    await expect(runs.append('large', commit, 0)).rejects.toThrow(AppendError);
    expect(await runs.endsAt('large')).toBe(0);
  });
}

function readOnContract(opened: () => Opened): void {
  it('is read on from the last commit that is known', async () => {
    const { runs } = opened();
    expect(await readOn(runs, 'read-on', START)).toEqual({ anew: true, stored: [] });
    const stored = await fill(runs, 'read-on', 4);
    expect(await readOn(runs, 'read-on', START)).toEqual({ anew: true, stored });
    for (const [index, known] of stored.entries()) {
      expect(await readOn(runs, 'read-on', markOf(known))).toEqual({ anew: false, stored: stored.slice(index + 1) });
    }
  });

  it('is read anew when what is known is not there, or something else is in its place', async () => {
    const { runs } = opened();
    const stored = await fill(runs, 'read-anew', 3);
    const [first, , last] = stored;
    if (first === undefined || last === undefined) throw new Error('nothing is stored');
    const other = sampleRunCommit('read-anew', headOf([first.commit]), freshId(), 'another reason');
    for (const known of [
      { commit: other, sequence: last.sequence },
      { commit: last.commit, sequence: last.sequence + 1 },
      { commit: last.commit, sequence: first.sequence },
    ]) {
      expect(await readOn(runs, 'read-anew', markOf(known))).toEqual({ anew: true, stored });
    }
  });

  it('is damaged when what follows is not linked to what is known, which a load of what follows cannot see', async () => {
    const { runs } = opened();
    const [known] = await fill(runs, 'unlinked', 1);
    if (known === undefined) throw new Error('nothing is stored');
    const other = sampleRunCommit('unlinked', START, freshId(), 'another reason');
    await runs.append('unlinked', sampleRunCommit('unlinked', headOf([other]), freshId()), known.sequence);
    expect(await runs.load('unlinked', known.sequence)).toHaveLength(1);
    await expect(readOn(runs, 'unlinked', markOf(known))).rejects.toThrow(CorruptLogError);
  });

  it('is damaged when a byte was changed, of what follows or of what is known', async () => {
    const { runs } = opened();
    const changed = { ...sampleRunCommit('changed-byte', START, freshId()), at: '2026-11-20T15:40:40.490Z' };
    const sequence = sequenceOf(await runs.append('changed-byte', changed, 0));
    const sealed = sampleRunCommit('changed-byte', START, changed.commit);
    await expect(readOn(runs, 'changed-byte', START)).rejects.toThrow(CorruptLogError);
    await expect(readOn(runs, 'changed-byte', { hash: sealed.hash, sequence })).rejects.toThrow(CorruptLogError);
  });
}

function attemptContract(opened: () => Opened): void {
  const key = { runId: 'run-a', taskId: 'task-a', attempt: 1 };

  it('is one chain over steps, end and late results', async () => {
    const { attempts } = opened();
    const step = sampleAttemptCommit(key, START, freshId());
    const end = sampleAttemptCommit(key, headOf([step]), freshId());
    const late = sampleAttemptCommit(key, headOf([step, end]), freshId());
    const first = sequenceOf(await attempts.append(key, step, 0));
    const second = sequenceOf(await attempts.append({ ...key, kind: 'end' }, end, first));
    const third = sequenceOf(await attempts.append({ ...key, kind: 'late' }, late, second));
    expect((await attempts.load(key)).map(({ commit }) => commit)).toEqual([step, end, late]);
    expect(await attempts.endsAt({ ...key, kind: 'end' })).toBe(third);
  });

  it('refuses an end that was decided before the last step', async () => {
    const { attempts } = opened();
    const other = { ...key, attempt: 2 };
    const step = sampleAttemptCommit(other, START, freshId());
    await attempts.append(other, step, 0);
    const end = sampleAttemptCommit(other, START, freshId());
    expect(await attempts.append({ ...other, kind: 'end' }, end, 0)).toEqual({ kind: 'conflict' });
  });
}

function competitionContract(opened: () => Opened): void {
  it('never lose and never double a commit', async () => {
    const { runs, otherRuns } = opened();
    const acked = await Promise.all([
      compete(runs, 'contested', 1_000, 40),
      compete(otherRuns, 'contested', 2_000, 40),
    ]);
    const stored = await runs.load('contested');
    expect(stored.map(({ commit }) => commit.commit).toSorted()).toEqual(acked.flat().toSorted());
    expect(verifyChain(stored.map(({ commit }) => commit))).toEqual([]);
  });
}

/** Appends `count` commits, loading again after every conflict; answers the ids that were acknowledged. */
export async function compete(log: RunLog, runId: string, firstId: number, count: number): Promise<string[]> {
  const acked: string[] = [];
  let known: Stored<{ number: number; hash: string; events: readonly { sequence: number }[] }>[] = [];
  while (acked.length < count) {
    const commit = sampleRunCommit(
      runId,
      headOf(known.map((stored) => stored.commit)),
      sampleId(firstId + acked.length),
    );
    const end = known.at(-1)?.sequence ?? 0;
    const appended = await log.append(runId, commit, end);
    if (appended.kind === 'appended') {
      acked.push(commit.commit);
      known.push({ commit, sequence: appended.sequence });
    } else {
      known = [...known, ...(await log.load(runId, end))];
    }
  }
  return acked;
}

async function fill(log: RunLog, runId: string, count: number): Promise<Stored<ReturnType<typeof sampleRunCommit>>[]> {
  const stored: Stored<ReturnType<typeof sampleRunCommit>>[] = [];
  for (let index = 1; index <= count; index++) {
    const commit = sampleRunCommit(runId, headOf(stored.map((before) => before.commit)), freshId());
    const appended = await log.append(runId, commit, stored.at(-1)?.sequence ?? 0);
    stored.push({ commit, sequence: sequenceOf(appended) });
  }
  return stored;
}

const markOf = ({ commit, sequence }: Stored<{ hash: string }>) => ({ sequence, hash: commit.hash });

function sequenceOf(appended: Awaited<ReturnType<RunLog['append']>>): number {
  if (appended.kind === 'conflict') throw new Error('an append that nobody competed with was refused');
  return appended.sequence;
}
