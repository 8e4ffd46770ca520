import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  evolveCommit,
  figuresOfRuns,
  planStepsOf,
  runFiguresOf,
  summaryOf,
  viewOf,
  type Run,
  type TalliedRun,
} from '#libs/constellation';
import { query } from '#libs/messaging';
import {
  attemptCommitsOf,
  forkHistory,
  generateAskedHistory,
  generateEditedHistory,
  generateHistory,
  moment,
  runCommitsOf,
} from '#libs/testing';
import {
  AttemptEntity,
  BrokenRunEntity,
  CommandEntity,
  CommitEntity,
  PlanStepEntity,
  RunFiguresEntity,
} from '../entities/index.js';
import type { FiguresRequest, RunCommit, RunView } from '#proto';
import { Rig, witnessed } from '../rig.testing.js';

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
    const summaries = [...folds.values()].map(summaryOf).sort((left, right) => (left.runId > right.runId ? -1 : 1));
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

/** What each run of the histories is for whoever adds up. */
const TALLIED = HISTORIES.map((steps) => {
  const commits = runCommitsOf(steps);
  const figures: TalliedRun = runFiguresOf(commits) ?? 'open';
  const [first] = commits[0]?.events ?? [];
  if (first?.type !== 'RUN_REQUESTED' && first?.type !== 'RUN_FORKED') throw new Error('it does not begin');
  const requestedAt = first.type === 'RUN_FORKED' ? first.data.forkedAt : first.data.requestedAt;
  const { labels = {}, requestedBy } = first.data;
  return { figures, labels, requestedBy: requestedBy.id, requestedAt };
});
type Tallied = (typeof TALLIED)[number];
const figuresWhere = (holds: (run: Tallied) => boolean = () => true) =>
  figuresOfRuns(TALLIED.filter(holds).map(({ figures }) => figures));

describe('figures over runs', () => {
  const figures = (request: FiguresRequest = {}) => rig.statisticsReader().figures(request);

  it('say what is not measured yet, while nobody has', async () => {
    const { runs, upTo } = await figures();
    const open = TALLIED.filter((run) => run.figures === 'open').length;
    const behind = HISTORIES.length - open;
    expect(runs).toEqual({ matching: HISTORIES.length, counted: 0, open, behind, unreadable: 0 });
    expect(upTo).toEqual({ sequence: 0, at: null, behind: await rig.lastSequence('RUNS') });
  });

  it('are those of the facts of each run, although whoever measures is killed at every point of its way', async () => {
    let points = 0;
    const dying = witnessed(rig.statistics(), () => {
      if (++points % 7 === 0) throw new Error('killed');
    });
    const follower = rig.follower(dying, { itemsMax: 3 });
    void follower.begin();
    await rig.projected('FIGURES', 12);
    await follower.end();
    // Another one, which holds no run of which the first has seen the beginning.
    const next = rig.follower(rig.statistics(), { itemsMax: 5 });
    void next.begin();
    await rig.projected('FIGURES', await rig.lastSequence('RUNS'));
    await next.end();
    const rows = await rig.source.getRepository(RunFiguresEntity).find({ order: { runId: 'ASC' } });
    const wanted = HISTORIES.map((steps) => runCommitsOf(steps)).flatMap((commits) => {
      const measured = runFiguresOf(commits);
      return measured === null ? [] : [{ runId: commits[0]?.runId ?? '', figures: measured }];
    });
    expect(wanted.length).toBeGreaterThan(3);
    expect(rows).toEqual(wanted.toSorted((one, other) => (one.runId < other.runId ? -1 : 1)));
  });

  it('are added up over just those that match, and by the values of a label', async () => {
    expect(await figures()).toMatchObject({ ...figuresWhere(), by: null, groups: [], upTo: { behind: 0 } });
    const [{ requestedBy, requestedAt }] = TALLIED as [Tallied];
    for (const [request, holds] of [
      [{ requester: requestedBy }, (run) => run.requestedBy === requestedBy],
      [{ since: requestedAt }, (run) => run.requestedAt >= requestedAt],
      [{ until: requestedAt }, (run) => run.requestedAt <= requestedAt],
      [{ label: ['team'] }, ({ labels }) => labels['team'] !== undefined],
      [{ label: ['team=db', 'seed=2'] }, ({ labels }) => labels['seed'] === '2'],
      [{ status: ['COMPLETED', 'FAILED', 'CANCELLED'] }, (run) => run.figures !== 'open'],
      [{ requester: "x' or 'a' = 'a" }, () => false],
    ] satisfies [FiguresRequest, (run: Tallied) => boolean][]) {
      expect([request, await figures(request)]).toMatchObject([request, figuresWhere(holds)]);
    }
    const { groups, groupsLeft } = await figures({ by: 'seed' });
    const values = [...new Set(TALLIED.map(({ labels }) => labels['seed'] ?? null))];
    expect([new Set(groups.map(({ value }) => value)), groupsLeft]).toEqual([new Set(values), 0]);
    for (const { value, ...group } of groups) {
      expect(group).toEqual(figuresWhere(({ labels }) => (labels['seed'] ?? null) === value));
    }
  });

  it('are none of no runs, and a label that no run has is told with the one that was meant', async () => {
    const unknown = async (...label: string[]) => (await figures({ label })).unknownLabels;
    expect((await figures({ label: ['team=bd'] })).runs.matching).toBe(0);
    expect(await unknown('team=dbs')).toEqual([{ label: 'team=dbs', meant: 'team=db' }]);
    expect(await unknown('taem=db')).toEqual([{ label: 'taem=db', meant: 'team=db' }]);
    expect(await unknown('something')).toEqual([{ label: 'something' }]);
    // It is there, only not beside the other.
    expect(await unknown('seed=1', 'seed=2')).toEqual([]);
    expect((await figures({ by: 'tema' })).unknownLabels).toEqual([{ label: 'tema', meant: 'team' }]);
  });

  it('are refused of more runs than can be added up, and not made of a part of them', async () => {
    const few = rig.statisticsReader(HISTORIES.length - 1);
    await expect(few.figures({})).rejects.toMatchObject({
      refusal: { code: 'TOO_LARGE', issues: [{ path: 'since' }] },
    });
    expect((await few.figures({ label: ['team'] })).runs.matching).toBe(ASKED.length);
  });
});

describe('a rebuild', () => {
  it('makes the same projection again', async () => {
    const before = await everything();
    const leftOvers = rig.source.getRepository(BrokenRunEntity);
    await leftOvers.save({ runId: 'left-over', streamSequence: 1, reason: '', at: new Date().toISOString() });
    const service = await rig.service({ rebuild: true });
    while ((await leftOvers.count()) > 0) await moment();
    await rig.checkpointed('RUNS');
    await rig.checkpointed('ATTEMPTS');
    await rig.checkpointed('PLANS');
    while ((await query(rig.nc, 'logging', 'metrics', {})).upTo.behind > 0) await moment();
    await service.stop();
    expect(await everything()).toEqual(before);
  });
});

describe('figures over many runs', () => {
  const COPIES = 1_500;

  it('are added up page by page, and of so many values of a label only the first have their own', async () => {
    const { runs, measures, ratios } = await rig.statisticsReader().figures({});
    // Each that is there as many times again, with a label of its own.
    const columns = (
      await rig.source.query<{ name: string }[]>(
        `select column_name as name from information_schema.columns where table_schema = 'logging' and table_name = 'run'`,
      )
    ).map(({ name }) => name);
    const copied = columns.map((name) => (name === 'run_id' ? `run_id || '-' || copy` : name));
    const each = `generate_series(1, ${COPIES}) copy`;
    await rig.source.query(
      `insert into logging.run (${columns.join(', ')}) select ${copied.join(', ')} from logging.run, ${each}`,
    );
    await rig.source.query(
      `insert into logging.run_figures select run_id || '-' || copy, figures from logging.run_figures, ${each}`,
    );
    await rig.source.query(
      `insert into logging.run_label select run_id, 'ticket', 't' || run_id from logging.run where run_id like '%-%'`,
    );
    const many = await rig.statisticsReader().figures({ by: 'ticket' });
    const times = COPIES + 1;
    expect(many.runs).toEqual({
      matching: runs.matching * times,
      counted: runs.counted * times,
      open: runs.open * times,
      behind: 0,
      unreadable: 0,
    });
    expect(many.measures.workMs).toMatchObject({ total: measures.workMs.total * times, p95: measures.workMs.p95 });
    expect(many.ratios.parallelismRatio.meanOfRatios).toBeCloseTo(ratios.parallelismRatio.meanOfRatios ?? NaN, 9);
    expect(many.ratios.parallelismRatio.ratioOfMeans).toBeCloseTo(ratios.parallelismRatio.ratioOfMeans ?? NaN, 9);
    expect([many.groups.length, many.groups.length + many.groupsLeft]).toEqual([50, COPIES * HISTORIES.length + 1]);
    expect(many.groups[0]).toMatchObject({ value: null, runs });
  });

  it('leave out and name a run that cannot be read', async () => {
    const [steps = []] = HISTORIES;
    const last = runCommitsOf(steps).at(-1) as RunCommit;
    const end = { id: 'x-1', sequence: 9_999, schemaVersion: 1, type: 'RUN_REOPENED' } as const;
    const by = { kind: 'person', id: 'ops' } as const;
    const at = last.at;
    const data = { by, reopenedAt: at, deadlineAt: at };
    await rig.publishRaw(last.runId, { ...last, number: last.number + 1, events: [{ ...end, data }] });
    const followers = [rig.follower(rig.runs()), rig.follower(rig.statistics())];
    for (const follower of followers) void follower.begin();
    await rig.caughtUp('RUNS');
    await rig.projected('FIGURES', await rig.lastSequence('RUNS'));
    for (const follower of followers) await follower.end();
    expect((await rig.statisticsReader().figures({})).runs.unreadable).toBe(1);
    expect(await rig.source.getRepository(RunFiguresEntity).findOneBy({ runId: last.runId })).toBeNull();
  });
});

describe('a list of runs', () => {
  it('finds those of who has asked for few among many by an index', async () => {
    const runner = rig.source.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query(MANY_RUNS);
      await runner.query('analyze logging.run');
      const plan: Record<string, string>[] = await runner.query(
        `explain select * from logging.run where requested_by = 'nobody' order by requested_at desc, run_id desc limit 101`,
      );
      expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('run_by_requester');
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  });
});

const MANY_RUNS = `insert into logging.run
  (run_id, request_id, name, status, sequence, revision, requested_at, requested_by, tasks, number, hash, stream_sequence)
  select 'of-many-' || number, 'request', 'name', 'COMPLETED', 1, 1, now(), 'anna', 1, 1, '', number
  from generate_series(1, 4000) number`;

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
    figures: await rig.source.getRepository(RunFiguresEntity).find({ order: { runId: 'ASC' } }),
    plans: await rig.source
      .getRepository(PlanStepEntity)
      .find({ order: { runId: 'ASC', number: 'ASC', index: 'ASC' } }),
    attempts: await rig.source
      .getRepository(AttemptEntity)
      .find({ order: { runId: 'ASC', taskId: 'ASC', attempt: 'ASC' } }),
  };
}
