import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { AgentProfile, RunId, TaskConstellation } from '#proto';
import { type Control, foldRun, type Input } from '#libs/constellation';
import { memoryRunLog, newCommitId, type RunLog, sealCommit } from '#libs/event-log';
import { Fleet } from '../fleet/fleet.js';
import { RunServer } from './run-server.handler.js';
import type { Settled, StoredEnd } from './served-run.js';
import type { WakeUps } from './wake-ups.handler.js';
import { checkSubmission, requestedOf } from '../inputs/submission.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const RUN: RunId = 'run-1';
const ALICE = { kind: 'person', id: 'alice' } as const;
const logger = pino({ level: 'silent' });

/** A server over a memory log, with the order of its effects written down. */
function setUp({
  log = memoryRunLog(),
  tasksMax = 4,
  stored = [],
  alive = () => true,
}: { log?: RunLog; tasksMax?: number; stored?: StoredEnd[]; alive?: () => boolean } = {}) {
  const effects: string[] = [];
  const armed = new Map<RunId, number>();
  const recording: RunLog = {
    load: (key, after) => log.load(key, after),
    endsAt: (key) => log.endsAt(key),
    append: async (key, commit, end) => {
      const appended = await log.append(key, commit, end);
      effects.push(`${appended.kind} ${commit.events.map(({ type }) => type).join(' ')}`);
      return appended;
    },
  };
  const wakeUps: WakeUps = {
    arm: async (runId, at) => {
      await new Promise((resolve) => setImmediate(resolve)); // a round trip: others are decided meanwhile
      effects.push(`armed +${at - NOW}`);
      armed.set(runId, at);
    },
    armed: async (runId) => armed.get(runId),
    forget: () => undefined,
    expectNone: () => undefined,
  };
  const fleet = new Fleet();
  fleet.profile(device(tasksMax));
  fleet.completed(0);
  const by = { service: 'orchestrator', instance: 'test' };
  const endsOf = async () => stored;
  const clock = { now: () => NOW };
  const planner = () => false;
  const judge = async () => [];
  const server = new RunServer({ log: recording, endsOf, wakeUps, fleet, clock, alive, by, logger, planner, judge });
  const ask = (input: Input, options: { runId?: RunId; due?: boolean; at?: number; cause?: string } = {}) =>
    new Promise<Settled>((settle) => {
      const { runId = RUN, due = false, at, cause = 'test' } = options;
      const when = at === undefined ? {} : { at };
      server.deliver(runId, { input, cause: { kind: 'verb', id: cause }, bytes: 0, due, ...when, settle });
    });
  return { server, fleet, log, effects, armed, ask };
}

function device(tasksMax: number): AgentProfile {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    deviceId: 'web-1',
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: 'web-1',
    capabilities: [],
    tags: [],
    tools: [{ name: 'NOOP', description: '', readOnly: true }],
    resources: { cpuCount: 1, memoryMb: 1 },
    tasksMax,
    held: null,
    session: { sessionId: 's1', gateway: 'g1', journalId: 'j1', connectedAt: at },
    revision: 1,
    enrolledAt: at,
    changedAt: at,
  };
}

function submit(ids: readonly string[], requestId = 'request-1', deviceId = 'web-1'): Input {
  const tasks = ids.map((id) => ({ id, name: id, target: { device: deviceId }, command: { tool: 'NOOP' } }));
  const submission = checkSubmission(
    { requestId, constellation: { name: 'test', tasks } satisfies Loose },
    'default',
    100,
  );
  if (!submission.ok) throw new Error(submission.refusal.message);
  return {
    kind: 'submit',
    requested: requestedOf(submission, { actor: { kind: 'external', id: 'default' }, trusted: true }, NOW),
  };
}
type Loose = {
  name: string;
  tasks: (Pick<TaskConstellation['tasks'][number], 'id' | 'name' | 'target'> & { command: { tool: string } })[];
};

function ended(taskId: string, attempt = 1): Input {
  const finished = { status: 'completed', result: { value: {} } } as const;
  return { kind: 'attempt-ended', taskId, attempt, finished, attemptHash: 'a'.repeat(64) };
}

describe('RunServer', () => {
  it('arms the wake-up before the commit that needs it, and no other until it is nearer', async () => {
    const { effects, ask } = setUp();
    expect(await ask(submit(['a', 'b']))).toMatchObject({
      kind: 'answered',
      answer: { kind: 'accepted' },
      sequence: 4,
    });
    await ask(ended('a'));
    await ask(ended('b'));
    expect(effects).toEqual([
      'armed +600000',
      'appended RUN_REQUESTED CONSTELLATION_MODIFIED TASK_STARTED TASK_STARTED',
      'appended TASK_COMPLETED',
      'appended TASK_COMPLETED RUN_COMPLETED',
    ]);
  });

  it('arms the next wake-up before it settles the one that fired', async () => {
    const { effects, ask } = setUp();
    await ask(submit(['a']));
    effects.length = 0;
    expect(await ask({ kind: 'wake' }, { due: true })).toMatchObject({ kind: 'answered' });
    expect(effects).toEqual(['armed +600000']);
  });

  it('arms again when a wake-up fired that took the place of the one it counted on', async () => {
    const { effects, armed, ask } = setUp();
    await ask(submit(['a']));
    effects.length = 0;
    // A replica that was frozen has armed an earlier one, and that one has fired: nothing is armed any more.
    armed.delete(RUN);
    expect(await ask({ kind: 'wake' }, { due: true, at: NOW - 1_000 })).toMatchObject({ kind: 'answered' });
    expect(effects).toEqual(['armed +600000']);
    effects.length = 0;
    expect(await ask({ kind: 'wake' }, { due: true, at: NOW - 1_000 })).toMatchObject({ kind: 'answered' });
    expect(effects).toEqual([]);
  });

  it('decides together what waits together: a fan-in of results is one commit', async () => {
    const ids = ['a', 'b', 'c', 'd'];
    const { effects, ask } = setUp();
    await ask(submit(ids));
    await Promise.all(ids.map((id) => ask(ended(id))));
    expect(effects.at(-1)).toBe('appended TASK_COMPLETED TASK_COMPLETED TASK_COMPLETED TASK_COMPLETED RUN_COMPLETED');
  });

  it('answers a second delivery without an append, and forgets a run that is over', async () => {
    const { effects, ask, server } = setUp();
    await ask(submit(['a']));
    await ask(ended('a'));
    const before = effects.length;
    expect(await ask(ended('a'))).toMatchObject({
      answer: { kind: 'ignored', reason: 'DUPLICATE_RESULT' },
      sequence: 5,
    });
    expect(effects).toHaveLength(before);
    await settled();
    expect(server.size).toBe(0);
  });

  it('loads and decides again when another replica was faster', async () => {
    const log = memoryRunLog();
    const one = setUp({ log });
    const other = setUp({ log });
    await one.ask(submit(['a', 'b']));
    await other.ask(ended('a'));
    expect(await one.ask(ended('b'))).toMatchObject({ kind: 'answered', answer: { kind: 'accepted' } });
    expect(one.effects.slice(-2)).toEqual(['conflict TASK_COMPLETED', 'appended TASK_COMPLETED RUN_COMPLETED']);
  });

  it('takes the ends that are stored already when it loads a run that another replica left behind', async () => {
    const log = memoryRunLog();
    await setUp({ log }).ask(submit(['a', 'b']));
    const stored = [{ input: ended('a'), cause: { kind: 'attempt', id: 'a.1.end' }, bytes: 10 }] as const;
    const { ask, effects } = setUp({ log, stored: [...stored] });
    await ask(ended('b'));
    await settled();
    expect(effects.slice(-2)).toEqual(['appended TASK_COMPLETED', 'appended TASK_COMPLETED RUN_COMPLETED']);
    expect(await ask(ended('a'))).toMatchObject({ answer: { kind: 'ignored' } });
  });

  it('forgets the runs of a partition that it gave up, and loads them when they come back', async () => {
    const { ask, server, fleet } = setUp();
    await ask(submit(['a', 'b']));
    expect(fleet.running('web-1')).toBe(2);
    let owned = false;
    server.drop(() => owned);
    await settled();
    expect([server.size, fleet.running('web-1')]).toEqual([0, 0]);
    await ask(ended('a'));
    await settled();
    expect(server.size).toBe(0);
    owned = true;
    expect(await ask(ended('b'))).toMatchObject({ answer: { kind: 'accepted' } });
  });

  it('gives up all runs at once: the slot of one that it forgets is not for another one', async () => {
    const { ask, log, server } = setUp({ tasksMax: 1 });
    for (const runId of ['run-1', 'run-2']) await ask(submit(['a'], runId), { runId });
    server.drop(() => false);
    await settled();
    const started = (await log.load('run-2')).flatMap(({ commit }) => commit.events).map(({ type }) => type);
    expect([started, server.size]).toEqual([['RUN_REQUESTED', 'CONSTELLATION_MODIFIED'], 0]);
  });

  it('forgets a run that it gave up while it was being stored, also when the partition is back by then', async () => {
    const log = memoryRunLog();
    const gate = Promise.withResolvers<void>();
    let loads = 0;
    const slow: RunLog = {
      load: (key, after) => {
        loads += 1;
        return log.load(key, after);
      },
      endsAt: (key) => log.endsAt(key),
      append: async (key, commit, end) => {
        if (end > 0) await gate.promise;
        return log.append(key, commit, end);
      },
    };
    const { ask, server } = setUp({ log: slow });
    await ask(submit(['a', 'b', 'c']));
    const inWork = ask(ended('a'));
    await settled();
    server.drop(() => false);
    server.drop(() => true);
    gate.resolve();
    await inWork;
    await ask(ended('b'));
    expect(loads).toBe(1);
  });

  it('does not answer from a state that is behind: without an append it reads that the run still ends there', async () => {
    const log = memoryRunLog();
    const one = setUp({ log });
    await one.ask(submit(['a', 'b']));
    await setUp({ log }).ask(ended('a'));
    expect(await one.ask({ kind: 'wake' })).toMatchObject({ kind: 'answered', sequence: 5 });
  });

  it('hands everything back when its membership is over, and serves again when it has a new one', async () => {
    let alive = true;
    const { ask, log, server } = setUp({ alive: () => alive });
    await ask(submit(['a', 'b']));
    alive = false;
    expect(await ask(ended('a'))).toMatchObject({ kind: 'retry' });
    expect(await ask(submit(['a'], 'request-2'), { runId: 'run-2' })).toMatchObject({ kind: 'retry' });
    await settled();
    expect([server.size, (await log.load(RUN)).length, (await log.load('run-2')).length]).toEqual([0, 1, 0]);
    alive = true;
    expect(await ask(ended('a'))).toMatchObject({ kind: 'answered', answer: { kind: 'accepted' } });
  });

  it('does not answer from what it read before its membership was over: it may have been frozen in between', async () => {
    const log = memoryRunLog();
    let alive = true;
    const freezing: RunLog = {
      load: (key, after) => log.load(key, after),
      append: (key, commit, end) => log.append(key, commit, end),
      endsAt: async (key) => {
        const end = await log.endsAt(key);
        alive = false;
        return end;
      },
    };
    const { ask } = setUp({ log: freezing, alive: () => alive });
    const refused = submit(['a'], 'request-1', 'enrolled-meanwhile');
    expect(await ask(refused)).toMatchObject({ kind: 'retry' });
  });

  it.each(['stored-unknown', 'lost-unknown'] as const)(
    'asks for the input again when the append is %s, and counts it once',
    async (fault) => {
      const log = memoryRunLog();
      const { ask } = setUp({ log });
      await ask(submit(['a', 'b']));
      log.faults.push(fault);
      expect(await ask(ended('a'))).toMatchObject({ kind: 'retry' });
      expect(await ask(ended('a'))).toMatchObject({ kind: 'answered' });
      const commits = (await log.load(RUN)).map(({ commit }) => commit);
      expect(commits.flatMap(({ events }) => events).filter(({ type }) => type === 'TASK_COMPLETED')).toHaveLength(1);
    },
  );

  it('buries an input that cannot be decided, pauses its run, and serves the inputs beside it', async () => {
    const { ask, log } = setUp();
    await ask(submit(['a', 'b']));
    const poison = {
      kind: 'attempt-ended',
      taskId: 'a',
      attempt: 1,
      attemptHash: 'x',
      finished: null,
    } as unknown as Input;
    const [bad, good] = await Promise.all([ask(poison), ask(ended('b'))]);
    expect(bad).toMatchObject({ kind: 'poison' });
    expect(good).toMatchObject({ kind: 'answered', answer: { kind: 'accepted' } });
    expect(foldRun((await log.load(RUN)).map(({ commit }) => commit))?.phase).toBe('PAUSED');
  });

  it('gives up all inputs of a run that cannot be folded, and nobody else waits', async () => {
    const log = memoryRunLog();
    const data = {
      taskId: 'ghost',
      attempt: 1,
      result: { value: 1 },
      lines: [],
      completedAt: new Date(NOW).toISOString(),
      attemptHash: 'a'.repeat(64),
    };
    const event = { id: 'e1', sequence: 1, schemaVersion: 1, type: 'TASK_COMPLETED', data } as const;
    const by = { service: 'orchestrator', instance: 'x' };
    const draft = {
      commit: newCommitId(NOW),
      runId: RUN,
      number: 1,
      at: data.completedAt,
      by,
      causes: [],
      events: [event],
    };
    await log.append(RUN, sealCommit(draft, '0'.repeat(64)), 0);
    const { ask } = setUp({ log });
    expect(await ask(ended('ghost'))).toMatchObject({ kind: 'poison' });
    expect(await ask(submit(['a'], 'request-2'), { runId: 'run-2' })).toMatchObject({ kind: 'answered' });
  });

  it('wakes runs that wait for a slot as slots become free, first come first served', async () => {
    const { ask, log, fleet } = setUp({ tasksMax: 1 });
    const runs = ['run-1', 'run-2', 'run-3'];
    for (const runId of runs) await ask(submit(['a'], runId), { runId });
    const started = async (runId: string) => foldRun((await log.load(runId)).map(({ commit }) => commit))?.running.size;
    expect(await Promise.all(runs.map(started))).toEqual([1, 0, 0]);
    await ask(ended('a'), { runId: 'run-1' });
    await settled();
    expect(await Promise.all(runs.map(started))).toEqual([0, 1, 0]);
    expect(fleet.running('web-1')).toBe(1);
    await ask(ended('a'), { runId: 'run-2' });
    await settled();
    expect(await Promise.all(runs.map(started))).toEqual([0, 0, 1]);
  });
});

it('takes turns: a run that frees a slot does not take it again while another one waits for it', async () => {
  const { ask, log } = setUp({ tasksMax: 1 });
  await ask(submit(['a', 'b', 'c'], 'run-1'), { runId: 'run-1' });
  await ask(submit(['x', 'y'], 'run-2'), { runId: 'run-2' });
  const running = async (runId: string) => {
    const run = foldRun((await log.load(runId)).map(({ commit }) => commit));
    return [...(run?.running ?? [])].map((index) => run?.tasks.at(index).star.id);
  };
  const seen: unknown[] = [];
  for (const [runId, taskId] of [
    ['run-1', 'a'],
    ['run-1', 'b'],
    ['run-2', 'x'],
    ['run-1', 'c'],
  ] as const) {
    await ask(ended(taskId), { runId });
    await settled();
    seen.push([await running('run-1'), await running('run-2')]);
  }
  expect(seen).toEqual([
    [['b'], []],
    [[], ['x']],
    [['c'], []],
    [[], ['y']],
  ]);
});

it('names in a commit what it decided, and nothing that was ignored or refused', async () => {
  const { ask, log } = setUp();
  const verb = (id: string, action: Control) => ask({ kind: 'verb', id, by: ALICE, action }, { cause: id });
  await ask(submit(['a']));
  const answers = await Promise.all([
    verb('v1', { verb: 'PAUSE' }),
    verb('v2', { verb: 'PAUSE' }),
    verb('v3', { verb: 'RETRY', taskId: 'nobody' }),
    ask(ended('a')),
  ]);
  expect(answers).toMatchObject([
    { answer: { kind: 'accepted' }, sequence: 6 },
    { answer: { kind: 'ignored' } },
    { answer: { kind: 'rejected' } },
    { answer: { kind: 'accepted' } },
  ]);
  const commits = await log.load(RUN);
  expect(commits.at(-1)?.commit.causes.map(({ id }) => id)).toEqual(['v1', 'test']);
  expect(await verb('v1', { verb: 'PAUSE' })).toMatchObject({ answer: { kind: 'accepted' }, sequence: 6 });
  expect(await log.load(RUN)).toHaveLength(commits.length);
});

it('does not give one slot to two runs that are decided while the other is being stored', async () => {
  const { ask, log } = setUp({ tasksMax: 1 });
  const runs = ['run-1', 'run-2', 'run-3'];
  await Promise.all(runs.map((runId) => ask(submit(['a'], runId), { runId })));
  const running = runs.map(async (runId) => foldRun((await log.load(runId)).map(({ commit }) => commit))?.running.size);
  expect(await Promise.all(running)).toEqual([1, 0, 0]);
});

it('a slot that becomes free while a run that waits for it is being stored wakes that run', async () => {
  const log = memoryRunLog();
  const gate = Promise.withResolvers<void>();
  const slow: RunLog = {
    load: (key, after) => log.load(key, after),
    endsAt: (key) => log.endsAt(key),
    append: async (key, commit, end) => {
      if (key === 'run-2' && end === 0) await gate.promise;
      return log.append(key, commit, end);
    },
  };
  const { ask } = setUp({ log: slow, tasksMax: 1 });
  await ask(submit(['a'], 'run-1'), { runId: 'run-1' });
  const second = ask(submit(['a'], 'run-2'), { runId: 'run-2' });
  await settled();
  await ask(ended('a'), { runId: 'run-1' });
  gate.resolve();
  await second;
  await settled();
  expect(foldRun((await log.load('run-2')).map(({ commit }) => commit))?.running.size).toBe(1);
});

/** Lets everything run that is ready to run; nothing in a memory log waits for anything else. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

it('offers one slot of a device that kept failing: two runs that are woken for it would wait for each other', () => {
  const { fleet } = setUp({ tasksMax: 4 });
  const offered: number[] = [];
  fleet.onFree((_, slots) => offered.push(slots));
  fleet.offer('web-1');
  for (let failure = 0; failure < 3; failure++) fleet.attemptEnded('web-1', 'unknown', NOW);
  fleet.offer('web-1');
  expect(offered).toEqual([4, 1]);
});
