import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Actor, RunEventData, RunOptions } from '#proto';
import type { PersonsWord } from './decide/approvals.js';
import { checkInvariants } from './fold/invariants.js';
import { forkedFrom } from './fold/fork.js';
import { evolve } from './fold/evolve.js';
import { emptyRun } from './state/run.js';
import {
  add,
  ask as goal,
  asked,
  build,
  commandAsk,
  constellation,
  device,
  fleet,
  imagine,
  insert,
  questionAsk,
  Story,
  submit,
  T0,
  verb,
  withAgents,
} from './testing/given.js';
import { viewOf } from './views/view.js';

const ID = 'run-1.a.1.1.0';
const NEXT = 'run-1.a.1.2.0';
const person = (id: string): Actor => ({ kind: 'person', id });
const [ANNA, BERT, CARLA, DORA] = ['anna', 'bert', 'carla', 'dora'].map(person) as [Actor, Actor, Actor, Actor];
const EXTERNAL: Actor = { kind: 'external', id: 'ci' };
const FLEET = withAgents(fleet([device('web-1', { tasksMax: 9 })]));
const agent = { command: undefined as never };
const PLAN = constellation([
  { id: 'a', ...agent },
  { id: 'b', ...agent },
]);
const OTHER = { tool: 'EXEC_CLI', arguments: { command: 'ls /srv/old' } };
const MINUTE = 60_000;

interface Given {
  readonly by?: Actor;
  readonly approvers?: readonly string[];
  readonly approvals?: number;
}

/** A run that somebody asked for, in which an agent asks about a command. */
function waiting({ by = ANNA, approvers, approvals }: Given = {}): Story {
  const options: RunOptions = approvals === undefined ? {} : { approvals };
  const story = new Story().on(FLEET);
  if (approvers !== undefined) story.approvedBy(...approvers);
  return story.when(submit(PLAN, { requestedBy: by, options })).when(asked(commandAsk(ID)));
}

let said = 0;
const say = (word: PersonsWord, by: Actor) => verb(word, `said-${said++}`, by);
const approve = (by: Actor, change: Partial<Extract<PersonsWord, { verb: 'APPROVE' }>> = {}) =>
  say({ verb: 'APPROVE', approvalId: ID, ...change }, by);
const answer = ({ answers }: Story) => answers.at(-1);
const message = (story: Story): string => JSON.stringify(answer(story));
const decision = (story: Story) =>
  story.events.findLast(({ type }) => type === 'APPROVAL_DECIDED')?.data as
    RunEventData<'APPROVAL_DECIDED'> | undefined;

describe('nobody approves what he had a part in', () => {
  it('refuses who requested it, and says whom to ask', () => {
    const story = waiting({ approvers: ['anna', 'bert', 'carla'] }).when(approve(ANNA));
    expect(story.told).toEqual([]);
    expect(answer(story)).toMatchObject({ kind: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(message(story)).toContain(
      'anna requested this run; another person has to approve its commands: ask bert, carla',
    );
    expect(story.when(approve(BERT)).told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by bert']);
    expect(decision(story)).not.toHaveProperty('selfApproved');
  });

  it('refuses who edited the plan, also by a program in his name, and also when the edit came while it waited', () => {
    for (const delegated of [false, true]) {
      const story = waiting({ by: EXTERNAL, approvers: ['anna', 'bert'] })
        .when(insert([add.task('n')], { by: BERT, delegated }))
        .when(approve(BERT));
      expect(story.told).toEqual([]);
      expect(message(story)).toContain('bert changed the plan of this run');
      expect(story.when(approve(ANNA)).told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by anna']);
    }
  });

  it('does not take an edit that changed nothing for a part in it', () => {
    const story = waiting({ by: EXTERNAL, approvers: ['anna', 'bert'] })
      .when(insert([{ tool: 'update_task', taskId: 'b', change: { name: 'b' } }], { by: BERT }))
      .when(approve(BERT));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by bert']);
  });

  it('does not take an answer to an agent for a part in it', () => {
    const question = 'run-1.b.1.1.0';
    const story = waiting({ by: EXTERNAL, approvers: ['anna', 'bert'] })
      .when(asked(questionAsk(question)))
      .when(say({ verb: 'ANSWER', approvalId: question, text: 'the second' }, BERT))
      .when(approve(BERT));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by bert']);
  });

  it('refuses who forked it, and who had a part in what was forked', () => {
    const parent = new Story()
      .on(FLEET)
      .when(submit(constellation([{ id: 'z' }, { id: 'a', ...agent }], ['z->a']), { requestedBy: ANNA }));
    parent.when(insert([add.task('n')], { by: CARLA }));
    const forked = forkedFrom({ run: parent.run, by: BERT, requestId: 'fork-1', now: T0, approvals: 1 });
    expect(forked.authors).toEqual([ANNA, CARLA]);
    const fork = new Story().on(FLEET).approvedBy('anna', 'bert', 'carla', 'dora').from(emptyRun('run-1'));
    fork.when({ kind: 'fork', id: 'fork-1', forked }).when(verb({ verb: 'RETRY', taskId: 'z' }));
    expect(fork.run.authors.map(({ actor, part }) => `${actor.id} ${part}`)).toEqual([
      'bert forked',
      'anna parent',
      'carla parent',
    ]);
    // What was forked before this was recorded has the one who forked it.
    const { authors: _, ...old } = forked;
    expect(evolve(emptyRun('run-2'), { type: 'RUN_FORKED', data: old }).authors.map(({ actor }) => actor)).toEqual([
      BERT,
    ]);
  });

  it('carries over, or raises, how many a fork takes, and never lowers it', () => {
    const { run } = new Story().on(FLEET).when(submit(PLAN, { options: { approvals: 3 } }));
    const forked = (approvals?: number) =>
      forkedFrom({ run, by: BERT, requestId: 'f', now: T0, approvals }).options.approvals;
    expect([forked(1), forked(5), forked()]).toEqual([3, 5, 3]);
  });

  it('leaves a no to everybody', () => {
    const story = waiting({ approvers: ['bert'] }).when(say({ verb: 'REJECT', approvalId: ID }, ANNA));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 rejected by anna']);
  });

  it('says so when nobody is left to ask', () => {
    const story = waiting({ approvers: ['anna', 'bert'] }).when(insert([add.task('n')], { by: BERT }));
    expect(message(story.when(approve(BERT)))).toContain('nobody is left who may: give somebody the role approver');
  });
});

describe('while there is one approver only', () => {
  it('his own word counts, marked and told', () => {
    const story = waiting({ approvers: ['anna'] }).when(approve(ANNA));
    expect(decision(story)).toMatchObject({ decision: 'approved', by: ANNA, selfApproved: true });
    expect(answer(story)).toMatchObject({ kind: 'accepted', detail: expect.stringContaining('one approver only') });
    expect(viewOf(story.run).approvals).toMatchObject([{ state: 'approved', selfApproved: true }]);
  });

  it('somebody else without that role is refused all the same', () => {
    expect(waiting({ approvers: ['bert'] }).when(approve(ANNA)).told).toEqual([]);
  });

  it('it ends with the second one, in mid-run too, and so does what he has granted himself', () => {
    const story = waiting({ approvers: ['anna'] }).when(approve(ANNA, { grantMs: 10 * MINUTE }));
    expect(decision(story)).toMatchObject({ selfApproved: true, grant: {} });
    const again = story.when(asked(commandAsk('run-1.a.1.1.1')));
    expect(again.told).toEqual([
      'APPROVAL_REQUESTED approval a.1.1.1',
      'APPROVAL_DECIDED a.1.1.1 approved by anna grant of a.1.1.0',
    ]);
    expect(decision(again)).toMatchObject({ selfApproved: true });
    again.approvedBy('anna', 'bert').when(asked(commandAsk(NEXT)));
    expect(again.told).toEqual(['APPROVAL_REQUESTED approval a.1.2.0']);
    expect(again.when(approve(ANNA, { approvalId: NEXT })).told).toEqual([]);
  });

  it('a command that he changes himself runs, marked', () => {
    const story = waiting({ by: EXTERNAL, approvers: ['anna'] }).when(approve(ANNA, { command: OTHER }));
    expect(decision(story)).toMatchObject({ decision: 'edited', command: OTHER, selfApproved: true });
  });

  it('what takes two waits for the second, and says when it opens that there are too few', () => {
    const story = waiting({ approvers: ['anna'], approvals: 2 });
    expect(story.events.at(-1)?.data).toMatchObject({ approvers: 1 });
    expect(viewOf(story.run).waitingFor?.detail).toContain('0 of 2, and 1 person could give one');
    expect(story.when(approve(ANNA)).told).toEqual(['APPROVAL_GIVEN a.1.1.0 by anna']);
    // Anna's word was one of the only approver, who is that no more.
    story.approvedBy('anna', 'bert').when(approve(BERT));
    expect(story.told).toEqual(['APPROVAL_GIVEN a.1.1.0 by bert']);
    story.approvedBy('anna', 'bert', 'carla').when(approve(CARLA));
    expect(decision(story)).toMatchObject({ approvedBy: [BERT, CARLA] });
    expect(decision(story)).not.toHaveProperty('selfApproved');
  });
});

describe('what takes several persons', () => {
  const ALL = ['anna', 'bert', 'carla', 'dora'];
  const two = () => waiting({ approvers: ALL, approvals: 2 });

  it('runs when as many different ones have approved it', () => {
    const story = two().when(approve(BERT));
    expect(story.told).toEqual(['APPROVAL_GIVEN a.1.1.0 by bert']);
    expect(answer(story)).toMatchObject({
      kind: 'accepted',
      waits: true,
      detail: expect.stringContaining('1 of 2, by bert; another person'),
    });
    expect(message(story)).toContain('ask carla, dora');
    expect(viewOf(story.run).waitingFor?.detail).toContain('1 of 2, by bert');
    expect(viewOf(story.run).approvals).toMatchObject([
      { state: 'open', needed: 2, given: [{ by: BERT, counts: true }] },
    ]);
    expect(checkInvariants(story.run)).toEqual([]);
    story.when(approve(CARLA));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by carla']);
    expect(decision(story)).toMatchObject({ approvedBy: [BERT, CARLA] });
  });

  it('counts the same person once, and says the same to the same verb', () => {
    const first = approve(BERT);
    const story = two().when(first);
    const once = answer(story);
    expect(story.when(approve(BERT)).told).toEqual([]);
    expect(answer(story)).toMatchObject({
      kind: 'ignored',
      reason: 'ALREADY_GIVEN',
      detail: expect.stringContaining('1 of 2'),
    });
    expect(answer(story.when(first))).toEqual({ ...once, sequence: story.events.length });
    expect(story.told).toEqual([]);
    expect(two().when(approve(BERT), approve(BERT)).told).toEqual(['APPROVAL_GIVEN a.1.1.0 by bert']);
  });

  it('ends with one no', () => {
    const story = two()
      .when(approve(BERT))
      .when(say({ verb: 'REJECT', approvalId: ID }, CARLA));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 rejected by carla']);
    expect(story.when(approve(DORA)).told).toEqual([]);
  });

  it('does not add up words for different commands, and counts only the last one of a person', () => {
    const story = two()
      .when(approve(BERT))
      .when(approve(CARLA, { command: OTHER }));
    expect(story.told).toEqual(['APPROVAL_GIVEN a.1.1.0 edited by carla']);
    expect(story.when(approve(BERT, { command: OTHER })).told).toEqual(['APPROVAL_GIVEN a.1.1.0 edited by bert']);
    // Carla wrote it: it takes two others.
    story.when(approve(DORA, { command: OTHER }));
    expect(decision(story)).toMatchObject({ decision: 'edited', command: OTHER, approvedBy: [BERT, DORA] });
  });

  it('takes somebody else for a command that was changed, also where one is enough', () => {
    const story = waiting({ approvers: ALL }).when(approve(BERT, { command: OTHER }));
    expect(story.told).toEqual(['APPROVAL_GIVEN a.1.1.0 edited by bert']);
    expect(message(story)).toContain('0 of 1; another person has to approve it: ask carla, dora');
    expect(story.when(approve(CARLA, { command: OTHER })).told).toEqual(['APPROVAL_DECIDED a.1.1.0 edited by carla']);
    expect(decision(story)).toMatchObject({ command: OTHER, approvedBy: [CARLA] });
  });

  it('grants only what all of them grant, and as long as the shortest', () => {
    const one = two()
      .when(approve(BERT, { grantMs: 20 * MINUTE }))
      .when(approve(CARLA));
    expect(decision(one)).not.toHaveProperty('grant');
    const all = two()
      .when(approve(BERT, { grantMs: 20 * MINUTE }))
      .when(approve(CARLA, { grantMs: 10 * MINUTE }));
    expect(decision(all)?.grant).toEqual({ until: new Date(T0 + 10 * MINUTE).toISOString() });
    all.when(asked(commandAsk(NEXT)));
    expect(decision(all)).toMatchObject({ grantOf: ID, approvedBy: [BERT, CARLA] });
  });

  it('does not count who has changed the plan since, or may approve no more; nor do their grants', () => {
    const edited = two()
      .when(approve(BERT))
      .when(insert([add.task('n')], { by: BERT }))
      .when(approve(CARLA));
    expect(edited.told).toEqual(['APPROVAL_GIVEN a.1.1.0 by carla']);
    const revoked = two().when(approve(BERT)).approvedBy('anna', 'carla', 'dora').when(approve(CARLA));
    expect(revoked.told).toEqual(['APPROVAL_GIVEN a.1.1.0 by carla']);
    const granted = waiting({ approvers: ALL }).when(approve(BERT, { grantMs: MINUTE }));
    expect(granted.approvedBy('anna', 'carla').when(asked(commandAsk(NEXT))).told).toEqual([
      'APPROVAL_REQUESTED approval a.1.2.0',
    ]);
  });
});

describe('a plan that waits', () => {
  const planned = (options: RunOptions, ...approvers: string[]) =>
    new Story()
      .approvedBy(...approvers)
      .when(goal({ options: { plan: 'approve', ...options }, requestedBy: ANNA }))
      .when(imagine('e1', [build(constellation(['a', 'b'], ['a->b']))]));
  const resume = (by: Actor) => verb({ verb: 'RESUME' }, `said-${said++}`, by);

  it('is accepted by nobody who had a part in it, but by the only approver, marked', () => {
    const story = planned({}, 'anna', 'bert').when(resume(ANNA));
    expect(message(story)).toContain('anna requested this run; another person has to approve its plan: ask bert');
    expect(story.when(resume(BERT)).told[0]).toBe('RUN_RESUMED by bert');
    const sole = planned({}, 'anna').when(resume(ANNA));
    expect(sole.events.find(({ type }) => type === 'RUN_RESUMED')?.data).toMatchObject({ selfApproved: true });
    expect(answer(sole)).toMatchObject({ kind: 'accepted', detail: expect.stringContaining('one approver only') });
  });

  it('takes as many persons as its commands, and anew when it is changed', () => {
    const story = planned({ approvals: 2 }, 'anna', 'bert', 'carla', 'dora').when(resume(BERT));
    expect(story.told).toEqual(['PLAN_ACCEPTED revision 1 by bert']);
    expect(viewOf(story.run).waitingFor?.detail).toBe('approval of the plan (1 of 2, by bert)');
    expect(answer(story.when(resume(BERT)))).toMatchObject({ kind: 'ignored', reason: 'ALREADY_GIVEN' });
    story.when(insert([add.task('n')], { by: ANNA })).when(resume(CARLA));
    expect(story.told).toEqual(['PLAN_ACCEPTED revision 2 by carla']);
    expect(story.when(resume(DORA)).told[0]).toBe('RUN_RESUMED by dora');
    expect(story.events.find(({ type }) => type === 'RUN_RESUMED')?.data).toMatchObject({ approvedBy: [CARLA, DORA] });
  });
});

describe('whatever persons say, in whatever order', () => {
  const people = ['anna', 'bert', 'carla', 'dora'];
  const words = fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('approve' as const),
        by: fc.constantFrom(...people),
        edited: fc.boolean(),
        grant: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('edit' as const), by: fc.constantFrom(...people) }),
      fc.record({ kind: fc.constant('ask' as const) }),
      fc.record({ kind: fc.constant('approvers' as const), of: fc.subarray(people, { minLength: 1 }) }),
    ),
    { maxLength: 25 },
  );

  it('no command runs with fewer persons than it takes, nor by the word of somebody who had a part in it, unless it is marked', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), words, (approvals, list) => {
        const story = waiting({ approvers: people, approvals });
        let [asks, sole] = [1, false];
        for (const [at, word] of list.entries()) {
          const before = story.run;
          if (word.kind === 'ask') story.when(asked(commandAsk(`run-1.a.1.${++asks}.0`)));
          else if (word.kind === 'edit') story.when(insert([add.task(`n${at}`)], { by: person(word.by) }));
          else if (word.kind === 'approvers') {
            story.approvedBy(...word.of);
            sole = word.of.length === 1;
            continue;
          } else {
            const approvalId = `run-1.a.1.${asks}.0`;
            const grantMs = word.grant && !word.edited ? MINUTE : undefined;
            story.when(approve(person(word.by), { approvalId, grantMs, ...(word.edited && { command: OTHER }) }));
          }
          for (const event of story.last?.events ?? []) {
            if (event.type !== 'APPROVAL_DECIDED') continue;
            const { by, approvedBy = [by], selfApproved, command, approvalId, grantOf } = event.data;
            expect(new Set(approvedBy.map(({ id }) => id)).size).toBeGreaterThanOrEqual(approvals);
            if (selfApproved === true) {
              expect(sole).toBe(true);
              continue;
            }
            const authors = story.run.authors.map(({ actor }) => actor.id);
            expect(approvedBy.filter(({ id }) => authors.includes(id))).toEqual([]);
            const editor = before.approvals.open.get(approvalId)?.given.find((given) => given.command !== null)?.by.id;
            if (command !== undefined) expect(approvedBy.map(({ id }) => id)).not.toContain(editor);
            if (command !== undefined) expect(grantOf ?? editor).toBeDefined();
          }
          expect(checkInvariants(story.run)).toEqual([]);
        }
      }),
      { numRuns: 300, seed: 2026 },
    );
  });
});
