import { describe, expect, it } from '@jest/globals';
import { keyOf, messageOf } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { outcomeOf } from '../testing/device.js';
import { profileOf } from '../testing/profile.js';
import { execCli } from '../testing/run.js';
import { finish, reply } from '../testing/shell-agent.js';

const CANCELLED = { status: 'failed', error: { code: 'CANCELLED', outcome: 'cancelled' } };

describe('a stop', () => {
  it('ends the waiting for a model at once, with the output so far', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const world = new AgentWorld((_, index) => {
      if (index === 0) return reply('df');
      resolve();
      return new Promise(() => {});
    });
    const agent = world.agent();
    await world.world.record(world.run);
    const handled = agent.starts.handle(messageOf(world.commit));
    await asked;
    await agent.control.handle(messageOf(world.run.stop('a')));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject({ ...CANCELLED, error: { output: { value: { stdout: 'df\n' } } } });
    expect(world.model.requests.at(-1)?.signal.aborted).toBe(true);
  });

  it('is told to the device, whose outcome is recorded before the end', async () => {
    const world = new AgentWorld([reply('sleep 100'), finish('done')]);
    world.device.holds = true;
    world.device.soFar = execCli('half', 143);
    const agent = world.agent();
    await world.world.record(world.run);
    const handled = agent.starts.handle(messageOf(world.commit));
    await world.device.until(() => world.device.executed.length === 1);
    await agent.control.handle(messageOf(world.run.stop('a')));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'CANCELLED' }]);
    expect(await world.end()).toMatchObject({ ...CANCELLED, error: { output: { value: { stdout: 'half' } } } });
    expect(world.device.requests.map(({ kind }) => kind)).toContain('stop');
    expect(world.device.forgotten).toEqual([commandAt(1)]);
  });

  it('is what the device hears of the end of an agent that was at its screen, and of no other', async () => {
    const stops = async (tool: string): Promise<unknown[]> => {
      const click = { function: tool, arguments: { command: 'df' }, status: 'CONTINUE' as const };
      const world = new AgentWorld([reply('', { action: click }), finish('done')]);
      const agent = world.agent();
      agent.profile = profileOf({ tools: [{ name: tool, description: '', readOnly: false }] });
      await world.world.record(world.run);
      await agent.starts.handle(messageOf(world.commit));
      expect(await world.end()).toMatchObject({ status: 'completed' });
      return world.device.requests.filter(({ kind }) => kind === 'stop');
    };
    expect(await stops('click_input')).toMatchObject([{ kind: 'stop', attempt: keyOf('a') }]);
    expect(await stops('EXEC_CLI')).toEqual([]);
  });

  it('that is noticed when a command is about to be issued keeps it from ever running', async () => {
    const world = new AgentWorld([reply('df'), finish('done')]);
    let stopping: Promise<unknown> | undefined;
    const agent = world.agent({
      before: async (call) => {
        if (call !== 'attempts.append' || stopping !== undefined) return;
        stopping = world.agent({ instance: 'i2' }).control.handle(messageOf(world.run.stop('a')));
        await stopping;
      },
    });
    await world.world.record(world.run);
    expect(await agent.starts.handle(messageOf(world.commit))).toEqual({ kind: 'done' });
    expect(await world.types()).toEqual([
      ['ATTEMPT_SIGNALLED'],
      ['STEP_PLANNED', 'COMMAND_JUDGED', 'ATTEMPT_FINISHED'],
    ]);
    expect(world.device.executed).toEqual([]);
    expect(await world.end()).toMatchObject(CANCELLED);
  });

  it('that overtakes the start keeps the model from being asked', async () => {
    const world = new AgentWorld([finish('done')]);
    await world.world.record(world.run);
    const agent = world.agent();
    const stop = world.run.stop('a');
    await agent.control.handle(messageOf(stop));
    expect(await agent.starts.handle(messageOf(world.commit, 2))).toEqual({ kind: 'done' });
    expect(world.model.requests).toEqual([]);
    expect(await world.end()).toMatchObject(CANCELLED);
  });

  it('loses against an end that is there already', async () => {
    const world = new AgentWorld([finish('done')]);
    let stopping: Promise<unknown> | undefined;
    const agent = world.agent({
      before: async (call) => {
        if (call !== 'attempts.append' || stopping !== undefined) return;
        stopping = world.agent({ instance: 'i2' }).control.handle(messageOf(world.run.stop('a')));
        await stopping;
      },
    });
    await world.world.record(world.run);
    await agent.starts.handle(messageOf(world.commit));
    expect(await world.end()).toMatchObject({ status: 'completed', result: { value: 'done' } });
  });

  it('of a task that ended without its attempt closes it, open commands included', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    world.device.holds = true;
    const agent = world.agent();
    await world.world.record(world.run);
    const handled = agent.starts.handle(messageOf(world.commit));
    await world.device.until(() => world.device.executed.length === 1);
    await agent.control.handle(messageOf(world.run.failWithoutEnd('a')));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([
      { commandId: commandAt(1), state: 'OUTCOME_UNKNOWN' },
    ]);
    expect(await world.end()).toMatchObject({ error: { outcome: 'unknown' } });
    const deliver = (commandId: string) =>
      agent.results.deliver({ deviceId: 'web-1', commandId, outcome: outcomeOf('COMPLETED', execCli('late')) });
    expect(await deliver(commandAt(2))).toEqual({ state: 'unknown' });
    expect(await deliver(commandAt(1))).toEqual({ state: 'stored' });
    expect(await deliver(commandAt(1))).toEqual({ state: 'stored' });
    expect((await world.types()).at(-1)).toEqual(['COMMAND_FINISHED']);
    expect(await world.violations()).toEqual([]);
  });

  it('of the process leaves the attempt to the next one, with what the model had said', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    world.device.holds = true;
    const agent = world.agent();
    await world.world.record(world.run);
    const handled = agent.starts.handle(messageOf(world.commit));
    await world.device.until(() => world.device.executed.length === 1);
    expect(
      await agent.results.deliver({ deviceId: 'web-1', commandId: commandAt(1), outcome: outcomeOf('FAILED') }),
    ).toEqual({
      state: 'wanted',
    });
    agent.live.leave();
    expect(await handled).toMatchObject({ kind: 'retry', delayMs: 0 });
    world.device.finish(commandAt(1), outcomeOf('COMPLETED', execCli('slept')));
    await world.agent({ instance: 'i2' }).starts.handle(messageOf(world.commit, 2));
    expect(world.device.executed).toEqual([commandAt(1)]);
    expect(world.model.requests).toHaveLength(2);
    expect(await world.end()).toMatchObject({ status: 'completed' });
  });

  it('of the first owner by a takeover: it writes nothing any more', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    world.device.holds = true;
    const first = world.agent();
    await world.world.record(world.run);
    const frozen = first.starts.handle(messageOf(world.commit));
    await world.device.until(() => world.device.executed.length === 1);
    const second = world.agent({ instance: 'i2' }).starts.handle(messageOf(world.commit, 2));
    expect(await frozen).toMatchObject({ kind: 'retry' });
    world.device.finish(commandAt(1), outcomeOf('COMPLETED', execCli('slept')));
    expect(await second).toEqual({ kind: 'done' });
    expect(first.live.find(keyOf('a'))).toBeUndefined();
    expect((await world.facts('COMMAND_FINISHED')).length).toBe(1);
    expect(await world.violations()).toEqual([]);
  });
});

describe('a post-condition', () => {
  const test = { tool: 'EXEC_CLI', arguments: { command: 'test -f x' } };
  const exact = { agent: false, arguments: { command: 'df' } };

  it.each([
    ['of a command that succeeds holds', { command: test }, 'COMPLETED' as const, 0, true],
    ['of a command that fails does not', { command: test }, 'COMPLETED' as const, 1, false],
    ['of a command that was killed does not', { command: test }, 'TIMED_OUT' as const, 0, false],
    ['over its answer holds', { command: test, condition: 'result.exit_code == 0' }, 'COMPLETED' as const, 0, true],
    ['over its answer does not', { command: test, condition: 'result.stdout == "x"' }, 'COMPLETED' as const, 0, false],
  ])('%s', async (_, verify, state, exitCode, holds) => {
    for (const task of [{}, exact]) {
      const world = new AgentWorld([finish('made')], { start: { verify }, ...task });
      const { respond } = world.device;
      world.device.respond = (request) =>
        request.command.arguments['command'] === 'df' ? respond(request) : outcomeOf(state, execCli('out', exitCode));
      await world.carryOut();
      expect(await world.facts('POSTCONDITION_CHECKED')).toMatchObject([{ satisfied: holds }]);
      const end = await world.end();
      if (holds) expect(end.status).toBe('completed');
      else expect(end).toMatchObject({ error: { code: 'POSTCONDITION_FAILED', output: { value: expect.anything() } } });
    }
  });

  it('is a condition over the result where it has no command, and costs no step', async () => {
    const verify = { condition: 'result == "made"' };
    const made = new AgentWorld([finish('made')], { start: { verify } });
    await made.carryOut();
    expect(await made.types()).toEqual([['STEP_PLANNED', 'POSTCONDITION_CHECKED', 'ATTEMPT_FINISHED']]);
    expect((await made.end()).status).toBe('completed');
    const other = new AgentWorld([finish('not made')], { start: { verify } });
    await other.carryOut();
    expect(await other.end()).toMatchObject({
      error: {
        code: 'POSTCONDITION_FAILED',
        message: expect.stringContaining('is false'),
        output: { value: 'not made' },
      },
    });
  });

  it('of an agent’s task is judged by the policy, of an exact command it is not', async () => {
    const verify = { command: { tool: 'EXEC_CLI', arguments: { command: 'mkfs x' } } };
    const world = new AgentWorld([finish('made')], { start: { verify } });
    await world.carryOut();
    expect(await world.facts('COMMAND_JUDGED')).toMatchObject([{ origin: 'verify', step: 2, decision: 'deny' }]);
    expect(await world.end()).toMatchObject({ error: { code: 'POSTCONDITION_FAILED' } });
    const requested = new AgentWorld([], { start: { verify }, ...exact });
    await requested.carryOut();
    expect(await requested.facts('COMMAND_JUDGED')).toEqual([]);
    expect(requested.device.executed).toEqual([commandAt(0), commandAt(1)]);
    expect(requested.device.requests[2]).not.toHaveProperty('judged');
  });

  it('is not looked at when the work failed', async () => {
    const world = new AgentWorld([], { start: { verify: { command: test } }, ...exact });
    world.device.respond = () => outcomeOf('FAILED', execCli('no', 1));
    await world.carryOut();
    expect(world.device.executed).toEqual([commandAt(0)]);
    expect(await world.end()).toMatchObject({ error: { code: 'COMMAND_FAILED' } });
  });
});
