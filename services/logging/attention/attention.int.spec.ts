import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { createUser } from '@nats-io/nkeys';
import { NO_COMMITS, openAttentionLog, openFleetLog, openRunLog, sealNext } from '#libs/event-log';
import { proveActor } from '#libs/keys';
import { provision, query, QueryRefusedError, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import {
  askRaw,
  ChaosProxy,
  generateAskedHistory,
  generateHistory,
  introduceWith,
  moment,
  runCommitsOf,
  startTestBus,
  startTestPostgres,
  type TestBus,
  type TestPostgres,
} from '#libs/testing';
import {
  DURABLES,
  instantOf,
  subjects,
  type AttentionEntry,
  type FleetCommit,
  type FleetEvent,
  type Role,
  type RunCommit,
} from '#proto';

/* One system with its own keys, as a stranger sees it: the logging service is a process, and is killed. */

const SERVICES = resolve('dist/services');
/** What nats-server may store: much more than it does. */
const STORE_MIB = 16;
const MIB = 1024 * 1024;
/** A limit for what hangs: what is slow has a busy machine. */
const ANSWER_MS = 60_000;
let bus: TestBus;
let database: TestPostgres;
let proxy: ChaosProxy;
let admin: NatsConnection;
let cli: NatsConnection;
let running: ChildProcess;
const seeds = new Map<string, string>();
/** Commands whose service was killed: who waits gives up, or hears of the next process what was decided. */
const unanswered: Promise<unknown>[] = [];

beforeAll(async () => {
  [bus, database] = await Promise.all([startTestBus({ maxFileStore: `${STORE_MIB}MB` }), startTestPostgres()]);
  proxy = await ChaosProxy.start(bus.server.url);
  [admin, cli] = [await bus.as('admin'), await bus.as('cli')];
  const people: [string, Role[]][] = [
    ['anna', ['operator']],
    ['ben', ['approver']],
    ['vera', ['viewer', 'requester', 'auditor']],
  ];
  for (const [id, roles] of people) seeds.set(id, await introduceWith(admin, { kind: 'person', id }, roles));
  await start();
});
afterAll(async () => {
  await kill();
  await proxy.close();
  await database.stop();
  await bus.stop();
  for (const asked of unanswered) {
    const answer = await asked;
    if (!(answer instanceof Error)) expect(answer).toMatchObject({ by: { id: 'anna' }, state: 'taken' });
  }
});

async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
  running = await replica(env);
  // PostgreSQL is not waited for when it begins.
  while ((await codeOf(ask('vera', 'attention', { limit: 1 }))) === 'TRY_AGAIN') await moment();
}

async function replica(env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const started = fork(resolve(SERVICES, 'logging/main.js'), {
    execArgv: ['--import', resolve(SERVICES, 'cli/processes/end-with-supervisor.runner.js')],
    env: {
      ORRERY_LOG_LEVEL: 'silent',
      ORRERY_ALLOW_UNSAFE_LOG: '1',
      ORRERY_DATABASE_URL: database.url,
      ORRERY_NATS_URL: proxy.url,
      ORRERY_NATS_SEED_FILE: bus.seedFile('logging'),
      NODE_COMPILE_CACHE: resolve('.cache/node-compile'),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(started, 'message');
  return started;
}

async function kill(process = running): Promise<void> {
  const ended = once(process, 'exit');
  process.kill('SIGKILL');
  await ended;
}

type Name = 'attention' | 'attention-take' | 'attention-settle';
const signerOf = (who: string) => ({ seed: seeds.get(who) ?? '', now: Date.now });
const ask = <N extends Name>(
  who: string,
  name: N,
  body: QueryRequest<'logging', N>,
): Promise<QueryAnswer<'logging', N>> =>
  query(cli, 'logging', name, body, { signer: signerOf(who), timeoutMs: ANSWER_MS });

async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await asked);
  } catch (error) {
    if (error instanceof QueryRefusedError) return error.refusal.code;
    throw error;
  }
}

let ids = 0;
const take = (who: string, attentionId: string) => ask(who, 'attention-take', { id: `c${ids++}`, attentionId });
const settle = (who: string, attentionId: string, reason = 'the disk was replaced') =>
  ask(who, 'attention-settle', { id: `c${ids++}`, attentionId, reason });

/** Asked again until it is so. */
async function inbox(
  isSo: (entries: readonly AttentionEntry[]) => boolean,
  asked: QueryRequest<'logging', 'attention'> = {},
): Promise<readonly AttentionEntry[]> {
  for (;;) {
    const { entries } = await ask('vera', 'attention', asked).catch((error: unknown) => {
      // Of two replicas one may not have its database yet.
      if (error instanceof QueryRefusedError && error.refusal.code === 'TRY_AGAIN') return { entries: undefined };
      throw error;
    });
    if (entries !== undefined && isSo(entries)) return entries;
    await moment();
  }
}

const of = (kind: AttentionEntry['kind']) => ({ kind: [kind] });
const one = (entries: readonly AttentionEntry[]): boolean => entries.length === 1;
const none = (entries: readonly AttentionEntry[]): boolean => entries.length === 0;
const first = ([entry]: readonly AttentionEntry[]): AttentionEntry => entry ?? ({} as AttentionEntry);

async function append(commits: readonly RunCommit[], from = 0): Promise<number> {
  let end = from;
  for (const commit of commits) {
    const appended = await openRunLog(admin).append(commit.runId, commit, end);
    if (appended.kind !== 'appended') throw new Error(`${commit.runId} does not end at ${end}`);
    end = appended.sequence;
  }
  return end;
}

/** The run that fails anew, and that somebody has to look at still. */
const OF_SECOND = { runId: 'run6' };
/** Runs of one plan, of which each did a part only. */
const failing = (seed: number): RunCommit[] => runCommitsOf(generateHistory({ seed, tasks: 4 }));

it('a run that failed is taken on by anna and settled by ben; another one is another entry', async () => {
  await append(failing(5));
  const found = first(await inbox(one, of('partial')));
  expect(found).toMatchObject({ runId: 'run5', state: 'open', by: null, next: 'orrery show run5' });
  expect(await take('anna', found.id)).toMatchObject({ state: 'taken', by: { id: 'anna' }, changed: true });
  const taken = await inbox((entries) => first(entries).state === 'taken', of('partial'));
  expect(first(taken)).toMatchObject({ id: found.id, by: { id: 'anna' } });
  expect(await settle('ben', found.id)).toMatchObject({ state: 'settled', by: { id: 'ben' }, changed: true });
  await inbox(none, of('partial'));
  expect(first(await inbox(one, { ...of('partial'), all: true }))).toMatchObject({
    id: found.id,
    state: 'settled',
    by: { id: 'ben' },
    reason: 'the disk was replaced',
  });
  await append(failing(6));
  expect(first(await inbox(one, OF_SECOND)).id).not.toBe(found.id);
});

it('what asks a person leaves when it was answered elsewhere, and needs nobody’s word for it', async () => {
  const commits = runCommitsOf(generateAskedHistory({ seed: 1 }));
  const end = await append(commits.slice(0, 2));
  const asked = first(await inbox(one, of('approval')));
  expect(asked.next).toMatch(/^orrery (?:approve|answer) /u);
  await append(commits.slice(2), end);
  await inbox(none, of('approval'));
  expect(await codeOf(take('anna', asked.id))).toBe('NOT_FOUND');
});

describe('nobody but an operator or approver', () => {
  it('takes or settles anything, whatever is forged for him', async () => {
    const { id: attentionId } = first(await inbox(one, OF_SECOND));
    expect(await codeOf(take('vera', attentionId))).toBe('UNAUTHORIZED');
    expect(await codeOf(settle('vera', attentionId))).toBe('UNAUTHORIZED');
    const subject = subjects.query('logging', 'attention-take');
    const body = { id: 'forged', attentionId };
    const at = new Date().toISOString();
    const byVera = proveActor(seeds.get('vera') ?? '', { subject, at, body });
    const byAnna = proveActor(seeds.get('anna') ?? '', { subject, at, body: { ...body, attentionId: '0'.repeat(12) } });
    const bySettle = proveActor(seeds.get('anna') ?? '', { subject: subjects.query('logging', 'attention'), at, body });
    const stranger = proveActor(new TextDecoder().decode(createUser().getSeed()), { subject, at, body });
    const keyOfAnna = { ...byVera, key: byAnna.key };
    for (const actor of [byVera, byAnna, bySettle, stranger, keyOfAnna]) {
      expect(await codeOf(askRaw(cli, subject, { ...body, actor }))).toBe('UNAUTHORIZED');
    }
    expect(await codeOf(askRaw(cli, subject, body))).toBe('UNAUTHORIZED');
    expect(await openAttentionLog(admin).load(attentionId)).toEqual([]);
  });

  it('fills the stream with words about nothing', async () => {
    expect(await codeOf(take('anna', '0'.repeat(12)))).toBe('NOT_FOUND');
    expect(await openAttentionLog(admin).load('0'.repeat(12))).toEqual([]);
  });
});

it('killed between a fact and its answer: the same command is answered as it was decided, once, by the next process', async () => {
  const { id: attentionId } = first(await inbox(one, OF_SECOND));
  const body = { id: 'killed', attentionId };
  const reached = proxy.deafAfter(`PUB ${subjects.attention(attentionId)} `);
  const asked = ask('anna', 'attention-take', body);
  unanswered.push(asked.catch((error: unknown) => error));
  await Promise.race([reached, asked.then(() => Promise.reject(new Error('it was answered')))]);
  await kill();
  proxy.release('down');
  await start();
  const answer = await ask('anna', 'attention-take', body);
  expect(answer).toMatchObject({ state: 'taken', by: { id: 'anna' }, changed: true });
  expect(await take('ben', attentionId)).toMatchObject({ by: { id: 'ben' }, from: { id: 'anna' } });
  expect(await ask('anna', 'attention-take', body)).toEqual(answer);
  expect(await codeOf(ask('ben', 'attention-take', body))).not.toContain('"ben"');
  const commits = await openAttentionLog(admin).load(attentionId);
  expect(commits.map(({ commit }) => commit.causes[0]?.id)).toEqual(['killed', expect.any(String)]);
  expect(commits[0]?.commit.causes[0]?.proof).toMatchObject({ body, key: expect.stringMatching(/^U/u) });
});

it('a message that several could not handle is one entry, until all its dead letters are deleted', async () => {
  const text = readFileSync(resolve('proto/fixtures/DeadLetter/1-of-a-stream.json'), 'utf8');
  const { message } = JSON.parse(text) as { message: object };
  const bury = async (service: string): Promise<number> =>
    (await jetstream(admin).publish(subjects.dlq(service), JSON.stringify({ ...message, service, sequence: 99 }))).seq;
  const letters = [await bury('planner'), await bury('logging'), await bury('device-agent')];
  expect(first(await inbox(one, of('dead-letter')))).toMatchObject({ key: 'dead-letter RUNS 99' });
  const jsm = await jetstreamManager(admin);
  for (const seq of letters) await jsm.streams.deleteMessage('DLQ', seq);
  await inbox(none, of('dead-letter'));
});

it('a dead letter leaves when it is deleted', async () => {
  const text = readFileSync(resolve('proto/fixtures/DeadLetter/1-of-a-stream.json'), 'utf8');
  const { message } = JSON.parse(text) as { message: object };
  const { seq } = await jetstream(admin).publish(subjects.dlq('planner'), JSON.stringify(message));
  expect(first(await inbox(one, of('dead-letter')))).toMatchObject({ next: `orrery dlq show ${seq}` });
  await (await jetstreamManager(admin)).streams.deleteMessage('DLQ', seq);
  await inbox(none, of('dead-letter'));
});

it('a durable that is not as it was declared leaves when it is mended', async () => {
  const { stream, durable } = DURABLES.plannerRounds;
  await (await jetstreamManager(admin)).consumers.delete(stream, durable);
  expect(first(await inbox(one, of('drift')))).toMatchObject({ next: 'orrery doctor --repair', state: 'open' });
  await provision(admin);
  await inbox(none, of('drift'));
});

it('a device that comes and goes is told of, and what a new database tells is the same, with what was said', async () => {
  const { message } = JSON.parse(readFileSync(resolve('proto/fixtures/DEVICE_CONNECTED/1-usual.json'), 'utf8')) as {
    message: FleetEvent;
  };
  const event = { type: message.type, data: message.data } as FleetEvent;
  let end: Parameters<typeof sealNext>[0] & { sequence: number } = NO_COMMITS;
  for (let minute = 5; minute > 0; minute--) {
    const now = Date.now() - minute * 60_000;
    const stamp = {
      commit: `01JD4Q6Z8W3V5X7Y9A0B1C2D${minute}0`,
      now,
      by: { service: 'registry', instance: 'r' },
      causes: [],
    };
    const commit = sealNext(end, { deviceId: 'web-1' }, [event], stamp) as unknown as FleetCommit;
    const appended = await openFleetLog(admin).append('web-1', commit, end.sequence);
    if (appended.kind !== 'appended') throw new Error('somebody else wrote');
    end = { sequence: appended.sequence, number: commit.number, events: commit.number, hash: commit.hash };
  }
  const flapping = first(await inbox(one, of('flapping')));
  expect(flapping.deviceId).toBe('web-1');
  const all = await ask('vera', 'attention', { all: true });
  expect(all.unseen).toEqual([]);
  expect(all.entries.map(({ since }) => since)).toEqual(
    all.entries
      .map(({ since }) => since)
      .toSorted()
      .toReversed(),
  );
  await kill();
  await start({ ORRERY_LOGGING_REBUILD: '1' });
  await inbox((entries) => JSON.stringify(entries) === JSON.stringify(all.entries), { all: true });
});

it('is read in pages, and counted whole', async () => {
  const { open, taken, entries } = await ask('vera', 'attention', {});
  expect([open, taken]).toEqual([2, 1]);
  expect(await ask('vera', 'attention', of('flapping'))).toMatchObject({
    open,
    taken,
    matching: { open: 1, taken: 0 },
  });
  expect((await ask('vera', 'attention', { ...of('flapping'), limit: 1, all: true })).matching?.open).toBe(1);
  const [newest] = entries;
  const page = await ask('vera', 'attention', { limit: 1 });
  expect(page).toMatchObject({ entries: [newest], more: true, open, taken });
  const rest = await ask('vera', 'attention', { before: newest?.id ?? '' });
  expect([...page.entries, ...rest.entries]).toEqual(entries);
  expect(rest.more).toBeUndefined();
  expect(await codeOf(ask('vera', 'attention', { before: '0'.repeat(12) }))).toBe('NOT_FOUND');
  expect(Date.parse(newest?.since ?? '')).toBeLessThanOrEqual(Date.parse(instantOf(Date.now())));
});

it('a disk that fills is told of by the replica that sees it, once, and leaves when there is room', async () => {
  const isStreams = ({ key }: AttentionEntry): boolean => key.startsWith('disk nats_streams ');
  const other = await replica({ ORRERY_NATS_MONITOR_URL: bus.server.monitorUrl });
  const { streams } = await jetstreamManager(admin);
  await streams.add({ name: 'FILL', subjects: ['fill'] });
  const piece = Buffer.alloc(MIB / 2, 1);
  for (let mib = 0; mib < STORE_MIB * 0.85; mib += 0.5) await jetstream(admin).publish('fill', piece);
  const found = await inbox((entries) => entries.some(isStreams), of('disk'));
  expect(found.find(isStreams)).toMatchObject({
    what: expect.stringContaining('what nats-server may store is used to 80 % or more'),
    next: 'orrery doctor',
  });
  // The other one does not see it, and says nothing about it.
  expect((await inbox((entries) => entries.some(isStreams), of('disk'))).filter(isStreams)).toEqual(
    found.filter(isStreams),
  );
  await streams.delete('FILL');
  await inbox((entries) => !entries.some(isStreams), of('disk'));
  await kill(other);
});
