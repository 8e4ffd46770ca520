import { describe, expect, it } from '@jest/globals';
import { LIMITS, type Json } from '#proto';
import { messageOf, keyOf, TestAgent } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { outcomeOf } from '../testing/device.js';
import { profileOf } from '../testing/profile.js';
import { execCli, SESSION_ID } from '../testing/run.js';
import { fail, finish, reply } from '../testing/shell-agent.js';

const ISSUED = ['STEP_PLANNED', 'COMMAND_JUDGED', 'COMMAND_ISSUED'];
const DONE = ['COMMAND_FINISHED'];

/** What the model was shown in its n-th turn. */
const shown = (world: AgentWorld, turn: number): string => JSON.stringify(world.model.requests[turn]?.messages);

describe('an agent that works on a device', () => {
  it('takes one commit before each effect and one after, and one for its end', async () => {
    const world = new AgentWorld([reply('df -h'), reply('du -sh /var'), finish('two disks')]);
    expect(await world.carryOut()).toEqual({ kind: 'done' });
    expect(await world.types()).toEqual([ISSUED, DONE, ISSUED, DONE, ['STEP_PLANNED', 'ATTEMPT_FINISHED']]);
    expect(await world.end()).toEqual({
      status: 'completed',
      result: { value: 'two disks' },
      used: { llmCalls: 3, tokens: 330, commands: 2, costUsd: 0 },
    });
    expect(world.device.executed).toEqual([commandAt(1), commandAt(2)]);
    expect(world.device.forgotten).toEqual([commandAt(1), commandAt(2)]);
    expect(await world.violations()).toEqual([]);
    expect(shown(world, 1)).toContain('df -h');
  });

  it('writes the fact before it acts: nothing is sent that is not recorded', async () => {
    const world = new AgentWorld([reply('df -h'), finish('done')]);
    const calls: string[] = [];
    await world.carryOut({ before: async (call) => void calls.push(call) });
    const noted = calls.filter((call) => !call.startsWith('attempts.endsAt'));
    expect(noted).toEqual([
      'artifacts.put',
      'model',
      'attempts.append',
      'ask run',
      'attempts.append',
      'tell stored',
      'model',
      'attempts.append',
    ]);
  });

  it('names the session of now, the verdict, and the instant after which nobody may start it', async () => {
    const world = new AgentWorld([reply('tee /tmp/x'), finish('done')]);
    await world.carryOut();
    expect(world.device.requests[0]).toMatchObject({
      kind: 'run',
      commandId: commandAt(1),
      sessionId: SESSION_ID,
      journalId: 'journal-1',
      judged: { class: 'write', decision: 'log', rule: 'program.tee' },
      notAfter: '2026-11-20T10:10:00.000Z',
    });
    expect(await world.facts('COMMAND_ISSUED')).toMatchObject([{ sessionId: SESSION_ID, journalId: 'journal-1' }]);
  });

  it('goes on with the session that the device has after it came back', async () => {
    const world = new AgentWorld([reply('one'), reply('two'), finish('done')]);
    await world.world.record(world.run);
    const agent = world.agent({
      after: async (call) => {
        if (call !== 'ask run') return;
        const connectedAt = '2026-11-20T10:00:30.000Z';
        agent.profile = profileOf({ session: { sessionId: 's2', gateway: 'g2', journalId: 'journal-1', connectedAt } });
      },
    });
    await agent.starts.handle(messageOf(world.commit));
    const issued = await world.facts('COMMAND_ISSUED');
    expect(issued.map(({ sessionId }) => sessionId)).toEqual([SESSION_ID, 's2']);
  });

  it('is told that a command failed, and may do something else', async () => {
    const world = new AgentWorld([reply('false'), reply('true'), finish('recovered')]);
    await world.carryOut();
    expect(shown(world, 1)).toContain('exit_code');
    expect(await world.end()).toMatchObject({ status: 'completed', result: { value: 'recovered' } });
  });

  it('that says FAIL has failed, with what it says and what it noted', async () => {
    const world = new AgentWorld([reply('df', { notes: ['/var is full'] }), fail('there is no such disk')]);
    await world.carryOut();
    expect(await world.end()).toMatchObject({
      status: 'failed',
      error: {
        code: 'AGENT_FAILED',
        outcome: 'failed',
        message: 'there is no such disk',
        output: { value: 'there is no such disk' },
      },
    });
  });

  it('whose notes are kept with its end', async () => {
    const world = new AgentWorld([finish('done', { notes: ['/var is full'] })]);
    await world.carryOut();
    expect(await world.end()).toMatchObject({ status: 'completed', notes: ['/var is full'] });
  });

  it('that throws ends the attempt and says so', async () => {
    const world = new AgentWorld([reply('x')]);
    const run = () => {
      throw new Error('no template');
    };
    await world.carryOut({ kinds: [{ name: 'LinuxAgent', run }] });
    expect(await world.end()).toMatchObject({
      error: { code: 'AGENT_ERROR', message: expect.stringContaining('no template') },
    });
  });

  it('that never ends is ended at the step limit, with its last output', async () => {
    const world = new AgentWorld((_, index) => reply(`echo ${index}`));
    await world.carryOut({ stepsMax: 3 });
    expect(world.model.requests).toHaveLength(3);
    expect(await world.end()).toMatchObject({
      error: { code: 'STEP_LIMIT', output: { value: { stdout: 'echo 2\n' } } },
    });
  });

  it('gets a boundary in each call that nobody could have known', async () => {
    const world = new AgentWorld([reply('a'), finish('done')]);
    const agent = world.agent();
    await world.world.record(world.run);
    await agent.starts.handle(messageOf(world.commit));
    expect(new Set(agent.boundaries).size).toBe(2);
    expect(shown(world, 0)).toContain(agent.boundaries[0]);
    expect(shown(world, 1)).toContain(agent.boundaries[1]);
  });

  it('says what it thinks to people who watch, under the id of the command that follows', async () => {
    const world = new AgentWorld([reply('a', { thought: 'first the disks' }), finish('done')]);
    const agent = world.agent();
    await world.world.record(world.run);
    await agent.starts.handle(messageOf(world.commit));
    expect(agent.said[0]).toEqual({
      commandId: commandAt(1),
      deviceId: 'web-1',
      stream: 'thought',
      offset: 0,
      text: 'first the disks',
    });
  });

  it('reads on in an output that is too long for an event', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}`).join('\n');
    const read = { action: { function: 'READ', arguments: {}, status: 'CONTINUE' as const } };
    const world = new AgentWorld([reply('journalctl'), reply('', read), finish('done')]);
    world.device.respond = () => outcomeOf('COMPLETED', execCli(lines));
    await world.carryOut();
    expect(shown(world, 2)).toContain('line 1\\\\nline 2\\\\nline 3');
    expect(shown(world, 2)).toContain('20000');
  });

  it('is told that there is no such tool, without a person being asked', async () => {
    const world = new AgentWorld([
      reply('', { action: { function: 'FORMAT_ALL', arguments: {}, status: 'CONTINUE' } }),
      finish('understood'),
    ]);
    await world.carryOut();
    expect(world.device.requests).toEqual([]);
    expect(shown(world, 1)).toContain('UNKNOWN_TOOL');
    expect(await world.facts('COMMAND_JUDGED')).toMatchObject([{ decision: 'deny', rule: 'no-such-tool' }]);
  });

  it('is told that the device refused, and goes on', async () => {
    const world = new AgentWorld([reply('x'), finish('understood')]);
    world.device.intercept = ({ kind }) =>
      kind === 'run' ? { state: 'refused', code: 'POLICY_DENIED', message: 'not on this machine' } : undefined;
    await world.carryOut();
    expect(shown(world, 1)).toMatch(/refused.*device.*POLICY_DENIED/);
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ refused: true, error: { code: 'POLICY_DENIED' } }]);
    expect(await world.end()).toMatchObject({ status: 'completed' });
  });

  it('is told when nobody can say whether a command ran', async () => {
    const world = new AgentWorld([reply('x'), finish('understood')]);
    world.device.intercept = ({ kind }) =>
      kind === 'run' ? { state: 'refused', code: 'OUTCOME_UNKNOWN', message: 'another journal' } : undefined;
    await world.carryOut();
    expect(shown(world, 1)).toContain('OUTCOME_UNKNOWN');
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'OUTCOME_UNKNOWN' }]);
  });

  it('whose device is lost ends so, and its open command has no outcome', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    world.device.holds = true;
    const agent = world.agent();
    await world.world.record(world.run);
    const handled = agent.starts.handle(messageOf(world.commit));
    await world.device.until(() => world.device.executed.length === 1);
    agent.live.find(keyOf('a'))?.interrupt('lost');
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.types()).toEqual([ISSUED, ['COMMAND_FINISHED', 'ATTEMPT_FINISHED']]);
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'OUTCOME_UNKNOWN' }]);
    expect(await world.end()).toMatchObject({ error: { code: 'DEVICE_LOST', outcome: 'device_lost' } });
  });

  it('is left to others by a process that serves no such agent, or has no model', async () => {
    const world = new AgentWorld([finish('done')]);
    expect(await world.carryOut({ kinds: [] })).toMatchObject({ kind: 'retry' });
    expect(await world.types()).toEqual([]);
    expect(await world.carryOut({ instance: 'i2' }, 2)).toEqual({ kind: 'done' });
    expect((await world.end()).status).toBe('completed');
  });
});

describe('what a model said', () => {
  it('is kept whole where it does not fit into an event', async () => {
    const world = new AgentWorld([finish('x'.repeat(150_000))]);
    await world.carryOut();
    const [planned] = await world.facts('STEP_PLANNED');
    const [call] = planned?.calls ?? [];
    expect(call?.reply?.length).toBeLessThan(10_000);
    expect(world.world.stored.has(call?.replyArtifact?.sha256 ?? '')).toBe(true);
    const end = await world.end();
    if (end.status !== 'completed') throw new Error('it failed');
    expect(end.result).toMatchObject({ cut: [''], artifact: { bytes: 150_002 } });
    const commits = await world.world.attempt('a');
    for (const { commit } of commits) expect(JSON.stringify(commit).length).toBeLessThan(LIMITS.commitBytesMax);
  });

  it('and was asked is kept before an event names it, unless that is switched off', async () => {
    const order: string[] = [];
    const world = new AgentWorld([finish('done')]);
    await world.carryOut({ keepPrompts: true, before: async (call) => void order.push(call) });
    const [planned] = await world.facts('STEP_PLANNED');
    const artifact = planned?.calls[0]?.prompt;
    expect(Buffer.from(world.world.stored.get(artifact?.sha256 ?? '') ?? []).toString()).toContain('look at the disks');
    expect(order.slice(1, 4)).toEqual(['artifacts.put', 'model', 'attempts.append']);
    const without = new AgentWorld([finish('done')]);
    await without.carryOut({ keepPrompts: false });
    expect([...without.world.stored.values()].map(String).join('')).not.toContain('look at the disks');
  });

  it('is recorded although its prompt could not be stored', async () => {
    const world = new AgentWorld([finish('done')]);
    const before = (call: string) =>
      call === 'artifacts.put' ? Promise.reject(new Error('no space')) : Promise.resolve();
    await world.carryOut({ keepPrompts: true, before });
    const [planned] = await world.facts('STEP_PLANNED');
    expect(planned?.calls[0]).not.toHaveProperty('prompt');
    expect((await world.end()).status).toBe('completed');
  });

  it('is repaired where no hash could be made of it', async () => {
    const world = new AgentWorld([reply('echo \ud800'), finish('done \udfff')]);
    await world.carryOut();
    expect(await world.violations()).toEqual([]);
    expect(await world.end()).toMatchObject({ status: 'completed' });
  });
});

describe('a budget', () => {
  const budget = (change: object) => ({ start: { budget: change } });

  it.each([
    ['model calls', { llmCalls: 2 }, 2, 2],
    ['tokens', { tokens: 500 }, 2, 2],
    ['commands', { commands: 1 }, 2, 1],
  ])('of %s ends the attempt before it would be exceeded', async (_, bound, asked, executed) => {
    const world = new AgentWorld((__, index) => reply(`echo ${index}`), budget(bound));
    await world.carryOut();
    expect(world.model.requests).toHaveLength(asked);
    expect(world.device.executed).toHaveLength(executed);
    expect(await world.end()).toMatchObject({ status: 'failed', error: { code: 'BUDGET_EXHAUSTED' } });
    expect((await world.end()).used).toMatchObject({ commands: executed });
  });

  it('of an exact command counts it', async () => {
    const world = new AgentWorld([]);
    const start = world.run.start({ id: 'b', start: { budget: { commands: 5 } } });
    await world.agent().starts.handle(messageOf(start));
    const [commit] = await world.world.attempt('b');
    expect(commit?.commit.events[1]).toMatchObject({
      data: { status: 'completed', used: { commands: 1, llmCalls: 0 } },
    });
  });
});

describe('inputs', () => {
  it('of an agent are what its predecessors answered; what it finished with is the input of others as it is', async () => {
    const world = new AgentWorld([finish('two disks\nare full')], { inputs: [{ taskId: 'p', attempt: 1 }] });
    const agent = new TestAgent(world.world, { model: world.model });
    await agent.starts.handle(messageOf(world.run.start({ id: 'p', arguments: { command: 'lsblk' } })));
    await world.carryOut();
    expect(shown(world, 0)).toContain('lsblk');
    const next = {
      id: 'n',
      arguments: { command: 'cat', stdin: { from: ['a'] } },
      inputs: [{ taskId: 'a', attempt: 1 }],
    };
    await agent.starts.handle(messageOf(world.run.start(next)));
    expect(world.device.requests.findLast(({ kind }) => kind === 'run')).toMatchObject({
      command: { arguments: { stdin: 'two disks\nare full' } },
    });
  });

  const read = (args: Record<string, Json>) =>
    reply('', { action: { function: 'READ_INPUT', arguments: args, status: 'CONTINUE' } });
  /** What the agent was shown of what it read in a result that no event holds. */
  async function reading(args: Record<string, Json>, result: Json): Promise<string> {
    const world = new AgentWorld([read(args), finish('done')], {
      inputs: [{ taskId: 'p', attempt: 1, field: 'stdout' }],
    });
    const agent = new TestAgent(world.world);
    world.device.respond = () => outcomeOf('COMPLETED', result);
    await agent.starts.handle(messageOf(world.run.start({ id: 'p' })));
    await world.carryOut();
    expect(await world.end()).toMatchObject({ status: 'completed' });
    return shown(world, 1);
  }

  it('are read on in, whole, by line, by text and by byte, and by field', async () => {
    const lines = Array.from({ length: 90_000 }, (_, index) => `line ${index + 1}`).join('\n');
    const result = { ...(execCli(lines) as object), stderr: 'warned' };
    expect(await reading({ task: 'p', from_line: 45_000, lines: 2 }, result)).toContain('line 45000\\\\nline 45001');
    expect(await reading({ task: 'p', containing: '77777' }, result)).toContain('line 77777');
    expect(await reading({ task: 'p', from_byte: lines.length - 5 }, result)).toContain('90000');
    expect(await reading({ task: 'p', field: 'stderr' }, result)).toContain('warned');
    expect(await reading({ task: 'q' }, result)).toContain('there is no input');
  });

  it('of which nobody has the whole say so when they are read', async () => {
    const cut = { ...(execCli('head') as object), stdout_bytes: 900, artifact_error: 'stdout: the disk was full' };
    expect(await reading({ task: 'p' }, cut)).toContain('the disk was full');
  });

  it('that are gone end the attempt', async () => {
    const world = new AgentWorld([finish('done')], { inputs: [{ taskId: 'p', attempt: 1 }] });
    const agent = new TestAgent(world.world);
    world.device.respond = () => outcomeOf('COMPLETED', execCli('x'.repeat(50_000)));
    await agent.starts.handle(messageOf(world.run.start({ id: 'p' })));
    world.world.stored.clear();
    await world.carryOut();
    expect(await world.end()).toMatchObject({ error: { code: 'INPUT_UNAVAILABLE' } });
  });
});
