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
const rejected = () => new Asking().asks(1).says({ verb: 'REJECT' });
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
