import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunCommit } from '#proto';
import { verifyChain, type EventLog } from '#libs/event-log';
import { PlannerWorld, type Logs, type PlannerOptions, type TestPlanner } from '../testing/planner-world.js';
import { addTask, edit, plan, task } from '../testing/replies.js';

const DONE = { kind: 'done' };

/** Logs that can lose what they had. */
export interface KeptRoundsStore extends Logs {
  /** The run and its plans are again as they were when they had so many commits. */
  restore(runId: string, commits: { readonly runs: number; readonly plans: number }): Promise<void>;
  close(): Promise<void>;
}

/** How many commits each load gave to a planner, of a run and of its plans. */
class Reads {
  readonly runs: number[] = [];
  readonly plans: number[] = [];
  readonly logs: Logs;

  constructor({ runs, plans }: Logs) {
    this.logs = { runs: counted(runs, this.runs), plans: counted(plans, this.plans) };
  }

  /** Since the last time. */
  take(): { readonly runs: readonly number[]; readonly plans: readonly number[] } {
    return { runs: this.runs.splice(0), plans: this.plans.splice(0) };
  }
}

function counted<K, C>(log: EventLog<K, C>, reads: number[]): EventLog<K, C> {
  return {
    append: (...args) => log.append(...args),
    endsAt: (key) => log.endsAt(key),
    load: async (...args) => {
      const stored = await log.load(...args);
      reads.push(stored.length);
      return stored;
    },
  };
}

/** One replica of the planner, with what it reads. */
interface Replica {
  readonly planner: TestPlanner;
  readonly reads: Reads;
}

/** An id of the same form, and never the same: ids end at random, now and then with the very letter that one puts there. */
function otherId(id: string): string {
  return id.replace(/.$/u, (last) => (last === 'Z' ? 'Y' : 'Z'));
}

/** What a planner makes of runs that it has read before, on any log. */
export function keptRoundsContract(name: string, open: () => Promise<KeptRoundsStore>): void {
  describe(`a planner that keeps what it has read from ${name}`, () => {
    let store: KeptRoundsStore;
    let runs = 0;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    /** A run of its own: its first plan is one task, and each edit adds one. */
    const begin = (): PlannerWorld => {
      const world = new PlannerWorld(({ turn }) => {
        const editId = turn.split('.')[1] ?? '';
        return editId === 'e1' ? plan([task('e1')]) : edit([addTask(editId)]);
      }, `kept-${name}-${++runs}`);
      return Object.assign(world, { runs: store.runs, plans: store.plans });
    };
    const replica = (world: PlannerWorld, options: PlannerOptions = {}): Replica => {
      const reads = new Reads(world);
      return { planner: world.planner({ ...options, logs: reads.logs }), reads };
    };
    /** The run goes on to its next round. */
    const next = async (world: PlannerWorld): Promise<RunCommit> => {
      if ((await world.run()).phase === 'NONE') return world.submit();
      await world.judge();
      const { graph, running } = await world.run();
      return world.fail(graph.taskIds.at([...running][0] ?? 0) ?? '');
    };
    const play = async (world: PlannerWorld, { planner }: Replica, rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) expect(await planner.handle(await next(world))).toEqual(DONE);
    };
    const expectSound = async ({ runId }: PlannerWorld): Promise<void> => {
      const stored = await store.plans.load(runId);
      expect(verifyChain(stored.map(({ commit }) => commit))).toEqual([]);
    };

    it('reads in each round what has come since the one before, however long the run is', async () => {
      const world = begin();
      const mine = replica(world);
      await play(world, mine, 2);
      mine.reads.take();
      const read: object[] = [];
      for (let round = 0; round < 6; round++) {
        await play(world, mine, 1);
        read.push(mine.reads.take());
      }
      // The last commit that is known is read once more: what follows is seen to be linked to it.
      expect(read).toEqual(read.map(() => ({ runs: [3], plans: [1] })));
      expect((await world.factsOf('ROUND_PLANNED')).map(({ editId, reply }) => [editId, reply !== null])).toEqual(
        Array.from({ length: 8 }, (_, index) => [`e${index + 1}`, true]),
      );
      await expectSound(world);
    });

    it('goes on from what another replica has planned in between', async () => {
      const world = begin();
      const [mine, other] = [replica(world), replica(world, { instance: 'i2' })];
      await play(world, mine, 2);
      await play(world, other, 3);
      mine.reads.take();
      const opened = await next(world);
      expect(await mine.planner.handle(opened)).toEqual(DONE);
      expect(mine.reads.take()).toEqual({ runs: [9], plans: [4] });
      // What the other one has answered is seen to be there.
      expect(await other.planner.handle(opened, 2)).toEqual(DONE);
      expect(await world.types()).toHaveLength(6);
      await expectSound(world);
    });

    it('reads on when somebody else writes to its plans first', async () => {
      const world = begin();
      const other = replica(world, { instance: 'i2' });
      const first = replica(world);
      await play(world, first, 2);
      const opened = await next(world);
      let isFirst = true;
      const mine = replica(world, {
        instance: 'i3',
        after: async (call) => {
          if (call !== 'model' || !isFirst) return;
          isFirst = false;
          mine.reads.take();
          expect(await other.planner.handle(opened)).toEqual(DONE);
        },
      });
      expect(await mine.planner.handle(opened)).toEqual(DONE);
      expect(mine.reads.take()).toMatchObject({ plans: [2] });
      expect(await world.types()).toHaveLength(3);
      await expectSound(world);
    });

    it.each([
      { restored: { runs: 2, plans: 1 }, what: 'before the last round' },
      { restored: { runs: 2, plans: 2 }, what: 'before the last round, but not its plan' },
      { restored: { runs: 0, plans: 0 }, what: 'before there was anything' },
    ])('believes nothing that it kept when the log is restored to where it was $what', async ({ restored }) => {
      const world = begin();
      const mine = replica(world);
      await play(world, mine, 2);
      await store.restore(world.runId, restored);
      mine.reads.take();
      world.now += 1_000;
      const opened = restored.runs === 0 ? await world.submit('another goal') : await world.fail('e1');
      expect(await mine.planner.handle(opened)).toEqual(DONE);
      expect(mine.reads.take().runs.at(-1)).toBe(restored.runs + 1);
      const stored = await store.plans.load(world.runId);
      expect(stored).toHaveLength(restored.plans === 2 ? 2 : restored.plans + 1);
      if (restored.plans !== 2) expect(stored.at(-1)?.commit.causes).toEqual([{ kind: 'run', id: opened.commit }]);
      await expectSound(world);
    });

    it.each(['a byte', 'the link'])('notices that %s of what has come since was changed', async (what) => {
      const world = begin();
      const mine = replica(world);
      await play(world, mine, 1);
      await world.judge();
      const opened = await world.fail('e1');
      const stored = await store.runs.load(world.runId);
      const changed = what === 'a byte' ? { at: '2026-11-20T09:59:59.000Z' } : { prevHash: 'c'.repeat(64) };
      const commit = { ...opened, ...changed, commit: otherId(opened.commit), number: opened.number + 1 };
      await store.runs.append(world.runId, commit, stored.at(-1)?.sequence ?? 0);
      expect(await mine.planner.handle(opened)).toMatchObject({
        kind: 'poison',
        reason: expect.stringContaining('is damaged'),
      });
      expect(await world.types()).toHaveLength(1);
    });

    it.each([
      { bound: 'runs', kept: { runsMax: 1, bytesMax: 1_000_000 } },
      { bound: 'bytes', kept: { runsMax: 2, bytesMax: 10 } },
    ])('reads a run anew that was one too many by $bound', async ({ kept }) => {
      const [world, another] = [begin(), begin()];
      const mine = replica(world, { kept });
      await play(world, mine, 2);
      await play(another, mine, 1);
      mine.reads.take();
      await play(world, mine, 1);
      expect(mine.reads.take()).toEqual({ runs: [5], plans: [2] });
    });

    it('keeps nothing of a run that has ended', async () => {
      const world = begin();
      const mine = replica(world);
      await play(world, mine, 2);
      const ended = await world.cancel();
      expect(await mine.planner.handle(ended)).toEqual(DONE);
      mine.reads.take();
      expect(await mine.planner.handle(await world.reopen('e1'))).toEqual(DONE);
      expect(mine.reads.take().runs[0]).toBe((await store.runs.load(world.runId)).length);
    });
  });
}
