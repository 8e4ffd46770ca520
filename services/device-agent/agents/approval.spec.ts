import { describe, expect, it } from '@jest/globals';
import type { Ask, RunCommit } from '#proto';
import { messageOf, type TestAgent } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { finish, reply } from '../testing/shell-agent.js';

const RM = 'rm /tmp/x';
const MV = { tool: 'EXEC_CLI', arguments: { command: 'mv /tmp/x /tmp/y' } };
const FORMAT = { tool: 'EXEC_CLI', arguments: { command: 'mkfs /dev/sda' } };
const ask = (question: string) =>
  reply('', { action: { function: 'ASK', arguments: { question }, status: 'CONTINUE' } });

type Said = Parameters<AgentWorld['run']['decide']>[0];

/** The attempt begun, and what it asks a person. */
async function asked(
  world: AgentWorld,
  agent: TestAgent = world.agent(),
): Promise<{ handled: Promise<unknown>; asks: Ask }> {
  await world.world.record(world.run);
  const handled = agent.starts.handle(messageOf(world.commit));
  return { handled, asks: await world.asked() };
}

/** As the orchestrator writes it down. */
async function record(world: AgentWorld, asks: Ask, said: Omit<Said, 'approvalId'>): Promise<RunCommit> {
  world.run.ask(asks);
  const decided = world.run.decide({ approvalId: asks.approvalId, ...said });
  await world.world.record(world.run);
  return decided;
}

const shown = (world: AgentWorld, turn: number): string => JSON.stringify(world.model.requests[turn]?.messages);

describe('a command that a person must approve', () => {
  it('is asked for with all that a person has to know, on the subject that the orchestrator reads', async () => {
    const world = new AgentWorld([reply(RM, { thought: 'it is in the way', plan: ['remove it'] }), finish('done')]);
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    expect(await world.types()).toEqual([['STEP_PLANNED', 'COMMAND_JUDGED', 'ATTEMPT_ASKED']]);
    expect(asks).toMatchObject({
      kind: 'approval',
      approvalId: commandAt(1),
      command: { arguments: { command: RM } },
      class: 'destructive',
      rule: 'program.rm',
      reasons: ['it deletes'],
      agent: 'LinuxAgent',
      step: 1,
      thought: 'it is in the way',
      plan: ['remove it'],
      deviceId: 'web-1',
      // A quarter of an hour from now would be later than the end of the attempt.
      expiresAt: '2026-11-20T10:10:00.000Z',
    });
    expect(world.device.requests).toEqual([]);
    agent.live.leave();
    await handled;
  });

  it.each<[string, Omit<Said, 'approvalId'>, { executed: string[]; told: RegExp }]>([
    ['runs when it is approved', { decision: 'approved' }, { executed: [commandAt(1)], told: /finished.*rm/ }],
    [
      'is another one when it is changed',
      { decision: 'edited', command: MV },
      { executed: [commandAt(1)], told: /finished.*mv/ },
    ],
    [
      'is judged again when it is changed: deny still denies',
      { decision: 'edited', command: FORMAT },
      { executed: [], told: /refused.*policy.*formats a disk/ },
    ],
    [
      'does not run when it is changed into nothing',
      { decision: 'edited' },
      { executed: [], told: /refused.*person.*APPROVAL_REJECTED/ },
    ],
    [
      'does not run when it is rejected',
      { decision: 'rejected', note: 'use mv' },
      { executed: [], told: /refused.*person.*APPROVAL_REJECTED.*use mv/ },
    ],
    [
      'does not run when nobody decides in time',
      { decision: 'expired' },
      { executed: [], told: /refused.*person.*APPROVAL_EXPIRED/ },
    ],
  ])('%s, and the agent is told', async (_, said, { executed, told }) => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    await agent.control.handle(messageOf(await record(world, asks, said)));
    expect(await handled).toEqual({ kind: 'done' });
    expect(world.device.executed).toEqual(executed);
    expect(shown(world, 1)).toMatch(told);
    expect(await world.violations()).toEqual([]);
    expect(await world.end()).toMatchObject({ status: 'completed' });
    for (const { approvalId } of await world.facts('COMMAND_ISSUED')) expect(approvalId).toBe(commandAt(1));
    for (const request of world.device.requests) {
      if (request.kind === 'run') expect(request.judged).toMatchObject({ approvalId: commandAt(1) });
    }
  });

  it('goes on in the process that has it when another one heard of the decision', async () => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    const { handled, asks } = await asked(world);
    await world
      .agent({ instance: 'i2' })
      .control.handle(messageOf(await record(world, asks, { decision: 'approved' })));
    expect(await handled).toEqual({ kind: 'done' });
    expect(world.device.executed).toEqual([commandAt(1)]);
  });

  it('is decided once, however often the decision is delivered', async () => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    const decided = messageOf(await record(world, asks, { decision: 'approved' }));
    await Promise.all([agent, agent, world.agent({ instance: 'i2' })].map(({ control }) => control.handle(decided)));
    await handled;
    await agent.control.handle(decided);
    expect(await world.facts('ATTEMPT_SIGNALLED')).toHaveLength(1);
    expect(world.device.executed).toEqual([commandAt(1)]);
  });

  it('goes on when it was decided before the process that asks could look', async () => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    let deciding: Promise<unknown> | undefined;
    const agent = world.agent({
      after: async (call) => {
        const [asks] = await world.facts('ATTEMPT_ASKED');
        if (call !== 'attempts.append' || deciding !== undefined || asks === undefined) return;
        const decided = record(world, asks, { decision: 'approved' });
        deciding = decided.then((commit) => world.agent({ instance: 'i2' }).control.handle(messageOf(commit)));
        await deciding;
      },
    });
    await world.world.record(world.run);
    expect(await agent.starts.handle(messageOf(world.commit))).toEqual({ kind: 'done' });
    expect(world.device.executed).toEqual([commandAt(1)]);
  });

  it('stays approved when the grant is taken back later', async () => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    await agent.control.handle(messageOf(await record(world, asks, { decision: 'approved' })));
    const revoked = world.run.decide({ approvalId: asks.approvalId, decision: 'revoked' });
    await agent.control.handle(messageOf(revoked));
    await handled;
    expect(await world.facts('ATTEMPT_SIGNALLED')).toHaveLength(1);
  });

  it('gives its slot back while a person thinks', async () => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    const agent = world.agent({ attemptsMax: 1 });
    const { handled, asks } = await asked(world, agent);
    while (agent.slots.lent === 0) await new Promise((resolve) => void setImmediate(resolve));
    expect([agent.slots.taken, agent.slots.lent]).toEqual([0, 1]);
    await agent.starts.handle(messageOf(world.run.start({ id: 'b' })));
    expect(world.device.executed).toHaveLength(1);
    await agent.control.handle(messageOf(await record(world, asks, { decision: 'approved' })));
    await handled;
    expect([agent.slots.taken, agent.slots.lent]).toEqual([0, 0]);
  });

  it('is given up when the attempt is stopped', async () => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    const agent = world.agent();
    const { handled } = await asked(world, agent);
    await agent.control.handle(messageOf(world.run.stop('a')));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject({ error: { code: 'CANCELLED', outcome: 'cancelled' } });
    expect(world.device.executed).toEqual([]);
  });

  it('is given up when the device is lost', async () => {
    const world = new AgentWorld([reply(RM), finish('done')]);
    const agent = world.agent();
    const { handled } = await asked(world, agent);
    agent.state = {
      deviceId: 'web-1',
      lost: true,
      connected: false,
      sessionId: 'session-1',
      connectedAt: '2026-11-20T09:00:00.000Z',
    };
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject({ error: { code: 'DEVICE_LOST' } });
  });
});

describe('the way a run wants to be asked', () => {
  it('always: every command is asked for that is not denied', async () => {
    const world = new AgentWorld([reply('df'), reply('mkfs x'), finish('done')], { start: { approval: 'always' } });
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    expect(asks).toMatchObject({ command: { arguments: { command: 'df' } }, class: 'read' });
    await agent.control.handle(messageOf(await record(world, asks, { decision: 'approved' })));
    await handled;
    expect((await world.facts('COMMAND_JUDGED')).map(({ decision }) => decision)).toEqual(['approve', 'deny']);
    expect(world.device.executed).toEqual([commandAt(1)]);
  });

  it('never: what would be asked for is denied', async () => {
    const world = new AgentWorld([reply(RM), ask('may I?'), finish('done')], { start: { approval: 'never' } });
    await world.carryOut();
    expect(await world.facts('ATTEMPT_ASKED')).toEqual([]);
    expect(world.device.executed).toEqual([]);
    expect(shown(world, 1)).toContain('POLICY_DENIED');
    expect(shown(world, 2)).toContain('the run asks nobody');
  });
});

describe('a question to a person', () => {
  it.each<[string, Omit<Said, 'approvalId'>, RegExp]>([
    ['is answered', { decision: 'answered', answer: 'the second disk' }, /the second disk/],
    ['is not answered in time', { decision: 'expired' }, /"text\\":null.*nobody answered in time/],
    ['is refused', { decision: 'rejected', note: 'none of your business' }, /"text\\":null.*none of your business/],
  ])('%s, and the agent goes on with that', async (_, said, told) => {
    const world = new AgentWorld([ask('which disk?'), finish('done')]);
    const agent = world.agent();
    const { handled, asks } = await asked(world, agent);
    expect(asks).toMatchObject({ kind: 'question', question: 'which disk?', approvalId: commandAt(1) });
    await agent.control.handle(messageOf(await record(world, asks, said)));
    expect(await handled).toEqual({ kind: 'done' });
    expect(shown(world, 1)).toMatch(told);
    expect(await world.types()).toEqual([
      ['STEP_PLANNED', 'ATTEMPT_ASKED'],
      ['ATTEMPT_SIGNALLED'],
      ['STEP_PLANNED', 'ATTEMPT_FINISHED'],
    ]);
  });

  it('is not asked again by who goes on with the attempt', async () => {
    const world = new AgentWorld([ask('which disk?'), finish('done')]);
    const first = world.agent();
    const { handled, asks } = await asked(world, first);
    first.live.leave();
    expect(await handled).toMatchObject({ kind: 'retry' });
    const next = world.agent({ instance: 'i2' });
    const going = next.starts.handle(messageOf(world.commit, 2));
    await next.control.handle(messageOf(await record(world, asks, { decision: 'answered', answer: 'sdb' })));
    expect(await going).toEqual({ kind: 'done' });
    expect(await world.facts('ATTEMPT_ASKED')).toHaveLength(1);
    expect(world.model.requests).toHaveLength(2);
  });
});
