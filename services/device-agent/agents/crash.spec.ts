import { describe, expect, it } from '@jest/globals';
import type { AgentKind, AgentProgram, AgentTask } from '#libs/device-agent';
import type { ModelRequest, Scripted } from '#libs/llm';
import { dying } from '#libs/testing';
import { messageOf } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { outcomeOf } from '../testing/device.js';
import { execCli, type TaskLike } from '../testing/run.js';
import { finish, reply, shellAgent } from '../testing/shell-agent.js';

/** The same turn gets the same answer, whoever asks; the scripts of a process that was killed go on with the next one. */
const byTurn =
  (replies: readonly Scripted[]) =>
  ({ turn }: ModelRequest): Scripted | undefined =>
    replies[Number(turn.split('.').at(-1)) - 1];

interface Story {
  readonly replies: readonly Scripted[];
  readonly task?: Partial<TaskLike>;
  /** What a person says to the first thing that is asked. */
  readonly decision?: 'approved' | 'edited' | 'rejected';
  readonly executed: readonly string[];
  readonly end: object;
  readonly keepPrompts?: true;
  readonly longOutput?: true;
}

const VERIFY = { start: { verify: { command: { tool: 'EXEC_CLI', arguments: { command: 'test -f x' } } } } };

const STORIES: Record<string, Story> = {
  'two steps with long output': {
    replies: [reply('df -h'), reply('false'), finish('two disks')],
    executed: [commandAt(1), commandAt(2)],
    end: { status: 'completed', result: { value: 'two disks' } },
    keepPrompts: true,
    longOutput: true,
  },
  'a step that a person approves': {
    replies: [reply('rm /tmp/x'), finish('removed')],
    decision: 'approved',
    executed: [commandAt(1)],
    end: { status: 'completed', result: { value: 'removed' } },
  },
  'a step that a person changes': {
    replies: [reply('rm /tmp/x'), finish('moved')],
    decision: 'edited',
    executed: [commandAt(1)],
    end: { status: 'completed', result: { value: 'moved' } },
  },
  'a step that a person rejects': {
    replies: [reply('rm /tmp/x'), finish('left alone')],
    decision: 'rejected',
    executed: [],
    end: { status: 'completed', result: { value: 'left alone' } },
  },
  'a post-condition of an agent': {
    replies: [reply('touch x'), finish('made')],
    task: VERIFY,
    executed: [commandAt(1), commandAt(3)],
    end: { status: 'completed', result: { value: 'made' } },
  },
  'an exact command that is judged': {
    replies: [],
    task: { agent: false, start: { judge: true } },
    executed: [commandAt(0)],
    end: { status: 'completed', result: { value: { exit_code: 0 } } },
  },
  'an exact command that is judged, asked for and verified': {
    replies: [],
    task: { agent: false, arguments: { command: 'rm /tmp/x' }, start: { judge: true, ...VERIFY.start } },
    decision: 'edited',
    executed: [commandAt(0), commandAt(1)],
    end: { status: 'completed' },
  },
  'an exact command that is judged and rejected': {
    replies: [],
    task: { agent: false, arguments: { command: 'rm /tmp/x' }, start: { judge: true } },
    decision: 'rejected',
    executed: [],
    end: { status: 'failed', error: { code: 'APPROVAL_REJECTED' } },
  },
  'a post-condition of an exact command': {
    replies: [],
    task: { ...VERIFY, agent: false },
    executed: [commandAt(0), commandAt(1)],
    end: { status: 'completed' },
  },
};

/** The world after the story was interrupted at the n-th call, and gone on with by another process. */
async function interrupted(
  story: Story,
  n: number,
  when: 'before' | 'after',
): Promise<{ world: AgentWorld; at: string }> {
  const world = new AgentWorld(byTurn(story.replies), story.task ?? {});
  world.device.respond = ({ command }) =>
    outcomeOf(
      'COMPLETED',
      execCli(`${JSON.stringify(command.arguments)}${'x'.repeat(story.longOutput === true ? 30_000 : 0)}`),
    );
  const { options, died } = dying(n, when);
  const { keepPrompts = false } = story;
  await world.world.record(world.run);
  const first = world.agent({ ...options, keepPrompts });
  const started = first.starts.handle(messageOf(world.commit));
  const person = decideOnce(world, story);
  const at = await Promise.race([started.then(() => 'nothing'), died]);
  const next = world.agent({ instance: 'next', keepPrompts });
  expect(await next.starts.handle(messageOf(world.commit, 2))).toEqual({ kind: 'done' });
  await person;
  return { world, at };
}

/** A person who decides as soon as something is asked, which a third process hears of. */
async function decideOnce(world: AgentWorld, { decision }: Story): Promise<void> {
  if (decision === undefined) return;
  const ask = await world.asked();
  const command = { tool: 'EXEC_CLI', arguments: { command: 'mv /tmp/x /tmp/y' } };
  world.run.ask(ask);
  const decided = world.run.decide({ approvalId: ask.approvalId, decision, ...(decision === 'edited' && { command }) });
  await world.world.record(world.run);
  await world.agent({ instance: 'signals' }).control.handle(messageOf(decided));
}

describe.each(Object.entries(STORIES))('%s', (_, story) => {
  it.each(['before', 'after'] as const)('ends the same when the process dies %s any of its calls', async (when) => {
    const places = new Set<string>();
    for (let n = 1; ; n++) {
      const { world, at } = await interrupted(story, n, when);
      places.add(at);
      const seen = `${when} ${at} (${n})`;
      expect([seen, await world.end()]).toMatchObject([seen, story.end]);
      expect([seen, world.device.executed]).toEqual([seen, story.executed]);
      expect([seen, await world.violations()]).toEqual([seen, []]);
      expect([seen, await doubled(world)]).toEqual([seen, []]);
      expect([seen, new Set(world.device.forgotten)]).toEqual([seen, new Set(story.executed)]);
      if (at === 'nothing') break;
    }
    expect(places.size).toBeGreaterThan(3);
  });
});

/** Facts that may be there once only, and turns whose reply was stored and that were asked again all the same. */
async function doubled(world: AgentWorld): Promise<string[]> {
  const once = ['COMMAND_ISSUED', 'COMMAND_FINISHED', 'ATTEMPT_ASKED'] as const;
  const ids: string[] = [];
  for (const type of once) {
    for (const fact of await world.facts(type as 'COMMAND_ISSUED')) {
      ids.push(
        `${type} ${'commandId' in fact ? fact.commandId : String((fact as { approvalId?: string }).approvalId)}`,
      );
    }
  }
  const steps = (await world.facts('STEP_PLANNED')).map(({ step }) => `step ${step}`);
  const all = [...ids, ...steps];
  return all.filter((id, index) => all.indexOf(id) !== index);
}

describe('a reply that was stored', () => {
  it.each(['before', 'after'] as const)('is never asked for again, dying %s each call', async (when) => {
    const replies = [reply('a'), reply('b'), finish('c')];
    for (let n = 1; ; n++) {
      const world = new AgentWorld(byTurn(replies));
      const { options, died } = dying(n, when);
      await world.world.record(world.run);
      const first = world.agent(options).starts.handle(messageOf(world.commit));
      const survived = await Promise.race([first.then(() => true), died.then(() => false)]);
      const stored = new Set((await world.facts('STEP_PLANNED')).map(({ step }) => step));
      const before = world.model.requests.length;
      await world.agent({ instance: 'next' }).starts.handle(messageOf(world.commit, 2));
      const later = world.model.requests.slice(before).map(({ turn }) => Number(turn.split('.').at(-1)));
      expect(later.filter((step) => stored.has(step))).toEqual([]);
      if (survived) return;
    }
  });
});

describe('an append of which nobody can say whether it was stored', () => {
  it.each(['stored-unknown', 'lost-unknown'] as const)('(%s) is found out, and nothing is doubled', async (fault) => {
    for (let n = 0; n < 5; n++) {
      const world = new AgentWorld(byTurn([reply('a'), reply('b'), finish('c')]));
      let appends = 0;
      const before = async (call: string): Promise<void> => {
        if (call === 'attempts.append' && appends++ === n) world.world.attempts.faults.push(fault);
      };
      await expect(world.carryOut({ before })).rejects.toThrow('did not answer');
      expect(await world.carryOut({}, 2)).toEqual({ kind: 'done' });
      expect(await world.end()).toMatchObject({ status: 'completed', result: { value: 'c' } });
      expect(world.device.executed).toEqual([commandAt(1), commandAt(2)]);
      expect(await doubled(world)).toEqual([]);
      expect(await world.violations()).toEqual([]);
    }
  });
});

describe('a program that wants something else than before', () => {
  it('ends the attempt and does nothing', async () => {
    const world = new AgentWorld([reply('df'), finish('done')]);
    world.device.holds = true;
    await world.world.record(world.run);
    const { options, died } = dying(3, 'after');
    void world.agent(options).starts.handle(messageOf(world.commit));
    await died;
    const other = world.agent({ instance: 'next', kinds: [changed()] });
    expect(await other.starts.handle(messageOf(world.commit, 2))).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject({ status: 'failed', error: { code: 'NOT_DETERMINISTIC' } });
    expect(world.device.executed).toEqual([]);
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'OUTCOME_UNKNOWN' }]);
  });
});

/** Another version of an agent: it turns every command around. */
function changed(): AgentKind {
  const agent = shellAgent();
  return {
    name: 'LinuxAgent',
    *run(task: AgentTask): AgentProgram {
      const program = agent.run(task);
      let at = program.next();
      for (;;) {
        if (at.done === true) return at.value;
        const effect =
          at.value.kind === 'call-tool' ? { ...at.value, command: { tool: 'EXEC_CLI', arguments: {} } } : at.value;
        at = program.next(yield effect);
      }
    },
  };
}
