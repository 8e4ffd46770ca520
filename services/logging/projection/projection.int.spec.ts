import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { evolveCommit, planStepsOf, summaryOf, viewOf, type Run } from '#libs/constellation';
import {
  attemptCommitsOf,
  forkHistory,
  generateAskedHistory,
  generateEditedHistory,
  generateHistory,
  runCommitsOf,
} from '#libs/testing';
import { AttemptEntity, BrokenRunEntity, CommandEntity, CommitEntity, PlanStepEntity } from '../entities/index.js';
import type { RunView } from '#proto';
import { Rig } from '../rig.testing.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());

const OUTPUT = 'nul \u0000 \u{f0000} \ud83d\ude00 ';
const EDITED = generateEditedHistory({ seed: 6, goal: true });
const ASKED = [1, 2].map((seed) => generateAskedHistory({ seed }));
const HISTORIES = [
  ...[11, 12, 13].map((seed) => generateHistory({ seed, tasks: 7, output: OUTPUT })),
  EDITED,
  ...ASKED,
  forkHistory(EDITED, { at: 20, seed: 1 }),
];

describe('the projection of RUNS', () => {
  it('reads from Postgres what the fold shows, after every prefix of a history', async () => {
    const follower = rig.follower(rig.runs());
    void follower.begin();
    const folds = new Map<string, Run>();
    for (const steps of HISTORIES) {
      for (const step of steps) {
        const sequence = await rig.append(step);
        if (step.kind !== 'run') continue;
        const { runId } = step.commit;
        const run = evolveCommit(folds.get(runId), step.commit);
        folds.set(runId, run);
        await rig.projected('RUNS', sequence);
        expect(await rig.reader.readRun(runId)).toEqual(viewOf(run));
        const open = viewOf(run).approvals.filter(({ state }) => state === 'open');
        expect(new Set(await rig.reader.listApprovals({ isOpen: true, limit: 10 }))).toEqual(new Set(open));
      }
    }
    await follower.end();
    const summaries = [...folds.values()].map(summaryOf).sort((left, right) => (left.runId < right.runId ? -1 : 1));
    expect(await rig.reader.listRuns({ limit: 10 })).toEqual(summaries);
    await findsWhatHolds(folds);
    expect(await rig.reader.readRun('unknown')).toBeUndefined();
  });

  it('lists what people were asked over all runs, newest first', async () => {
    const all = await rig.reader.listApprovals({ isOpen: false, limit: 1_000 });
    const asked = ASKED.flatMap(runCommitsOf).flatMap(({ events }) =>
      events.filter(({ type }) => type === 'APPROVAL_REQUESTED'),
    );
    expect(all).toHaveLength(asked.length);
    const times = all.map(({ requestedAt }) => requestedAt);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(await rig.reader.listApprovals({ isOpen: false, limit: 2 })).toEqual(all.slice(0, 2));
    expect(await rig.reader.listApprovals({ isOpen: true, limit: 10 })).toEqual([]);
  });

  it('keeps every commit as it is stored', async () => {
    const rows = await rig.source.getRepository(CommitEntity).find({ order: { streamSequence: 'ASC' } });
    const commits = HISTORIES.flatMap(runCommitsOf);
    expect(rows.map(({ commit }) => commit)).toEqual(commits);
    expect(rows.map(({ hash }) => hash)).toEqual(commits.map(({ hash }) => hash));
  });
});

describe('the projection of ATTEMPTS', () => {
  it('tells every command, and every attempt from both streams', async () => {
    const follower = rig.follower(rig.attempts());
    void follower.begin();
    await rig.caughtUp('ATTEMPTS');
    await follower.end();
    const commits = HISTORIES.flatMap(attemptCommitsOf);
    const commands = await rig.source.getRepository(CommandEntity).find({ order: { streamSequence: 'ASC' } });
    expect(commands).toHaveLength(commits.length);
    expect(commands[0]).toMatchObject({ tool: 'EXEC_CLI', arguments: { command: 'echo 0' }, deviceId: 'web-1' });
    const plain = commands.filter(({ runId }) => runId.startsWith('run'));
    expect(plain.map(({ stdout }) => stdout?.startsWith(OUTPUT))).not.toContain(false);
    const attempts = await rig.source.getRepository(AttemptEntity).find();
    expect(new Set(attempts.map(({ hash }) => hash))).toEqual(new Set(commits.map(({ hash }) => hash)));
    expect(
      attempts.filter(({ device, startedAt, endedAt, status }) => !device || !startedAt || !endedAt || !status),
    ).toEqual([]);
  });
});

describe('the projection of PLANS', () => {
  it('tells every step of the planner', async () => {
    const follower = rig.follower(rig.plans());
    void follower.begin();
    await rig.caughtUp('PLANS');
    await follower.end();
    const commits = HISTORIES.flat().flatMap((step) => (step.kind === 'plan' ? [step.commit] : []));
    const steps = await rig.source.getRepository(PlanStepEntity).find({ order: { number: 'ASC', index: 'ASC' } });
    expect(steps.length).toBeGreaterThan(0);
    const ofRun = (runId: string) => steps.filter((step) => step.runId === runId);
    const runIds = new Set(commits.map(({ runId }) => runId));
    expect([...runIds].flatMap(ofRun)).toEqual(planStepsOf(commits));
  });
});

describe('a rebuild', () => {
  it('makes the same projection again', async () => {
    const before = await everything();
    const leftOvers = rig.source.getRepository(BrokenRunEntity);
    await leftOvers.save({ runId: 'left-over', streamSequence: 1, reason: '', at: new Date().toISOString() });
    const service = await rig.service({ rebuild: true });
    while ((await leftOvers.count()) > 0);
    await rig.checkpointed('RUNS');
    await rig.checkpointed('ATTEMPTS');
    await rig.checkpointed('PLANS');
    await service.stop();
    expect(await everything()).toEqual(before);
  });
});

/** Each run by what holds for it, and page by page; what is found is what the fold says. */
async function findsWhatHolds(folds: ReadonlyMap<string, Run>): Promise<void> {
  const ids = async (wanted: object): Promise<string[]> =>
    (await rig.reader.listRuns({ limit: 1_000, ...wanted })).map(({ runId }) => runId).sort();
  const holding = (holds: (view: RunView) => boolean): string[] =>
    [...folds.values()]
      .map((run) => viewOf(run))
      .filter(holds)
      .map(({ runId }) => runId)
      .sort();
  const views = [...folds.values()].map((run) => viewOf(run));
  for (const { runId, status, requestedBy, requestedAt, tasks } of views) {
    expect(await ids({ status: [status] })).toEqual(holding((view) => view.status === status));
    expect(await ids({ by: requestedBy })).toEqual(holding((view) => view.requestedBy === requestedBy));
    expect(await ids({ since: requestedAt })).toEqual(holding((view) => view.requestedAt >= requestedAt));
    expect(await ids({ id: runId.slice(0, 8) })).toEqual(holding((view) => view.runId.startsWith(runId.slice(0, 8))));
    const device = tasks.flatMap((task) => task.device ?? [])[0];
    if (device === undefined) continue;
    expect(await ids({ device })).toEqual(holding((view) => view.tasks.some((task) => task.device === device)));
  }
  const labelled = (key: string, value: string) => holding(({ labels }) => labels?.[key] === value);
  expect(labelled('team', 'db')).toHaveLength(ASKED.length);
  expect(await ids({ label: ['team'] })).toEqual(labelled('team', 'db'));
  expect(await ids({ label: ['team=db', 'seed=2'] })).toEqual(labelled('seed', '2'));
  for (const label of ['team=web', 'db', 'seed=22']) expect(await ids({ label: [label] })).toEqual([]);
  expect(await ids({ by: "x' or 'a' = 'a" })).toEqual([]);
  const pages: string[] = [];
  for (let before: string | undefined; pages.length < folds.size; before = pages.at(-1)) {
    const page = await rig.reader.listRuns({ limit: 2, ...(before === undefined ? {} : { before }) });
    expect(page.length > 2).toBe(pages.length + 2 < folds.size);
    pages.push(...page.slice(0, 2).map(({ runId }) => runId));
  }
  expect(pages).toEqual((await rig.reader.listRuns({ limit: 1_000 })).map(({ runId }) => runId));
  await expect(rig.reader.listRuns({ limit: 2, before: 'unknown' })).rejects.toThrow('There is no run unknown.');
}

async function everything() {
  const runs = await rig.reader.listRuns({ limit: 100 });
  const views = [];
  for (const { runId } of runs) views.push(await rig.reader.readRun(runId));
  return {
    runs,
    views,
    commits: await rig.source.getRepository(CommitEntity).find({ order: { streamSequence: 'ASC' } }),
    commands: await rig.source.getRepository(CommandEntity).find({ order: { streamSequence: 'ASC' } }),
    plans: await rig.source
      .getRepository(PlanStepEntity)
      .find({ order: { runId: 'ASC', number: 'ASC', index: 'ASC' } }),
    attempts: await rig.source
      .getRepository(AttemptEntity)
      .find({ order: { runId: 'ASC', taskId: 'ASC', attempt: 'ASC' } }),
  };
}
