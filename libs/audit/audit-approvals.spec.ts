import { describe, expect, it } from '@jest/globals';
import { commandIdOf, type Actor, type Ask } from '#proto';
import { auditRun } from './audit-run.js';
import { findingText } from './findings.js';
import { editedRun, sampleAsks } from '#libs/testing';

const { COMMAND_ASK, QUESTION_ASK } = sampleAsks;
const { altered, dataOf, LATE, OPERATOR, recordsOf, RUN, Told } = editedRun;
type Told = editedRun.Told;
type Groups = editedRun.Groups;

const ANNA: Actor = { kind: 'person', id: 'anna' };
const idOf = (step: number): string => commandIdOf({ runId: RUN, taskId: 'a', attempt: 1 }, step);

/** The first task of the plan runs and asks. */
class Asking extends Told {
  asks(step: number, ask: Ask = COMMAND_ASK): this {
    const asked = { ...ask, approvalId: idOf(step), step, expiresAt: LATE };
    this.decide([{ kind: 'asked', taskId: 'a', attempt: 1, ask: asked, attemptHash: 'f'.repeat(64) }]);
    return this;
  }

  says(word: object, by: Actor = ANNA): this {
    const action = { approvalId: idOf(1), ...word } as Parameters<Told['obeys']>[0];
    this.decide([{ kind: 'verb', id: `w${this.run.verbs.size}${by.id}`, by, action }]);
    return this;
  }
}

const approved = () => new Asking().asks(1).says({ verb: 'APPROVE' });
const granted = () => new Asking().asks(1).says({ verb: 'APPROVE', grantMs: 60_000 }).asks(2);
const answered = () => new Asking().asks(1, QUESTION_ASK).says({ verb: 'ANSWER', text: '8443' });
const [BERT, CARLA, DORA] = ['bert', 'carla', 'dora'].map((id) => ({ kind: 'person', id })) as [Actor, Actor, Actor];
const OTHER = { tool: 'EXEC_CLI', arguments: { command: 'ls' } };
/** How many persons it takes is recorded, and who may approve is known. */
const taking = (approvals: number, ...approvers: string[]): Asking => {
  const history = new Asking({ approvals });
  history.approvers = approvers;
  return history;
};
const ALL = ['anna', 'bert', 'carla', 'dora'];
const two = () =>
  taking(2, ...ALL)
    .asks(1)
    .says({ verb: 'APPROVE' })
    .says({ verb: 'APPROVE' }, BERT);
const changed = () => {
  const history = taking(2, ...ALL).asks(1);
  for (const by of [CARLA, ANNA, BERT]) history.says({ verb: 'APPROVE', command: OTHER }, by);
  return history;
};
const sole = () => taking(1, OPERATOR.id).asks(1).says({ verb: 'APPROVE', grantMs: 60_000 }, OPERATOR).asks(2);
const proposal = { editId: null, try: 1, baseRevision: null, state: 'CONTINUE', edits: [] } as const;
const byAnna = () => {
  const history = taking(1, ...ALL).asks(1);
  const edits = [{ tool: 'update_task' as const, taskId: 'c', change: { name: 'last' } }];
  const action = { verb: 'PROPOSE', proposal: { ...proposal, edits }, delegated: false } as const;
  history.decide([{ kind: 'verb', id: 'edit', by: ANNA, action }]);
  return history.says({ verb: 'APPROVE' }, BERT);
};
const rejected = () => new Asking().asks(1).says({ verb: 'REJECT' });
const SHOWN = { ...COMMAND_ASK, wall: { kind: 'write', views: [], internet: true } } as const;
const WIDER = { kind: 'write', views: [], internet: true, writable: ['/srv/app'] } as const;
const widened = () => new Asking().asks(1, SHOWN).says({ verb: 'APPROVE', wall: WIDER });
const heldGrant = () =>
  new Asking().asks(1, SHOWN).says({ verb: 'APPROVE', grantMs: 60_000, wall: WIDER }).asks(2, SHOWN);
const heldByTwo = () =>
  taking(2, ...ALL)
    .asks(1, SHOWN)
    .says({ verb: 'APPROVE', wall: WIDER })
    .says({ verb: 'APPROVE', wall: { kind: 'none', views: [] } }, BERT);
const decided = (groups: Groups) => dataOf(groups, 'APPROVAL_DECIDED');
const OF = `APPROVAL_DECIDED of a, attempt 1:`;

describe('what agents ask and people decide', () => {
  it('is legal as the orchestrator decides it', () => {
    const revoked = granted().says({ verb: 'REJECT' }).asks(3);
    for (const history of [
      approved(),
      granted(),
      answered(),
      rejected(),
      revoked,
      approved().ends('a'),
      new Asking().asks(1).ends('a'),
      two(),
      changed(),
      sole(),
      byAnna(),
      widened(),
      heldGrant(),
      heldByTwo(),
      taking(2, ...ALL)
        .asks(1)
        .says({ verb: 'APPROVE', grantMs: 9_000 })
        .says({ verb: 'APPROVE', grantMs: 9_000 }, DORA)
        .asks(2),
    ]) {
      expect(auditRun(RUN, recordsOf(history.steps)).findings.map(findingText)).toEqual([]);
    }
  });

  const cases: [string, () => Asking, (groups: Groups) => unknown, string][] = [
    ['an approval of nothing', approved, (groups) => groups.splice(1, 1), `${OF} ${idOf(1)} is not open`],
    ['a word that counts twice', approved, (groups) => groups.push(groups[2] ?? []), `${OF} ${idOf(1)} is not open`],
    [
      'an approval by a machine',
      approved,
      (groups) => (decided(groups).by = { kind: 'system', id: 'planner' }),
      `${OF} approved by planner, who is no person`,
    ],
    [
      'an approval of what was asked for by the same',
      approved,
      (groups) => (decided(groups).by = OPERATOR),
      `${OF} operator requested this run, and may not approve in it`,
    ],
    [
      'a command that too few have approved',
      two,
      (groups) => delete decided(groups).approvedBy,
      `${OF} it takes 2 persons, and has 1`,
    ],
    [
      'a person who counts twice',
      two,
      (groups) => (decided(groups).approvedBy = [BERT, BERT]),
      `${OF} somebody is counted twice`,
    ],
    [
      'a person who has said nothing',
      two,
      (groups) => (decided(groups).approvedBy = [DORA, BERT]),
      `${OF} dora has not approved that command`,
    ],
    [
      'a person whose word was for another command',
      changed,
      (groups) => delete dataOf(groups, 'APPROVAL_GIVEN').command,
      `${OF} anna wrote the command, and may not approve it`,
    ],
    [
      'an approval by who wrote the command',
      changed,
      (groups) => (decided(groups).approvedBy = [CARLA, BERT]),
      `${OF} carla wrote the command, and may not approve it`,
    ],
    [
      'an approval by who changed the plan',
      byAnna,
      (groups) => (decided(groups).by = ANNA),
      `${OF} anna changed the plan of this run, and may not approve in it`,
    ],
    [
      'an approval of his own that is not marked',
      sole,
      (groups) => delete decided(groups).selfApproved,
      `${OF} operator requested this run, and may not approve in it`,
    ],
    [
      'an expiry that came early',
      rejected,
      (groups) => (decided(groups).decision = 'expired'),
      `${OF} it expires at ${LATE}, not before`,
    ],
    [
      'an approval of a question',
      answered,
      (groups) => (decided(groups).decision = 'approved'),
      `${OF} a question cannot be`,
    ],
    [
      'a changed command that nobody changed',
      approved,
      (groups) => (decided(groups).decision = 'edited'),
      `${OF} a command is edited if and only if`,
    ],
    ['a grant that was never given', granted, (groups) => delete decided(groups).grant, `grants nothing of the kind`],
    [
      'a grant of what may not be granted',
      granted,
      (groups) => Object.assign(dataOf(groups, 'APPROVAL_REQUESTED').ask, { grantable: false }),
      `${OF} it may not be granted for a while`,
    ],
    [
      'a grant that gives more than it was given',
      heldGrant,
      (groups) => (dataOf(groups.slice(-1), 'APPROVAL_DECIDED').wall = { kind: 'none', views: [] }),
      `does not give that much`,
    ],
    [
      'more than one of those who approved it has given',
      heldByTwo,
      (groups) => (decided(groups).wall = { kind: 'none', views: [] }),
      `${OF} anna has not given that much`,
    ],
    [
      'something that is given to what was rejected',
      rejected,
      (groups) => (decided(groups).wall = { kind: 'none', views: [] }),
      `${OF} only what may run is given anything`,
    ],
    [
      'a question of another device',
      approved,
      (groups) => (dataOf(groups, 'APPROVAL_REQUESTED').ask.deviceId = 'web-9'),
      'the attempt runs on web-1, not on web-9',
    ],
    [
      'a question with a foreign id',
      approved,
      (groups) => (dataOf(groups, 'APPROVAL_REQUESTED').ask.approvalId = 'r.a.1.1.0'),
      'r.a.1.1.0 is no id of this attempt',
    ],
    [
      'a question of an attempt that is over',
      approved,
      (groups) => (dataOf(groups, 'APPROVAL_REQUESTED').attempt = 2),
      'the attempt is not running',
    ],
  ];
  it.each(cases)('finds %s', (_, history, alter, finding) => {
    expect(altered(history(), alter)).toContain(finding);
  });
});
