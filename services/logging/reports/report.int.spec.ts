import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  attemptStories,
  commandsOf,
  foldRun,
  planSayingsOf,
  planStepsOf,
  renderReport,
  viewOf,
} from '#libs/constellation';
import { query } from '#libs/messaging';
import {
  attemptCommitsOf,
  generateAskedHistory,
  generateEditedHistory,
  generateHistory,
  moment,
  planCommitsOf,
  type Replica,
  runCommitsOf,
} from '#libs/testing';
import { sayingsOf, storiesOf } from './stored-facts.adapter.js';
import { ReportEntity } from '../entities/index.js';
import { LoggingQueries } from '../endpoint/queries.controller.js';
import { ProjectionReader } from '../projection/reader.adapter.js';
import type { ReportWriter } from './report.reactor.js';
import { AWAY, Rig } from '../rig.testing.js';
import { SearchReader } from '../search/index.js';
import { StatisticsReader } from '../statistics/index.js';
import { systemClock } from '#libs/platform';

let rig: Rig;
let reports: ReportWriter;
beforeAll(async () => {
  rig = await Rig.start();
  reports = rig.reports();
});
afterAll(() => rig.stop());

/** A history that ends more than once. */
const REOPENED_SEED = 1;
const HISTORY = generateHistory({ seed: 61, tasks: 5 });
const COMMITS = runCommitsOf(HISTORY);
const END = COMMITS.findIndex(({ events }) =>
  events.some(({ type }) => type === 'RUN_COMPLETED' || type === 'RUN_FAILED'),
);
const { runId } = COMMITS[0] ?? fail();

function expected(count: number): string {
  const commits = COMMITS.slice(0, count);
  return renderReport({
    run: viewOf(foldRun(commits) ?? fail()),
    commits,
    commands: commandsOf(attemptCommitsOf(HISTORY)),
  });
}

/** Looks again until the report of this sequence is stored: the writer works beside the test. */
async function stored(sequence: number, of = runId): Promise<string> {
  for (;;) {
    const markdown = await rig.reader.readReport(of, sequence);
    if (markdown !== undefined) return markdown;
    await moment();
  }
}

describe('the report of a run', () => {
  it('is written when the run ended and its attempts are projected, and not before', async () => {
    const upToEnd = HISTORY.slice(0, HISTORY.findIndex((step) => step.commit === COMMITS[END]) + 1);
    await rig.appendAll(upToEnd);
    void reports.begin();
    const runs = rig.follower(rig.runs(), { onApplied: () => reports.notice() });
    void runs.begin();
    await rig.caughtUp('RUNS');
    // ATTEMPTS is behind: whoever asks now is told what is known, and nothing is kept.
    expect(await reports.reportOf(runId)).toContain('no end of this command is recorded');
    expect(await rig.source.getRepository(ReportEntity).count()).toBe(0);
    const attempts = rig.follower(rig.attempts(), { onApplied: () => reports.notice() });
    void attempts.begin();
    const sequence = COMMITS[END]?.events.at(-1)?.sequence ?? 0;
    expect(await stored(sequence)).toBe(expected(END + 1));
    expect(await reports.reportOf(runId)).toBe(expected(END + 1));
    // Annotated after its end: the report is out of date and written again.
    await rig.appendAll(HISTORY.slice(upToEnd.length));
    expect(await stored(COMMITS.at(-1)?.events.at(-1)?.sequence ?? 0)).toBe(expected(COMMITS.length));
    await Promise.all([runs.end(), attempts.end(), reports.end()]);
  });

  it('is made again when it is missing', async () => {
    await rig.source.getRepository(ReportEntity).clear();
    expect(await reports.reportOf(runId)).toBe(expected(COMMITS.length));
  });
});

describe('what agents did', () => {
  it('is read from their own facts, up to a limit, and it is said where there is more', async () => {
    const history = generateAskedHistory({ seed: 3 });
    const own = attemptCommitsOf(history);
    const { runId: asked } = own[0] ?? fail();
    await rig.appendAll(history);
    const stories = attemptStories(own);
    expect(await storiesOf(rig.nc, asked)).toEqual({ attempts: stories, attemptsAreCut: false });
    const [first = fail()] = own;
    const bytesMax = JSON.stringify(first).length + 100;
    expect(await storiesOf(rig.nc, asked, { bytesMax })).toEqual({
      attempts: attemptStories([first]),
      attemptsAreCut: true,
    });
    expect(await storiesOf(rig.nc, 'nobody')).toEqual({ attempts: [], attemptsAreCut: false });
  });
});

describe('what the planner said', () => {
  it('is read from its own facts, up to a limit, and it is said where there is more', async () => {
    const history = generateEditedHistory({ seed: 7 });
    const own = planCommitsOf(history);
    const { runId: planned } = own[0] ?? fail();
    await rig.appendAll(history);
    expect(own.length).toBeGreaterThan(1);
    expect(await sayingsOf(rig.nc, planned)).toEqual({ sayings: planSayingsOf(own), sayingsAreCut: false });
    const [first = fail()] = own;
    const bytesMax = JSON.stringify(first).length + 100;
    expect(await sayingsOf(rig.nc, planned, { bytesMax })).toEqual({
      sayings: planSayingsOf([first]),
      sayingsAreCut: true,
    });
    expect(await sayingsOf(rig.nc, 'nobody')).toEqual({ sayings: [], sayingsAreCut: false });
  });
});

describe('the report of a run whose end is taken back', () => {
  it('is written again at its next end, and at no other time', async () => {
    const history = generateEditedHistory({ seed: REOPENED_SEED });
    const commits = runCommitsOf(history);
    const endings = commits.flatMap(({ events }, index) =>
      events.some(({ type }) => /^RUN_(COMPLETED|FAILED|CANCELLED)$/u.test(type)) ? [index] : [],
    );
    expect(endings.length).toBeGreaterThan(1);
    const { runId: reopened } = commits[0] ?? fail();
    const writer = rig.reports();
    void writer.begin();
    const followers = [rig.runs(), rig.attempts(), rig.plans()].map((projection) =>
      rig.follower(projection, { onApplied: () => writer.notice() }),
    );
    for (const follower of followers) void follower.begin();
    let done = 0;
    for (const ending of endings) {
      const upTo = history.findIndex((step) => step.commit === commits[ending]) + 1;
      await rig.appendAll(history.slice(done, upTo));
      done = upTo;
      const sequence = commits[ending]?.events.at(-1)?.sequence ?? 0;
      const markdown = await stored(sequence, reopened);
      const told = commits.slice(0, ending + 1);
      const commands = commandsOf(attemptCommitsOf(history.slice(0, upTo)));
      const planned = planCommitsOf(history.slice(0, upTo));
      const [plans, sayings] = [planStepsOf(planned), planSayingsOf(planned)];
      const run = viewOf(foldRun(told) ?? fail());
      expect(markdown).toBe(renderReport({ run, commits: told, commands, plans, sayings }));
    }
    await Promise.all([writer.end(), ...followers.map((follower) => follower.end())]);
    expect(await rig.source.getRepository(ReportEntity).countBy({ runId: reopened })).toBe(1);
  });
});

describe('the queries', () => {
  let service: Replica;
  beforeAll(async () => {
    service = await rig.service();
  });
  afterAll(() => service.stop());

  it('answer runs, run and report', async () => {
    const view = viewOf(foldRun(COMMITS) ?? fail());
    const { runs } = await query(rig.nc, 'logging', 'runs', {});
    expect(runs.find((run) => run.runId === runId)).toMatchObject({ runId, tasks: 5 });
    expect((await query(rig.nc, 'logging', 'run', { runId })).run).toEqual(view);
    expect((await query(rig.nc, 'logging', 'report', { runId })).markdown).toBe(expected(COMMITS.length));
  });

  it.each(['run', 'report'] as const)('refuse an unknown run: %s', async (name) => {
    await expect(query(rig.nc, 'logging', name, { runId: 'nobody' })).rejects.toMatchObject({
      refusal: { code: 'NOT_FOUND' },
    });
  });

  it('ask to try again while PostgreSQL is not there', async () => {
    const search = new SearchReader({ nc: rig.nc, postgres: AWAY, clock: systemClock });
    const statistics = new StatisticsReader({ nc: rig.nc, postgres: AWAY });
    const queries = new LoggingQueries(new ProjectionReader(AWAY), reports, search, statistics);
    await expect(queries.runs({})).rejects.toMatchObject({ refusal: { code: 'TRY_AGAIN' } });
    await expect(queries.search({})).rejects.toMatchObject({ refusal: { code: 'TRY_AGAIN' } });
    await expect(queries.metrics({})).rejects.toMatchObject({ refusal: { code: 'TRY_AGAIN' } });
  });
});

function fail(): never {
  throw new Error('the history has no run');
}
