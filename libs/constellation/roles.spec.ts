import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Actor, mayDo, Role, RUN_VERBS, type RunVerb } from '#proto';
import type { Control } from './decide/control.js';
import {
  add,
  ask,
  asked,
  build,
  commandAsk,
  constellation,
  device,
  fleet,
  imagine,
  insert,
  Story,
  submit,
  verb,
  withAgents,
} from './testing/given.js';

const person = (id: string): Actor => ({ kind: 'person', id });
const ANNA = person('anna');
const BERT = person('bert');
const ID = 'run-1.a.1.1.0';
const FLEET = withAgents(fleet([device('web-1', { tasksMax: 9 })]));
const PLAN = constellation([{ id: 'a', command: undefined as never }, 'b'], ['a->b']);
const ALL = ['anna', 'bert', 'carla'];

/** Anna has asked for a run, in which an agent waits for approval. */
const begun = () =>
  new Story()
    .on(FLEET)
    .approvedBy(...ALL)
    .when(submit(PLAN, { requestedBy: ANNA }))
    .when(asked(commandAsk(ID)));

const SAID: { readonly [V in Exclude<RunVerb, 'FORK' | 'PROPOSE'>]: Extract<Control, { verb: V }> } = {
  CANCEL: { verb: 'CANCEL' },
  PAUSE: { verb: 'PAUSE' },
  RESUME: { verb: 'RESUME' },
  RETRY: { verb: 'RETRY', taskId: 'a' },
  SAY: { verb: 'SAY', text: 'look at db-1, too' },
  BOARD_SET: { verb: 'BOARD_SET', name: 'x', value: 1 },
  BOARD_DELETE: { verb: 'BOARD_DELETE', name: 'x' },
  ANNOTATE: { verb: 'ANNOTATE', text: 'look' },
  DISCARD: { verb: 'DISCARD', deviceId: 'web-1' },
  APPROVE: { verb: 'APPROVE', approvalId: ID },
  REJECT: { verb: 'REJECT', approvalId: ID },
  ANSWER: { verb: 'ANSWER', approvalId: ID, text: 'yes' },
};
const inputOf = (name: Exclude<RunVerb, 'FORK'>, by: Actor, roles: readonly Role[]) => {
  const said = name === 'PROPOSE' ? insert([add.task('n')], { by }) : verb(SAID[name], `v-${name}`, by);
  return { ...said, roles } as ReturnType<typeof verb>;
};
const isDenied = (story: Story): boolean => {
  const answer = story.answers.at(-1);
  return (
    answer?.kind === 'rejected' &&
    answer.reason.code === 'UNAUTHORIZED' &&
    answer.reason.message.includes('needs the role')
  );
};

const verbs = RUN_VERBS.filter((name) => name !== 'FORK');
const roles = fc.subarray([...Role.options]);

describe('a verb', () => {
  it('is refused exactly to whom the table of roles gives it neither at all nor for his own, and leaves no trace then', () => {
    fc.assert(
      fc.property(fc.constantFrom(...verbs), roles, fc.boolean(), (name, has, own) => {
        const story = begun().when(inputOf(name, own ? ANNA : BERT, has));
        expect(isDenied(story)).toBe(!mayDo(has, name, { own }));
        if (isDenied(story)) expect(story.told).toEqual([]);
      }),
      { numRuns: 400, seed: 15 },
    );
  });

  it('says which role it needs, and which there are', () => {
    const story = begun().when(inputOf('CANCEL', BERT, ['viewer', 'auditor']));
    expect(JSON.stringify(story.answers.at(-1))).toContain(
      "CANCEL needs the role operator, or requester for a run of one's own; bert has viewer, auditor",
    );
  });

  it('is answered as at first when its sender has lost the role since', () => {
    const story = begun()
      .when(inputOf('PAUSE', BERT, ['operator']))
      .when(inputOf('PAUSE', BERT, []));
    expect(story.answers.at(-1)).toMatchObject({ kind: 'accepted' });
  });
});

it('to go on with a plan that waits is to approve it: neither who operates nor whose run it is may', () => {
  const planned = () =>
    new Story()
      .approvedBy('bert', 'carla')
      .when(ask({ options: { plan: 'approve' }, requestedBy: ANNA }))
      .when(imagine('e1', [build(constellation(['a']))]));
  for (const [by, has] of [
    [ANNA, ['requester']],
    [BERT, ['operator']],
  ] as const) {
    const story = planned().when(inputOf('RESUME', by, has));
    expect(isDenied(story)).toBe(true);
    expect(JSON.stringify(story.answers.at(-1))).toContain(
      'RESUME of a plan that waits for approval needs the role approver',
    );
  }
  expect(planned().when(inputOf('RESUME', BERT, ['approver'])).told[0]).toBe('RUN_RESUMED by bert');
});
