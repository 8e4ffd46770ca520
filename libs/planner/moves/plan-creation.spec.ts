import { describe, expect, it } from '@jest/globals';
import { type CreationReply, LIMITS, Proposal, type ToolConstellation } from '#proto';
import { creation, device, fleet, NOW, Story, T0, toolTask, tools } from './given.testing.js';
import { planCreation } from './plan-creation.js';

const goal = Story.goal().run;

function problemsOf(change: Partial<CreationReply>, circumstances = NOW): readonly string[] {
  const planned = planCreation(creation(change), goal, circumstances);
  return planned.ok ? [] : planned.problems;
}

function proposed(change: Partial<CreationReply>, run = goal) {
  const planned = planCreation(creation(change), run, NOW);
  if (!planned.ok) throw new Error(planned.problems.join('\n'));
  return planned.proposal;
}

const withPlan = (constellation: ToolConstellation) => ({ constellation });

describe('a plan that is fine', () => {
  it('is one build of a whole constellation, with what was said about it', () => {
    const proposal = proposed({ observation: 'two devices', thought: 'one by one', result: 'under way' });
    expect(proposal).toEqual({
      baseRevision: 0,
      state: 'CONTINUE',
      trace: { observation: 'two devices', thought: 'one by one', result: 'under way' },
      edits: [
        {
          tool: 'build_constellation',
          clear: true,
          constellation: {
            name: 'a plan',
            tasks: ['a', 'b'].map((id) => ({
              id,
              name: id,
              description: `do ${id}`,
              tips: [],
              target: { device: 'web-1' },
            })),
            lines: [{ id: 'a-b', from: 'a', to: 'b', type: 'success-only' }],
          },
        },
      ],
    });
    expect(Proposal.parse({ ...proposal, editId: 'e1', try: 1 })).toMatchObject(proposal);
  });

  it('is taken by the orchestrator', () => {
    const story = Story.goal().proposes(proposed({ spare: [{ target_device_id: 'web-2' }] }));
    expect(story.run.editing).toBeNull();
    expect([...story.run.tasks].map(({ star }) => star.id)).toEqual(['a', 'b']);
    expect(story.run.scope).toEqual([{ device: 'web-1' }, { device: 'web-2' }]);
  });

  it('leaves descriptions and tips as they were written', () => {
    const words = { description: 'Say "ü" & <b>\n', tips: ['the result contains  two spaces'] };
    expect(proposed(withPlan(tools([toolTask('a', words)]))).edits[0]).toMatchObject({
      constellation: { tasks: [words] },
    });
  });

  it('has the goal as its name when it gives none', () => {
    const { name: _, ...nameless } = tools(['a']);
    expect(proposed(withPlan(nameless)).edits[0]).toMatchObject({ constellation: { name: 'look after the disks' } });
  });

  it('says nothing in its trace of what was left empty', () => {
    expect(proposed({ thought: 'x' }).trace).toStrictEqual({ thought: 'x' });
  });

  it('names the devices that later edits may fall back to', () => {
    const spare = [{ target_device_id: 'db-1' }, { target: { tags: ['db'] } }];
    expect(proposed({ spare }).spare).toEqual([{ device: 'db-1' }, { tags: ['db'] }]);
    expect(proposed({ spare: [] })).not.toHaveProperty('spare');
  });

  it('may name spare devices where nobody serves agents', () => {
    const command = { tool: 'EXEC_CLI', arguments: { command: 'df' } };
    const exact = { ...withPlan(tools([toolTask('a', { command })])), spare: [{ target_device_id: 'db-1' }] };
    const lonely = { now: T0, fleet: fleet([device('web-1'), device('db-1')], []) };
    expect(planCreation(creation(exact), goal, lonely)).toMatchObject({
      ok: true,
      proposal: { spare: [{ device: 'db-1' }] },
    });
  });

  it('may be on any device that there is', () => {
    const spread = ['web-1', 'web-2', 'db-1'].map((id) => toolTask(id, { target_device_id: id }));
    expect(proposed(withPlan(tools(spread))).edits).toHaveLength(1);
  });
});

describe('a request that needs no plan, or cannot be planned', () => {
  it.each(['FINISH', 'FAIL'] as const)('is answered with %s', (state) => {
    expect(proposed({ state, constellation: null, result: 'because' })).toEqual({
      baseRevision: 0,
      state,
      edits: [],
      trace: { thought: 'one after the other', result: 'because' },
      answer: { text: 'because', evidence: [] },
    });
  });

  it('ends the run as it says', () => {
    const done = Story.goal().proposes(proposed({ state: 'FINISH', constellation: null, result: 'nothing to do' }));
    expect(done.run).toMatchObject({ phase: 'COMPLETED', answer: { text: 'nothing to do', by: 'model' } });
    const given = Story.goal().proposes(proposed({ state: 'FAIL', constellation: null, result: 'no such device' }));
    expect(given.run).toMatchObject({ phase: 'FAILED', reason: 'no such device' });
  });

  it('is refused with a plan, and without a word', () => {
    expect(problemsOf({ state: 'FINISH', constellation: tools(['a']), result: 'x' })).toEqual([
      'constellation: FINISH goes without a constellation',
    ]);
    expect(problemsOf({ state: 'FAIL', constellation: null, result: ' ' })).toEqual(['result: FAIL needs a result']);
    expect(problemsOf({ state: 'CONTINUE', constellation: null })).toEqual([
      'constellation: CONTINUE needs a constellation',
    ]);
  });
});

describe('a plan is refused for', () => {
  const one = (change: Parameters<typeof toolTask>[1]) => withPlan(tools(['a', 'b', toolTask('c', change)]));

  it.each<[string, Partial<CreationReply>, string]>([
    [
      'a device that is not there',
      one({ target_device_id: 'web-3' }),
      'constellation.tasks[2].target_device_id: no device "web-3" is enrolled; devices are db-1, web-1, web-2; did you mean web-1, web-2?',
    ],
    [
      'a selector that nobody satisfies',
      one({ target: { tags: ['gpu'] } }),
      'constellation.tasks[2].target: no enrolled device can satisfy {"tags":["gpu"]}; known devices are db-1, web-1, web-2',
    ],
    [
      'a tool that the device does not have',
      one({ command: { tool: 'FLY', arguments: {} } }),
      'constellation.tasks[2].command.tool: no device that satisfies the target has the tool "FLY"; known are EXEC_CLI, SYS_INFO',
    ],
    [
      'a check by a tool that the device does not have',
      one({ verify: { command: { tool: 'FLY', arguments: {} } } }),
      'constellation.tasks[2].verify.command.tool: no device that satisfies the target has the tool "FLY"; known are EXEC_CLI, SYS_INFO',
    ],
    [
      'a device and a selector at once',
      one({ target_device_id: 'web-1', target: { os: 'linux' } }),
      'constellation.tasks[2].target_device_id: give target_device_id or target, not both',
    ],
    [
      'a task of no device',
      withPlan(tools([{ task_id: 'a', name: 'a', description: '' }])),
      'constellation.tasks[0].target_device_id: give target_device_id (this device) or target (any device that satisfies it)',
    ],
    [
      'one id for two tasks',
      withPlan(tools(['a', 'b', 'a'])),
      'constellation.tasks[2].task_id: "a" is the id of constellation.tasks[0] too; ids are unique',
    ],
    [
      'a cycle',
      withPlan(tools(['a', 'b'], ['a>b', 'b>a'])),
      'constellation: the lines would form a cycle: b -> a -> b; a constellation must be acyclic',
    ],
    [
      'a dependency on a task that is not there',
      withPlan(tools(['a', 'b'], ['x>b'])),
      'constellation.dependencies[0].from_task_id: there is no task "x"; known are a, b',
    ],
    [
      'inputs that are no predecessors',
      withPlan(tools(['a', 'b', toolTask('c', { inputs: ['a'] })], ['b>c'])),
      'constellation.tasks[2].inputs: "c" takes the output of "a", which is not its predecessor; those are b',
    ],
    [
      'a stdin of no predecessor',
      withPlan(tools(['a', toolTask('b', { command: { tool: 'EXEC_CLI', arguments: { stdin: { from: ['a'] } } } })])),
      'constellation.tasks[1].command.arguments.stdin: "b" takes the output of "a", which is not its predecessor; those are none',
    ],
    [
      'a spare selector that every device satisfies',
      { spare: [{ target: { tags: [], resources: {} } }] },
      'spare[0].target: every device would do, and then nothing bounds what is changed later; say what it must have',
    ],
    [
      'spare devices that are not there',
      { spare: [{ target_device_id: 'web-1' }, { target_device_id: 'db' }] },
      'spare[1].target_device_id: no device "db" is enrolled; devices are db-1, web-1, web-2; did you mean db-1?',
    ],
    [
      'a spare that names nothing',
      { spare: [{}] },
      'spare[0].target_device_id: give target_device_id (this device) or target (any device that satisfies it)',
    ],
    [
      'a spare that nobody satisfies',
      { spare: [{ target: { os: 'plan9' } }] },
      'spare[0].target: no enrolled device can satisfy {"os":"plan9"}; known devices are db-1, web-1, web-2',
    ],
  ])('%s', (_, change, problem) => expect(problemsOf(change)).toEqual([problem]));

  it.each([
    ['a dependency', 'constellation.dependencies[0].condition'],
    ['a check', 'constellation.tasks[0].verify.condition'],
  ])('a condition of %s that is no CEL', (what, path) => {
    const wrong = { condition: 'result ==' };
    const constellation = tools([toolTask('a', what === 'a check' ? { verify: wrong } : {}), 'b']);
    const line = { dependency_id: 'l', from_task_id: 'a', to_task_id: 'b', ...wrong };
    const dependencies = what === 'a check' ? [] : [line];
    const [problem, ...more] = problemsOf(withPlan({ ...constellation, dependencies }));
    expect(more).toEqual([]);
    expect(problem?.startsWith(`${path}: the condition is not valid CEL: `)).toBe(true);
  });

  it('a task of an agent where nobody serves agents', () => {
    const lonely = { now: T0, fleet: fleet([device('web-1')], []) };
    expect(problemsOf(withPlan(tools(['a'])), lonely)).toEqual([
      'constellation.tasks[0].command: a task without a command needs a device agent with a model for LinuxAgent and none is there; give it a command',
    ]);
  });

  it('more than fits into one proposal', () => {
    const long = { tips: Array.from({ length: 50 }, () => 'x'.repeat(2_000)) };
    const tasks = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => toolTask(id, long));
    expect(problemsOf(withPlan(tools(tasks)))).toEqual([
      expect.stringMatching(
        new RegExp(
          `^constellation: the edits would have \\d+ bytes as JSON; at most ${LIMITS.editBytesMax} are taken`,
          'u',
        ),
      ),
    ]);
  });

  it('everything that is wrong with it, but not more than anybody reads', () => {
    const tasks = Array.from({ length: 30 }, (_, index) => toolTask(`t${index}`, { target_device_id: 'nowhere' }));
    expect(problemsOf({ ...withPlan(tools(tasks)), spare: [{}] })).toHaveLength(20);
    expect(problemsOf({ ...withPlan(tools(tasks.slice(0, 2))), spare: [{}] })).toHaveLength(3);
  });
});
