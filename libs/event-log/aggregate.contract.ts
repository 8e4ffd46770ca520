import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { commitShape, eventEnvelope, recordedEvents, type RunCommit, type RunEvent, type RunId } from '#proto';
import { Aggregates, OVERTAKEN, ContendedError, NO_COMMITS, TRIES_MAX, unchanged, type Loaded } from './aggregate.js';
import { CorruptLogError } from './errors.js';
import type { Appended, EventLog, RunLog } from './event-log.js';
import { RUN_LOG, type LogSpec } from './logs.js';
import { headOf, sampleId, sampleRunCommit, START } from './sample-commits.testing.js';
import { verifyChain } from './sealing.js';

/** Writers on the same, empty store. */
export interface OpenedShells {
  readonly log: RunLog;
  readonly other: RunLog;
  /** Another kind of log on the same store. */
  logOf(spec: LogSpec<RunId, Later>): EventLog<RunId, Later>;
  /** The answer to the first append gets lost: what was sent is stored, or it is not. Gives what the caller may hear of it. */
  losing(what: 'ack' | 'message'): { readonly log: RunLog; readonly heard: 'appended' | 'nobody can say' };
  close(): Promise<void>;
}

/** Reasons of pauses, oldest first: the least that an aggregate can be. */
type Reasons = readonly string[];

const by = { service: 'test', instance: 'i1' };
const clock = { now: () => Date.parse('2026-11-20T15:40:40.489Z') };
const causes = [{ kind: 'verb' as const, id: 'v' }];

const shell = (log: RunLog) =>
  new Aggregates<RunId, RunCommit, RunEvent, Reasons>(
    {
      name: (runId) => `run ${runId}`,
      ownerOf: (runId) => ({ runId }),
      nothing: () => [],
      follow: (reasons, stored) => [...reasons, ...stored.flatMap(({ commit }) => commit.events.map(reasonOf))],
    },
    { log, by, clock },
  );
type Shell = ReturnType<typeof shell>;

const reasonOf = ({ type, data }: RunEvent): string => (type === 'RUN_PAUSED' ? data.reason : type);
const paused = (reason: string): RunEvent => ({
  type: 'RUN_PAUSED',
  data: { by: 'system', reason, pausedAt: '2026-11-20T15:40:40.489Z' },
});
const add = (one: Shell, runId: string, reason: string, from?: Loaded<Reasons>) =>
  one.change(runId, () => ({ value: reason, events: [paused(reason)], causes }), from && { from });

/** What the one way to change an aggregate promises, whatever log is under it. */
export function aggregateContract(name: string, open: () => Promise<OpenedShells>): void {
  describe(`an aggregate in ${name}`, () => {
    let opened: OpenedShells;
    let [mine, theirs]: [Shell, Shell] = [shell({} as RunLog), shell({} as RunLog)];
    beforeAll(async () => {
      opened = await open();
      [mine, theirs] = [shell(opened.log), shell(opened.other)];
    });
    afterAll(() => opened.close());

    describe('is changed', () => changeContract(() => ({ ...opened, mine, theirs })));
    describe('that others write', () => conflictContract(() => ({ ...opened, mine, theirs })));
    describe('of an earlier version', () => upcastContract(() => opened));
    describe('of which an answer gets lost', () => lossContract(() => opened));
  });
}

interface Ready extends OpenedShells {
  readonly mine: Shell;
  readonly theirs: Shell;
}

function changeContract(ready: () => Ready): void {
  it('from its first fact on, by commits that are one chain', async () => {
    const { mine, log } = ready();
    expect(await mine.load('whole')).toEqual({ state: [], end: NO_COMMITS });
    const first = await add(mine, 'whole', 'a');
    const second = await add(mine, 'whole', 'b', first.after);
    expect(second).toMatchObject({
      value: 'b',
      stored: true,
      after: { state: ['a', 'b'], end: { number: 2, events: 2 } },
    });
    const commits = (await log.load('whole')).map(({ commit }) => commit);
    expect(verifyChain(commits)).toEqual([]);
    expect(commits.map(({ events }) => events.map(({ id, sequence }) => [id, sequence]))).toEqual([
      [[`${commits[0]?.commit}.0`, 1]],
      [[`${commits[1]?.commit}.0`, 2]],
    ]);
    expect(commits[1]).toMatchObject({ runId: 'whole', by, causes, number: 2, at: '2026-11-20T15:40:40.489Z' });
    expect(await mine.load('whole')).toEqual(second.after);
    expect(await mine.endsAt('whole')).toBe(second.after.end.sequence);
  });

  it('by nothing when nothing follows', async () => {
    const { mine, log } = ready();
    expect(await mine.change('nothing', () => unchanged('as it was'))).toMatchObject({
      value: 'as it was',
      stored: false,
    });
    expect(await log.load('nothing')).toEqual([]);
  });

  it('and read on from what is known of it', async () => {
    const { mine, theirs } = ready();
    const { after } = await add(mine, 'known', 'a');
    await add(theirs, 'known', 'b');
    const forged = { ...after, state: ['believed'] };
    expect((await mine.load('known', forged)).state).toEqual(['believed', 'b']);
    const elsewhere = { ...forged, end: { ...after.end, hash: 'f'.repeat(64) } };
    expect((await mine.load('known', elsewhere)).state).toEqual(['a', 'b']);
    const seen = await mine.change('known', (state) => unchanged(state), { known: forged });
    expect(seen.value).toEqual(['believed', 'b']);
  });

  it('by nobody when what is stored is not what was written', async () => {
    const { mine, log } = ready();
    const changed = { ...sampleRunCommit('damaged', START, sampleId(7_001)), at: '2026-11-20T15:40:40.490Z' };
    await log.append('damaged', { ...changed }, 0);
    await expect(add(mine, 'damaged', 'a')).rejects.toThrow(CorruptLogError);
  });
}

function conflictContract(ready: () => Ready): void {
  it('is decided again on what they wrote', async () => {
    const { mine, theirs } = ready();
    const seen: [Reasons, number][] = [];
    const { after, stored } = await mine.change('contested', async (state, { lost }) => {
      seen.push([state, lost]);
      if (lost === 0) await add(theirs, 'contested', 'theirs');
      return { value: null, events: [paused('mine')], causes };
    });
    expect(seen).toEqual([
      [[], 0],
      [['theirs'], 1],
    ]);
    expect([stored, after.state]).toEqual([true, ['theirs', 'mine']]);
  });

  it('is decided again on a fresh load when it was begun from an older state', async () => {
    const { mine, theirs } = ready();
    const { after } = await add(mine, 'older', 'a');
    await add(theirs, 'older', 'b');
    expect((await add(mine, 'older', 'c', after)).after.state).toEqual(['a', 'b', 'c']);
  });

  it('reads what stands beside it in every try', async () => {
    const { mine, theirs } = ready();
    let reads = 0;
    const beside = async () => void (reads += 1);
    await mine.change(
      'beside',
      async (_, { lost }) => {
        if (lost < 2) await add(theirs, 'beside', 'theirs');
        return { value: null, events: [paused('mine')], causes };
      },
      { beside },
    );
    expect(reads).toBe(3);
  });

  it('is given up with one error when they are faster every time, and nothing of it is stored', async () => {
    const { mine, theirs, log } = ready();
    const losing = mine.change('hopeless', async () => {
      await add(theirs, 'hopeless', 'theirs');
      return { value: null, events: [paused('mine')], causes };
    });
    await expect(losing).rejects.toThrow(ContendedError);
    await expect(mine.change('hopeless', () => OVERTAKEN)).rejects.toThrow(/run hopeless was changed by others/u);
    const reasons = (await log.load('hopeless')).flatMap(({ commit }) => commit.events.map(reasonOf));
    expect(reasons).toEqual(Array.from({ length: TRIES_MAX }, () => 'theirs'));
  });
}

/** Pauses as a later version has them: each says how serious it is, and those that were recorded before were not. */
const LATER = z.strictObject({
  ...commitShape,
  runId: z.string(),
  events: recordedEvents(
    z.strictObject({
      ...eventEnvelope,
      type: z.literal('RUN_PAUSED'),
      data: z.strictObject({
        by: z.string(),
        reason: z.string(),
        pausedAt: z.string(),
        severity: z.enum(['low', 'high']),
      }),
    }),
    { RUN_PAUSED: [(data) => ({ severity: 'low', ...data })] },
  ),
});

type Later = z.infer<typeof LATER>;

function upcastContract(opened: () => OpenedShells): void {
  it('is hashed as it is stored, and read in the words of today', async () => {
    const log = opened().logOf({ ...RUN_LOG, schema: LATER });
    const first = sampleRunCommit('upcast', START, sampleId(7_101));
    const { sequence } = stored(await log.append('upcast', first as never, 0));
    const second = sampleRunCommit('upcast', headOf([first]), sampleId(7_102));
    await log.append('upcast', second as never, sequence);
    const read = (await log.load('upcast')).map(({ commit }) => commit);
    expect(read.map(({ hash }) => hash)).toEqual([first.hash, second.hash]);
    expect(
      read.flatMap(({ events }) => events.map(({ schemaVersion, data }) => [schemaVersion, data.severity])),
    ).toEqual([
      [2, 'low'],
      [2, 'low'],
    ]);
    // What was upcast is not what was written: only the stored bytes have the hash.
    expect(verifyChain([first, second])).toEqual([]);
    expect(verifyChain(read).map(({ kind }) => kind)).toEqual(['hash', 'hash']);
  });

  it('is damaged when a stored byte was changed, whatever an upcaster would have made of it', async () => {
    const log = opened().logOf({ ...RUN_LOG, schema: LATER });
    const sealed = sampleRunCommit('upcast-damaged', START, sampleId(7_103));
    const events = sealed.events.map((event) => ({ ...event, data: { ...event.data, severity: 'high' } }));
    await log.append('upcast-damaged', { ...sealed, events } as never, 0);
    await expect(log.load('upcast-damaged')).rejects.toThrow(CorruptLogError);
  });
}

function stored(appended: Appended): { readonly sequence: number } {
  if (appended.kind === 'conflict') throw new Error('an append that nobody competed with was refused');
  return appended;
}

/** Whatever the caller hears: who decides again from what is stored comes to one fact, never two and never none. */
function lossContract(opened: () => OpenedShells): void {
  for (const what of ['ack', 'message'] as const) {
    it(`is changed once when the ${what} of its append is lost`, async () => {
      const { log: lossy, heard } = opened().losing(what);
      const runId = `lost-${what}`;
      const once = (one: Shell) =>
        one.change(runId, (state) =>
          state.includes('mine') ? unchanged('known') : { value: 'new', events: [paused('mine')], causes },
        );
      if (heard === 'appended') expect(await once(shell(lossy))).toMatchObject({ value: 'new', stored: true });
      else await expect(once(shell(lossy))).rejects.toThrow('could not be appended');
      await once(shell(opened().log));
      expect((await shell(opened().log).load(runId)).state).toEqual(['mine']);
    });
  }
}
