import { describe, expect, it } from '@jest/globals';
import { LIMITS, type Actor, type RunCommit, type RunEvent } from '#proto';
import { conversationOf } from './views/index.js';
import type { Control } from './decide/index.js';
import { foldEvents, forkedFrom } from './fold/index.js';
import {
  add,
  ask,
  asked,
  build,
  commandAsk,
  completed,
  constellation,
  device,
  fleet,
  giveUp,
  imagine,
  instant,
  questionAsk,
  Story,
  submit,
  T0,
  verb,
  withAgents,
} from './testing/given.js';

const person = (id: string): Actor => ({ kind: 'person', id });
const [ANNA, BERT] = [person('anna'), person('bert')];
const say = (text: string, id = text, by = ANNA, change: Partial<Extract<Control, { verb: 'SAY' }>> = {}) =>
  verb({ verb: 'SAY', text, ...change }, id, by);
const lastOf = (story: Story): string => JSON.stringify(story.answers.at(-1));
const PLAN = constellation(['a', 'b'], ['a->b']);
/** Anna has asked for something, and a model has planned it. */
const planned = () => new Story().when(ask({ requestedBy: ANNA })).when(imagine('e1', [build(PLAN)]));
/** It is done, and the planner has said so. */
const done = () =>
  planned()
    .when(completed('a'))
    .when(completed('b'))
    .when(imagine('e2', [], { state: 'FINISH', answer: { text: 'all is well', evidence: ['a'] } }));

describe('words to a run that goes on', () => {
  it('open a round of their own at once, which holds nothing', () => {
    const story = planned().when(say('also look at db-2'));
    expect(story.told).toEqual(['WORDS_SAID 1 by anna', 'EDIT_OPENED e2 words.1 scoped']);
    expect(lastOf(story)).toContain('the planner is asked now');
    expect(story.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1 judged']);
  });

  it('that come while the planner thinks open the next round, all of them, in order', () => {
    const story = planned().when(say('one')).when(say('two'), say('three'));
    expect(story.told).toEqual(['WORDS_SAID 2 by anna', 'WORDS_SAID 3 by anna']);
    expect(lastOf(story)).toContain('after round e2');
    expect(story.when(imagine('e2', [])).told).toEqual([
      'CONSTELLATION_MODIFIED e2 revision 1',
      'EDIT_OPENED e3 words.2 words.3 scoped',
    ]);
  });

  it('are not lost to a planner that says FINISH or FAIL without having heard them', () => {
    for (const state of ['FINISH', 'FAIL'] as const) {
      const story = planned()
        .when(say('one'))
        .when(say('two'))
        .when(imagine('e2', [], { state }));
      expect(story.told.at(-1)).toBe('EDIT_OPENED e3 words.2 scoped');
      expect(story.run.phase).toBe('RUNNING');
      expect(story.when(imagine('e3', [], { state })).told).toContainEqual(expect.stringContaining('TASK_CANCELLED b'));
    }
  });

  it('are not lost to a first plan that never came, and then the run fails as it would have', () => {
    const story = new Story().when(ask({ requestedBy: ANNA })).when(say('look at db-1, too'));
    story.when(giveUp('e1', 'no idea'));
    expect(story.told).toEqual(['EDIT_ABANDONED e1 PLANNER_FAILED', 'EDIT_OPENED e2 words.1 scoped']);
    expect(story.when(giveUp('e2', 'no idea')).told).toEqual([
      'EDIT_ABANDONED e2 PLANNER_FAILED',
      'RUN_FAILED PLAN_FAILED',
    ]);
  });

  it('are put to a planner that let a deadline pass: somebody waits for it anew', () => {
    const story = planned().when(say('one')).when(say('two')).at(90_000).when({ kind: 'wake' });
    expect(story.told.slice(0, 2)).toEqual(['EDIT_ABANDONED e2 DEADLINE', 'EDIT_OPENED e3 words.2 scoped']);
  });

  it('wait in a paused run until it goes on', () => {
    const story = planned()
      .when(verb({ verb: 'PAUSE' }))
      .when(say('one'));
    expect(story.told).toEqual(['WORDS_SAID 1 by anna']);
    expect(lastOf(story)).toContain('the run is paused');
    expect(story.when(verb({ verb: 'RESUME' })).told).toContain('EDIT_OPENED e2 words.1 scoped');
  });

  it('open a round in a run of a plan, too, of which nobody is asked otherwise', () => {
    const story = new Story().when(submit(PLAN)).when(say('one'));
    expect(story.told).toEqual(['WORDS_SAID 1 by anna', 'EDIT_OPENED e1 words.1 scoped']);
    expect(lastOf(story)).toContain('it is said in the name of anna, and default asked for the run');
  });

  it('sent again are one fact', () => {
    const story = planned().when(say('one', 'same'), say('one', 'same')).when(say('one', 'same'));
    expect(story.events.filter(({ type }) => type === 'WORDS_SAID')).toHaveLength(1);
    expect(story.answers.slice(-3).map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
  });
});

describe('words to a run that has ended', () => {
  it('take its end back: the history stays, the time counts anew, and it ends once more', () => {
    const story = done().at(60_000).when(say('and db-2?'));
    expect(story.told).toEqual(['RUN_REOPENED by anna', 'WORDS_SAID 1 by anna', 'EDIT_OPENED e3 words.1 scoped']);
    expect(lastOf(story)).toContain('the run was COMPLETED and goes on');
    expect(story.run.deadlineAt).toBe(instant(60_000 + 24 * 60 * 60 * 1000));
    expect(['a', 'b'].map((id) => story.status(id))).toEqual(['COMPLETED', 'COMPLETED']);
    story.when(imagine('e3', [add.task('c')])).when(completed('c'));
    expect(story.told.at(-1)).toBe('EDIT_OPENED e4 end-of-plan scoped');
    story.when(imagine('e4', [], { state: 'FINISH', answer: { text: 'db-2 as well', evidence: ['c'] } }));
    expect(story.told.at(-1)).toBe('RUN_COMPLETED succeeded');
    expect(story.run.answer?.text).toBe('db-2 as well');
  });

  it('that was cancelled are for who may take that back', () => {
    const cancelled = () =>
      planned()
        .when(verb({ verb: 'CANCEL' }))
        .when(completed('a'));
    const said = (roles: readonly ('operator' | 'requester')[]) =>
      ({ ...say('go on'), roles }) as ReturnType<typeof say>;
    expect(cancelled().run.phase).toBe('CANCELLED');
    expect(lastOf(cancelled().when(said(['requester'])))).toContain(
      'SAY to a run that was cancelled needs the role operator',
    );
    expect(cancelled().when(said(['operator'])).told[0]).toBe('RUN_REOPENED by anna');
  });

  it('of a goal that nobody could plan are one more try at a plan', () => {
    const story = new Story().when(ask()).when(giveUp('e1', 'no idea')).when(say('the disks of db-1'));
    expect(story.told.at(-1)).toBe('EDIT_OPENED e2 words.1 scoped');
    expect(story.run.editing?.mode).toBe('creation');
  });
});

describe('words that nobody would think about', () => {
  const refused = (story: Story) => {
    expect(story.told).toEqual([]);
    return lastOf(story);
  };

  it('are refused where there is no planner, or none with a model, with what to type in their place', () => {
    expect(refused(new Story().when(submit(PLAN)).withoutPlanner().when(say('one')))).toContain('orrery propose run-1');
    expect(refused(new Story().when(submit(PLAN)).withoutModel().when(say('one')))).toContain('no model is configured');
    const options = { planner: 'external' } as const;
    expect(new Story().when(submit(PLAN, { options })).withoutPlanner().when(say('one')).told).toHaveLength(2);
  });

  it('are refused where the planner is not asked any more', () => {
    const story = planned()
      .when(say('one'))
      .when(giveUp('e2', 'often enough', { error: { code: 'TOO_MANY_ROUNDS', message: 'often enough' } }));
    expect(refused(story.when(say('two')))).toContain('often enough; a fork of the run begins to count anew');
    const none = new Story().when(ask({ options: { rounds: 0 } }));
    expect(refused(none.when(say('two')))).toContain('options.rounds lets no model be asked');
  });

  it('are refused while the run is about to end, and beyond what a run keeps', () => {
    const ending = planned().when(verb({ verb: 'CANCEL' }));
    expect(refused(ending.when(say('one')))).toContain('the run is about to end');
    const long = planned();
    const text = 'x'.repeat(LIMITS.wordsCharsMax);
    for (let n = 0; n < 13; n++) long.when(say(text, `${n}`));
    expect(refused(long.when(say(text, 'too much')))).toContain('at most 262144 are taken');
  });
});

describe('nobody approves by saying so', () => {
  const ID = 'run-1.a.1.1.0';
  const AGENTS = withAgents(fleet([device('web-1')]));
  const waiting = () =>
    new Story()
      .on(AGENTS)
      .approvedBy('bert', 'carla')
      .when(submit(constellation([{ id: 'a', command: undefined as never }]), { requestedBy: ANNA }))
      .when(asked(commandAsk(ID)));

  it('"yes, do it" leaves what is asked open, says so, and bars who said it from approving it', () => {
    const story = waiting().when(say('yes, do it: approved', 'yes', BERT));
    expect(story.run.approvals.open.has(ID)).toBe(true);
    expect(lastOf(story)).toContain('it approves nothing of what waits for a person');
    expect(lastOf(story)).toContain('from now on somebody else approves what the run asks for');
    const own = story.when(verb({ verb: 'APPROVE', approvalId: ID }, 'own', BERT));
    expect(lastOf(own)).toContain('bert said what this run is to do; another person has to approve');
    expect(own.when(verb({ verb: 'APPROVE', approvalId: ID }, 'other', person('carla'))).told[0]).toContain(
      'approved by carla',
    );
  });

  it('who has said something owns nothing: he edits no more than before', () => {
    const story = waiting().when(say('look at db-2', 'one', BERT));
    const pause = { ...verb({ verb: 'PAUSE' }, 'p', BERT), roles: ['requester'] } as ReturnType<typeof verb>;
    expect(lastOf(story.when(pause))).toContain('PAUSE needs the role operator');
  });

  it("what a model makes of them is the model's: judged, and within the scope of the plan", () => {
    const story = planned().when(say('run it on db-1'));
    story.when(imagine('e2', [add.task('c', { target: { device: 'db-1' } })]));
    expect(story.told).toEqual(['EDIT_REJECTED e2 try 1 OUT_OF_SCOPE']);
    story.when(imagine('e2', [add.task('c')], { try: 2 }));
    expect(story.told).toContain('TASK_STARTED c 1 on web-1 judged');
  });

  it('a plan that waits is changed by them before it is accepted, and nobody accepts it meanwhile', () => {
    const story = new Story()
      .approvedBy('carla')
      .when(ask({ options: { plan: 'approve' }, requestedBy: ANNA }))
      .when(imagine('e1', [build(PLAN)]))
      .when(say('without b'));
    expect(story.told).toEqual(['WORDS_SAID 1 by anna', 'EDIT_OPENED e2 words.1 scoped']);
    expect(lastOf(story)).toContain('approves nothing');
    const accept = (id: string) => verb({ verb: 'RESUME' }, id, person('carla'));
    expect(lastOf(story.when(accept('early')))).toContain('the planner is asked about what was said (e2)');
    story.when(imagine('e2', [{ tool: 'remove_task', taskId: 'b' }]));
    expect(story.run.phase).toBe('PAUSED');
    expect(story.when(accept('late')).told[0]).toBe('RUN_RESUMED by carla');
  });
});

it('a fork goes on with what was said, and asks about what nobody had thought about', () => {
  const story = planned().when(say('one')).when(say('two'));
  const forked = forkedFrom({ run: story.run, by: BERT, requestId: 'f', now: T0 });
  expect(forked.words?.map(({ text }) => text)).toEqual(['one', 'two']);
  expect(forked.triggers.map(({ kind }) => kind)).toEqual(['words', 'words']);
  const fork = new Story().when({ kind: 'fork', id: 'f', forked });
  expect(fork.told.at(-1)).toBe('EDIT_OPENED e1 words.1 words.2 a.1 scoped');
  expect(fork.when(say('three')).told[0]).toBe('WORDS_SAID 3 by anna');
});

describe('the conversation', () => {
  const commitsOf = (events: readonly RunEvent[]) =>
    [{ events: events.map((event, at) => ({ ...event, sequence: at + 1 })), at: instant(0) }] as unknown as RunCommit[];
  const linesOf = (story: Story) =>
    conversationOf(commitsOf(story.events)).map(
      ({ kind, by, text, model }) => `${kind} ${by}${model ? '*' : ''}: ${text}`,
    );

  it('tells in order what was asked, said, planned and answered, each end of the run among it', () => {
    const story = done()
      .when(say('and db-2?', 'x', BERT))
      .when(imagine('e3', [], { state: 'FAIL', answer: { text: 'there is none', evidence: [] } }));
    expect(linesOf(story)).toEqual([
      'goal anna: look after the disks',
      'round orchestrator: the goal',
      'plan planner*: this is the plan',
      'round orchestrator: the end of the plan',
      'plan planner*: it is done, the plan stays as it is: all is well',
      'end orchestrator*: succeeded: all is well',
      'reopened bert: ',
      'words bert: and db-2?',
      'round orchestrator: what was said (1)',
      'plan planner*: it cannot be done, the plan stays as it is: there is none',
      'end orchestrator*: PLAN_FAILED: there is none: there is none',
    ]);
  });

  it('has the questions of agents, marked as those of a model, and who answered them', () => {
    const ID = 'run-1.a.1.1.0';
    const story = new Story()
      .on(withAgents(fleet([device('web-1')])))
      .when(submit(constellation([{ id: 'a', command: undefined as never }]), { requestedBy: ANNA }))
      .when(asked(questionAsk(ID)))
      .when(verb({ verb: 'ANSWER', approvalId: ID, text: 'the second' }, 'v', BERT));
    expect(linesOf(story).slice(1)).toEqual([
      'question LinuxAgent on web-1*: Which of the two?',
      'answer bert: the second',
    ]);
  });

  it('folds to the same words wherever it is cut', () => {
    const { events, run } = done().when(say('one')).when(say('two'));
    for (let at = 0; at <= events.length; at += 3) {
      const half = foldEvents(new Story().run, events.slice(0, at));
      expect(foldEvents(half, events.slice(at)).words).toEqual(run.words);
    }
  });
});
