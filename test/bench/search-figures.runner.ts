import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '#libs/embedded';
import type { StreamEntry } from '#libs/event-log';
import { systemClock } from '#libs/platform';
import { attemptCommitsOf, generateHistory, runCommitsOf } from '#libs/testing';
import { subjects, type AttemptCommit, type RunCommit, type SearchAnswer, type SearchRequest } from '#proto';
import { DeadLetters, type Projection } from '../../services/logging/projection/index.js';
import { Rig } from '../../services/logging/rig.testing.js';
import { SearchProjection, SearchReader } from '../../services/logging/search/index.js';
import type { CoreFigure } from './core-figures.js';
import { percentileOf } from './statistics.js';
import { outputOf, RUNS, type Told } from './search-commands.js';

const COMMANDS = 1_000_000;
/** What the projection itself inserts before the table is large, and again when it is. */
const OWN = 20_000;
const BATCH_COMMITS = 200;
const REPETITIONS = 20;
const SEARCH_MS = 300;
const CUT_MS = 1_000;

/** Every kind of question, the worst ones last. `ends`: it is only asked to end. */
const QUESTIONS: readonly { readonly what: string; readonly asked: SearchRequest; readonly ends?: true }[] = [
  { what: 'the newest', asked: {} },
  { what: 'a word in 50', asked: { words: 'needle1' } },
  { what: 'a path in 1,000', asked: { words: '/etc/app7/app7.conf' } },
  { what: 'a beginning of 1,000 words', asked: { words: 'app*' } },
  {
    what: 'a phrase in 1 %, on one device within a day',
    asked: { words: '"disk full"', device: 'host-100', since: ago(1) },
  },
  { what: 'one code in 20,000', asked: { exit: [137] } },
  { what: 'a person and a rule', asked: { by: 'person-3', rule: 'program.rm' } },
  { what: 'a word in every command', asked: { words: 'status' } },
  { what: 'the same, with a code that one in 20,000 has', asked: { words: 'status', exit: [137] } },
  { what: 'the same, of a device and a week', asked: { words: 'status', device: 'host-3', since: ago(7) } },
  { what: 'a word in every command, without another in every command', asked: { words: 'status NOT host' } },
  { what: 'a word of the older half only', asked: { words: 'legacy' } },
  { what: 'two words in half of them that are never together', asked: { words: 'alpha beta' } },
  { what: 'a word that is nowhere', asked: { words: 'nowhere' } },
  { what: 'two words of all that never follow each other', asked: { words: '"host status"' }, ends: true },
  { what: 'every beginning', asked: { words: 'st* OR ho* OR ap* NOT status' }, ends: true },
];

function ago(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** A search over a million commands in a real PostgreSQL as `up` starts it, and what its projection adds to that of the commands. */
export async function searchFigures({ parent }: { readonly parent: string }): Promise<CoreFigure[]> {
  const folder = await mkdtemp(join(parent, 'orrery-search-'));
  // PostgreSQL runs as another user than root, who has to get there.
  await chmod(folder, 0o755);
  const dataDir = join(folder, 'postgres');
  const database = await startPostgres({ dataDir, user: 'orrery', password: 'orrery', database: 'orrery' });
  try {
    const rig = await Rig.start(database.url);
    const bench = new SearchBench(rig);
    const figures = await bench.run();
    await rig.stop();
    return figures;
  } finally {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

class SearchBench {
  readonly #rig: Rig;
  readonly #commit: AttemptCommit;
  readonly #first: RunCommit;
  #sequence = 0;

  constructor(rig: Rig) {
    this.#rig = rig;
    const history = generateHistory({ seed: 1 });
    [this.#commit] = attemptCommitsOf(history) as [AttemptCommit];
    [this.#first] = runCommitsOf(history) as [RunCommit];
  }

  async run(): Promise<CoreFigure[]> {
    for (const [number, runId] of RUNS.entries()) await this.#beginRun(runId, `person-${number % 10}`);
    const empty = await this.#insert('small');
    const began = performance.now();
    await this.#multiply();
    process.stderr.write(`copied in ${Math.round((performance.now() - began) / 1_000)} s\n`);
    const full = await this.#insert('large');
    await this.#rig.source.query('analyze logging.search');
    const figures = [...empty, ...full];
    for (const question of QUESTIONS) figures.push(await this.#ask(question));
    const [size] = await this.#rig.source.query<[Record<string, string>]>(
      `select count(*) as rows, pg_relation_size('logging.search_by_words') / 1e6 as gin,
        pg_total_relation_size('logging.search') / 1e6 as search, pg_total_relation_size('logging.command') / 1e6 as command
       from logging.search`,
    );
    process.stderr.write(`${JSON.stringify(size)}\n`);
    return figures;
  }

  async #beginRun(runId: string, id: string): Promise<void> {
    const [requested, ...others] = this.#first.events;
    if (requested?.type !== 'RUN_REQUESTED') throw new Error('the history does not begin with a request');
    const data = { ...requested.data, requestedBy: { kind: 'person' as const, id } };
    await this.#rig.publishRaw(runId, { ...this.#first, runId, events: [{ ...requested, data }, ...others] });
  }

  /** Rows a second of the commands alone, and of the search beside it: each message is read, checked and written as in the service. */
  async #insert(size: string): Promise<CoreFigure[]> {
    const { nc } = this.#rig;
    const deadLetters = new DeadLetters(nc, systemClock);
    const search = new SearchProjection({ nc, clock: systemClock, deadLetters });
    const both: [Projection, number][] = [
      [this.#rig.attempts(), 0],
      [search, 0],
    ];
    for (const [projection] of both) await projection.begin(this.#rig.source);
    for (let done = 0; done < OWN; done += BATCH_COMMITS / 2) {
      const entries = Array.from({ length: BATCH_COMMITS / 2 }, (_, index) => this.#entries(done + index)).flat();
      for (const timed of both) {
        const began = performance.now();
        const prepared = await timed[0].prepare(entries);
        await this.#rig.source.transaction((manager) => prepared.write(manager));
        timed[1] += performance.now() - began;
      }
    }
    const rate = (at: number): number => (OWN * 1_000) / (both[at]?.[1] ?? 0);
    await this.#checkpoint();
    return [
      {
        what: `rows of commands for search into a ${size} table`,
        value: rate(1),
        unit: 'a second',
        beside: { what: 'commands without search', value: rate(0) },
        aim: null,
      },
    ];
  }

  /** A command as two messages: how it was judged, and its end. */
  #entries(number: number): StreamEntry[] {
    const told = outputOf(number);
    const commits = commitsOf(this.#commit, told, new Date(Date.now() - (OWN - number) * 10).toISOString());
    return commits.map((commit) => ({
      sequence: ++this.#sequence,
      subject: subjects.attempt(commit, 'end'),
      commit: commit.commit,
      types: [],
      data: new TextEncoder().encode(JSON.stringify(commit)),
      pending: 0,
    }));
  }

  /** What the projection has written, so many times more, each further back: as it would have written it. */
  async #multiply(): Promise<void> {
    const { source } = this.#rig;
    const copies = COMMANDS / OWN - 2;
    const shift = this.#sequence;
    await source.query('drop index logging.search_by_words');
    for (let copy = 1; copy <= copies; copy++) {
      const legacy = copy <= copies / 2;
      const place = `(place + ${copy * shift} * 4096::bigint)`;
      const id = `'c${copy}-' || command_id`;
      const before = `at - interval '1 hour' * ${copies + 1 - copy}`;
      await source.query(`insert into logging.search
        (command_id, place, stream_sequence, at, device, by, state, exit_code, rule, decision, call, cut, words)
        select ${id}, ${place}, stream_sequence + ${copy * shift}, ${before}, device, by, state, exit_code, rule, decision, call, cut,
          ts_delete(words, array['#0:' || (place >> 24), '#1:' || (place >> 28), '#2:' || (place >> 32)])
          || array_to_tsvector(array['#0:' || (${place} >> 24), '#1:' || (${place} >> 28), '#2:' || (${place} >> 32)
            ${legacy ? `, 'legacy'` : ''}])
        from logging.search where place < ${(shift + 1) * 4096} order by place`);
      await source.query(`insert into logging.command
        select ${id}, run_id, task_id, attempt, device, session, tool, arguments, state, exit_code,
          stdout || '${legacy ? ' legacy' : ''}', stderr, output, error, started_at, duration_ms, cut, stream_sequence + ${copy * shift}
        from logging.command where stream_sequence <= ${shift}`);
    }
    // The first ones were the oldest; now they are further back than all copies.
    await source.query(
      `update logging.search set at = at - interval '1 hour' * ${copies + 1} where place < ${(shift + 1) * 4096}`,
    );
    this.#sequence = shift * (copies + 1);
    await source.query('vacuum analyze');
  }

  async #checkpoint(): Promise<void> {
    for (const name of ['SEARCH', 'ATTEMPTS']) {
      await this.#rig.source.query(
        `insert into logging.checkpoint (name, sequence) values ($1, $2) on conflict (name) do update set sequence = $2`,
        [name, this.#sequence],
      );
    }
  }

  async #ask({ what, asked, ends }: (typeof QUESTIONS)[number]): Promise<CoreFigure> {
    const { nc, postgres } = this.#rig;
    const reader = new SearchReader({ nc, postgres, clock: systemClock });
    const times: number[] = [];
    let answer: SearchAnswer | undefined;
    for (let count = 0; count < REPETITIONS; count++) {
      const began = performance.now();
      answer = await reader.search(asked);
      times.push(performance.now() - began);
    }
    const found = `${answer?.commands.length ?? 0} found${answer?.cut === true ? ', and the rest not looked at' : ''}`;
    return {
      what: `${what}: ${found}, p95`,
      value: percentileOf(times, 0.95),
      unit: 'ms',
      beside: { what: 'p50', value: percentileOf(times, 0.5) },
      aim: { limit: ends === true ? CUT_MS : SEARCH_MS, atLeast: false, ofRatio: false },
    };
  }
}

function commitsOf(like: AttemptCommit, told: Told, at: string): AttemptCommit[] {
  const { runId, commandId, device, line, stdout, exitCode, rule, number } = told;
  const [ended] = like.events.filter((event) => event.type === 'COMMAND_FINISHED');
  if (ended === undefined) throw new Error('the history has no command');
  const command = { tool: 'EXEC_CLI', arguments: { command: line } };
  const key = { runId, taskId: `t${number}`, attempt: 1, at };
  const about = { step: 1, index: 0, commandId, command };
  const verdict = { class: 'write' as const, decision: 'allow' as const, rule, reasons: [], grantable: true };
  const data = { ...about, ...verdict, origin: 'agent' as const, policyHash: 'e'.repeat(64) };
  const judged = { id: `${commandId}-judged`, sequence: 1, schemaVersion: 1, type: 'COMMAND_JUDGED' as const, data };
  const said = { stdout, stderr: '', exit_code: exitCode, command: line };
  const value = { ...said, execution_time: 0.1, timestamp: at, status: exitCode === 0 ? 'SUCCESS' : 'ERROR' };
  const end = { ...ended.data, commandId, deviceId: device, command, result: { value } };
  return [
    { ...like, ...key, events: [judged] },
    { ...like, ...key, events: [{ ...ended, data: end }] },
  ];
}
