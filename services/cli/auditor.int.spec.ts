import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAttemptLog, openRunLog } from '#libs/event-log';
import { jetstreamManager } from '@nats-io/jetstream';
import { keyOf } from '#libs/keys';
import { Actors, authorityOf, serveQueries, storedPage, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import { notAsked, startTestBus, type TestBus } from '#libs/testing';
import { AttemptCommit, parseJson, RunCommit, STREAMS, subjects, type AccessEntry } from '#proto';
import { runProgram } from './run-program.js';
import { fakeTerminal, surroundings } from './testing/fake-terminal.js';
import { sampleRecords, SAMPLE_RUN } from './testing/sample-run.js';

/* The auditor's key is given as any key is: in the environment, in a file that may have any name. */

let bus: TestBus;
let directory: string;
let served: { stop(): Promise<void> };
let registry: { stop(): Promise<void> };

/** The clock of the command line here. */
const NOON = { now: () => Date.parse('2026-11-20T12:00:00.000Z') };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-cli-'));
  bus = await startTestBus();
  const [orchestrator, agent] = [await bus.as('orchestrator'), await bus.as('device-agent')];
  for (const { stream, commit } of sampleRecords()) {
    if (stream === 'RUNS') {
      const log = openRunLog(orchestrator);
      await log.append(SAMPLE_RUN, RunCommit.parse(commit), await log.endsAt(SAMPLE_RUN));
    } else {
      const parsed = AttemptCommit.parse(commit);
      await openAttemptLog(agent).append({ ...parsed, kind: 'end' }, parsed, 0);
    }
  }
  const runs = async () => ({ runs: [] });
  const actors = await Actors.open(await bus.as('logging'));
  const authority = authorityOf(actors, NOON);
  registry = await serveQueries(
    await bus.as('registry'),
    'registry',
    { ...notAsked('registry'), access },
    { authority },
  );
  served = await serveQueries(await bus.as('logging'), 'logging', { ...notAsked('logging'), runs }, { authority });
});
afterAll(async () => {
  await served.stop();
  await registry.stop();
  await bus.stop();
  await rm(directory, { recursive: true, force: true });
});

const ENTRY: AccessEntry = {
  at: '2026-11-20T10:00:00.000Z',
  what: 'OUTPUT_READ',
  actor: { kind: 'person', id: 'anna' },
  proof: 'vouched',
  runId: SAMPLE_RUN,
  taskId: 'disk',
  stream: 'ACCESS',
  sequence: 7,
};
/** What the registry was asked for; it tells two pages, and one entry more whenever it is asked again. */
const asked: object[] = [];
const access = async (request: QueryRequest<'registry', 'access'>): Promise<QueryAnswer<'registry', 'access'>> => {
  asked.push(request);
  const isFirst = request.after === undefined;
  const sequence = (request.after?.access ?? 6) + 1;
  return { entries: [{ ...ENTRY, sequence }], after: { access: sequence }, more: isFirst };
};

async function records(): Promise<object[]> {
  const page = { stream: STREAMS.ACCESS.name, filter: subjects.anyAccess, after: 0 };
  const { messages } = await storedPage(await bus.as('registry'), page);
  return messages.map(({ subject, data }) => ({ subject, ...(parseJson(data) as object) }));
}

const env = (): NodeJS.ProcessEnv => ({
  ORRERY_NATS_URL: bus.server.url,
  ORRERY_NATS_SEED_FILE: bus.seedFile('auditor'),
  ORRERY_HOME: join(directory, 'home'),
});

async function orrery(...words: string[]) {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(words, surroundings(terminal, env()));
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines };
}

describe('with the key of the auditor', () => {
  it.each([
    ['runs', []],
    ['show', [SAMPLE_RUN]],
    ['replay', [SAMPLE_RUN]],
    ['verify', [SAMPLE_RUN]],
    ['verify', ['--all']],
  ])('%s works', async (command, words) => {
    expect(await orrery(command, ...words)).toMatchObject({ exitCode: 0 });
  });

  it('export gives a file that verify takes', async () => {
    const file = join(directory, 'run.jsonl');
    expect((await orrery('export', SAMPLE_RUN, '-o', file)).exitCode).toBe(0);
    expect(await orrery('verify', file)).toMatchObject({ exitCode: 0 });
  });

  it('what is read is recorded first, under this key and in order; what lists, and a file, leaves nothing', async () => {
    const before = (await records()).length;
    const file = join(directory, 'again.jsonl');
    for (const line of [`show ${SAMPLE_RUN}`, `export ${SAMPLE_RUN} -o ${file}`, `verify ${SAMPLE_RUN}`]) {
      expect(await orrery(...line.split(' '))).toMatchObject({ exitCode: 0 });
    }
    for (const line of ['runs', `verify ${file}`, 'verify --all', `steps ${SAMPLE_RUN}`])
      await orrery(...line.split(' '));
    const subject = subjects.accessByKey(await keyOf(bus.seedFile('auditor')));
    expect((await records()).slice(before)).toEqual([
      { subject, id: expect.any(String), what: 'RUN_READ', runId: SAMPLE_RUN },
      { subject, id: expect.any(String), what: 'EXPORTED', runId: SAMPLE_RUN },
      { subject, id: expect.any(String), what: 'VERIFIED', runId: SAMPLE_RUN },
      { subject, id: expect.any(String), what: 'VERIFIED' },
      { subject, id: expect.any(String), what: 'OUTPUT_READ', runId: SAMPLE_RUN },
    ]);
  });

  it('asks who looked at what, from when on, by whom and about what; nonsense is refused before anybody is asked', async () => {
    expect(await orrery('access', '--since', '2h', '--actor', 'anna', '--what', 'output-read', '--json')).toMatchObject(
      {
        exitCode: 0,
        out: JSON.stringify({ entries: [ENTRY, { ...ENTRY, sequence: 8 }] }),
      },
    );
    expect(asked).toMatchObject([
      { of: 'anna', what: 'OUTPUT_READ', since: expect.any(String) },
      { of: 'anna', after: { access: 7 } },
    ]);
    for (const words of ['--since x', '--what guessed', '--actor A', '--run a.b']) {
      expect(await orrery('access', ...words.split(' '))).toMatchObject({ exitCode: 3 });
    }
    const { out } = await orrery('access');
    expect(out.split('\n')[0]).toBe(`2026-11-20 10:00:00Z\tanna\toutput read\t${SAMPLE_RUN} disk`);
    expect(asked).toHaveLength(4);
  });

  it('follows who looks at what: what there is and what comes, each once, until it is interrupted', async () => {
    const interrupted = new AbortController();
    const { promise: third, resolve } = Promise.withResolvers<void>();
    const lines: AccessEntry[] = [];
    const out = (line: string): void => {
      lines.push(JSON.parse(line) as AccessEntry);
      if (lines.length === 3) resolve();
    };
    asked.length = 0;
    const following = runProgram(['access', '--follow', '--json'], {
      ...surroundings(fakeTerminal({ out }), env()),
      signal: interrupted.signal,
    });
    await third;
    interrupted.abort();
    expect(await following).toBe(0);
    // The stand-in has one more entry whenever it is asked on from where it was.
    expect(lines.slice(0, 3)).toEqual([7, 8, 9].map((sequence) => ({ ...ENTRY, sequence })));
    expect(asked.slice(0, 3)).toMatchObject([{}, { after: { access: 7 } }, { after: { access: 8 } }]);
    expect(asked[0]).not.toHaveProperty('after');
  });

  it('shows nothing when it cannot be recorded', async () => {
    const jsm = await jetstreamManager(await bus.as('admin'));
    await jsm.streams.delete(STREAMS.ACCESS.name);
    const { exitCode, out, err } = await orrery('show', SAMPLE_RUN);
    expect([exitCode, out]).toEqual([4, '']);
    expect(err.join()).toContain('It cannot be recorded who reads this, so it is not shown');
  });

  it('nothing is decided: a cancel is refused, and says so', async () => {
    const { exitCode, err } = await orrery('cancel', SAMPLE_RUN);
    expect(exitCode).not.toBe(0);
    expect(err).toHaveLength(1);
  });
});
