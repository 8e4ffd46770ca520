import { describe, expect, it } from '@jest/globals';
import { AttemptCommit, type AgentProfile } from '#proto';
import type { AgentKind, AgentProgram, AgentTask } from '#libs/device-agent';
import { dying } from '#libs/testing';
import { messageOf, type AgentOptions, type TestAgent } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { profileOf } from '../testing/profile.js';
import { finish, reply, shellAgent } from '../testing/shell-agent.js';

const tool = (name: string) => ({ name, description: '', readOnly: false });
const OTHER_TOOLS: Partial<AgentProfile> = { tools: [tool('EXEC_CLI'), tool('NEW')], hostname: 'renamed', os: 'bsd' };

/** An agent whose way depends on what the device can do: without EXEC_CLI it calls nothing. */
function pickyAgent(seen: AgentTask['device'][] = []): AgentKind {
  const agent = shellAgent();
  return {
    name: 'LinuxAgent',
    *run(task: AgentTask): AgentProgram {
      seen.push(task.device);
      const able = task.device.tools.some(({ name }) => name === 'EXEC_CLI');
      const program = agent.run(task);
      let at = program.next();
      for (;;) {
        if (at.done === true) return at.value;
        const { value: effect } = at;
        if (effect.kind === 'call-tool' && !able) {
          const ended = { kind: 'refused', by: 'device', code: 'UNKNOWN_TOOL', message: '' } as const;
          at = program.next({ kind: 'called', step: 1, index: 0, command: effect.command, ended });
        } else at = program.next(yield effect);
      }
    },
  };
}

/** A process that died right after the n-th append. */
async function diedAfterAppend(world: AgentWorld, n: number, options: AgentOptions = {}): Promise<void> {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  let appends = 0;
  let isDead = false;
  const wait = async (call: string): Promise<void> => {
    if (!isDead && call === 'attempts.append' && ++appends === n) {
      isDead = true;
      resolve();
    }
    if (isDead) await new Promise(() => {});
  };
  await world.world.record(world.run);
  void world.agent({ ...options, instance: 'dying', after: wait }).starts.handle(messageOf(world.commit));
  await died;
}

async function goOn(world: AgentWorld, options: AgentOptions = {}, change?: Partial<AgentProfile>): Promise<TestAgent> {
  const next = world.agent({ instance: 'next', ...options });
  if (change !== undefined) next.profile = profileOf(change);
  expect(await next.starts.handle(messageOf(world.commit, 2))).toEqual({ kind: 'done' });
  return next;
}

const COMPLETED = { status: 'completed', result: { value: 'done' } };

describe('an agent that is run again', () => {
  it('is told the device that it was told of, whatever the device is by now', async () => {
    for (const appends of [1, 2, 3]) {
      const world = new AgentWorld([reply('df'), reply('du'), finish('done')]);
      const seen: AgentTask['device'][] = [];
      const kinds = [pickyAgent(seen)];
      await diedAfterAppend(world, appends, { kinds });
      await goOn(world, { kinds }, appends === 1 ? { ...OTHER_TOOLS, tools: [tool('NEW')] } : OTHER_TOOLS);
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[1]).toMatchObject({ hostname: 'web-1', os: 'linux' });
      expect(world.device.executed[0]).toBe(commandAt(1));
    }
  });

  it('goes the same way when its device has lost a tool meanwhile', async () => {
    const world = new AgentWorld([reply('df'), finish('done')]);
    const kinds = [pickyAgent()];
    await diedAfterAppend(world, 1, { kinds });
    await goOn(world, { kinds }, { tools: [tool('NEW')] });
    expect(await world.end()).toMatchObject(COMPLETED);
    expect(world.device.executed).toEqual([commandAt(1)]);
  });

  it('is the agent that the device had when the attempt began', async () => {
    const kinds = [shellAgent(), shellAgent('PumpAgent')];
    const world = new AgentWorld([reply('df'), finish('done')]);
    await diedAfterAppend(world, 1, { kinds });
    await goOn(world, { kinds }, { agent: 'PumpAgent' });
    expect(await world.end()).toMatchObject(COMPLETED);
  });

  it('is told of the device in one fact, the first one, and stores it once per device', async () => {
    const world = new AgentWorld([reply('df'), reply('du'), finish('done')]);
    await world.carryOut();
    const given = (await world.facts('STEP_PLANNED')).map((fact) => fact.given);
    expect(given).toEqual([expect.objectContaining({ bytes: expect.any(Number) }), undefined, undefined]);
    expect(JSON.parse(String(Buffer.from(world.world.stored.get(given[0]?.sha256 ?? '') ?? [])))).toMatchObject({
      kind: 'LinuxAgent',
      hostname: 'web-1',
    });
    expect((await world.facts('COMMAND_JUDGED')).every((fact) => fact.given === undefined)).toBe(true);
  });

  it('is told of the device as it is when what it was told is gone, or was never stored', async () => {
    const gone = new AgentWorld([reply('df'), finish('done')]);
    await diedAfterAppend(gone, 1);
    gone.world.stored.clear();
    await goOn(gone, {}, OTHER_TOOLS);
    expect(await gone.end()).toMatchObject(COMPLETED);
    const never = new AgentWorld([finish('done')]);
    const before = (call: string) => (call === 'artifacts.put' ? Promise.reject(new Error('full')) : Promise.resolve());
    await never.carryOut({ before });
    expect(await never.end()).toMatchObject(COMPLETED);
    expect(await never.facts('STEP_PLANNED')).not.toEqual([expect.objectContaining({ given: expect.anything() })]);
  });

  it('may not leave out a command that is recorded, also where the step after it is recorded', async () => {
    for (const appends of [1, 2, 3]) {
      const world = new AgentWorld([reply('df'), reply('du'), finish('done')]);
      await diedAfterAppend(world, appends);
      await goOn(world, { kinds: [lazyAgent()] });
      expect(await world.end()).toMatchObject({ error: { code: 'NOT_DETERMINISTIC' } });
      expect(world.model.requests.length).toBeLessThan(3);
    }
  });

  it('that leaves a command behind tells the device to stop it', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    await diedAfterAppend(world, 1);
    await goOn(world, { kinds: [lazyAgent()] });
    expect(world.device.requests.map(({ kind }) => kind)).toEqual(['stop']);
  });

  it('keeps the steps that it has when the limit was lowered meanwhile', async () => {
    const world = new AgentWorld((_, index) => reply(`echo ${index}`));
    await diedAfterAppend(world, 7, { kinds: [countingAgent()] });
    await goOn(world, { stepsMax: 2, kinds: [countingAgent()] });
    expect(await world.end()).toMatchObject({ error: { code: 'STEP_LIMIT' } });
  });

  it('may name arguments without a value: they are none', async () => {
    const world = new AgentWorld([reply('df'), finish('done')]);
    const { options, died } = dying(4, 'before');
    await world.world.record(world.run);
    const kinds = [undefinedArguments()];
    void world.agent({ ...options, kinds }).starts.handle(messageOf(world.commit));
    await died;
    expect(await world.facts('COMMAND_ISSUED')).toHaveLength(1);
    await goOn(world, { kinds });
    expect(await world.end()).toMatchObject(COMPLETED);
  });
});

describe('what the log cannot hold', () => {
  it.each([
    ['a tool whose name is none', { tool: 'read file', arguments: {} }, 'tool name'],
    ['arguments that are no JSON', { tool: 'T', arguments: [] as never }, 'arguments'],
  ])('%s is told to the agent, and the attempt can still be read', async (_, command, told) => {
    const world = new AgentWorld([finish('done')]);
    const agent = shellAgent('x'.repeat(100));
    const heard: unknown[] = [];
    const kind: AgentKind = {
      name: 'LinuxAgent',
      *run(task: AgentTask): AgentProgram {
        heard.push(yield { kind: 'call-tool', command });
        return yield* agent.run(task);
      },
    };
    await world.carryOut({ kinds: [kind] });
    expect(heard).toMatchObject([{ ended: { kind: 'refused', code: 'INVALID_COMMAND' } }]);
    expect(JSON.stringify(heard)).toContain(told);
    expect(await world.types()).toEqual([['STEP_PLANNED', 'ATTEMPT_FINISHED']]);
    expect(await world.end()).toMatchObject(COMPLETED);
    for (const { commit } of await world.world.attempt('a')) AttemptCommit.parse(commit);
  });

  it('ends the attempt when it is not even JSON', async () => {
    const world = new AgentWorld([]);
    const command = { tool: 'T', arguments: { n: 1n as never } };
    const run = function* (): AgentProgram {
      yield { kind: 'call-tool', command };
      throw new Error('it went on');
    };
    await world.carryOut({ kinds: [{ name: 'LinuxAgent', run }] });
    expect(await world.end()).toMatchObject({
      error: { code: 'AGENT_ERROR', message: expect.stringContaining('BigInt') },
    });
  });
});

describe('a program that never comes to an end', () => {
  it('of its own ends the attempt', async () => {
    const world = new AgentWorld([]);
    const kind: AgentKind = {
      name: 'LinuxAgent',
      *run(): AgentProgram {
        for (;;) yield { kind: 'read-output', step: 1, index: 0, stream: 'stdout', fromLine: 1, lines: 1 };
      },
    };
    await world.carryOut({ kinds: [kind] });
    expect(await world.end()).toMatchObject({ error: { code: 'AGENT_ERROR' } });
  });
});

/** Another version of the agent: it calls no tool. */
function lazyAgent(): AgentKind {
  const agent = shellAgent();
  return {
    name: 'LinuxAgent',
    *run(task: AgentTask): AgentProgram {
      const program = agent.run(task);
      let at = program.next();
      for (;;) {
        if (at.done === true) return at.value;
        const { value: effect } = at;
        if (effect.kind === 'call-tool') {
          const ended = { kind: 'refused', by: 'device', code: 'UNKNOWN_TOOL', message: '' } as const;
          at = program.next({ kind: 'called', step: 1, index: 0, command: effect.command, ended });
        } else at = program.next(yield effect);
      }
    },
  };
}

/** Ends by itself when its task allows no more steps, as agents made from the template do. */
function countingAgent(): AgentKind {
  const agent = shellAgent();
  return {
    name: 'LinuxAgent',
    *run(task: AgentTask): AgentProgram {
      const program = agent.run(task);
      let [at, steps] = [program.next(), 0];
      for (;;) {
        if (at.done === true) return at.value;
        if (at.value.kind === 'ask-model' && ++steps > task.stepsMax) {
          return { kind: 'failed', code: 'STEP_LIMIT', message: 'no more', result: '', notes: [] };
        }
        at = program.next(yield at.value);
      }
    },
  };
}

function undefinedArguments(): AgentKind {
  const agent = shellAgent();
  return {
    name: 'LinuxAgent',
    *run(task: AgentTask): AgentProgram {
      const program = agent.run(task);
      let at = program.next();
      for (;;) {
        if (at.done === true) return at.value;
        const { value: effect } = at;
        const named = { cwd: undefined as unknown as string };
        at = program.next(
          yield effect.kind === 'call-tool'
            ? { ...effect, command: { ...effect.command, arguments: { ...effect.command.arguments, ...named } } }
            : effect,
        );
      }
    },
  };
}
