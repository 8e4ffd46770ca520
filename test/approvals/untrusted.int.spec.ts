import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { openRunLog, readCommits, runIdOf } from '#libs/event-log';
import { sendVerb } from '#libs/messaging';
import {
  connectDevice,
  introduceWith,
  moment,
  type Replica,
  requestRun,
  startTestBus,
  type TestBus,
} from '#libs/testing';
import { subjects, type Actor, type DeviceRequest, type RecordedRunEvent, type RunId, type RunVerb } from '#proto';
import { ScriptedDevice } from '../../services/device-agent/testing/device.js';
import { serveAgent } from '../../services/device-agent/testing/served.js';
import { startOrchestrator } from '../../services/orchestrator/rig.testing.js';

/* Who may ask for runs and is no operator, on a bus where every key has its own rights, with a device that would do anything. */

const ANNA: Actor = { kind: 'person', id: 'anna' };
const BERT: Actor = { kind: 'person', id: 'bert' };
const OLGA: Actor = { kind: 'person', id: 'olga' };
/** What the policy of this rig wants a person to see. */
const ASKED = 'rm -r /srv/cache';
const TIMES = { lookMs: 50, askMsMin: 5, askMsMax: 20 };

const device = new ScriptedDevice();
const replicas: Replica[] = [];
const seeds = { anna: '', bert: '', olga: '' };
let bus: TestBus;
let admin: NatsConnection;
let cli: NatsConnection;
let count = 0;

beforeAll(async () => {
  bus = await startTestBus();
  [admin, cli] = await Promise.all([bus.as('admin'), bus.as('cli')]);
  await connectDevice(admin, 'web-1');
  admin.subscribe(subjects.anyDeviceCommand, {
    callback: (error, message) => {
      if (error === null) message.respond(JSON.stringify(device.answer(message.json<DeviceRequest>())));
    },
  });
  seeds.anna = await introduceWith(admin, ANNA, ['viewer', 'requester', 'approver']);
  seeds.bert = await introduceWith(admin, BERT, ['approver']);
  seeds.olga = await introduceWith(admin, OLGA, ['requester', 'operator']);
  replicas.push(await startOrchestrator(await bus.as('orchestrator')));
  replicas.push(await serveAgent({ nc: await bus.as('device-agent'), instance: 'a', times: TIMES, attemptsMax: 9 }));
});

afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await bus.stop();
});

const task = (id: string, line: string, more: object = {}) => ({
  id,
  name: id,
  target: { device: 'web-1' },
  command: { tool: 'EXEC_CLI', arguments: { command: line } },
  ...more,
});
const request = (requestId: string, ...tasks: object[]) => ({ requestId, constellation: { name: 'x', tasks } });
const ask = (by: keyof typeof seeds, ...tasks: object[]): Promise<RunId> =>
  requestRun(cli, request(`r-${++count}`, ...tasks), seeds[by]);

function say(by: keyof typeof seeds, verb: RunVerb, runId: RunId, fields: object = {}) {
  const signer = { seed: seeds[by], now: () => Date.now() };
  return sendVerb(cli, {
    runId,
    verb,
    fields,
    id: `v-${++count}`,
    deadlineMs: 20_000,
    ...signer,
  });
}

const eventsOf = async (runId: RunId): Promise<RecordedRunEvent[]> =>
  (await openRunLog(admin).load(runId)).flatMap(({ commit }) => commit.events);

/** What is recorded of a run, from its first event that passes on. */
async function until(runId: RunId, passes: (event: RecordedRunEvent) => boolean): Promise<RecordedRunEvent[]> {
  for await (const entry of readCommits(admin, 'RUNS', { afterSequence: 0 })) {
    if (entry.subject !== subjects.run(runId)) continue;
    const events = await eventsOf(runId);
    if (events.some(passes)) return events;
  }
  throw new Error('the bus was closed');
}

const ended = (runId: RunId) => until(runId, ({ type }) => type === 'RUN_COMPLETED' || type === 'RUN_FAILED');
const asksAbout = async (runId: RunId, taskId: string): Promise<string> => {
  const isAsked = (event: RecordedRunEvent) => event.type === 'APPROVAL_REQUESTED' && event.data.taskId === taskId;
  const found = (await until(runId, isAsked)).find(isAsked);
  return found?.type === 'APPROVAL_REQUESTED' ? found.data.ask.approvalId : '';
};
const ranOn = (runId: RunId) => device.executed.filter((id) => id.startsWith(runId));
const sentFor = (runId: RunId) =>
  device.requests.flatMap((one) => (one.kind === 'run' && one.commandId.startsWith(runId) ? [one] : []));

describe('an exact command of who is no operator', () => {
  it('waits for a person where the policy asks, whom somebody else has to be, and runs then', async () => {
    const runId = await ask('anna', task('a', ASKED));
    const approvalId = await asksAbout(runId, 'a');
    expect(ranOn(runId)).toEqual([]);
    const own = await say('anna', 'APPROVE', runId, { approvalId });
    expect(own).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(await say('bert', 'APPROVE', runId, { approvalId })).toMatchObject({ answer: 'accepted' });
    await ended(runId);
    expect(sentFor(runId)).toMatchObject([{ judged: { decision: 'approve', class: 'destructive' } }]);
  });

  it('runs where the policy lets it, and the device is told that it was judged', async () => {
    const runId = await ask('anna', task('a', 'uptime'));
    await ended(runId);
    expect(sentFor(runId)).toMatchObject([{ judged: { decision: 'allow' } }]);
  });

  it('never runs where the policy denies it, and neither does one in a check', async () => {
    const denied = await ask(
      'anna',
      task('a', 'mkfs /dev/sda'),
      task('b', 'uptime', {
        verify: {
          command: { tool: 'EXEC_CLI', arguments: { command: 'mkfs /dev/sda' } },
          condition: 'result.exit_code == 0',
        },
      }),
    );
    const events = await ended(denied);
    const failed = events.flatMap((event) =>
      event.type === 'TASK_FAILED' ? [event.data.taskId, event.data.error.code] : [],
    );
    expect(failed).toEqual(expect.arrayContaining(['a', 'POLICY_DENIED']));
    expect(sentFor(denied).map(({ command }) => command.arguments['command'])).toEqual(['uptime']);
  });

  it('of an operator runs as it stands, and no policy is asked', async () => {
    const runId = await ask('olga', task('a', ASKED));
    await ended(runId);
    expect(sentFor(runId)).toMatchObject([{ command: { arguments: { command: ASKED } } }]);
    expect(sentFor(runId)[0]).not.toHaveProperty('judged');
  });

  it('waits when an external system publishes it, as it always did', async () => {
    const external = await bus.as('external');
    const requestId = `ext-${++count}`;
    await jetstream(external).publish(
      subjects.requests,
      JSON.stringify(request(requestId, task('a', ASKED), task('b', 'uptime'))),
    );
    const runId = runIdOf('default', requestId);
    await asksAbout(runId, 'a');
    await until(runId, (event) => event.type === 'TASK_COMPLETED' && event.data.taskId === 'b');
    expect(ranOn(runId)).toHaveLength(1);
    expect(await say('olga', 'CANCEL', runId)).toMatchObject({ answer: 'accepted' });
  });
});

describe('a run of who is no operator', () => {
  it('is forked by operators only, and asks in the fork, too', async () => {
    const parent = await ask('anna', task('a', 'uptime'), task('b', ASKED));
    const at = (await until(parent, ({ type }) => type === 'CONSTELLATION_MODIFIED')).findIndex(
      ({ type }) => type === 'TASK_STARTED',
    );
    await asksAbout(parent, 'b');
    const sequence = (await eventsOf(parent)).length;
    expect(at).toBeGreaterThan(0);
    const hers = await ask('olga', task('a', ASKED));
    const refused = await say('anna', 'FORK', hers, { at: (await ended(hers)).length });
    expect(refused).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    const forked = await say('olga', 'FORK', parent, { at: sequence });
    expect(forked).toMatchObject({ answer: 'accepted' });
    const fork = 'runId' in forked ? (forked.runId ?? '') : '';
    const [first] = await eventsOf(fork);
    expect(first).toMatchObject({
      type: 'RUN_FORKED',
      data: { judgeCommands: true, tasks: [{ judge: true }, { judge: true }] },
    });
    await say('olga', 'CANCEL', parent);
  });

  it('is edited by her as it was asked for; when she has become an operator, what she adds then runs', async () => {
    const sent = request(`r-${++count}`, task('a', ASKED));
    const runId = await requestRun(cli, sent, seeds.anna);
    await asksAbout(runId, 'a');
    const adds = (id: string, line: string) => ({
      proposal: { editId: null, edits: [{ tool: 'add_task', task: task(id, line) }] },
    });
    expect(await say('anna', 'PROPOSE', runId, adds('b', ASKED))).toMatchObject({ answer: 'accepted' });
    await asksAbout(runId, 'b');
    expect(ranOn(runId)).toEqual([]);

    seeds.anna = await introduceWith(admin, ANNA, ['requester', 'operator']);
    const other = await ask('olga', task('a', 'uptime'));
    const isKnown = async () => (await say('anna', 'ANNOTATE', other, { text: 'mine, too' })).answer === 'accepted';
    while (!(await isKnown())) await moment();
    expect(await say('anna', 'PROPOSE', runId, adds('c', ASKED))).toMatchObject({ answer: 'accepted' });
    await until(runId, (event) => event.type === 'TASK_COMPLETED' && event.data.taskId === 'c');
    expect(ranOn(runId)).toHaveLength(1);

    // It is the same run, and nothing of it is believed because of who she is now.
    const before = await eventsOf(runId);
    expect(await requestRun(cli, sent, seeds.anna)).toBe(runId);
    expect(await eventsOf(runId)).toEqual(before);
    expect(before[0]).toMatchObject({ data: { judgeCommands: true } });
    const starts = before.flatMap((event) =>
      event.type === 'TASK_STARTED' ? [[event.data.taskId, event.data.judge]] : [],
    );
    expect(starts).toEqual([
      ['a', true],
      ['b', true],
      ['c', undefined],
    ]);
    await say('olga', 'CANCEL', runId);
  });
});
