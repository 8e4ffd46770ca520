import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  type Actor,
  BUCKETS,
  type EditGrant,
  LIMITS,
  type RevokedGrants,
  RunCommit,
  type RunEventType,
  type RunVerb,
  type VerbFields,
  subjects,
} from '#proto';
import { checkInvariants, foldRun, viewOf } from '#libs/constellation';
import { openRunLog, readCommits } from '#libs/event-log';
import { checkKeptProof, grantIdOf, signEditGrant } from '#libs/keys';
import { connectBus, sendVerb } from '#libs/messaging';
import { systemClock } from '#libs/platform';
import {
  connectDevice,
  instantDevice,
  requestRun,
  showActors,
  startTestNats,
  type TestNats,
  type Replica,
} from '#libs/testing';
import { startOrchestrator } from '../rig.testing.js';

const ALICE = createUser();
const now = () => systemClock.now();
const MALLORY = createUser();
const PLANNER = createUser();
const BOB = createUser();
const AGENTS = createUser();
const seedOf = (user: typeof ALICE): string => new TextDecoder().decode(user.getSeed());
const COMPLETED = { status: 'completed', result: { value: { exit_code: 0 } } } as const;
const FAILED = {
  status: 'failed',
  error: { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' },
} as const;

let nats: TestNats;
let nc: NatsConnection;
let orchestrator: Replica;
let device: { stop(): void } | undefined;

beforeAll(async () => {
  nats = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
  const actors = new Map<string, Actor>([
    [ALICE.getPublicKey(), { kind: 'person', id: 'alice' }],
    [BOB.getPublicKey(), { kind: 'person', id: 'bob' }],
    [PLANNER.getPublicKey(), { kind: 'system', id: 'planner' }],
    [AGENTS.getPublicKey(), { kind: 'system', id: 'device-agent' }],
  ]);
  await showActors(nc, actors);
  await connectDevice(nc, 'web-1');
  orchestrator = await startOrchestrator(nc, { instance: 'one' });
});

afterEach(() => device?.stop());

afterAll(async () => {
  await orchestrator.stop();
  await nc.close();
  await nats.stop();
});

describe('a verb that is said again', () => {
  it('gets the first answer again, whatever has become of the run since, also from the next replica', async () => {
    const runId = await submit('again-1', ['a'], []);
    const refused = await tell('RETRY', runId, { taskId: 'zzz' }, 'again-refused');
    const ignored = await tell('RESUME', runId, {}, 'again-ignored');
    const paused = await tell('PAUSE', runId, { reason: 'lunch' }, 'again-paused');
    expect([refused.answer, ignored.answer, paused.answer]).toEqual(['rejected', 'ignored', 'accepted']);
    const before = (await openRunLog(nc).load(runId)).length;
    // A RESUME would have something to do by now.
    const again = async () => [
      await tell('RETRY', runId, { taskId: 'zzz' }, 'again-refused'),
      await tell('RESUME', runId, {}, 'again-ignored'),
      await tell('PAUSE', runId, { reason: 'lunch' }, 'again-paused'),
    ];
    expect(await again()).toEqual([refused, ignored, paused]);
    await orchestrator.stop();
    orchestrator = await startOrchestrator(nc, { instance: 'next' });
    expect(await again()).toEqual([refused, ignored, paused]);
    expect(await Promise.all([again(), again()])).toEqual([
      [refused, ignored, paused],
      [refused, ignored, paused],
    ]);
    expect(await openRunLog(nc).load(runId)).toHaveLength(before);
    // The id is the sender's: somebody else means something else by it.
    expect(await tell('RESUME', runId, {}, 'again-ignored', BOB)).toMatchObject({ answer: 'accepted' });
  });
});

describe('verbs over the bus', () => {
  it('cancels a run: what is pending at once, what runs when its device has stopped it, and says who asked', async () => {
    const runId = await submit('cancel-1', ['a', 'b'], [line('a', 'b')]);
    const answer = await tell('CANCEL', runId, { reason: 'wrong host' });
    expect(answer).toMatchObject({ answer: 'accepted' });
    const { events, causes } = await untilEvent(runId, 'TASK_STOP_REQUESTED');
    expect(events.map(({ type }) => type)).toEqual(['TASK_STOP_REQUESTED', 'TASK_CANCELLED']);
    const [{ id, proof } = {}] = causes;
    const command = { subject: subjects.verb(runId, 'CANCEL'), body: { id, reason: 'wrong host' } };
    expect(proof).toMatchObject(command);
    expect(proof && checkKeptProof(proof)).toBe('good');
    expect(await tell('CANCEL', runId, {})).toMatchObject({ answer: 'ignored' });
    const last = await untilEvent(runId, 'RUN_CANCELLED'); // the device is gone: the grace ends it
    expect(last.events.at(-1)?.data).toMatchObject({ by: { kind: 'person', id: 'alice' }, reason: 'wrong host' });
  });

  it('adds a note to a run that has ended, once, in the name of who signed it', async () => {
    device = instantDevice(nc);
    const runId = await submit('note-1', ['a'], []);
    await untilEvent(runId, 'RUN_COMPLETED');
    const answer = await tell('ANNOTATE', runId, { text: 'the disk was new', taskId: 'a' }, 'my-note');
    expect(answer).toMatchObject({ answer: 'accepted' });
    expect(await tell('ANNOTATE', runId, { text: 'the disk was new', taskId: 'a' }, 'my-note')).toEqual(answer);
    const by = { kind: 'person', id: 'alice' };
    expect(await fold(runId)).toMatchObject({
      status: 'COMPLETED',
      notes: [{ by, text: 'the disk was new', taskId: 'a', annotatedAt: expect.any(String) }],
    });
    expect(await tell('ANNOTATE', runId, { text: 'x', taskId: 'z' })).toMatchObject({
      answer: 'rejected',
      reason: { code: 'NOT_FOUND', message: 'taskId: there is no task "z"; known are a' },
    });
  });

  it('writes on the board once per id, answers a conflict with what stands there, and believes only its own service what an attempt wrote', async () => {
    const runId = await submit('board-1', ['a'], []);
    const first = await tell('BOARD_SET', runId, { name: 'free', value: 120, revision: 0 }, 'board-set');
    expect(first).toMatchObject({ answer: 'accepted', board: { revision: 1, value: 120, by: { id: 'alice' } } });
    expect(await tell('BOARD_SET', runId, { name: 'free', value: 120, revision: 0 }, 'board-set')).toEqual(first);
    const late = await tell('BOARD_SET', runId, { name: 'free', value: 1, revision: 0 }, 'board-late', BOB);
    expect(late).toMatchObject({
      answer: 'rejected',
      reason: { code: 'CONFLICT' },
      board: { revision: 1, value: 120 },
    });
    const large = await tell('BOARD_SET', runId, { name: 'large', value: 'x'.repeat(64 * 1024) });
    expect(large).toMatchObject({ answer: 'rejected', reason: { code: 'TOO_LARGE' } });
    const attempt = { taskId: 'a', attempt: 1 };
    const forged = await tell('BOARD_SET', runId, { name: 'free', value: 0, attempt });
    expect(forged).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    const own = await tell('BOARD_SET', runId, { name: 'found', value: 'db-1', attempt }, undefined, AGENTS);
    expect(own).toMatchObject({ answer: 'accepted', board: { attempt, judge: true } });
    const run = foldRun((await openRunLog(nc).load(runId)).map(({ commit }) => commit));
    expect([...(run?.board.entries.values() ?? [])].map(({ name, revision }) => [name, revision])).toEqual([
      ['free', 1],
      ['found', 2],
    ]);
    expect(await tell('CANCEL', runId, {})).toMatchObject({ answer: 'accepted' });
  });

  it('starts nothing while a run is paused, and goes on when it is resumed', async () => {
    const runId = await submit('pause-1', ['a', 'b'], [line('a', 'b')]);
    await tell('PAUSE', runId, { reason: 'lunch' });
    device = instantDevice(nc);
    await untilEvent(runId, 'TASK_COMPLETED');
    const paused = await fold(runId);
    expect(paused).toMatchObject({ status: 'PAUSED', waitingFor: { reason: 'paused', wokenBy: 'operator' } });
    expect(paused.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'PENDING']);
    await tell('RESUME', runId, {});
    await untilEvent(runId, 'RUN_COMPLETED');
  });

  it('tries a failed task again in a run that has ended, and goes on with what was skipped because of it', async () => {
    let works = false;
    device = instantDevice(nc, { answer: () => (works ? COMPLETED : FAILED) });
    const runId = await submit('retry-1', ['a', 'b'], [{ ...line('a', 'b'), type: 'success-only' }]);
    await untilEvent(runId, 'RUN_FAILED');
    works = true;
    expect(await tell('RETRY', runId, { taskId: 'a' })).toMatchObject({ answer: 'accepted' });
    await untilEvent(runId, 'RUN_COMPLETED');
    const run = await fold(runId);
    expect(run).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
    expect(run.tasks.map(({ attempts }) => attempts)).toEqual([2, 1]);
  });

  it('forks a run: a new one goes on from there, and nothing that ran is run again', async () => {
    const started: string[] = [];
    device = instantDevice(nc, {
      answer: ({ taskId }, runId) => {
        started.push(`${runId}/${taskId}`);
        return COMPLETED;
      },
    });
    const parent = await submit('fork-1', ['a', 'b', 'c'], [line('a', 'b'), line('b', 'c')]);
    const completedA = await untilEvent(parent, 'TASK_COMPLETED');
    await untilEvent(parent, 'RUN_COMPLETED');
    const at = completedA.events.at(-1)?.sequence ?? 0;
    const answer = await tell('FORK', parent, { at }, 'my-fork');
    expect(answer).toMatchObject({ answer: 'accepted', runId: expect.any(String) });
    const runId = 'runId' in answer ? (answer.runId ?? '') : '';
    await untilEvent(runId, 'RUN_COMPLETED');
    const fork = await fold(runId);
    expect(fork).toMatchObject({ outcome: 'partially_failed', parent: { runId: parent, sequence: at } });
    expect(fork.tasks.map(({ status }) => status)).toEqual(['COMPLETED', 'FAILED', 'COMPLETED']);
    expect(started.filter((name) => name.startsWith(runId))).toEqual([`${runId}/c`]);
    expect(await tell('FORK', parent, { at }, 'my-fork')).toEqual(answer);
    const messageOf = async (event: number): Promise<unknown> => {
      const refused = await tell('FORK', parent, { at: event });
      return 'reason' in refused && refused.reason?.message;
    };
    expect(await messageOf(99)).toMatch(/99 is none/u);
    // The constellation is an event before the end of its commit.
    expect(await messageOf(2)).toMatch(/^at: event 2 is before the end of the commit .*; 3 or later is possible$/u);
  });

  it('takes an edit while a task runs, refuses one that touches it, and decides a verb once however often it is sent', async () => {
    const runId = await submit('edit-1', ['a'], []);
    const task = { id: 'b', name: 'b', target: { device: 'web-1' }, command: { tool: 'NOOP', arguments: {} } };
    const proposal = (edits: object[]) => ({ proposal: { editId: null, edits } }) as VerbFields<'PROPOSE'>;
    const hostile = await tell('PROPOSE', runId, proposal([{ tool: 'remove_task', taskId: 'a' }]));
    expect(hostile).toMatchObject({ answer: 'rejected', reason: { issues: [{ path: 'edits[0].taskId' }] } });
    const edits = [
      { tool: 'add_task', task },
      { tool: 'add_dependency', line: line('a', 'b') },
    ];
    const accepted = await tell('PROPOSE', runId, proposal(edits), 'edit-once');
    expect(accepted).toMatchObject({ answer: 'accepted' });
    expect(await tell('PROPOSE', runId, proposal(edits), 'edit-once')).toEqual(accepted);
    device = instantDevice(nc);
    await untilEvent(runId, 'RUN_COMPLETED');
    expect(await fold(runId)).toMatchObject({ revision: 2, tasks: [{ id: 'a' }, { id: 'b', status: 'COMPLETED' }] });
  });

  it('asks whoever plans for the run after a failure, and goes on with what is proposed', async () => {
    device = instantDevice(nc, { answer: ({ taskId }) => (taskId === 'a' ? FAILED : COMPLETED) });
    const runId = await submit('round-1', ['a'], [], { editPolicy: 'when-needed' });
    await untilEvent(runId, 'EDIT_OPENED');
    expect(await fold(runId)).toMatchObject({ status: 'WAITING', waitingFor: { reason: 'planner' } });
    const task = { id: 'plan-b', name: 'b', target: { device: 'web-1' }, command: { tool: 'NOOP', arguments: {} } };
    const fields = {
      proposal: { editId: 'e1', edits: [{ tool: 'add_task', task }] },
    } as unknown as VerbFields<'PROPOSE'>;
    expect(await tell('PROPOSE', runId, fields)).toMatchObject({ answer: 'accepted' });
    const { events } = await untilEvent(runId, 'EDIT_OPENED', 'e2');
    expect(events.find(({ type }) => type === 'EDIT_OPENED')?.data).toMatchObject({
      triggers: [{ kind: 'end-of-plan' }],
    });
    await tell('PROPOSE', runId, { proposal: { editId: 'e2', state: 'FINISH' } } as VerbFields<'PROPOSE'>);
    const end = await untilEvent(runId, 'RUN_COMPLETED');
    expect(end.events.at(-1)?.data).toMatchObject({ outcome: 'partially_failed' });
  });

  it.each([
    ['the planner', PLANNER],
    ['a program that has the key of whoever allowed it', ALICE],
  ])('takes an edit from %s as one that is judged, in the name of who allowed it', async (whose, sender) => {
    const runId = await submit(`grant-${whose.length}`, ['a'], []);
    const until = (ms: number) => new Date(systemClock.now() + ms).toISOString();
    const grantOf = (user: typeof ALICE, change: Partial<Parameters<typeof signEditGrant>[1]> = {}) =>
      signEditGrant(seedOf(user), {
        runId,
        access: 'edit',
        issuedAt: until(0),
        expiresAt: until(3_600_000),
        ...change,
      });
    const task = { id: 'b', name: 'b', target: { device: 'web-1' }, command: { tool: 'NOOP', arguments: {} } };
    const proposal = { editId: null, edits: [{ tool: 'add_task', task }] };
    const propose = (user: typeof ALICE, grant?: ReturnType<typeof grantOf>) => {
      const fields = { proposal, ...(grant === undefined ? {} : { grant }) } as unknown as VerbFields<'PROPOSE'>;
      return sendVerb(nc, { runId, verb: 'PROPOSE', fields, seed: seedOf(user), now });
    };
    const refusals: [ReturnType<typeof grantOf>, RegExp][] = [
      [grantOf(ALICE, { access: 'read' }), /lets read only/u],
      [grantOf(ALICE, { runId: 'another' }), /is for run another/u],
      [grantOf(ALICE, { expiresAt: until(-1) }), /was good until/u],
      [grantOf(ALICE, { expiresAt: until(LIMITS.editGrantMsMax + 60_000) }), /longer than 24 h/u],
      [{ ...grantOf(ALICE), expiresAt: until(7_200_000) }, /does not fit/u],
      [grantOf(MALLORY), /stands for nobody/u],
      [grantOf(PLANNER), /only a person/u],
    ];
    for (const [grant, message] of refusals) {
      const reason = { code: 'UNAUTHORIZED', message: expect.stringMatching(message) };
      expect(await propose(PLANNER, grant)).toMatchObject({ answer: 'rejected', reason });
    }
    const byBob = await propose(BOB, grantOf(ALICE));
    expect(byBob).toMatchObject({ answer: 'rejected', reason: { issues: [{ path: 'grant' }] } });

    expect(await propose(sender, grantOf(ALICE))).toMatchObject({ answer: 'accepted' });
    const { events } = await untilEvent(runId, 'TASK_STARTED', undefined, 'b');
    const edit = events.find(({ type }) => type === 'CONSTELLATION_MODIFIED');
    expect(edit?.data).toMatchObject({ proposedBy: { kind: 'person', id: 'alice' }, judgeCommands: true });
    expect(events.find(({ type }) => type === 'TASK_STARTED')?.data).toMatchObject({ taskId: 'b', judge: true });

    const revoked = grantOf(ALICE);
    await revoke(revoked);
    // What it has let in stays; from when the word has come here it lets nothing in, not even what is so already.
    const sentenceOf = (outcome: Awaited<ReturnType<typeof propose>>): string =>
      'reason' in outcome ? (outcome.reason?.message ?? '') : '';
    while (!sentenceOf(await propose(sender, revoked)).startsWith('The grant was revoked at')) {
      expect(nc.isClosed()).toBe(false);
    }
    expect((await fold(runId)).tasks.map(({ id }) => id)).toEqual(['a', 'b']);
    await tell('CANCEL', runId, {});
  });

  it('judges what a program proposes in its own name, and not what a person does', async () => {
    const runId = await submit('judged-1', ['a'], [], { approval: 'never' });
    const propose = (user: typeof ALICE, id: string) => {
      const task = { id, name: id, target: { device: 'web-1' }, command: { tool: 'NOOP', arguments: {} } };
      const fields = { proposal: { editId: null, edits: [{ tool: 'add_task', task }] } };
      const seed = seedOf(user);
      return sendVerb(nc, { runId, verb: 'PROPOSE', fields: fields as unknown as VerbFields<'PROPOSE'>, seed, now });
    };
    await propose(PLANNER, 'b');
    await propose(ALICE, 'c');
    const judgeOf = async (taskId: string) => {
      const { events } = await untilEvent(runId, 'TASK_STARTED', undefined, taskId);
      const started = events.find((event) => event.type === 'TASK_STARTED' && event.data.taskId === taskId);
      return started?.type === 'TASK_STARTED' ? [started.data.judge, started.data.approval] : [];
    };
    expect([await judgeOf('b'), await judgeOf('c')]).toEqual([
      [true, 'never'],
      [undefined, undefined],
    ]);
    await tell('CANCEL', runId, {});
  });

  it('refuses whoever cannot prove who they are, and answers for runs that are not there', async () => {
    const runId = await submit('unknown-1', ['a'], []);
    const seed = new TextDecoder().decode(MALLORY.getSeed());
    const request = { runId, verb: 'CANCEL', fields: {}, seed, now } as const;
    expect(await sendVerb(nc, request)).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(await tell('CANCEL', 'nobody', {})).toMatchObject({ answer: 'rejected', reason: { code: 'NOT_FOUND' } });
    const reply = await nc.request(subjects.verb(runId, 'DANCE'), '{}', { timeout: 20_000 });
    expect(reply.json()).toMatchObject({ answer: 'rejected', reason: { code: 'INVALID_REQUEST' } });
    await tell('CANCEL', runId, {});
  });
});

/** As the registry shows it. */
async function revoke(grant: EditGrant): Promise<void> {
  const revoked: RevokedGrants = {
    by: { kind: 'person', id: 'bob' },
    reason: '',
    revokedAt: new Date(now()).toISOString(),
    grants: { kind: 'grant', grantId: grantIdOf(grant) },
  };
  const bucket = await new Kvm(nc).open(BUCKETS.REVOKED_GRANTS.bucket);
  await bucket.put(grantIdOf(grant), JSON.stringify(revoked));
}

function tell<V extends RunVerb>(verb: V, runId: string, fields: VerbFields<V>, id?: string, who = ALICE) {
  return sendVerb(nc, { runId, verb, fields, seed: seedOf(who), now, ...(id === undefined ? {} : { id }) });
}

function line(from: string, to: string) {
  return { id: `${from}${to}`, from, to, type: 'unconditional' };
}

async function submit(
  requestId: string,
  ids: readonly string[],
  lines: readonly object[],
  options: object = {},
): Promise<string> {
  const tasks = ids.map((id) => ({ id, name: id, target: { device: 'web-1' }, command: { tool: 'NOOP' } }));
  return requestRun(nc, { requestId, constellation: { name: requestId, tasks, lines }, options });
}

async function fold(runId: string) {
  const run = foldRun((await openRunLog(nc).load(runId)).map(({ commit }) => commit));
  if (run === undefined) throw new Error(`there is no run ${runId}`);
  expect(checkInvariants(run)).toEqual([]);
  return viewOf(run);
}

async function untilEvent(runId: string, type: RunEventType, editId?: string, taskId?: string): Promise<RunCommit> {
  for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, filter: subjects.run(runId) })) {
    const commit = RunCommit.parse(JSON.parse(new TextDecoder().decode(entry.data)));
    const found = commit.events.some(
      (event) =>
        event.type === type &&
        (editId === undefined || ('editId' in event.data && event.data.editId === editId)) &&
        (taskId === undefined || ('taskId' in event.data && event.data.taskId === taskId)),
    );
    if (found) return commit;
  }
  throw new Error('the stream ended');
}
