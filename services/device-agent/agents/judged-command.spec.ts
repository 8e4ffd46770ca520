import { describe, expect, it } from '@jest/globals';
import type { Ask, CommandCall, CommandOutcome, DeviceRequest, Json, RunEventData } from '#proto';
import { keyOf, messageOf, type TestAgent } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { outcomeOf } from '../testing/device.js';
import { execCli } from '../testing/run.js';
import { testPolicy } from '../testing/policy.js';
import { profileOf } from '../testing/profile.js';

const exec = (command: string): CommandCall => ({ tool: 'EXEC_CLI', arguments: { command } });
type Start = Partial<RunEventData<'TASK_STARTED'>>;

/** One task whose exact command a model may have written. */
function judged(command: string, start: Start = {}): AgentWorld {
  return new AgentWorld([], { agent: false, arguments: { command }, start: { judge: true, ...start } });
}

async function asked(world: AgentWorld, agent = world.agent()): Promise<{ handled: Promise<unknown>; asks: Ask }> {
  await world.world.record(world.run);
  const handled = agent.starts.handle(messageOf(world.commit));
  return { handled, asks: await world.asked() };
}

type Said = Omit<Parameters<AgentWorld['run']['decide']>[0], 'approvalId'>;

async function decide(world: AgentWorld, agent: TestAgent, asks: Ask, said: Said): Promise<void> {
  world.run.ask(asks);
  const decided = world.run.decide({ approvalId: asks.approvalId, ...said });
  await world.world.record(world.run);
  await agent.control.handle(messageOf(decided));
}

const refusedByDevice = (result: Json): CommandOutcome => ({
  state: 'FAILED',
  result,
  error: { code: 'APPROVAL_REQUIRED', message: 'a link leads to a secret', outcome: 'failed' },
  startedAt: null,
  durationMs: null,
});

const sent = (world: AgentWorld) => world.device.requests.filter((request) => request.kind === 'run');

describe('an exact command that a model may have written', () => {
  it('runs when the policy allows it, which is recorded before and said to the device', async () => {
    const world = judged('df -h');
    expect(await world.carryOut()).toEqual({ kind: 'done' });
    expect(await world.types()).toEqual([
      ['COMMAND_JUDGED', 'COMMAND_ISSUED'],
      ['COMMAND_FINISHED'],
      ['ATTEMPT_FINISHED'],
    ]);
    expect(await world.facts('COMMAND_JUDGED')).toMatchObject([
      { step: 0, index: 0, commandId: commandAt(0), command: exec('df -h'), origin: 'plan', decision: 'allow' },
    ]);
    expect(sent(world)).toMatchObject([
      { commandId: commandAt(0), command: exec('df -h'), judged: { class: 'read', decision: 'allow' } },
    ]);
    expect(await world.end()).toMatchObject({
      status: 'completed',
      result: { value: { stdout: 'df -h\n' } },
      used: { commands: 1 },
    });
    expect(world.device.forgotten).toEqual([commandAt(0)]);
    expect(await world.violations()).toEqual([]);
  });

  it('runs when the policy wants it logged', async () => {
    const world = judged('tee x');
    await world.carryOut();
    expect(sent(world)).toMatchObject([{ judged: { class: 'write', decision: 'log' } }]);
    expect(await world.end()).toMatchObject({ status: 'completed' });
  });

  it('never comes to the device when the policy denies it: the attempt fails and says why', async () => {
    const world = judged('mkfs /dev/sda');
    expect(await world.carryOut()).toEqual({ kind: 'done' });
    expect(await world.types()).toEqual([['COMMAND_JUDGED', 'ATTEMPT_FINISHED']]);
    expect(await world.end()).toMatchObject({
      status: 'failed',
      error: { code: 'POLICY_DENIED', message: expect.stringContaining('it formats a disk'), outcome: 'failed' },
    });
    expect(world.device.requests).toEqual([]);
  });

  it('fails as what it came to: its exit code counts', async () => {
    const world = judged('false');
    await world.carryOut();
    expect(await world.end()).toMatchObject({ status: 'failed', error: { code: 'EXIT_CODE', outcome: 'failed' } });
  });

  it('fails with the words of the device that refuses it', async () => {
    const world = judged('df');
    world.device.intercept = ({ kind }) =>
      kind === 'run' ? { state: 'refused', code: 'POLICY_DENIED', message: 'not on this device' } : undefined;
    await world.carryOut();
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'FAILED', refused: true }]);
    expect(await world.end()).toMatchObject({
      status: 'failed',
      error: { code: 'POLICY_DENIED', message: 'not on this device' },
    });
  });

  it('that ran into its wall is a security event of the log', async () => {
    const world = judged('df');
    const how = 'it tried to write to /etc';
    const error = { code: 'POLICY_MISMATCH', message: how, outcome: 'failed' } as const;
    world.device.respond = () => ({ ...outcomeOf('FAILED', execCli('', 1)), error });
    const told: unknown[] = [];
    await world.carryOut({ warn: (fields) => told.push(fields) });
    expect(told).toEqual([
      { commandId: commandAt(0), deviceId: 'web-1', code: 'POLICY_MISMATCH', how, event: 'security' },
    ]);
    expect(await world.end()).toMatchObject({ error: { code: 'POLICY_MISMATCH', message: how } });
  });

  it('is asked for with the name of the planner, at its own place', async () => {
    const world = judged('rm /tmp/x');
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    expect(await world.types()).toEqual([['COMMAND_JUDGED', 'ATTEMPT_ASKED']]);
    expect(asks).toMatchObject({
      kind: 'approval',
      approvalId: commandAt(0),
      command: exec('rm /tmp/x'),
      agent: 'planner',
      step: 0,
      thought: 'it is the command of task a, which is judged before it runs',
      rule: 'program.rm',
    });
    agent.live.leave();
    await handled;
    expect(world.device.requests).toEqual([]);
  });

  it.each<[string, Said, { executed: string[]; end: object }]>([
    ['runs when it is approved', { decision: 'approved' }, { executed: ['rm /tmp/x'], end: { status: 'completed' } }],
    [
      'is another one when a person changes it',
      { decision: 'edited', command: exec('mv /tmp/x /tmp/y') },
      { executed: ['mv /tmp/x /tmp/y'], end: { status: 'completed', result: { value: { exit_code: 0 } } } },
    ],
    [
      'is denied still when a person changes it into what no one may run',
      { decision: 'edited', command: exec('mkfs x') },
      { executed: [], end: { status: 'failed', error: { code: 'POLICY_DENIED' } } },
    ],
    [
      'fails when it is rejected',
      { decision: 'rejected', note: 'keep it' },
      {
        executed: [],
        end: {
          status: 'failed',
          error: { code: 'APPROVAL_REJECTED', message: 'the command was not approved: keep it' },
        },
      },
    ],
    [
      'fails when nobody decides in time',
      { decision: 'expired' },
      { executed: [], end: { status: 'failed', error: { code: 'APPROVAL_EXPIRED' } } },
    ],
  ])('%s', async (_, said, { executed, end }) => {
    const world = judged('rm /tmp/x');
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    await decide(world, agent, asks, said);
    expect(await handled).toEqual({ kind: 'done' });
    expect(sent(world).map(({ command }) => command)).toEqual(executed.map(exec));
    expect(await world.end()).toMatchObject(end);
    for (const request of sent(world)) expect(request.judged).toMatchObject({ approvalId: commandAt(0) });
    expect(await world.violations()).toEqual([]);
  });

  it('is asked about when its device wants that, and then sent once more with what was approved', async () => {
    const world = judged('cat ./way/shadow');
    const wall = { kind: 'write', views: [], writable: ['/srv'] };
    const asking = (request: DeviceRequest) =>
      request.kind === 'run' && request.judged?.approvalId === undefined
        ? ({ state: 'finished', outcome: refusedByDevice({ wall }) } as const)
        : undefined;
    world.device.intercept = asking;
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    expect(asks).toMatchObject({ rule: 'device', reasons: ['a link leads to a secret'], grantable: false, wall });
    expect(world.device.executed).toEqual([]);
    const wider = { kind: 'none', views: [] } as const;
    await decide(world, agent, asks, { decision: 'approved', wall: wider });
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.types()).toEqual([
      ['COMMAND_JUDGED', 'COMMAND_ISSUED'],
      ['COMMAND_JUDGED', 'ATTEMPT_ASKED'],
      ['ATTEMPT_SIGNALLED'],
      ['COMMAND_ISSUED'],
      ['COMMAND_FINISHED'],
      ['ATTEMPT_FINISHED'],
    ]);
    expect(world.device.requests.map(({ kind }) => kind)).toEqual(['run', 'stored', 'run', 'stored']);
    expect(sent(world).at(-1)).toMatchObject({ judged: { approvalId: commandAt(0), rule: 'device' }, wall: wider });
    expect(world.device.executed).toEqual([commandAt(0)]);
    expect(await world.end()).toMatchObject({ status: 'completed', used: { commands: 1 } });
    expect(await world.violations()).toEqual([]);
  });

  it('is asked about by its device once: what it refuses after that is refused', async () => {
    const world = judged('cat ./way/shadow');
    world.device.intercept = ({ kind }) =>
      kind === 'run' ? { state: 'finished', outcome: refusedByDevice(null) } : undefined;
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    expect(asks).toMatchObject({ wall: { kind: 'none', reason: expect.stringContaining('does not say') } });
    await decide(world, agent, asks, { decision: 'approved' });
    await handled;
    expect(await world.end()).toMatchObject({
      error: { code: 'APPROVAL_REQUIRED', message: 'a link leads to a secret' },
    });
    expect(await world.facts('ATTEMPT_ASKED')).toHaveLength(1);
  });

  it('does not run when nobody wants what its device asks about, and nobody is asked where the run says so', async () => {
    const no = judged('cat ./way/shadow');
    const refuses = ({ kind }: DeviceRequest) =>
      kind === 'run' ? ({ state: 'finished', outcome: refusedByDevice(null) } as const) : undefined;
    no.device.intercept = refuses;
    const agent = no.agent();
    const { handled, asks } = await asked(no, agent);
    await decide(no, agent, asks, { decision: 'rejected' });
    await handled;
    expect(await no.end()).toMatchObject({ error: { code: 'APPROVAL_REJECTED' }, used: { commands: 0 } });
    const never = judged('cat ./way/shadow', { approval: 'never' });
    never.device.intercept = refuses;
    await never.carryOut();
    expect(await never.end()).toMatchObject({ error: { code: 'APPROVAL_REQUIRED' } });
  });

  it('is told its device with what it was shown to a person, where that says no more', async () => {
    const wall = { kind: 'write', views: [], internet: true } as const;
    const world = judged('rm /tmp/x');
    const profile = profileOf({ wall: { kind: 'bwrap', views: [], runsAs: '65533' } });
    const agent = world.agent({ policy: { ...testPolicy(), wall: () => wall } });
    agent.profile = profile;
    const { handled, asks } = await asked(world, agent);
    expect(asks).toMatchObject({ wall: { ...wall, runsAs: '65533' } });
    await decide(world, agent, asks, { decision: 'approved' });
    await handled;
    expect(sent(world)[0]?.wall).toEqual(wall);
  });

  it('follows the way the run wants to be asked', async () => {
    const never = judged('rm /tmp/x', { approval: 'never' });
    await never.carryOut();
    expect(await never.end()).toMatchObject({ error: { code: 'POLICY_DENIED', message: /the run asks nobody/u } });
    const always = judged('df', { approval: 'always' });
    const agent = always.agent();
    const { handled, asks } = await asked(always, agent);
    expect(asks).toMatchObject({ command: exec('df'), class: 'read' });
    await decide(always, agent, asks, { decision: 'approved' });
    await handled;
    expect(await always.end()).toMatchObject({ status: 'completed' });
  });

  it('is stopped while it runs, and keeps what the device says', async () => {
    const world = judged('sleep 100');
    world.device.holds = true;
    world.device.soFar = execCli('half');
    await world.world.record(world.run);
    const agent = world.agent();
    const handled = agent.starts.handle(messageOf(world.commit));
    await world.device.until(() => world.device.executed.length > 0);
    await agent.control.handle(messageOf(world.run.stop('a')));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject({
      error: { code: 'CANCELLED', outcome: 'cancelled', output: { value: { stdout: 'half' } } },
    });
  });

  it('is given the outputs of others on its way to the device; what is judged and recorded names them only', async () => {
    const inputs = [{ taskId: 'b', attempt: 1 }];
    const args = { command: 'wc -l', stdin: { from: ['b'] } };
    const world = new AgentWorld([], { agent: false, arguments: args, inputs, start: { judge: true } });
    await world.agent().starts.handle(messageOf(world.run.start({ id: 'b' })));
    await world.carryOut();
    expect(await world.facts('COMMAND_JUDGED')).toMatchObject([{ command: { arguments: args } }]);
    expect(await world.facts('COMMAND_ISSUED')).toMatchObject([{ command: { arguments: args } }]);
    expect(sent(world).at(-1)).toMatchObject({
      commandId: commandAt(0),
      command: { arguments: { command: 'wc -l', stdin: 'echo b\n' } },
    });
  });

  it('is not issued when its inputs cannot be delivered whole', async () => {
    const inputs = [{ taskId: 'b', attempt: 1 }];
    const args = { command: 'wc -l', stdin: { from: ['b'] } };
    const world = new AgentWorld([], { agent: false, arguments: args, inputs, start: { judge: true } });
    world.device.respond = () => outcomeOf('COMPLETED', { ...(execCli('head') as object), stdout_bytes: 1_100_000 });
    await world.agent().starts.handle(messageOf(world.run.start({ id: 'b' })));
    await world.carryOut();
    expect(await world.types()).toEqual([['COMMAND_JUDGED', 'ATTEMPT_FINISHED']]);
    expect(await world.end()).toMatchObject({ error: { code: 'INPUT_UNAVAILABLE' } });
  });

  it('has a post-condition whose command is judged, too', async () => {
    const verify = { command: exec('mkfs x') };
    const world = judged('touch x', { verify });
    await world.carryOut();
    expect(await world.facts('COMMAND_JUDGED')).toMatchObject([
      { commandId: commandAt(0), origin: 'plan' },
      { commandId: commandAt(1), origin: 'verify', decision: 'deny' },
    ]);
    expect(world.device.executed).toEqual([commandAt(0)]);
    expect(await world.end()).toMatchObject({
      error: { code: 'POSTCONDITION_FAILED', message: expect.stringContaining('it formats a disk') },
    });
  });

  it('is not judged by who does not know the device: its rules may be about that', async () => {
    const words: string[] = [];
    const world = judged('df');
    const agent = world.agent({ policy: testPolicy(words) });
    agent.profile = undefined;
    await world.world.record(world.run);
    expect(await agent.starts.handle(messageOf(world.commit))).toMatchObject({ kind: 'retry' });
    expect([words, world.device.requests, await world.types()]).toEqual([[], [], []]);
  });

  it('has an end without a command when its run goes on before anybody decided', async () => {
    const world = judged('rm /tmp/x');
    const agent = world.agent();
    const { handled } = await asked(world, agent);
    await agent.control.handle(messageOf(world.run.failWithoutEnd('a')));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.facts('COMMAND_FINISHED')).toEqual([]);
    expect(await world.end()).toMatchObject({ error: { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' } });
  });

  it('has no result that a device could bring before it was issued', async () => {
    const world = judged('rm /tmp/x');
    const agent = world.agent();
    const { handled } = await asked(world, agent);
    const outcome = outcomeOf('COMPLETED', execCli('gone'));
    const brought = { deviceId: 'web-1', commandId: commandAt(0), outcome };
    expect(await agent.results.deliver(brought)).toEqual({ state: 'unknown' });
    agent.live.leave();
    await handled;
    expect(await world.world.attempts.endsAt(keyOf('a'))).toBe(1);
  });
});

it('an exact command that nobody judges keeps its path: one request, one commit', async () => {
  const words: string[] = [];
  const world = new AgentWorld([], { agent: false, arguments: { command: 'mkfs x' } });
  await world.carryOut({ policy: testPolicy(words) });
  expect(words).toEqual([]);
  expect(await world.types()).toEqual([['COMMAND_FINISHED', 'ATTEMPT_FINISHED']]);
  expect(sent(world)).toHaveLength(1);
  expect(sent(world)[0]?.judged).toBeUndefined();
});
