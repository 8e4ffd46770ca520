import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { conversationOf, evolveCommit, summaryOf, type Run } from '#libs/constellation';
import { tokenHash } from '#libs/keys';
import { Actors, authorityOf, serveQueries, systemClock, type QueryHandlers } from '#libs/messaging';
import {
  attemptOutputs,
  generateHistory,
  moment,
  notAsked,
  ownPort,
  runCommitsOf,
  startTestBus,
  type TestBus,
} from '#libs/testing';
import {
  ActorEntry,
  BUCKETS,
  LIVE_CLOSE,
  LIVE_LIMITS,
  subjects,
  type LiveTopic,
  type Role,
  type RunCommit,
} from '#proto';
import { Sessions } from '../callers/index.js';
import { LiveClient } from './live-client.testing.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-live-'));
const clients: LiveClient[] = [];
const ALL = ['viewer', 'requester', 'approver', 'operator', 'auditor', 'admin'] as const;

let bus: TestBus;
let actors: KV;
let sessions: Sessions;
let port: number;
let child: ChildProcess;
let runs: Run[] = [];
let stopQueries: (() => Promise<void>) | undefined;

beforeAll(async () => {
  bus = await startTestBus();
  actors = await new Kvm(jetstream(await bus.as('admin'))).open(BUCKETS.ACTORS.bucket);
  sessions = new Sessions({ nc: await bus.as('console'), clock: systemClock });
  port = await ownPort();
  await tell('anna', ALL);
  await serve();
  await startConsole();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.end();
});
afterAll(async () => {
  child.kill('SIGKILL');
  await bus.stop();
  rmSync(folder, { recursive: true });
});

/** The registry tells of somebody, whose token is called after him. */
async function tell(id: string, roles: readonly Role[], change: Partial<ActorEntry> = {}): Promise<void> {
  const token = {
    tokenId: `of-${id}`,
    tokenHash: tokenHash(`token-${id}`),
    scopes: [...ALL],
    label: '',
    expiresAt: null,
  };
  const actor = { kind: 'person', id } as const;
  const before = { actor, roles, namespace: id, keys: [], tokens: [token], logins: [], revision: 1 };
  await actors.put(id, JSON.stringify(ActorEntry.parse({ ...before, ...change })));
}

async function serve(): Promise<void> {
  const nc = await bus.as('logging');
  const handlers: QueryHandlers<'logging'> = {
    ...notAsked('logging'),
    runs: async () => ({ runs: runs.map(summaryOf).toReversed() }),
    'at-work': async () => ({ tasks: [] }),
    attention: async () => ({ open: 0, taken: 0, entries: [], unseen: [] }),
  };
  const authority = authorityOf(await Actors.open(nc), systemClock);
  const served = await serveQueries(nc, 'logging', handlers, { authority });
  stopQueries = async () => void (await (served as { stop(): Promise<unknown> }).stop());
}

async function startConsole(): Promise<void> {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'off');
  child = fork(resolve('dist/services/console/main.js'), {
    env: {
      PATH: process.env['PATH'],
      ORRERY_LOG_LEVEL: 'silent',
      ORRERY_ALLOW_UNSAFE_LOG: '1',
      ORRERY_CONSOLE_TOKEN_FILE: tokenFile,
      ORRERY_CONSOLE_PORT: String(port),
      ORRERY_NATS_URL: bus.server.url,
      ORRERY_NATS_SEED_FILE: bus.seedFile('console'),
      NODE_COMPILE_CACHE: resolve('.cache/node-compile'),
    },
  });
  await once(child, 'message');
}

async function client(who = 'anna'): Promise<LiveClient> {
  const one = await LiveClient.open(port, { authorization: `Bearer token-${who}` });
  clients.push(one);
  return one;
}

let seed = 40;
/** Commits of a run that nobody has heard of yet. */
function history(): readonly RunCommit[] {
  seed += 1;
  return runCommitsOf(generateHistory({ seed, tasks: 4 }));
}
async function append(commits: readonly RunCommit[]): Promise<void> {
  const nc = await bus.as('orchestrator');
  // A connection that is not back yet loses what is sent, or its answer: the same commit is stored once.
  const store = (commit: RunCommit) =>
    jetstream(nc).publish(subjects.run(commit.runId), JSON.stringify(commit), { msgID: commit.hash });
  for (const commit of commits) await until(() => store(commit));
}
const idOf = (commits: readonly RunCommit[]): string => commits[0]?.runId ?? '';
const numbers = (one: LiveClient, channel?: number) => one.of('commit', channel).map(({ commit }) => commit.number);

describe('the upgrade', () => {
  const status = (headers: Record<string, string>, path?: string) =>
    LiveClient.open(port, headers, path).then(
      (one) => (one.end(), '101'),
      (error: Error) => error.message,
    );

  it('is for who has a token, or a session on a page of this console', async () => {
    const login = { issuer: 'orrery', subject: 'token:of-anna' };
    const cookie = `orrery-session=${await sessions.open('anna', login)}`;
    const own = `http://127.0.0.1:${port}`;
    const bearer = { authorization: 'Bearer token-anna' };
    expect({
      token: await status(bearer),
      'session on a page of ours': await status({ cookie, origin: own }),
      nobody: await status({}),
      'wrong token': await status({ authorization: 'Bearer x' }),
      'session and no page': await status({ cookie }),
      'session on a page of another port': await status({ cookie, origin: 'http://127.0.0.1:1' }),
      'session on a foreign page': await status({ cookie, origin: 'https://evil.example' }),
      'session, by the browser a foreign page': await status({ cookie, origin: own, 'sec-fetch-site': 'cross-site' }),
      'token on a foreign page': await status({ ...bearer, origin: 'https://evil.example' }),
      'foreign name in Host': await status({ ...bearer, host: 'evil.example' }),
      elsewhere: await status(bearer, '/v1/else'),
    }).toEqual({
      token: '101',
      'session on a page of ours': '101',
      nobody: '401',
      'wrong token': '401',
      'session and no page': '403',
      'session on a page of another port': '403',
      'session on a foreign page': '403',
      'session, by the browser a foreign page': '403',
      'token on a foreign page': '403',
      'foreign name in Host': '403',
      elsewhere: '404',
    });
  });

  it('has room for so many of one caller, and again when one is gone', async () => {
    await tell('many', ['viewer']);
    const first = await until(() => client('many'));
    const open = [first, ...(await Promise.all(Array.from({ length: 31 }, () => client('many'))))];
    await expect(client('many')).rejects.toThrow('429');
    await client('anna');
    open[0]?.end();
    await expect(until(() => client('many'))).resolves.toBeDefined();
  });
});

async function until<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    const found = await attempt().catch(() => undefined);
    if (found !== undefined) return found;
    await moment();
  }
}

describe('a run', () => {
  it('comes without gap or doubling over a console that is killed, from the place that its reader knows', async () => {
    const commits = history();
    const run = idOf(commits);
    await append(commits.slice(0, 2));
    const before = await client();
    before.open(1, { kind: 'run', run });
    await before.heard('live');
    expect(numbers(before)).toEqual([1, 2]);
    await append(commits.slice(2, 3));
    const after = (await before.heard('commit', 3)).at(-1)?.sequence ?? 0;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    expect(await before.closed).toBe(1006);
    await append(commits.slice(3, 5));
    await startConsole();
    const again = await until(() => client());
    again.open(9, { kind: 'run', run, after });
    await again.heard('live');
    await append(commits.slice(5));
    const rest = await again.heard('commit', commits.length - 3);
    expect(numbers(again)).toEqual(commits.slice(3).map(({ number }) => number));
    expect([...before.of('commit'), ...rest].map(({ commit }) => commit.hash)).toEqual(commits.map(({ hash }) => hash));
    expect(conversationOf(rest.map(({ commit }) => commit))).toBeDefined();
  });

  it('says when it may be old, and when it is not any more', async () => {
    const commits = history();
    await append(commits.slice(0, 1));
    const one = await client();
    one.open(1, { kind: 'run', run: idOf(commits) });
    await one.heard('live');
    await bus.server.kill9();
    await one.heard('stale');
    await bus.server.restart();
    await one.heard('live', 2);
    await append(commits.slice(1, 2));
    await one.heard('commit', 2);
    // A server that comes back may be lost once more before it has answered.
    const said = one.said.map(({ kind }) => kind).join(' ');
    expect(said).toMatch(/^commit live(?: stale live)+(?: stale)? commit\b/u);
  });

  it('is told of by its plans and attempts, too, and of none that is not there', async () => {
    const commits = history();
    const runId = idOf(commits);
    await append(commits);
    const task = commits.flatMap(({ events }) => events).find(({ type }) => type === 'TASK_STARTED');
    const taskId = task?.type === 'TASK_STARTED' ? task.data.taskId : '';
    const of = { runId, taskId, attempt: 1 };
    const { subject, commit } = attemptOutputs.attemptCommit(of, [
      attemptOutputs.finishedCommand(of, attemptOutputs.printed('one\ntwo\n', '')),
    ]);
    await jetstream(await bus.as('device-agent')).publish(subject, JSON.stringify(commit));
    const one = await client();
    one.open(1, { kind: 'attempts', run: runId });
    one.open(2, { kind: 'plans', run: runId });
    one.open(3, { kind: 'run', run: 'nobody' });
    one.open(4, { kind: 'output', run: runId, task: taskId, attempt: 1 });
    await one.heard('live', 1, 1);
    await one.heard('live', 1, 2);
    await one.heard('end', 1, 4);
    expect(one.of('attempt-commit').map((said) => said.commit)).toEqual([commit]);
    expect(await one.heard('error')).toMatchObject([{ channel: 3, code: 'NOT_FOUND' }]);
    const bytes = one.of('bytes', 4);
    expect(bytes.map(({ text }) => text).join('')).toBe('one\ntwo\n');
    const { command = '', stream = 'stdout' } = bytes[0] ?? {};
    one.open(5, { kind: 'output', run: runId, task: taskId, attempt: 1, after: [{ command, stream, offset: 4 }] });
    await one.heard('end', 1, 5);
    expect(one.of('bytes', 5).map(({ offset, text }) => [offset, text])).toEqual([[4, 'two\n']]);
  });
});

describe('a client that reads slowly', () => {
  /** What a run that is not to be folded says, so much that no network holds it. */
  const spoken = (first: RunCommit, count: number): RunCommit[] =>
    Array.from({ length: count }, (_, at) => {
      const [number, sequence] = [first.number + at + 1, (first.events.at(-1)?.sequence ?? 0) + at + 1];
      const by = { kind: 'person', id: 'anna' } as const;
      const data = { number: at + 1, by, text: 'x'.repeat(WORDS_CHARS), saidAt: first.at };
      const hash = String(number).padStart(64, '0');
      return {
        ...first,
        number,
        hash,
        events: [{ ...first.events[0], sequence, type: 'WORDS_SAID', data }],
      } as RunCommit;
    });

  it('is sent no more than it takes, holds up nobody, and misses nothing', async () => {
    const [first] = history();
    if (first === undefined) throw new Error('the history is empty');
    const commits = [first, ...spoken(first, SPOKEN)];
    const { runId: run } = first;
    await append([first]);
    const [slow, quick] = [await client(), await client()];
    const channels = Array.from({ length: CHANNELS }, (_, channel) => channel);
    for (const channel of channels) slow.open(channel, { kind: 'run', run });
    quick.open(0, { kind: 'run', run });
    await Promise.all([slow.heard('live', channels.length), quick.heard('live')]);
    const before = residentBytes();
    slow.pause();
    await append(commits.slice(1));
    expect(await readWhole(quick, run, commits.length)).toEqual(commits.map(({ number }) => number));
    expect(residentBytes() - before).toBeLessThan(LEAST_BYTES / 2);
    // One of them is read to its end now.
    for (const channel of channels.slice(1)) slow.say({ op: 'close', channel });
    slow.resume();
    expect(await readWhole(slow, run, commits.length)).toEqual(commits.map(({ number }) => number));
  });

  /** The numbers of all commits of a run that is open on channel 0; where the console gave the socket up meanwhile, from the place that is known. */
  async function readWhole(begun: LiveClient, run: string, count: number): Promise<number[]> {
    const seen: number[] = [];
    for (let [one, after] = [begun, 0]; ;) {
      await one.heard('commit', count - seen.length, 0).catch(() => undefined);
      seen.push(...numbers(one, 0));
      after = one.of('commit', 0).at(-1)?.sequence ?? after;
      if (seen.length >= count) return seen;
      one = await until(() => client());
      one.open(0, { kind: 'run', run, after });
    }
  }
});

const WORDS_CHARS = 16_000;
const SPOKEN = 768;
/** On which one client follows the same run: each is read for by itself. */
const CHANNELS = 16;
/** What waits for who takes nothing, on all of his channels, where nobody looks at that. */
const LEAST_BYTES = WORDS_CHARS * SPOKEN * CHANNELS;

/** Of the console. */
function residentBytes(): number {
  const kib = /^VmRSS:\s+(?<kib>\d+) kB$/mu.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.groups?.['kib'];
  return Number(kib) * 1024;
}

describe('a list', () => {
  it('is told whole, then by what changes; stale while nobody keeps it', async () => {
    const commits = history();
    const [first, second, ...rest] = commits;
    const fold = (some: readonly (RunCommit | undefined)[], from?: Run) =>
      some.reduce<Run | undefined>((run, commit) => commit && evolveCommit(run, commit), from) as Run;
    runs = [fold([first])];
    const [one, other] = [await client(), await client()];
    for (const each of [one, other]) each.open(1, { kind: 'runs' });
    await Promise.all([one.heard('live'), other.heard('live')]);
    expect(one.of('rows')[0]?.list.rows).toEqual([summaryOf(runs[0] as Run)]);
    runs = [fold([second, ...rest], runs[0])];
    await append(commits);
    for (const each of [one, other]) await each.heard('row');
    const told = one.of('row').map(({ item }) => item.row);
    expect(told.at(-1)).toEqual(summaryOf(runs[0] as Run));
    await stopQueries?.();
    await one.heard('stale');
    await serve();
    await one.heard('live', 2);
  });
});

describe('who may', () => {
  it('see it is asked for each topic: an administrator sees no runs', async () => {
    await tell('boss', ['admin']);
    const one = await until(() => client('boss'));
    for (const [channel, topic] of (
      [{ kind: 'runs' }, { kind: 'fleet' }, { kind: 'run', run: 'r' }, { kind: 'attention' }] as LiveTopic[]
    ).entries())
      one.open(channel, topic);
    expect((await one.heard('error', 4)).map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'FORBIDDEN'));
  });

  it('listen no more is cut off: one who is revoked, and one whose roles are others', async () => {
    await tell('bert', ['viewer']);
    await tell('carl', ['viewer']);
    const [bert, carl] = [await until(() => client('bert')), await until(() => client('carl'))];
    bert.open(1, { kind: 'runs' });
    await bert.heard('live');
    await tell('bert', ['viewer'], { revokedAt: new Date().toISOString() });
    await tell('carl', ['viewer', 'operator']);
    expect(await Promise.all([bert.closed, carl.closed])).toEqual([LIVE_CLOSE.revoked, LIVE_CLOSE.revoked]);
    await expect(client('bert')).rejects.toThrow('401');
  });

  it('say too much at a time is cut off', async () => {
    const one = await client();
    one.say('x'.repeat(LIVE_LIMITS.wordBytesMax + 1));
    expect(await one.closed).toBe(LIVE_CLOSE.tooBig);
  });
});

it('says goodbye when it stops, and stops', async () => {
  const one = await client();
  one.open(1, { kind: 'runs' });
  await one.heard('live');
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect([await one.closed, (await exited)[0]]).toEqual([LIVE_CLOSE.goingAway, 0]);
});
