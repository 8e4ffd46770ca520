import { describe, expect, it } from '@jest/globals';
import {
  type AttemptFinished,
  type Budget,
  LIMITS,
  NO_USAGE,
  type RunEventData,
  type RunOptions,
  type Usage,
} from '#proto';
import { forkedFrom } from './fold/fork.js';
import {
  change,
  completed,
  constellation,
  device,
  failed,
  fleet,
  HASH,
  instant,
  propose,
  requested,
  Story,
  submit,
  verb,
  WAKE,
  withAgents,
} from './testing/given.js';
import type { Input } from './decide/input.js';
import { checkBudget, checkInvariants } from './fold/invariants.js';
import { jsonBytes } from './values/json-bytes.js';
import { validateConstellation } from './plan/validate.js';
import { viewOf } from './views/view.js';

const NOBODY = fleet([device('web-1'), device('db-1')]);
const FLEET = withAgents(NOBODY);
type Spec = Exclude<Parameters<typeof constellation>[0][number], string>;
const agent = (id: string, change: Partial<Spec> = {}): Spec => ({ id, ...change, command: undefined });

function started(story: Story, taskId: string): RunEventData<'TASK_STARTED'> {
  const found = story.events.findLast((event) => event.type === 'TASK_STARTED' && event.data.taskId === taskId);
  if (found?.type !== 'TASK_STARTED') throw new Error(`${taskId} was not started`);
  return found.data;
}

function ended(taskId: string, change: object = {}, attempt = 1): Input {
  const finished = { status: 'completed', result: { value: 'done' }, ...change } as AttemptFinished;
  return { kind: 'attempt-ended', taskId, attempt, attemptHash: HASH, finished };
}

const used = (change: Partial<Usage>): Usage => ({ ...NO_USAGE, ...change });
const plan = (...ids: readonly string[]) => constellation(ids.map((id) => agent(id)));
const run = (tasks: ReturnType<typeof constellation>, options: RunOptions) =>
  new Story().on(FLEET).when({ kind: 'submit', requested: requested(tasks, { options }) });
const withBudget = (budget: Budget, ...ids: readonly string[]) => run(plan(...ids), { budget, editPolicy: 'never' });

describe('a task without a command', () => {
  it('is given to a device whose agent somebody serves, with all that the agent needs', () => {
    const a = agent('a', { name: 'Disks', description: 'Which is fullest?', tips: ['df'] });
    const verify = { condition: 'result != ""' };
    const tasks = constellation(['x', { ...a, verify }, 'y'], ['x->a', 'y->a']);
    const story = run(tasks, { approval: 'always' }).when(completed('x'), completed('y'));
    expect(started(story, 'a')).toMatchObject({
      agent: { name: 'Disks', description: 'Which is fullest?', tips: ['df'], blackboard: [] },
      inputs: [
        { taskId: 'x', attempt: 1 },
        { taskId: 'y', attempt: 1 },
      ],
      verify,
      approval: 'always',
    });
    expect(started(story, 'a')).not.toHaveProperty('command');
    expect(started(story, 'a')).not.toHaveProperty('budget');
    expect(started(story, 'x')).not.toHaveProperty('agent');
    expect(started(story, 'x')).not.toHaveProperty('approval');
  });

  it('says nothing of approvals where the policy decides', () => {
    expect(started(run(plan('a'), { approval: 'policy' }), 'a')).not.toHaveProperty('approval');
  });

  it('takes what predecessors came to, as far as that is known', () => {
    const tasks = constellation(['x', 'y', 'z', agent('a')], ['x->a', 'y->a', 'z->a']);
    const story = run(tasks, { editPolicy: 'never' });
    story.when(completed('x'), failed('y'), failed('z', 1, 'unknown'));
    expect(started(story, 'a').inputs.map(({ taskId }) => taskId)).toEqual(['x', 'y']);
  });

  it.each([
    ['nobody', [], 'none is there'],
    ['somebody else', ['RobotAgent'], 'those that are there serve RobotAgent'],
  ])('is refused when it is submitted and %s serves its agent', (_, agents, message) => {
    const story = new Story().on(withAgents(NOBODY, agents)).when(submit(plan('a')));
    expect(story.answers[0]).toMatchObject({
      kind: 'rejected',
      reason: { issues: [{ path: 'constellation.tasks[0].command', message: expect.stringContaining(message) }] },
    });
  });

  it('waits when its agents went away, and starts when they are back', () => {
    const tasks = constellation(['x', agent('a')], ['x->a']);
    const story = new Story().on(FLEET).when(submit(tasks)).on(NOBODY).when(completed('x'));
    expect(story.told).toEqual(['TASK_COMPLETED x 1']);
    expect(story.last?.starvedOf).toEqual(new Set(['*']));
    expect(story.last?.wakeAt).toBe(Date.parse(instant(LIMITS.waitingPollMs)));
    expect(viewOf(story.run).waitingFor?.reason).toBe('device');
    expect(story.on(FLEET).when(WAKE).told).toEqual(['TASK_STARTED a 1 on web-1']);
  });

  it('is given only to a device of a kind that is served', () => {
    const robot = device('arm-1', { agent: 'RobotAgent' });
    const anywhere = constellation([agent('a', { target: { os: 'linux' } })]);
    const story = new Story().on(withAgents(fleet([robot, device('web-1')]))).when(submit(anywhere));
    expect(story.told.at(-1)).toBe('TASK_STARTED a 1 on web-1');
  });

  it('leaves the rest for the next commit when the starts would not fit into one', () => {
    const many = constellation(
      Array.from({ length: 60 }, (_, index) => agent(`t${index}`, { description: 'x'.repeat(20_000) })),
    );
    const wide = withAgents(fleet([device('web-1', { tasksMax: 1_000 })]));
    const story = new Story().on(wide).when(submit(many));
    const starts = story.told.filter((line) => line.startsWith('TASK_STARTED')).length;
    expect(starts).toBeLessThan(60);
    expect(jsonBytes(story.last?.events.slice(2))).toBeLessThan(600 * 1024);
    expect(story.last?.wakeAt).toBe(Date.parse(instant(0)));
    while (story.run.counts.PENDING > 0) story.when(WAKE);
    expect(story.run.counts.RUNNING).toBe(60);
  });
});

describe('a post-condition', () => {
  it('is refused with its path when it is no condition', () => {
    const tasks = constellation([{ id: 'a', verify: { condition: 'result.exit_code ==' } }]);
    expect(validateConstellation(tasks)).toMatchObject([{ path: 'tasks[0].verify.condition' }]);
  });

  it('needs a tool that a device has', () => {
    const verify = { command: { tool: 'NONE_SUCH', arguments: {} } };
    const story = new Story().when(submit(constellation([{ id: 'a', verify }])));
    expect(story.answers[0]).toMatchObject({
      kind: 'rejected',
      reason: { issues: [{ path: 'constellation.tasks[0].verify.command.tool' }] },
    });
    const two = fleet([
      device('web-1'),
      device('db-1', { tools: [{ name: 'NONE_SUCH', description: '', readOnly: true }] }),
    ]);
    const anywhere = constellation([agent('a', { target: { os: 'linux' }, verify })]);
    expect(new Story().on(withAgents(two)).when(submit(anywhere)).told.at(-1)).toBe('TASK_STARTED a 1 on db-1');
  });

  it('goes along with an exact command, too', () => {
    const verify = { command: { tool: 'EXEC_CLI', arguments: { command: 'test -f /srv/x' } } };
    expect(started(new Story().when(submit(constellation([{ id: 'a', verify }]))), 'a')).toMatchObject({ verify });
  });
});

describe('a post-condition in an edit', () => {
  const story = () => new Story().when(submit(constellation(['a', 'b'], ['a->b'])));

  it('is refused with its path when it is no condition, and taken away with null', () => {
    const wrong = propose(null, [change.task('b', { verify: { condition: 'result ==' } })]);
    const edit = (input: Input) => ({ ...wrong, ...input }) as Extract<Input, { kind: 'proposal' }>;
    const by = { kind: 'person', id: 'alice' } as const;
    const asked = (input: Input, id: string): Input => ({
      kind: 'verb',
      id,
      by,
      action: { verb: 'PROPOSE', proposal: edit(input).proposal, delegated: false },
    });
    expect(story().when(asked(wrong, 'v1')).answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: { issues: [{ path: 'edits[0].change.verify.condition' }] },
    });
    const good = story().when(asked(propose(null, [change.task('b', { verify: { condition: 'result == 1' } })]), 'v2'));
    expect([...good.run.tasks][1]?.star.verify).toEqual({ condition: 'result == 1' });
    good.when(asked(propose(null, [change.task('b', { verify: null })]), 'v3'));
    expect([...good.run.tasks][1]?.star).not.toHaveProperty('verify');
  });
});

describe('the stdin of a task', () => {
  it('may be a secret of its device', () => {
    const command = { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { secret: 'db-password' } } };
    expect(validateConstellation(constellation([{ id: 'a', command }]))).toEqual([]);
    const both = { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { secret: 'x', from: ['a'] } } };
    expect(validateConstellation(constellation([{ id: 'a', command: both }]))).toHaveLength(1);
  });
});

describe('the blackboard', () => {
  it('collects what agents note, also of attempts that failed, and is handed to the next', () => {
    const tasks = constellation([agent('a'), agent('b'), agent('c')], ['a->b', 'b->c']);
    const error = { code: 'AGENT_FAILED', message: 'no', outcome: 'failed' };
    const story = run(tasks, { editPolicy: 'never' })
      .when(ended('a', { notes: ['/srv is full', 'logs rotate daily'] }))
      .when(ended('b', { status: 'failed', error, notes: ['sudo is not there'] }));
    expect(started(story, 'b').agent?.blackboard.map(({ note }) => note)).toEqual([
      '/srv is full',
      'logs rotate daily',
    ]);
    expect(started(story, 'c').agent?.blackboard.at(-1)).toEqual({
      taskId: 'b',
      deviceId: 'web-1',
      note: 'sudo is not there',
    });
  });

  it('keeps the newest notes within its bound', () => {
    const tasks = constellation([agent('a'), agent('b')], ['a->b']);
    const notes = Array.from({ length: 50 }, (_, index) => `${index} ${'ä'.repeat(200)}`);
    const { blackboard } = run(tasks, {}).when(ended('a', { notes })).run;
    expect(jsonBytes(blackboard)).toBeLessThanOrEqual(LIMITS.blackboardBytesMax);
    expect(blackboard.at(-1)?.note).toBe(notes[49]);
    expect(blackboard.length).toBeGreaterThan(10);
  });

  it('goes over to a fork', () => {
    const story = run(constellation([agent('a'), agent('b')], ['a->b']), {}).when(ended('a', { notes: ['one'] }));
    const forked = forkedFrom({ run: story.run, by: { kind: 'person', id: 'bob' }, requestId: 'f', now: 0 });
    expect(forked.blackboard).toEqual([{ taskId: 'a', deviceId: 'web-1', note: 'one' }]);
  });
});

describe('a budget', () => {
  it('is given out in equal shares among the tasks that are still to start', () => {
    const story = withBudget({ llmCalls: 10, tokens: 1_000, costUsd: 0.9 }, 'a', 'b', 'c');
    const slices = ['a', 'b', 'c'].map((id) => started(story, id).budget);
    expect(slices.map((slice) => slice?.llmCalls)).toEqual([4, 3, 3]);
    expect(slices.map((slice) => slice?.tokens)).toEqual([334, 333, 333]);
    expect(slices.map((slice) => slice?.costUsd)).toEqual([0.3, expect.closeTo(0.3), expect.closeTo(0.3)]);
    expect(started(story, 'a').budget).not.toHaveProperty('commands');
    expect(story.run.granted).toMatchObject({ llmCalls: 10, tokens: 1_000 });
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('gets back what an attempt did not use', () => {
    const tasks = constellation([agent('a'), agent('b')], ['a->b']);
    const story = run(tasks, { budget: { llmCalls: 10 } }).when(
      ended('a', { used: used({ llmCalls: 2, tokens: 500 }) }),
    );
    expect(started(story, 'b').budget).toEqual({ llmCalls: 8 });
    expect(viewOf(story.run).used).toEqual(used({ llmCalls: 2, tokens: 500 }));
  });

  it('counts one command for each exact one, and tells its attempt nothing of it', () => {
    const tasks = constellation(['x', 'y', agent('a')], ['x->y', 'y->a']);
    const story = run(tasks, { budget: { commands: 5 } })
      .when(completed('x'))
      .when(completed('y'));
    expect(started(story, 'x')).not.toHaveProperty('budget');
    expect(story.run.used.commands).toBe(2);
    expect(started(story, 'a').budget).toEqual({ commands: 3 });
  });

  it('takes it that an attempt of which nothing was heard has used all that it had', () => {
    const story = withBudget({ llmCalls: 10 }, 'a').when(verb({ verb: 'RETRY', taskId: 'a' }));
    story.at(LIMITS.stopGraceMs).when(WAKE);
    expect(story.run.used.llmCalls).toBe(10);
    expect(story.told.at(-1)).toBe('RUN_FAILED BUDGET_EXHAUSTED');
  });

  it('makes others wait while somebody may give some back', () => {
    const story = withBudget({ llmCalls: 1 }, 'a', 'b');
    expect(story.told.slice(2)).toEqual(['TASK_STARTED a 1 on web-1']);
    expect(viewOf(story.run).waitingFor).toMatchObject({ reason: 'budget', wokenBy: 'attempt' });
    expect(viewOf(story.run).waitingFor?.detail).toContain('for b');
    expect(story.when(ended('a', { used: used({}) })).told).toEqual([
      'TASK_COMPLETED a 1',
      'TASK_STARTED b 1 on web-1',
    ]);
  });

  it('ends the run when nothing is left and a task would have to start', () => {
    const story = withBudget({ llmCalls: 1 }, 'a', 'b').when(ended('a', { used: used({ llmCalls: 1 }) }));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'TASK_CANCELLED b 0 budget', 'RUN_FAILED BUDGET_EXHAUSTED']);
    expect(story.run.reason).toContain('llmCalls');
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('ends no run whose tasks have all ended', () => {
    const story = withBudget({ llmCalls: 1 }, 'a').when(ended('a', { used: used({ llmCalls: 5 }) }));
    expect(story.told.at(-1)).toBe('RUN_COMPLETED succeeded');
    expect(story.run.used.llmCalls).toBe(5);
  });

  it('of nothing lets nothing start that needs some', () => {
    expect(withBudget({ tokens: 0 }, 'a').told.slice(2)).toEqual([
      'TASK_CANCELLED a 0 budget',
      'RUN_FAILED BUDGET_EXHAUSTED',
    ]);
    const exact = run(constellation(['x']), { budget: { llmCalls: 0 } });
    expect(exact.told.at(-1)).toBe('TASK_STARTED x 1 on web-1');
    const dear = run(constellation(['x', 'y']), { budget: { commands: 1 } });
    expect(dear.told.slice(2)).toEqual(['TASK_STARTED x 1 on web-1']);
    expect(dear.when(completed('x')).told.at(-1)).toBe('RUN_FAILED BUDGET_EXHAUSTED');
  });

  it('lets what runs come to its end first', () => {
    const tasks = constellation(['x', agent('a')]);
    const story = run(tasks, { budget: { tokens: 0 } });
    expect(story.told.slice(2)).toEqual(['TASK_STARTED x 1 on web-1']);
    expect(story.when(completed('x')).told).toEqual([
      'TASK_COMPLETED x 1',
      'TASK_CANCELLED a 0 budget',
      'RUN_FAILED BUDGET_EXHAUSTED',
    ]);
  });

  it('lets nobody try again what could not start', () => {
    const story = withBudget({ llmCalls: 1 }, 'a', 'b').when(ended('a', { used: used({ llmCalls: 1 }) }));
    expect(story.when(verb({ verb: 'RETRY', taskId: 'b' })).told).toEqual([]);
    expect(story.answers.at(-1)).toMatchObject({ kind: 'rejected', reason: { code: 'INVALID_STATE' } });
  });

  it('is never overdrawn at a start, and never grows back', () => {
    const story = withBudget({ llmCalls: 3 }, 'a', 'b');
    const [event] = story.events.filter(({ type }) => type === 'TASK_STARTED');
    if (event === undefined) throw new Error('nothing was started');
    const before = { ...story.run, granted: used({}) };
    const over = { ...story.run, granted: used({ llmCalls: 4 }) };
    expect(checkBudget(before, event, story.run)).toEqual([]);
    expect(checkBudget(before, event, over)).toMatchObject([{ invariant: 'I11_BUDGET' }]);
    const shrunk = { ...story.run, used: used({ tokens: -1 }) };
    expect(checkBudget(story.run, event, shrunk)).toMatchObject([{ invariant: 'I11_BUDGET' }]);
    expect(checkInvariants(over).map(({ invariant }) => invariant)).toContain('I11_BUDGET');
  });
});
