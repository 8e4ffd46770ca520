import { describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { hashCommit, NO_COMMITS, sealNext } from '#libs/event-log';
import { busKeyOfSeed, keepProof, proveActor } from '#libs/keys';
import { editedRun, sampleAsks, sampleRun } from '#libs/testing';
import { commandIdOf, subjects, type Actor, type ActorEvent, type Cause, type RunOptions } from '#proto';
import { auditRun } from './audit-run.js';
import type { ExportRecord } from './export-file.js';
import { findingText } from './findings.js';
import { actorsInvolved } from './signed-facts.js';

/* A run whose plan Bert, and once Carla, had approved a month before; and what somebody would write who wants that to look so. */

const { dataOf, groupsOf, LATE, RUN, star, Told } = editedRun;
type Groups = editedRun.Groups;
const SUBJECT = subjects.query('registry', 'content-approve');
const newSeed = (): string => new TextDecoder().decode(createUser().getSeed());
const keyOf = busKeyOfSeed;
const SEEDS = { bert: newSeed(), carla: newSeed() };
type Who = keyof typeof SEEDS;
const person = (id: string): Actor => ({ kind: 'person', id });
const SETUP: Actor = { kind: 'system', id: 'setup' };
const BEGIN = '2025-11-01T00:00:00.000Z';
const GIVEN = '2025-12-01T00:00:00.000Z';
const TAKEN = '2025-12-20T00:00:00.000Z';
const EXPIRES = '2026-02-01T00:00:00.000Z';
/** Of the plan of the run; the first decision names it. */
let contentHash = '';

/** The plan runs as it was approved: the command of its first task is asked about, and goes on. */
function history(options: RunOptions = {}, ...by: Who[]): InstanceType<typeof Told> {
  const told = new Told({ judge: 'all', approvals: 1, editPolicy: 'never', ...options });
  told.approvers = ['bert', 'carla', 'dora'];
  told.standing = (content) => {
    contentHash = hashCommit(content);
    return by.map((who) => ({ approvalId: `of-${who}`, contentHash, by: person(who) }));
  };
  const approvalId = commandIdOf({ runId: RUN, taskId: 'a', attempt: 1 });
  const ask = { ...sampleAsks.COMMAND_ASK, approvalId, step: 0, expiresAt: LATE, command: star('a').command };
  told.decide([{ kind: 'asked', taskId: 'a', attempt: 1, ask, attemptHash: 'f'.repeat(64) }]);
  return told;
}

interface Fact {
  readonly event: ActorEvent;
  readonly cause?: Cause;
}

const approved = (who: Who, change: { hash?: string; signed?: object; by?: Who; subject?: string } = {}): Fact => {
  const { hash = contentHash, signed = {}, by = who, subject = SUBJECT } = change;
  const body = { id: `of-${who}`, contentHash: hash, about: { name: 'x' }, expiresAt: EXPIRES };
  const said = { ...body, ...signed };
  const proof = keepProof(proveActor(SEEDS[by], { subject, at: GIVEN, body: said }), { subject, body: said });
  const { id: approvalId, ...approval } = body;
  return {
    event: { type: 'CONTENT_APPROVED', data: { approvalId, ...approval, by: person(who), at: GIVEN } },
    cause: { kind: 'request', id: approvalId, proof },
  };
};
const known = (who: Who, roles: ('approver' | 'viewer')[] = ['approver']): Fact[] => [
  { event: { type: 'ACTOR_ADDED', data: { actor: person(who), roles, namespace: who, by: SETUP, at: BEGIN } } },
  { event: { type: 'KEY_ADDED', data: { key: keyOf(SEEDS[who]), by: SETUP, at: BEGIN } } },
];
const facts = (who: Who): Fact[] => [...known(who), approved(who)];

function logOf(id: string, given: readonly Fact[]): ExportRecord[] {
  let end = { ...NO_COMMITS };
  return given.map(({ event, cause }, index): ExportRecord => {
    const stamp = {
      commit: `01JD4Q6Z8W3V5X7Y9A0B1C2E${String(index).padStart(2, '0')}`,
      now: Date.parse(event.data.at),
    };
    const by = { service: 'registry', instance: 'one' };
    const causes = cause === undefined ? [] : [cause];
    const commit = sealNext(end, { actorId: id }, [event], { ...stamp, by, causes });
    end = { ...end, number: commit.number, events: end.events + 1, hash: commit.hash };
    return { stream: 'ACTORS', subject: subjects.actor(id), sequence: index + 1, commit };
  });
}

type Logs = Partial<Record<Who, readonly Fact[]>>;

function found(told: InstanceType<typeof Told>, logs: () => Logs, alter: (groups: Groups) => void = () => undefined) {
  const groups = groupsOf(told.steps);
  alter(groups);
  const actors = Object.entries(logs())
    .flatMap(([id, given]) => logOf(id, given))
    .map((record, index) => ({ ...record, sequence: index + 1 }));
  const { findings, unchecked } = auditRun(RUN, [...sampleRun.sealRun(groups, RUN), ...actors]);
  return { findings: findings.map(findingText), unchecked };
}

const one = () => history({}, 'bert');
const two = () => history({ approvals: 2 }, 'bert', 'carla');
const BOTH = (): Logs => ({ bert: facts('bert'), carla: facts('carla') });

describe('what ran under a standing approval', () => {
  it('is as it should be, and needs the logs of those whose words they were', () => {
    for (const told of [one(), two()]) expect(found(told, BOTH)).toEqual({ findings: [], unchecked: [] });
    const records = sampleRun.sealRun(groupsOf(two().steps), RUN);
    expect(actorsInvolved(records)).toEqual(expect.arrayContaining(['bert', 'carla', 'console']));
    expect(found(one(), () => ({})).unchecked).toEqual([expect.stringContaining('whose keys have signed')]);
  });

  const decided = (groups: Groups) => dataOf(groups, 'APPROVAL_DECIDED');
  it.each<[string, (groups: Groups) => void, string]>([
    [
      'another plan',
      (groups) => {
        for (const task of dataOf(groups, 'RUN_REQUESTED').constellation?.tasks ?? []) task.name = `${task.name}!`;
      },
      'the plan is',
    ],
    [
      'the hash of another plan',
      (groups) => void (decided(groups).standing = { contentHash: 'e'.repeat(64), ids: ['of-bert'] }),
      'not the approved eeee',
    ],
    [
      'a command that does not stand in it',
      (groups) => {
        const { ask } = dataOf(groups, 'APPROVAL_REQUESTED');
        if (ask.kind === 'approval') ask.command = { tool: 'EXEC_CLI', arguments: { command: 'rm -rf /srv' } };
      },
      'the command does not stand in the plan',
    ],
    [
      'another command in its place',
      (groups) => void Object.assign(decided(groups), { decision: 'edited', command: { tool: 'X', arguments: {} } }),
      'lets a command of the plan run as it is, and nothing else',
    ],
    [
      'a grant for a while',
      (groups) => void (decided(groups).grant = { until: LATE }),
      'lets a command of the plan run as it is, and nothing else',
    ],
    [
      'a run whose author approved it',
      (groups) => void (dataOf(groups, 'RUN_REQUESTED').requestedBy = person('bert')),
      'bert requested this run, and may not approve in it',
    ],
    [
      'a run that takes two',
      (groups) => void (dataOf(groups, 'RUN_REQUESTED').options.approvals = 2),
      'it takes 2 persons, and has 1',
    ],
    [
      'a run in which every command is asked about',
      (groups) => void (dataOf(groups, 'RUN_REQUESTED').options.approval = 'always'),
      'every command of this run is asked about',
    ],
    [
      'the word of no person',
      (groups) => void (decided(groups).by = { kind: 'system', id: 'bert' }),
      'who is no person',
    ],
    [
      'an approval that nobody has given',
      (groups) => void (decided(groups).standing = { contentHash, ids: ['of-nobody'] }),
      'the standing approval of-nobody for',
    ],
    [
      'one word more than there are persons',
      (groups) => void (decided(groups).standing = { contentHash, ids: ['of-bert', 'of-carla'] }),
      'it names 2 standing approvals of 1 persons',
    ],
    ["another one's approval", (groups) => void (decided(groups).by = person('carla')), 'of-bert for'],
  ])('is found when it is made to cover %s', (_, alter, message) => {
    expect(found(one(), BOTH, alter).findings.join('\n')).toContain(message);
  });

  it('is found when one person is counted twice', () => {
    const twice = (groups: Groups): void => {
      Object.assign(decided(groups), { by: person('bert'), approvedBy: [person('bert'), person('bert')] });
      decided(groups).standing = { contentHash, ids: ['of-bert', 'of-bert'] };
    };
    expect(found(two(), BOTH, twice).findings.join('\n')).toContain('somebody is counted twice');
  });

  it('is found when its run was not judged at all', () => {
    const alter = (groups: Groups): void => void delete dataOf(groups, 'TASK_STARTED').judge;
    expect(found(one(), BOTH, alter).findings.join('\n')).toContain('TASK_STARTED of a');
  });
});

describe('a word that did not count', () => {
  const end = (event: ActorEvent): Fact => ({ event });
  it.each<[string, () => readonly Fact[], string]>([
    ['of another content', () => [...known('bert'), approved('bert', { hash: 'd'.repeat(64) })], 'was never given'],
    [
      'that was taken back before',
      () => [
        ...facts('bert'),
        end({ type: 'CONTENT_REVOKED', data: { approvalId: 'of-bert', by: person('carla'), at: TAKEN, reason: '' } }),
      ],
      `counted only until ${TAKEN}`,
    ],
    [
      'of who could approve no more',
      () => [
        ...facts('bert'),
        end({ type: 'ROLES_CHANGED', data: { given: [], taken: ['approver'], by: SETUP, at: TAKEN } }),
      ],
      'the role approver of bert counted only until',
    ],
    [
      'of who never could',
      () => [...known('bert', ['viewer']), approved('bert')],
      'the role approver of bert was never',
    ],
    [
      'of who was revoked before',
      () => [...facts('bert'), end({ type: 'ACTOR_REVOKED', data: { by: SETUP, at: TAKEN, reason: '' } })],
      `counted only until ${TAKEN}`,
    ],
    ['that nobody has signed', () => [...known('bert'), { event: approved('bert').event }], 'was signed by nobody'],
    ["with another one's key", () => [...known('bert'), approved('bert', { by: 'carla' })], 'was signed by carla'],
    [
      'that was signed for other content',
      () => [...known('bert'), approved('bert', { signed: { contentHash: 'd'.repeat(64) } })],
      'was signed for something else',
    ],
    [
      'that was signed as another command',
      () => [...known('bert'), approved('bert', { subject: subjects.query('registry', 'content-revoke') })],
      'was signed for orrery.v.registry.content-revoke',
    ],
  ])('is found: one %s', (_, log, message) => {
    const told = one();
    const { findings } = found(told, () => ({ bert: log(), carla: facts('carla') }));
    expect(findings.join('\n')).toContain(message);
  });

  it('is found though its proof was copied from another approval', () => {
    const told = one();
    const copied = (): Fact => {
      const { cause } = approved('carla');
      return { ...approved('bert'), ...(cause && { cause }) };
    };
    const { findings } = found(told, () => ({ bert: [...known('bert'), copied()], carla: facts('carla') }));
    expect(findings.join('\n')).toContain('was signed for something else');
  });
});
