import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { AttemptCommit, FoundCommand, SearchAnswer, SearchRequest } from '#proto';
import { putArtifact, query, QueryRefusedError } from '#libs/messaging';
import { systemClock } from '#libs/platform';
import { attemptCommitsOf, generateAskedHistory, generateHistory, moment, type Replica } from '#libs/testing';
import { DeadLetters } from '../projection/dead-letter.adapter.js';
import { CommandEntity, JudgementEntity, SearchEntity } from '../entities/index.js';
import { Rig, witnessed } from '../rig.testing.js';
import { SearchProjection } from './search.projector.js';

/* Commands are found in a real PostgreSQL by what strangers type. */

const HISTORIES = [
  generateHistory({ seed: 21, tasks: 7, output: 'nul \u0000 \u{f0000} /dev/sda1: disk full 😀 ' }),
  ...[3, 4].map((seed) => generateAskedHistory({ seed })),
];
const COMMITS = HISTORIES.flatMap(attemptCommitsOf);
const [FIRST] = COMMITS as [AttemptCommit];
const DENIED_ID = `${FIRST.runId}.${FIRST.taskId}.${FIRST.attempt}.3.0`;
/** What an agent wanted and was denied; and what a person was asked about, and then ran. */
const judged = (commandId: string, decision: 'deny' | 'approve', command: string): object => ({
  id: `${commandId}-${decision}`,
  sequence: 1,
  schemaVersion: 1,
  type: 'COMMAND_JUDGED',
  data: {
    step: 3,
    index: 0,
    commandId,
    command: { tool: 'EXEC_CLI', arguments: { command } },
    class: 'destructive',
    decision,
    rule: 'program.rm',
    reasons: [],
    grantable: false,
    origin: 'agent',
    policyHash: 'e'.repeat(64),
  },
});
const FINISHED = COMMITS.flatMap(({ events }) => events.filter(({ type }) => type === 'COMMAND_FINISHED'));

let rig: Rig;
let service: Replica;
beforeAll(async () => {
  rig = await Rig.start();
  for (const steps of HISTORIES) await rig.appendAll(steps);
  const [ran] = FINISHED as [(typeof FINISHED)[number]];
  const late = { ...FIRST, events: [judged(DENIED_ID, 'deny', 'rm -rf /srv/cache')] };
  const asked = {
    ...FIRST,
    events: [judged((ran.data as { commandId: string }).commandId, 'approve', 'rm -rf /srv/cache'), ran],
  };
  for (const commit of [asked, late]) await rig.publishRawAttempt(FIRST, JSON.stringify(commit));
  // Killed in the middle, at every point of its way; whoever goes on neither leaves out nor doubles anything.
  await dyingFollower();
  service = await rig.service();
  await complete();
});
afterAll(async () => {
  await service?.stop();
  await rig?.stop();
});

/** A limit for what hangs: what is slow has a busy machine. */
const ANSWER_MS = 60_000;
const search = (request: SearchRequest): Promise<SearchAnswer> =>
  query(rig.nc, 'logging', 'search', request, { timeoutMs: ANSWER_MS });

/** Asked again where a busy machine took longer than a search may. */
async function answered(request: SearchRequest): Promise<SearchAnswer> {
  for (;;) {
    try {
      return await search(request);
    } catch (error) {
      if (!(error instanceof QueryRefusedError) || error.refusal.code !== 'TRY_AGAIN') throw error;
    }
    await moment();
  }
}

/** What is found in the end: a busy machine may take longer than one search may, which then says how far it came. */
async function found(request: SearchRequest): Promise<readonly FoundCommand[]> {
  const commands: FoundCommand[] = [];
  for (let { before } = request; ;) {
    const page = await answered({ limit: 200, ...request, ...(before !== undefined && { before }) });
    commands.push(...page.commands);
    if (page.cut === undefined) return commands;
    ({ before } = page);
  }
}

async function complete(): Promise<void> {
  while ((await answered({})).upTo.behind > 0) await moment();
}

async function dyingFollower(): Promise<void> {
  let steps = 0;
  const deadLetters = new DeadLetters(rig.nc, systemClock);
  const projection = new SearchProjection({ nc: rig.nc, clock: systemClock, deadLetters });
  const dying = witnessed(projection, () => {
    if (++steps === 9) throw new Error('killed');
  });
  const follower = rig.follower(dying, { itemsMax: 3, onApplied: () => {} });
  void follower.begin();
  await rig.projected('SEARCH', COMMITS.length > 12 ? 12 : 1);
  await follower.end();
}

describe('a search', () => {
  it('finds every command that is recorded, once, newest first, page by page', async () => {
    const all = await found({});
    const ids = all.map(({ commandId }) => commandId);
    const recorded = await rig.source.getRepository(SearchEntity).find({ order: { place: 'DESC' } });
    expect(ids).toEqual(recorded.map(({ commandId }) => commandId));
    expect(new Set(ids).size).toBe(ids.length);
    const ended = new Set(FINISHED.map(({ data }) => (data as { commandId: string }).commandId));
    expect(
      new Set(all.filter(({ state }) => state !== 'DENIED' && state !== 'ASKED').map((one) => one.commandId)),
    ).toEqual(ended);
    const pages: string[] = [];
    for (let before: string | undefined; ;) {
      const page = await answered({ limit: 3, ...(before === undefined ? {} : { before }) });
      pages.push(...page.commands.map(({ commandId }) => commandId));
      ({ before } = page);
      if (before === undefined) break;
    }
    expect(pages).toEqual(ids);
  });

  it('finds by words what is printed, with the hit marked, although it has what PostgreSQL cannot hold', async () => {
    const [first] = await found({ words: '"disk full"' });
    expect(first?.found?.of).toBe('stdout');
    expect(first?.found?.text).toContain('nul \u0000 \u{f0000} /dev/sda1: disk full 😀');
    expect(first?.found?.marks.map(({ from, to }) => first.found?.text.slice(from, to))).toEqual(['disk full']);
    expect(await found({ words: '"full disk"' })).toEqual([]);
    expect((await found({ words: 'sda1 ful*' })).length).toBe((await found({ words: '/dev/sda1' })).length);
    const [without, within] = [await found({ words: 'NOT sda1' }), await found({ words: 'sda1' })];
    expect([without.length > 0, without.length + within.length]).toEqual([true, (await found({})).length]);
  });

  it('finds by every field just what has it', async () => {
    const all = await found({});
    const some = <K extends keyof FoundCommand>(field: K) => [...new Set(all.map((one) => one[field]))];
    const of = (holds: (one: FoundCommand) => boolean): string[] => all.filter(holds).map((one) => one.commandId);
    const ids = async (request: SearchRequest): Promise<string[]> => (await found(request)).map((one) => one.commandId);
    for (const device of some('device')) {
      if (device !== null) expect(await ids({ device })).toEqual(of((one) => one.device === device));
    }
    for (const by of some('by')) if (by !== null) expect(await ids({ by })).toEqual(of((one) => one.by === by));
    for (const code of some('exitCode')) {
      if (code !== null) expect(await ids({ exit: [code, 99] })).toEqual(of((one) => one.exitCode === code));
    }
    for (const state of some('state')) expect(await ids({ state: [state] })).toEqual(of((one) => one.state === state));
    for (const run of some('runId')) expect(await ids({ run })).toEqual(of((one) => one.runId === run));
    for (const since of some('at')) {
      expect(await ids({ since })).toEqual(of((one) => one.at >= since));
      expect(await ids({ until: since })).toEqual(of((one) => one.at <= since));
    }
    const rules = some('rule').filter((rule) => rule !== null);
    expect(rules.length).toBeGreaterThan(0);
    for (const rule of rules) {
      expect(await ids({ rule })).toEqual(expect.arrayContaining(of((one) => one.rule === rule)));
      const [family = ''] = rule.split('.');
      expect(await ids({ rule: family })).toEqual(expect.arrayContaining(of((one) => one.rule === rule)));
    }
    expect(await ids({ device: 'nowhere' })).toEqual([]);
    const [denied] = await found({ words: '"rm -rf" cache', rule: 'program', state: ['DENIED'], by: 'ops' });
    const [{ device }] = (await found({ run: FIRST.runId, task: FIRST.taskId, exit: [0, 1] })) as [FoundCommand];
    expect(denied).toMatchObject({ commandId: DENIED_ID, device, decision: 'deny', found: { of: 'command' } });
  });

  it.each([
    `'`,
    `' | 'x`,
    `x') or 1=1; --`,
    '\\',
    `'\\' & '=device:web-1'`,
    '=device:web-1',
    '#0:0 x',
    ':* & !()',
    'x\u0000y',
    '\u202eksid\u202c',
    '%_%',
    '"',
    '<-> disk',
    'é\u0301\u0301',
    'x'.repeat(1_000),
    '磁'.repeat(30),
  ])('takes %j for words, or says why not', async (words) => {
    const answer = await answered({ words }).catch((error: unknown) => error);
    if (answer instanceof QueryRefusedError) expect(answer.refusal).toMatchObject({ code: 'INVALID_REQUEST' });
    else expect(answer).toMatchObject({ upTo: { behind: 0 } });
  });

  it('refuses what is no search', async () => {
    const halves: object[] = [
      { words: 'x'.repeat(1_001) },
      { word: 'x' },
      { before: '0' },
      { limit: 201 },
      { exit: [] },
    ];
    for (const request of halves) {
      await expect(search(request)).rejects.toMatchObject({ refusal: { code: 'INVALID_REQUEST' } });
    }
  });
});

/** What commands of strangers print: each with the words that find just it, and those that do not. */
const STRANGERS: readonly {
  readonly prints: object;
  readonly by: readonly string[];
  readonly not: readonly string[];
}[] = [
  {
    prints: { stdout: 'ERROR: bind() to 10.0.0.3:8080 failed (/etc/nginx/nginx.conf:12) --no-pager' },
    by: [
      '/etc/nginx/nginx.conf',
      '10.0.0.3',
      '--no-pager',
      'ERROR:',
      'error: bind',
      '"ERROR: bind() to"',
      '10.0.0.3:80*',
    ],
    not: ['/etc/nginx.conf', '10.0.0.30', '10.0.3', '10-0-0-3', '--no_pager', 'rror', 'bind NOT failed'],
  },
  {
    prints: { stdout: 'GRO\u0308SSE u\u0308berschritten', stderr: '磁盘已满 ディスク 용량이 부족합니다' },
    by: ['größe*', 'Grösse', 'ÜBERSCHRITTEN', '磁盘', '"已满"', 'ディスク', '용량*', 'überschritten 满'],
    not: ['gros', 'uberschritten', '满磁', '盘磁', 'überschritten NOT 满'],
  },
  {
    prints: { stdout: '100% of user_id_7 \'quoted\' "more" back\\slash; drop table logging.search; --' },
    by: ['100%', 'user_id_7', 'user_*', "'quoted'", '"drop table"', 'back\\slash', 'id 7'],
    not: ['1%', 'user%7', 'userxid_7', '_7 1_'],
  },
  {
    prints: { stdout: Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256)).toString('utf8') + 'elfheader' },
    by: ['elfheader', 'elf*'],
    not: ['"elf header"'],
  },
  {
    prints: { stdout: `headword ${'x '.repeat(4_000)}\n${'y '.repeat(4_000)} tailword`, stdout_bytes: 2_000_000 },
    by: ['headword', 'tailword', 'headword tailword'],
    not: ['"headword tailword"', 'middleword'],
  },
];

describe('what a stranger looks for', () => {
  const told = new Map<number, string>();
  beforeAll(async () => {
    const [ran] = FINISHED as [(typeof FINISHED)[number]];
    const said = (ran.data as { readonly result: { readonly value: Readonly<Record<string, unknown>> } }).result.value;
    for (const [index, { prints }] of STRANGERS.entries()) {
      const commandId = `${FIRST.runId}.${FIRST.taskId}.${FIRST.attempt}.7.${index}`;
      told.set(index, commandId);
      const value = { ...said, stdout: '', stderr: '', exit_code: 3, ...prints };
      const data = { ...ran.data, commandId, result: { value } };
      await rig.publishRawAttempt(FIRST, JSON.stringify({ ...FIRST, events: [{ ...ran, data }] }));
    }
    await complete();
  });

  it.each(
    STRANGERS.flatMap(({ by, not }, index) => [
      ...by.map((words) => ({ index, words, isFound: true })),
      ...not.map((words) => ({ index, words, isFound: false })),
    ]),
  )('in output $index by $words: $isFound', async ({ index, words, isFound }) => {
    const ids = (await found({ words, exit: [3] })).map(({ commandId }) => commandId);
    expect(ids).toEqual(isFound ? [told.get(index)] : []);
  });

  it('is told of an output of which only head and tail are in the log that it is cut', async () => {
    expect((await found({ words: 'tailword' })).map(({ cut }) => cut)).toEqual([true]);
    expect((await found({ words: 'elfheader' })).map(({ cut }) => cut)).toEqual([false]);
  });

  it('is told of nothing while PostgreSQL is away, and found again when it is back', async () => {
    const { url } = rig.source.options as { readonly url?: string };
    const name = new URL(url ?? '').pathname.slice(1);
    const admin = new DataSource({ type: 'postgres', url: (url ?? '').replace(/[^/]*$/u, 'postgres') });
    await admin.initialize();
    await admin.query(`alter database "${name}" with allow_connections false`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    const isFound = { commands: [{ commandId: told.get(3) }] };
    /** Why there is no answer; undefined when all that there is was found, or the search came to its end before. */
    const whyNot = async (): Promise<string | undefined> => {
      const said = await search({ words: 'elfheader' }).catch((error: unknown) => error);
      if (said instanceof QueryRefusedError && said.refusal.code === 'TRY_AGAIN') return said.refusal.message;
      if ((said as SearchAnswer).cut === undefined) expect(said).toMatchObject(isFound);
      return undefined;
    };
    // A connection lives on until its process has heard that it is to end: until then all is found, or is to be asked for again.
    while ((await whyNot()) !== 'PostgreSQL does not answer.') await moment();
    await admin.query(`alter database "${name}" with allow_connections true`);
    await admin.destroy();
    // Of the connections from before some are broken and not met yet: then it is said to try again, and never that nothing is found.
    expect(await found({ words: 'elfheader' })).toMatchObject(isFound.commands);
  });
});

/** The end of a command that printed more than the log holds. */
async function printed(index: number, value: object, result: object = {}): Promise<string> {
  const [ran] = FINISHED as [(typeof FINISHED)[number]];
  const commandId = `${FIRST.runId}.${FIRST.taskId}.${FIRST.attempt}.8.${index}`;
  const said = (ran.data as { readonly result: { readonly value: object } }).result.value;
  const whole = { ...said, stdout: 'first\nlast', stderr: '', exit_code: 4, ...value };
  const data = { ...ran.data, commandId, result: { value: whole, ...result } };
  await rig.publishRawAttempt(FIRST, JSON.stringify({ ...FIRST, events: [{ ...ran, data }] }));
  await complete();
  return commandId;
}

const LINES = Array.from({ length: 20_000 }, (_, line) => `request ${line % 50} took ${line % 70} ms\n`);
const aroundTheMiddle = (said: string): string => [...LINES, `${said}\n`, ...LINES].join('');
const stored = (text: string) => putArtifact(rig.nc, Buffer.from(text));

describe('an output that is kept beside the log', () => {
  const ids = async (words: string): Promise<readonly string[]> =>
    (await found({ words, exit: [4] })).map(({ commandId }) => commandId);

  it('is found by words of its middle, which are shown', async () => {
    const text = aroundTheMiddle('worker 7 was killed: out of memory');
    const stdout_artifact = await stored(text);
    const id = await printed(1, { stdout_bytes: text.length, stdout_artifact });
    const [hit] = await found({ words: '"out of memory"', exit: [4] });
    expect([hit?.commandId, hit?.cut, hit?.found?.of]).toEqual([id, false, 'stdout']);
    expect(hit?.found?.text).toContain('worker 7 was killed: out of memory');
    expect(await ids('killed took')).toEqual([id]);
    expect(await ids('"memory of"')).toEqual([]);
    expect(await ids('killed NOT "out of memory"')).toEqual([]);
    expect(await ids('killed NOT "memory of"')).toEqual([id]);
  });

  it('is found where it is a field of an answer', async () => {
    const stdout = aroundTheMiddle('certificate expired');
    const artifact = await stored(JSON.stringify({ stdout, stderr: '', exit_code: 4 }));
    const id = await printed(2, { stdout_bytes: stdout.length }, { cut: ['stdout'], artifact });
    expect(await ids('"certificate expired"')).toEqual([id]);
  });

  it('is told to be cut when it was not looked at whole, and found by what was', async () => {
    const long = `${aroundTheMiddle('hinge')}${'x '.repeat(2_000_000)}beyond`;
    const id = await printed(3, { stdout_bytes: long.length, stdout_artifact: await stored(long) });
    const many = Array.from({ length: 120_000 }, (_, word) => `w${word + 1_000_000}`).join(' ');
    const wordy = await printed(4, { stdout_bytes: many.length, stdout_artifact: await stored(many) });
    const lost = { sha256: 'f'.repeat(64), bytes: 90_000 };
    const gone = await printed(5, { stdout: 'begun\nlast', stdout_bytes: 90_000, stdout_artifact: lost });
    const seen = (await found({ words: 'hinge OR w1000007 OR begun', exit: [4] })).map((one) => [
      one.commandId,
      one.cut,
    ]);
    expect(seen).toEqual([
      [gone, true],
      [wordy, true],
      [id, true],
    ]);
    expect(await ids('beyond')).toEqual([]);
  });
});

describe('its projection', () => {
  it('is the same after it was made anew from the log, and has a row of each judgement', async () => {
    const before = await rows();
    expect(before.judgements).toHaveLength(2);
    await service.stop();
    service = await rig.service({ rebuild: true });
    while ((await rig.source.getRepository(CommandEntity).count()) === 0) await moment();
    await complete();
    expect(await rows()).toEqual(before);
  });

  it('is found by the index of words, of a size that the newest window has', async () => {
    // Set for the connection that explains: the service has others of the same pool.
    const plan = await rig.source.transaction(async (manager) => {
      await manager.query('set local enable_seqscan = off');
      return manager.query<Record<string, string>[]>(
        `explain select command_id from logging.search where words @@ '''disk'' & ''#0:0'''::tsquery`,
      );
    });
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('search_by_words');
  });
});

async function rows() {
  const words = await rig.source.query<object[]>(
    'select command_id, words::text as words from logging.search order by command_id',
  );
  return {
    words,
    commands: await rig.source.getRepository(SearchEntity).find({ order: { commandId: 'ASC' } }),
    judgements: await rig.source.getRepository(JudgementEntity).find({ order: { place: 'ASC' } }),
  };
}
