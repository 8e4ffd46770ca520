import { describe, expect, it } from '@jest/globals';
import { DEFAULTS, LIMITS, type Proposal, type RunOptions } from '#proto';
import { emptyRun, forkedFrom, type Run } from '#libs/constellation';
import {
  ALICE,
  build,
  CALL,
  completed,
  creation,
  editing,
  failed,
  HASH,
  instant,
  jsonOf,
  plan,
  star,
  Story,
  T0,
} from './given.testing.js';
import { nextMove, noModel, plannerStateOf, type Move, type MoveOptions } from './next-move.js';

const MODEL: MoveOptions = { model: true, runbooks: ['disk-check'] };
const NOBODY: MoveOptions = { model: false, runbooks: ['disk-check', 'df'] };
const NO_MODEL =
  'no runbook fits this goal and no model is configured that could plan it; set OPENAI_BASE_URL, OPENAI_API_KEY and ORRERY_MODEL for the planner, or ask for one of the runbooks: disk-check, df';

const ab = { edits: [build(plan(['a', 'b'], ['a->b']))] };
const nowhere = { edits: [build(plan([star('a', { target: { device: 'nowhere' } })]))] };
const useDf = { name: 'df', hash: 'b'.repeat(64), parameters: {} };
const every = { editPolicy: 'every-result' } as const;

function moveOf(story: Story, options = MODEL, editId = story.editId): Move {
  return nextMove(story.run, story.plan, { editId }, options);
}

/** A goal whose plan a model made, and a run of it that waits for the planner. */
const failing = () =>
  Story.goal()
    .plans(ab, { reply: jsonOf(creation()) })
    .when(failed('a'));

describe('START', () => {
  it('looks for a runbook first, and asks a model when there is none', () => {
    const ask = { kind: 'ask', mode: 'creation', try: 1, triggers: [{ kind: 'goal' }], violations: [], previous: null };
    expect(moveOf(Story.goal())).toEqual({ kind: 'runbook', mode: 'creation', try: 1, otherwise: ask });
  });

  it('gives up without a runbook and without a model, and says what can be done', () => {
    const otherwise = { kind: 'give-up', mode: 'creation', try: 1, code: 'NO_MODEL', message: NO_MODEL };
    expect(moveOf(Story.goal(), NOBODY)).toEqual({ kind: 'runbook', mode: 'creation', try: 1, otherwise });
  });

  it('goes on to CONTINUE with the plan that was taken', () => {
    const story = Story.goal();
    expect(plannerStateOf(story.run)).toBe('START');
    expect(plannerStateOf(story.plans(ab).run)).toBe('CONTINUE');
  });

  it('asks again with what was wrong, in the words of the reply that it shows', () => {
    const story = Story.goal().plans(nowhere, { reply: { thought: 'x' } });
    expect(moveOf(story)).toEqual({
      kind: 'ask',
      mode: 'creation',
      try: 2,
      triggers: [{ kind: 'goal' }],
      violations: [
        {
          code: 'NO_DEVICE',
          path: 'constellation.tasks[0].target_device_id',
          message: 'no device "nowhere" is enrolled; known are db-1, web-1, web-2',
        },
      ],
      previous: { thought: 'x' },
    });
  });

  it('gives up when the model that was refused is no longer there', () => {
    const story = Story.goal().plans(nowhere, { reply: { thought: 'x' } });
    expect(moveOf(story, NOBODY)).toMatchObject({ kind: 'give-up', mode: 'creation', try: 2, code: 'NO_MODEL' });
  });

  it('does not let a model replace a runbook that was refused', () => {
    const story = Story.goal().plans(nowhere, { source: 'runbook', runbook: useDf });
    expect(moveOf(story)).toEqual({
      kind: 'give-up',
      mode: 'creation',
      try: 2,
      code: 'RUNBOOK_REFUSED',
      message: 'the runbook "df" cannot be used: no device "nowhere" is enrolled; known are db-1, web-1, web-2',
    });
  });

  it('takes the runbook once more that was refused but for the revision', () => {
    const story = Story.goal().plans({ ...ab, baseRevision: 3 }, { source: 'runbook', runbook: useDf });
    expect(moveOf(story)).toMatchObject({ kind: 'runbook', try: 2 });
  });

  it('looks for a runbook again when a program of somebody was refused first', () => {
    const story = Story.goal().proposes(nowhere);
    expect(story.run.editing?.tries).toBe(1);
    expect(moveOf(story)).toMatchObject({ kind: 'runbook', try: 2, otherwise: { kind: 'ask', violations: [] } });
  });

  it('is over after the last repair', () => {
    const story = Story.goal();
    for (let tries = 0; tries <= LIMITS.repairsMax; tries++) story.plans(nowhere, { reply: { tries } });
    expect(moveOf(story, MODEL, 'e1')).toEqual({ kind: 'over', reason: 'the run is FAILED' });
    expect(plannerStateOf(story.run)).toBe('FAIL');
  });
});

describe('CONTINUE', () => {
  it('asks about a failure', () => {
    const triggers = [{ kind: 'task', taskId: 'a', attempt: 1 }];
    const ask = { kind: 'ask', mode: 'editing', try: 1, triggers, violations: [], previous: null };
    expect(moveOf(failing())).toEqual(ask);
  });

  it('goes on by rule when there is nothing to judge, for whatever revision', () => {
    const story = Story.of(plan(['a', 'b'], ['a->b']), every).when(completed('a'));
    const proposal = {
      baseRevision: null,
      state: 'CONTINUE',
      edits: [],
      trace: { thought: 'no model is configured that could judge task "a"' },
    };
    const move = moveOf(story, NOBODY);
    expect(move).toEqual({ kind: 'rule', mode: 'editing', try: 1, proposal });
    story.proposes(move.kind === 'rule' ? move.proposal : {}, 'rule');
    expect(plannerStateOf(story.run)).toBe('CONTINUE');
    expect(story.run.editing).toBeNull();
  });

  it('asks about every completion under every-result, of a runbook, too', () => {
    const story = Story.goal(every).plans(ab, { source: 'runbook', runbook: useDf });
    const triggers = [{ kind: 'task', taskId: 'a', attempt: 1 }];
    expect(moveOf(story.when(completed('a')))).toMatchObject({ kind: 'ask', mode: 'editing', try: 1, triggers });
  });

  it('ends by rule for the revision that it has seen, and the results are collected', () => {
    const story = Story.goal().plans({ edits: [build(plan(['a']))] }, { source: 'runbook', runbook: useDf });
    const move = moveOf(story.when(completed('a', 'all fine')));
    expect(move).toMatchObject({ kind: 'rule', proposal: { state: 'FINISH', baseRevision: 1, edits: [] } });
    story.proposes(move.kind === 'rule' ? move.proposal : {}, 'rule');
    expect(plannerStateOf(story.run)).toBe('FINISH');
    expect(story.run).toMatchObject({ phase: 'COMPLETED', answer: { by: 'collected' } });
    expect(story.run.answer?.text).toContain('all fine');
  });

  it('asks for the last word on a plan of its own', () => {
    const story = Story.goal()
      .plans({ edits: [build(plan(['a']))] }, { reply: {} })
      .when(completed('a'));
    expect(moveOf(story)).toMatchObject({ kind: 'ask', mode: 'editing', triggers: [{ kind: 'end-of-plan' }] });
    expect(moveOf(story, NOBODY)).toMatchObject({ kind: 'rule', proposal: { state: 'FINISH' } });
  });

  it('asks for the last word on a plan that was given', () => {
    expect(moveOf(Story.of(plan(['a'])).when(completed('a')))).toMatchObject({ kind: 'ask' });
  });

  it('goes to FINISH and to FAIL with what the model says', () => {
    const answer = { text: 'done', evidence: ['a'] };
    const half = () => Story.of(plan(['a', 'b'])).when(completed('a'), failed('b'));
    expect(plannerStateOf(half().plans({ state: 'FINISH', answer }).run)).toBe('FINISH');
    expect(plannerStateOf(half().plans({ state: 'FAIL', answer }).run)).toBe('FAIL');
  });

  it('does not get to FINISH by word alone: a run in which nothing was done has failed', () => {
    expect(plannerStateOf(failing().plans({ state: 'FINISH' }).run)).toBe('FAIL');
  });

  it('takes what was refused but for the revision once more, without asking', () => {
    const reply = jsonOf(editing());
    const story = failing()
      .planned({ baseRevision: 1 }, { reply })
      .edits({ tool: 'add_task', task: star('x') })
      .proposes({ baseRevision: 1 });
    expect(story.run.editing?.violations.map(({ code }) => code)).toEqual(['STALE_REVISION']);
    const move = moveOf(story);
    expect(move).toMatchObject({ kind: 'rebase', mode: 'editing', try: 2, planned: { try: 1, reply } });
    expect(move).toMatchObject({ otherwise: { kind: 'ask', try: 2, violations: [], previous: reply } });
  });

  it('takes it once more after it was rebased, too', () => {
    const reply = jsonOf(editing());
    const story = failing().planned({ baseRevision: 1 }, { reply });
    for (const [id, tried] of [
      ['x', 1],
      ['y', 2],
    ] as const) {
      story.edits({ tool: 'add_task', task: star(id) }).proposes({ baseRevision: tried });
      const proposal: Proposal = {
        baseRevision: tried + 1,
        state: 'CONTINUE',
        edits: [],
        editId: 'e2',
        try: tried + 1,
      };
      expect(moveOf(story)).toMatchObject({ kind: 'rebase', try: tried + 1, planned: { reply } });
      const used = { llmCalls: 0, tokens: 0, commands: 0, costUsd: 0 };
      story.recorded({ type: 'PLAN_PROPOSED', data: { proposal, source: 'model', used } });
    }
    expect(moveOf(story)).toMatchObject({ kind: 'stored', try: 3 });
  });

  it('asks anew when something else was wrong as well', () => {
    const remove = { edits: [{ tool: 'remove_task' as const, taskId: 'a' }] };
    const story = failing().plans(remove, { reply: { n: 1 } });
    expect(moveOf(story)).toMatchObject({
      kind: 'ask',
      try: 2,
      previous: { n: 1 },
      violations: [{ code: 'I3_ONLY_PENDING', path: 'actions[0].arguments.task_id' }],
    });
  });

  it('asks anew when it was the revision of an edit of somebody else', () => {
    const story = failing().proposes({ baseRevision: 0 });
    expect(moveOf(story)).toMatchObject({ kind: 'ask', try: 2, violations: [], previous: null });
  });

  it('judges anew when a rule was made for another revision', () => {
    const story = Story.of(plan(['a'])).when(completed('a'));
    story.planned({ state: 'FINISH', baseRevision: 1 }, { source: 'rule' });
    story.edits({ tool: 'add_task', task: star('x') }).proposes({ state: 'FINISH', baseRevision: 1 }, 'rule');
    expect(moveOf(story, NOBODY)).toMatchObject({ kind: 'rule', try: 2, proposal: { state: 'CONTINUE' } });
  });

  it('asks, or gives up, when a rule was refused', () => {
    const story = Story.of(plan(['a', 'b'], ['a->b']), every).when(completed('a'));
    story.plans({ edits: [{ tool: 'remove_task', taskId: 'a' }] }, { source: 'rule' });
    expect(moveOf(story)).toMatchObject({ kind: 'ask', try: 2 });
    expect(moveOf(story, NOBODY)).toMatchObject({
      kind: 'give-up',
      code: 'RULE_REFUSED',
      message:
        'what follows by rule was refused: "a" is COMPLETED, and only PENDING tasks may change; add another task instead',
    });
  });

  it('is where the retry of a person leads back to', () => {
    const story = failing().plans({ state: 'FAIL', answer: { text: 'no', evidence: [] } });
    expect(plannerStateOf(story.run)).toBe('FAIL');
    const action = { verb: 'RETRY', taskId: 'a' } as const;
    story.when({ kind: 'verb', id: 'r', by: { kind: 'person', id: 'alice' }, action });
    expect(plannerStateOf(story.run)).toBe('CONTINUE');
  });
});

describe('rounds in which a model may be asked', () => {
  const asked = { reply: jsonOf(creation()), calls: [CALL] };
  /** A model made the plan; `a` has failed, and `b` follows. */
  const failing = (options: RunOptions) => Story.goal(options).plans(ab, asked).when(failed('a'));
  const tooMany = (rounds: string) => ({
    kind: 'give-up',
    mode: 'editing',
    try: 1,
    code: 'TOO_MANY_ROUNDS',
    message: `a model was asked in ${rounds} of this run, and options.rounds allows no more`,
  });

  it('are as many as the request says, the first plan included', () => {
    expect(moveOf(failing({ rounds: 2 })).kind).toBe('ask');
    expect(moveOf(failing({ rounds: 1 }))).toEqual(tooMany('1 round'));
    const twice = failing({ rounds: 2 }).plans({ edits: [] }, asked).when(failed('b'));
    expect(moveOf(twice)).toEqual(tooMany('2 rounds'));
  });

  it('are a hundred when it says nothing', () => {
    const story = failing({});
    for (let count = 2; count <= DEFAULTS.rounds; count++) {
      expect(moveOf(story).kind).toBe('ask');
      const task = { tool: 'add_task' as const, task: star(`x${count}`) };
      story.plans({ edits: [task] }, asked).when(failed(`x${count}`));
    }
    expect(moveOf(story)).toMatchObject({ code: 'TOO_MANY_ROUNDS', message: expect.stringContaining('100 rounds') });
  });

  it('may be none: then a runbook plans, or nobody', () => {
    const otherwise = { code: 'TOO_MANY_ROUNDS', message: 'options.rounds lets no model be asked in this run' };
    expect(moveOf(Story.goal({ rounds: 0 }))).toMatchObject({ kind: 'runbook', otherwise });
    const story = Story.goal({ rounds: 0 }).plans(ab, { source: 'runbook', runbook: useDf });
    expect(moveOf(story.when(completed('a')).when(completed('b')))).toMatchObject({ kind: 'rule' });
  });

  it('are not used up by rules, runbooks, and what came to nothing before a model was asked', () => {
    const story = Story.goal({ ...every, rounds: 1 }).plans(ab, { source: 'runbook', runbook: useDf });
    story.when(completed('a')).plans({}, { source: 'rule' });
    expect(moveOf(story.when(failed('b'))).kind).toBe('ask');
  });

  it('have as many tries as any: the repair of a plan is not another round', () => {
    const story = Story.goal({ rounds: 1 }).plans(nowhere, asked);
    expect(moveOf(story)).toMatchObject({ kind: 'ask', try: 2 });
    story.planned(ab, asked);
    expect(moveOf(story)).toMatchObject({ kind: 'stored', try: 2 });
  });

  it('do not count what is there already: a reply that was paid for is used', () => {
    const story = failing({ rounds: 2 });
    const reply = jsonOf(editing());
    story.recorded(story.thought({ reply, calls: [CALL] }));
    expect(moveOf(story)).toMatchObject({ kind: 'rebase', otherwise: { kind: 'ask' } });
    const later = failing({ rounds: 1 });
    later.recorded(later.thought({ reply, calls: [] }));
    expect(moveOf(later)).toMatchObject({ kind: 'rebase', otherwise: { kind: 'give-up', code: 'TOO_MANY_ROUNDS' } });
  });
});

describe('a fork', () => {
  const forkOf = (story: Story): Story => {
    const parent = { ...story.run, sequence: 1, number: 1, hash: HASH };
    const forked = forkedFrom({ run: parent, by: ALICE, requestId: 'fork-1', now: T0 });
    const fork = new Story();
    fork.run = emptyRun('run-2');
    return fork.when({ kind: 'fork', id: 'f', forked });
  };

  it('whose plan came from a runbook ends with it, though nobody has planned anything in it', () => {
    const story = Story.goal().plans({ edits: [build(plan(['a']))] }, { source: 'runbook', runbook: useDf });
    const fork = forkOf(story.when(completed('a')));
    const ended = {
      kind: 'rule',
      proposal: { state: 'FINISH', trace: { thought: 'the plan of the runbook has ended' } },
    };
    expect(moveOf(fork)).toMatchObject(ended);
    expect(moveOf(forkOf(fork))).toMatchObject(ended);
  });

  it('whose plan a model made is asked about when it has ended', () => {
    const fork = forkOf(
      Story.goal()
        .plans({ edits: [build(plan(['a']))] }, { reply: {} })
        .when(completed('a')),
    );
    expect(moveOf(fork)).toMatchObject({ kind: 'ask', triggers: [{ kind: 'end-of-plan' }] });
  });
});

describe('what is recorded', () => {
  it('is not made again: the proposal of a try is there', () => {
    const story = Story.goal().planned(ab, { reply: {} });
    expect(moveOf(story)).toMatchObject({ kind: 'stored', try: 1, proposal: { ...ab, editId: 'e1', try: 1 } });
  });

  it('is not made again when a later try is there, of which the run has not heard', () => {
    const story = Story.goal().planned(nowhere, { reply: {} });
    const late = Story.goal();
    story.proposes(nowhere).planned(ab, { reply: {} });
    expect(nextMove(late.run, story.plan, { editId: 'e1' }, MODEL)).toMatchObject({ kind: 'stored', try: 2 });
  });

  it('says that there will be no proposal', () => {
    const story = Story.goal();
    const error = { code: 'NO_MODEL', message: 'nobody' };
    const used = { llmCalls: 0, tokens: 0, commands: 0, costUsd: 0 };
    story.recorded({ type: 'ROUND_FAILED', data: { editId: 'e1', try: 1, calls: [], templates: [], error, used } });
    expect(moveOf(story)).toEqual({ kind: 'stored', try: 1, proposal: null });
  });

  it('is used when only the reply is there', () => {
    const story = Story.goal();
    story.recorded(story.thought({ reply: jsonOf(creation()) }));
    expect(moveOf(story)).toMatchObject({
      kind: 'rebase',
      mode: 'creation',
      try: 1,
      planned: { reply: jsonOf(creation()) },
    });
    expect(moveOf(story, NOBODY)).toMatchObject({ kind: 'rebase', otherwise: { kind: 'give-up', code: 'NO_MODEL' } });
  });

  it('is no reply when no model was asked', () => {
    const story = Story.goal();
    story.recorded(story.thought({ source: 'runbook', runbook: useDf }));
    expect(moveOf(story)).toMatchObject({ kind: 'runbook', try: 1 });
  });
});

describe('over', () => {
  it.each<[string, () => Run, string]>([
    ['nothing was asked', () => new Story().run, 'there is no such run'],
    ['the round is over', () => Story.goal().plans(ab).run, 'the round e1 is over'],
    ['another round is open', () => failing().run, 'the round e1 is over'],
    ['the run has ended', () => Story.goal().proposes({ state: 'FAIL' }).run, 'the run is FAILED'],
    [
      'the run is about to end',
      () => {
        const story = Story.of(plan(['a', 'b'])).when(failed('a'));
        const action = { verb: 'CANCEL' } as const;
        return story.when({ kind: 'verb', id: 'c', by: { kind: 'person', id: 'alice' }, action }).run;
      },
      'the run is about to end',
    ],
    ['the deadline has passed', () => failing().at(90_000).when({ kind: 'wake' }).run, 'the round e1 is over'],
  ])('it is when %s', (_, run, reason) => {
    expect(nextMove(run(), Story.goal().plan, { editId: 'e1' }, MODEL)).toEqual({ kind: 'over', reason });
  });

  it('is when a program plans for the run', () => {
    const reason = 'a program plans for this run';
    expect(moveOf(Story.goal({ planner: 'external' }))).toEqual({ kind: 'over', reason });
    expect(moveOf(Story.goal({ planner: 'service' })).kind).toBe('runbook');
  });

  it('is not a deadline that is still to come', () => {
    expect(failing().run.editing?.deadlineAt).toBe(instant(90_000));
    expect(moveOf(failing().at(89_999).when({ kind: 'wake' })).kind).toBe('ask');
  });
});

describe('the state of the planner', () => {
  it('is FAIL for a run that was cancelled, and while it is being stopped', () => {
    const action = { verb: 'CANCEL' } as const;
    const story = Story.of(plan(['a'])).when({ kind: 'verb', id: 'c', by: { kind: 'person', id: 'x' }, action });
    expect(story.run.phase).toBe('RUNNING');
    expect(plannerStateOf(story.run)).toBe('FAIL');
    expect(
      plannerStateOf(
        Story.of(plan(['a']))
          .at(24 * 3_600_000)
          .when({ kind: 'wake' }).run,
      ),
    ).toBe('FAIL');
  });

  it('is FINISH while what still runs is stopped because nothing more is needed', () => {
    const story = Story.of(plan(['a', 'b']))
      .when(failed('a'))
      .proposes({ state: 'FINISH' });
    expect(story.run.phase).toBe('RUNNING');
    expect(plannerStateOf(story.run)).toBe('FINISH');
  });

  it('is START before anything is recorded', () => expect(plannerStateOf(new Story().run)).toBe('START'));
});

describe('what is missing without a model', () => {
  it('is said without runbooks, too, and with some of many', () => {
    expect(noModel([])).toBe(NO_MODEL.replace(/, or ask for .*/u, ''));
    const many = Array.from({ length: 25 }, (_, index) => `r${index}`);
    expect(noModel(many)).toMatch(/r18, r19 and 5 more$/u);
  });
});
