import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Actor, RunEventData, RunOptions, TaskConstellation } from '#proto';
import { forkedFrom } from './fold/fork.js';
import { planContent, type PlanContent } from './plan/content.js';
import { emptyRun } from './state/run.js';
import type { StandingApproval } from './state/standing.js';
import {
  ask as goal,
  asked,
  build,
  change,
  commandAsk,
  constellation,
  device,
  fleet,
  insert,
  propose,
  Story,
  submit,
  T0,
  verb,
} from './testing/given.js';
import { canonicalJson } from './values/index.js';

const person = (id: string): Actor => ({ kind: 'person', id });
const ANNA = person('anna');
const FLEET = fleet([device('web-1', { tasksMax: 9 })]);
const RESTART = { tool: 'EXEC_CLI', arguments: { command: 'systemctl restart nginx' } };
const LOOK = { tool: 'EXEC_CLI', arguments: { command: 'journalctl -u nginx -n 5 | sh' } };
const PLAN = constellation(
  [
    { id: 'a', command: RESTART, verify: { command: LOOK } },
    { id: 'b', command: { tool: 'EXEC_CLI', arguments: { command: 'sh', stdin: { from: ['a'] } } } },
  ],
  ['a=>b'],
);
const ALL: RunOptions = { judge: 'all' };
const ASK = commandAsk('run-1.a.1.0.0', { command: RESTART, step: 0, class: 'privileged', grantable: false });

/** Words for exactly this plan; the hash is not what is looked at here. */
function wordsFor(plan: TaskConstellation, ...ids: string[]): (content: PlanContent) => StandingApproval[] {
  const approved = canonicalJson(planContent(plan));
  return (content) =>
    canonicalJson(content) === approved
      ? ids.map((id, at) => ({ approvalId: `word-${at}`, contentHash: 'c'.repeat(64), by: person(id) }))
      : [];
}

/** PLAN with another second task. */
const withSecond = (change: Partial<TaskConstellation['tasks'][number]>): TaskConstellation => ({
  ...PLAN,
  tasks: PLAN.tasks.map((star, at) => (at === 1 ? { ...star, ...change } : star)),
});

interface Given {
  readonly plan?: TaskConstellation;
  readonly by?: Actor;
  readonly options?: RunOptions;
  readonly approvers?: readonly string[];
  readonly words?: readonly string[];
}

/** PLAN was approved by `words`; what runs is `plan`. */
function given({ approvers = ['bert', 'carla'], words = ['bert'] }: Given = {}): Story {
  return new Story()
    .on(FLEET)
    .approvedBy(...approvers)
    .withStanding(wordsFor(PLAN, ...words));
}

function run(how: Given = {}): Story {
  const { plan = PLAN, by: requestedBy = ANNA, options = ALL } = how;
  return given(how).when(submit(plan, { requestedBy, options }));
}

const decision = ({ last }: Story) =>
  last?.events.find(({ type }) => type === 'APPROVAL_DECIDED')?.data as RunEventData<'APPROVAL_DECIDED'> | undefined;
const ASKED_ONLY = ['APPROVAL_REQUESTED'];
const typesOf = ({ last }: Story): string[] => (last?.events ?? []).map(({ type }) => type);

describe('a plan that was approved before', () => {
  it('goes on without a word where its commands are asked about, and says by whose', () => {
    const story = run();
    expect(story.told).toContain('TASK_STARTED a 1 on web-1 judged');
    story.when(asked(ASK));
    expect(decision(story)).toMatchObject({
      decision: 'approved',
      by: { id: 'bert' },
      standing: { contentHash: 'c'.repeat(64), ids: ['word-0'] },
    });
    expect(decision(story)).not.toHaveProperty('selfApproved');
    story.when(asked({ ...ASK, approvalId: 'run-1.a.1.1.0', step: 1, command: LOOK }));
    expect(decision(story)).toMatchObject({ by: { id: 'bert' } });
  });

  it('is judged only where somebody wants that: the request, or who runs the system', () => {
    expect(run({ options: {} }).told).toContain('TASK_STARTED a 1 on web-1');
  });

  it.each<[string, Given]>([
    [
      'a byte of another command',
      { plan: withSecond({ command: { tool: 'EXEC_CLI', arguments: { command: 'sh ' } } }) },
    ],
    ['a name', { plan: withSecond({ name: 'B' }) }],
    ['where it runs', { plan: withSecond({ target: { os: 'linux' } }) }],
    ['how often it is tried', { plan: withSecond({ retry: { attempts: 2, backoffMs: 0 } }) }],
    ['a line', { plan: { ...PLAN, lines: [] } }],
    ['one more task', { plan: { ...PLAN, tasks: [...PLAN.tasks, ...constellation(['c']).tasks] } }],
  ])('is another one with %s changed', (_, how) => {
    expect(typesOf(run(how).when(asked(ASK)))).toEqual(ASKED_ONLY);
  });

  it('is the same one in another order, and under another name', () => {
    const plan = { ...PLAN, name: 'other', tasks: PLAN.tasks.toReversed() };
    expect(decision(run({ plan }).when(asked(ASK)))).toBeDefined();
  });

  it.each<[string, object]>([
    ['another command than the one in it', { command: { ...RESTART, arguments: { command: 'rm -rf /srv' } } }],
    [
      'the same tool with one more argument',
      { command: { ...RESTART, arguments: { ...RESTART.arguments, cwd: '/' } } },
    ],
  ])('lets nothing else run: %s', (_, asking) => {
    expect(typesOf(run().when(asked({ ...ASK, ...asking })))).toEqual(ASKED_ONLY);
  });

  it('lets no shell run what another task has written', () => {
    const story = run();
    story.when({
      kind: 'attempt-ended',
      taskId: 'a',
      attempt: 1,
      attemptHash: 'a'.repeat(64),
      finished: { status: 'completed', result: { value: { stdout: 'rm -rf /srv' } } },
    });
    const command = PLAN.tasks[1]?.command ?? RESTART;
    story.when(asked({ ...ASK, approvalId: 'run-1.b.1.0.0', command }));
    expect(typesOf(story)).toEqual(ASKED_ONLY);
    const cat = { ...ASK, approvalId: 'run-1.b.1.0.0', command, class: 'write' } as const;
    const other = run().when({
      kind: 'attempt-ended',
      taskId: 'a',
      attempt: 1,
      attemptHash: 'a'.repeat(64),
      finished: { status: 'completed', result: { value: { stdout: '' } } },
    });
    expect(decision(other.when(asked(cat)))).toBeDefined();
  });

  it('is no more that one when somebody has changed it, whoever that was, and when it was changed back', () => {
    const story = run().when(insert([change.task('b', { name: 'other' })], { by: person('dora') }));
    story.when(insert([change.task('b', { name: 'b' })], { by: person('dora') }));
    expect(typesOf(story.when(asked(ASK)))).toEqual(ASKED_ONLY);
  });

  it('gives nothing to a fork', () => {
    const parent = run();
    const forked = forkedFrom({ run: parent.run, by: ANNA, requestId: 'f', now: T0, approvals: 1 });
    const fork = given().from(emptyRun('run-1')).when({ kind: 'fork', id: 'f', forked });
    fork.when(verb({ verb: 'RETRY', taskId: 'a' }));
    expect(typesOf(fork.when(asked(ASK)))).not.toContain('APPROVAL_DECIDED');
  });

  it('is asked about all the same by who wants to see every command', () => {
    const options: RunOptions = { ...ALL, approval: 'always' };
    expect(typesOf(run({ options }).when(asked(ASK)))).toEqual(ASKED_ONLY);
  });

  it('can be approved once more by hand where the words are not enough', () => {
    const story = run({ words: [] }).when(asked(ASK));
    story.when(verb({ verb: 'APPROVE', approvalId: ASK.approvalId }, 'v', person('bert')));
    expect(decision(story)).not.toHaveProperty('standing');
  });
});

describe('whose word counts', () => {
  it('is not that of who asks for the run, while there is anybody else', () => {
    expect(typesOf(run({ by: person('bert') }).when(asked(ASK)))).toEqual(ASKED_ONLY);
    const alone = run({ by: person('bert'), approvers: ['bert'] }).when(asked(ASK));
    expect(decision(alone)).toMatchObject({ by: { id: 'bert' }, selfApproved: true });
  });

  it('is not that of who may approve no more, or of whom nobody knows that he may', () => {
    expect(typesOf(run({ approvers: ['carla'] }).when(asked(ASK)))).toEqual(ASKED_ONLY);
    const unknown = new Story().on(FLEET).withStanding(wordsFor(PLAN, 'bert'));
    unknown.when(submit(PLAN, { requestedBy: ANNA, options: ALL })).when(asked(ASK));
    expect(typesOf(unknown)).toEqual(ASKED_ONLY);
  });

  it('is that of as many different persons as the run takes', () => {
    const options: RunOptions = { ...ALL, approvals: 2 };
    for (const words of [['bert'], ['bert', 'bert'], ['bert', 'anna']]) {
      const approvers = ['anna', 'bert', 'carla'];
      expect(typesOf(run({ options, words, approvers }).when(asked(ASK)))).toEqual(ASKED_ONLY);
    }
    expect(decision(run({ options, words: ['bert', 'carla'] }).when(asked(ASK)))).toMatchObject({
      by: { id: 'carla' },
      approvedBy: [{ id: 'bert' }, { id: 'carla' }],
      standing: { ids: ['word-0', 'word-1'] },
    });
  });

  it('counts as long as it counts: taken back between the plan and the command, the command is asked about', () => {
    const story = run().withStanding(wordsFor(PLAN));
    expect(typesOf(story.when(asked(ASK)))).toEqual(ASKED_ONLY);
  });
});

describe('a plan that waits to be seen', () => {
  const options: RunOptions = { plan: 'approve' };
  const planned = (plan: TaskConstellation, how: Given = {}) =>
    given(how)
      .when(goal({ requestedBy: how.by ?? ANNA, options }))
      .when(propose('e1', [build(plan)], {}, { source: 'runbook' }));

  it('waits for nobody who has approved it before', () => {
    const story = planned(PLAN);
    expect(typesOf(story)).toEqual(['CONSTELLATION_MODIFIED', 'RUN_PAUSED', 'RUN_RESUMED', 'TASK_STARTED']);
    expect(story.last?.events[2]?.data).toMatchObject({ by: { id: 'bert' }, standing: { ids: ['word-0'] } });
  });

  it('waits when it is another one, or when he had a part in the run', () => {
    expect(planned(withSecond({ name: 'B' })).run.waitsFor).toBe('plan_approval');
    expect(planned(PLAN, { by: person('bert') }).run.waitsFor).toBe('plan_approval');
  });
});

it('has the same content only when every task and line is the same', () => {
  const text = fc.string({ maxLength: 3 });
  const plans = fc.record({
    command: text,
    name: fc.constantFrom('a', 'b'),
    stdin: fc.option(text, { nil: undefined }),
  });
  fc.assert(
    fc.property(plans, plans, (one, other) => {
      const content = ({ command, name, stdin }: typeof one): string =>
        JSON.stringify(
          planContent(
            constellation([
              {
                id: 't',
                name,
                command: { tool: 'EXEC_CLI', arguments: { command, ...(stdin !== undefined && { stdin }) } },
              },
            ]),
          ),
        );
      expect(content(one) === content(other)).toBe(canonicalJson(one) === canonicalJson(other));
    }),
    { numRuns: 500, seed: 7 },
  );
});
