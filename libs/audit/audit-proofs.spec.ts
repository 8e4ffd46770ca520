import { describe, expect, it } from '@jest/globals';
import { NO_COMMITS, sealNext } from '#libs/event-log';
import { keepProof, proveActor } from '#libs/keys';
import {
  NO_USAGE,
  subjects,
  type Actor,
  type ActorEvent,
  type PlanEvent,
  type RunEvent,
  type Vouched,
  type Cause,
} from '#proto';
import { auditProofs } from './audit-proofs.js';
import type { ExportRecord } from './export-file.js';
import { findingText } from './findings.js';
import { type ProvenOrder, provenRun } from './proven-run.testing.js';
import { actorsInvolved } from './signed-facts.js';

const { added, ANNA, at, BOB, bound, changed, found, keyAdded, keyOf, keyRevoked, LOGIN, logs, LOGS, note, ORDERS } =
  provenRun;
const { parsed, paused, request, requested, RUN, sealed, SEEDS, SETUP, T0, verb } = provenRun;

describe('the proofs of a run', () => {
  it('are counted, and their actors named', () => {
    expect(auditProofs(RUN, [...sealed(ORDERS), ...logs()])).toEqual({
      findings: [],
      unchecked: [],
      proofs: { signed: 3, vouched: 1, unseen: 0, unsigned: { published: 0, old: 0 } },
      words: 0,
      actors: { anna: expect.any(String), bob: expect.any(String), console: expect.any(String) },
    });
  });

  it('need the logs of who is named, of who speaks for others, and of who signs what comes with a grant', () => {
    expect(actorsInvolved(sealed(ORDERS))).toEqual(['aip-gateway', 'anna', 'bob', 'console']);
    const { body: _, ...rest } = proofOf(1);
    const granted = changed(1, { cause: { proof: { ...rest, bodyHash: '0'.repeat(64) } } });
    expect(actorsInvolved(sealed(granted))).toEqual(['aip-gateway', 'anna', 'bob', 'console', 'planner']);
  });

  it('are none in a run from before they were kept, and in one that was published', () => {
    const old = { requestedBy: { kind: 'external', id: 'default' } as Actor };
    const orders = (by: Actor): ProvenOrder[] => [
      {
        ...(ORDERS[0] as ProvenOrder),
        by: undefined,
        events: [requested({ ...old, requestedBy: by })],
        minute: -9_000,
      },
      ...ORDERS.slice(1).map((order) => ({ ...order, by: undefined, minute: -8_000 })),
    ];
    const told = (by: Actor) => auditProofs(RUN, [...sealed(orders(by)), ...logs()]);
    expect(told(old.requestedBy)).toMatchObject({ findings: [], proofs: { unsigned: { published: 0, old: 4 } } });
    expect(told({ kind: 'external', id: 'shop' })).toMatchObject({ proofs: { unsigned: { published: 1, old: 3 } } });
  });

  it('say what could not be checked without the logs of the actors', () => {
    const { findings, unchecked } = auditProofs(RUN, sealed(ORDERS));
    expect([findings, unchecked]).toEqual([[], [expect.stringContaining('whose keys have signed')]]);
  });
});

describe('what an agent writes on the board', () => {
  const AGENTS: Actor = { kind: 'system', id: 'device-agent' };
  const known = logs({ 'device-agent': [added(AGENTS), keyAdded('agents')] });
  const attempt = { taskId: 'a', attempt: 1 };
  const written = (change: object = {}): RunEvent => ({
    type: 'BOARD_WRITTEN',
    data: {
      name: 'hosts',
      value: ['db-1'],
      revision: 1,
      by: AGENTS,
      attempt,
      judge: true,
      writtenAt: at(14),
      ...change,
    },
  });
  const write: ProvenOrder = {
    ...verb('BOARD_SET', { name: 'hosts', value: ['db-1'], attempt }, 'board-1'),
    events: [written()],
    minute: 14,
    by: 'agents',
  };
  const end = { cause: { kind: 'attempt' as const }, by: undefined };
  const completed = (of: typeof attempt): RunEvent => ({
    type: 'TASK_COMPLETED',
    data: { ...of, result: { value: {} }, lines: [], completedAt: at(14), attemptHash: null },
  });

  it('is proven by the service that runs it, whose log is needed', () => {
    expect(found([...ORDERS, write], known)).toEqual([]);
    expect(actorsInvolved(sealed([...ORDERS, write]))).toContain('device-agent');
  });

  it('needs no proof where the end of its attempt brings it', () => {
    expect(found([...ORDERS, { ...write, ...end, events: [written(), completed(attempt)] }], known)).toEqual([]);
  });

  it.each<[string, Partial<ProvenOrder>, RegExp]>([
    ['another value', { events: [written({ value: ['db-2'] })] }, /its value is not what is recorded/u],
    ['another name', { events: [written({ name: 'other' })] }, /its name is not what is recorded/u],
    ['the key of somebody else', { by: 'anna' }, /anna signed it, and it is recorded in the name of device-agent/u],
    ['no proof', { ...end, events: [written()] }, /BOARD_WRITTEN by device-agent: nothing in this commit proves it/u],
    [
      'the end of another attempt',
      { ...end, events: [written(), completed({ ...attempt, attempt: 2 })] },
      /BOARD_WRITTEN by device-agent: nothing in this commit proves it/u,
    ],
  ])('with %s, is found out', (_, change, message) => {
    expect(found([...ORDERS, { ...write, ...change }], known)).toEqual(
      expect.arrayContaining([expect.stringMatching(message)]),
    );
  });
});

describe('who logs in at the console with a key of his own', () => {
  const orders = changed(3, { vouched: { ...LOGIN, issuer: 'orrery', subject: `key:${keyOf(SEEDS.bob)}` } });

  it('is believed while the key counts', () => {
    expect(found(orders)).toEqual([]);
    expect(found(orders, logs({ bob: [added(BOB), keyAdded('bob'), keyRevoked('bob', 60)] }))).toEqual([]);
  });

  it.each<[string, readonly ActorEvent[], string]>([
    ['was revoked by then', [added(BOB), keyAdded('bob'), keyRevoked('bob', 12.1)], 'counted only until'],
    ['is that of a program', [added({ kind: 'system', id: 'bob' }), keyAdded('bob')], 'was never given'],
  ])('is not when it %s', (_, bob, why) =>
    expect(found(orders, logs({ bob }))).toEqual(expect.arrayContaining([expect.stringContaining(why)])),
  );
});

describe('who forges a run', () => {
  const vouchedAs = (change: Partial<Vouched>) => changed(3, { vouched: { ...LOGIN, ...change } });

  it.each<[string, ProvenOrder[], RegExp]>([
    [
      "with another's key",
      changed(1, { by: 'bob' }),
      /commit 2: .*bob signed it, and it is recorded in the name of anna/u,
    ],
    ['with a key of nobody', changed(2, { by: 'mallory' }), /commit 3: .*is of nobody whose log is there/u],
    [
      'by taking a proof away',
      changed(1, { by: undefined }),
      /commit 2: verb n1 has no proof, and those before it have one/u,
    ],
    [
      'by taking the first proof away',
      changed(0, { by: undefined }),
      /commit 1: request r has no proof, and those after/u,
    ],
    [
      'by recording another text than was signed',
      changed(1, { events: [note('never mind', ANNA)] }),
      /commit 2: .*its text is not what is recorded/u,
    ],
    [
      'by recording another plan than was signed',
      changed(0, { events: [requested({ constellation: { ...parsed.constellation, name: 'y' } })] }),
      /commit 1: .*its constellation is not what is recorded/u,
    ],
    [
      'by recording other options than were signed',
      changed(0, { body: { ...request, options: { priority: 9 } } as never }),
      /commit 1: .*its content is not what is recorded/u,
    ],
    [
      'with the namespace of somebody else',
      changed(0, { events: [requested({ namespace: 'default' })] }),
      /commit 1: .*the namespace of anna is anna, not default/u,
    ],
    [
      'with a proof from another run',
      changed(2, { subject: subjects.verb('another', 'PAUSE') }),
      /commit 3: .*which is not what led to this commit/u,
    ],
    [
      'with a proof of another verb',
      changed(2, { ...verb('CANCEL', {}, 'p1') }),
      /commit 3: .*nothing of CANCEL is recorded/u,
    ],
    ['with the proof of another order', changed(2, { cause: { id: 'p2' } }), /commit 3: .*it was signed for "p1"/u],
    [
      'by adding a fact in a name',
      changed(2, { events: [paused(BOB), note('all good', ANNA)] }),
      /commit 3: event 4, RUN_ANNOTATED by anna: nothing in this commit proves it/u,
    ],
    [
      'with an old proof',
      changed(1, { minute: 50, cause: {} }).map((order, index) =>
        index === 1 ? { ...order, cause: { proof: proofOf(1) } } : order,
      ),
      /commit 2: .*it was signed at .*11:00.*, and the commit is of/u,
    ],
    ['with a session of somebody else', vouchedAs({ actor: 'anna' }), /commit 4: .*of anna was never given/u],
    ['with a login of nobody', vouchedAs({ subject: '18' }), /commit 4: .*the login 18 .* of bob was never given/u],
    [
      'with a key that logs in nobody',
      vouchedAs({ issuer: 'orrery', subject: `key:${keyOf(SEEDS.anna)}` }),
      /commit 4: .*the login key:\w+ at orrery of bob was never given/u,
    ],
    ['with an actor whom nobody knows', vouchedAs({ actor: 'eve' }), /commit 4: .*there is no log of the actor eve/u],
    ['in the name of somebody, with an own key', changed(3, { by: 'anna' }), /commit 4: .*anna may not speak for bob/u],
    [
      'as a client of a gateway',
      vouchedAs({ actor: 'aip:phone', issuer: 'aip', subject: 'phone' }),
      /console may not|no log of the actor aip:phone/u,
    ],
  ])('%s, is found out', (_, orders, message) => {
    expect(found(orders)).toEqual(expect.arrayContaining([expect.stringMatching(message)]));
  });

  it('by changing what was signed, is found out', () => {
    for (const change of [{ body: { id: 'n1', text: 'else' } }, { at: at(10) }, { key: keyOf(SEEDS.bob) }]) {
      const orders = changed(1, { cause: { proof: { ...proofOf(1), ...change } } });
      expect(found(orders).join()).toContain('its signature does not fit what was signed and the key');
    }
    const { body: _, ...rest } = proofOf(1);
    const hidden = changed(1, { cause: { proof: { ...rest, bodyHash: '0'.repeat(64) } } });
    expect(found(hidden).join()).toContain('what was signed is not there, although ANNOTATE is short');
  });

  it.each<[string, Record<string, readonly ActorEvent[]>, RegExp]>([
    ['that was added later', { anna: [added(ANNA), keyAdded('anna', 30)] }, /of anna was given only at .*12:30/u],
    [
      'that was revoked before',
      { anna: [added(ANNA), keyAdded('anna'), keyRevoked('anna', 5)] },
      /of anna counted only until .*12:05/u,
    ],
    [
      'of an actor who was revoked',
      {
        bob: [
          added(BOB),
          keyAdded('bob'),
          bound,
          { type: 'ACTOR_REVOKED', data: { by: SETUP, at: at(5), reason: '' } },
        ],
      },
      /of bob counted only until/u,
    ],
    [
      'that somebody else has by the log',
      { anna: [added(ANNA)], bob: [...(LOGS['bob'] ?? []), keyAdded('anna')] },
      /bob signed it, and it is recorded in the name of anna/u,
    ],
    [
      'of a service that may not speak for others',
      { console: [added({ kind: 'system', id: 'console' }), keyAdded('console')] },
      /console may not speak for bob/u,
    ],
    ['of an actor whose log is not there', { anna: [] }, /is of nobody whose log is there/u],
  ])('with a key %s, is found out', (_, change, message) => {
    expect(found(ORDERS, logs(change))).toEqual(expect.arrayContaining([expect.stringMatching(message)]));
  });

  it('by cutting or changing the log of an actor, is found out', () => {
    const [first, second, ...rest] = logs();
    if (first === undefined || second === undefined) throw new Error('no logs');
    expect(found(ORDERS, [second, ...rest]).join()).toContain('orrery.actor.anna: its first commit is missing');
    const text = JSON.stringify(second).replaceAll(at(0), at(-5));
    const forged = JSON.parse(text) as ExportRecord;
    expect(found(ORDERS, [first, forged, ...rest]).join()).toContain(
      'orrery.actor.anna: its hash is not the hash of its content',
    );
  });

  it('by taking every proof away, is found out where the actors are known', () => {
    const bare = ORDERS.map((order) => ({ ...order, by: undefined, minute: order.minute + 60 }));
    expect(found(bare).join()).toMatch(
      /request r has no proof, and anna has signed what (?:he|she) does since .*12:00/u,
    );
  });
});

function proofOf(index: number) {
  const { subject, body, minute, by = 'anna' } = ORDERS[index] as ProvenOrder;
  return keepProof(proveActor(SEEDS[by], { subject, at: at(minute), body }), { subject, body });
}

describe('who says that he was the only approver', () => {
  const alone: RunEvent = { type: 'RUN_RESUMED', data: { by: BOB, resumedAt: at(13), selfApproved: true } };
  const orders = changed(3, { events: [alone] });
  const approver = (actor: Actor, minute = 0): ActorEvent => ({
    type: 'ACTOR_ADDED',
    data: { actor, roles: ['approver'], namespace: actor.id, by: SETUP, at: at(minute) },
  });
  const roles = (change: { given?: 'approver'[]; taken?: 'approver'[] }, minute: number): ActorEvent => ({
    type: 'ROLES_CHANGED',
    data: { given: [], taken: [], ...change, by: SETUP, at: at(minute) },
  });
  const bob = [approver(BOB), keyAdded('bob'), bound];
  const told = (anna: readonly ActorEvent[]): string[] => found(orders, logs({ bob, anna }));

  it('is found out when the log knows a second one by then', () => {
    const message = /commit 4: event 4, RUN_RESUMED: marked as of the only approver, and there were 2: anna, bob/u;
    const both = [approver(ANNA), keyAdded('anna')];
    expect(told(both)).toEqual([expect.stringMatching(message)]);
    expect(told([added(ANNA), keyAdded('anna'), roles({ given: ['approver'] }, 5)])).toHaveLength(1);
    expect(told([...both, roles({ taken: ['approver'] }, 20)])).toHaveLength(1);
  });

  it('is right while the other one had not the role yet, or not any more, or just then', () => {
    const both = [approver(ANNA), keyAdded('anna')];
    const revoked: ActorEvent = { type: 'ACTOR_REVOKED', data: { by: SETUP, at: at(12), reason: 'left' } };
    const system = approver({ kind: 'system', id: 'anna' });
    for (const anna of [
      [added(ANNA), keyAdded('anna')],
      [added(ANNA), keyAdded('anna'), roles({ given: ['approver'] }, 14)],
      [added(ANNA), keyAdded('anna'), roles({ given: ['approver'] }, 12.9)],
      [...both, roles({ taken: ['approver'] }, 12)],
      [...both, roles({ taken: ['approver'] }, 13.1)],
      [...both, revoked],
    ]) {
      expect(told(anna)).toEqual([]);
    }
    expect(told([system, keyAdded('anna')]).filter((one) => one.includes('only approver'))).toEqual([]);
  });

  it('needs the logs of everybody', () => {
    expect(actorsInvolved(sealed(orders))).toBe('everybody');
  });
});

describe('what the planner was let learn and judge', () => {
  const SAID = { calls: [], templates: [] };
  const judged: PlanEvent = {
    type: 'RUN_EVALUATED',
    data: {
      ...SAID,
      evaluation: { reason: 'done', sub_scores: [{ name: 'done', evaluation: 'yes' }], complete: 'yes' },
      used: NO_USAGE,
    },
  };
  interface PlanOrder {
    readonly by?: keyof typeof SEEDS;
    readonly query?: string;
    readonly body?: object;
    readonly vouched?: Vouched;
    readonly minute?: number;
    readonly cause?: Partial<Cause>;
    readonly isUnsigned?: boolean;
  }
  function planned(order: PlanOrder = {}): ExportRecord[] {
    const { by = 'anna', query = 'evaluate', body = { runId: RUN }, vouched, minute = 40, isUnsigned = false } = order;
    const subject = subjects.query('planner', query);
    const proof = keepProof(proveActor(SEEDS[by], { subject, at: at(40), body, vouched }), { subject, body });
    const causes: Cause[] = [
      { kind: 'run', id: 'end' },
      { kind: 'verb', id: 'evaluate.anna', ...(!isUnsigned && { proof }), ...order.cause },
    ];
    const stamp = { commit: '01JD4Q6Z8W3V5X7Y9A0B1C2F00', now: T0 + minute * 60_000 };
    const author = { service: 'planner', instance: 'one' };
    const commit = sealNext({ ...NO_COMMITS }, { runId: RUN }, [judged], { ...stamp, by: author, causes });
    return [{ stream: 'PLANS', subject: subjects.plan(RUN), sequence: 1, commit }];
  }
  const audited = (order?: PlanOrder) => auditProofs(RUN, [...sealed(ORDERS), ...planned(order), ...logs()]);
  const foundIn = (order: PlanOrder): string[] => audited(order).findings.map(findingText);

  it('is proven, and counted', () => {
    expect(audited()).toMatchObject({ findings: [], proofs: { signed: 4, vouched: 1 } });
    expect(actorsInvolved(planned({ cause: { id: 'learn.carl' } }))).toEqual(['carl']);
    expect(audited({ minute: 100 }).findings).toEqual([]); // a model may take its time
  });

  it('of before proofs were kept is as good as ever', () => {
    expect(audited({ isUnsigned: true, minute: -9_000 })).toMatchObject({ findings: [], proofs: { signed: 3 } });
  });

  it.each<[string, PlanOrder, RegExp]>([
    ['with the key of another', { by: 'bob' }, /bob signed it, and it is recorded in the name of anna/u],
    ['with a key of nobody', { by: 'mallory' }, /is of nobody whose log is there/u],
    ['with what was signed for something else', { query: 'forget' }, /it was signed for orrery\.v\.planner\.forget/u],
    ['with what was signed for another run', { body: { runId: 'other' } }, /it was signed for another run/u],
    ['under the name of another order', { query: 'learn', cause: { id: 'learn.anna' } }, /nothing of it is recorded/u],
    ['in the name of somebody else', { cause: { id: 'evaluate.bob' } }, /anna signed it, .* in the name of bob/u],
    [
      'by taking the proof away',
      { isUnsigned: true },
      /evaluate\.anna has no proof, and anna has signed what he does/u,
    ],
    ['by signing it afterwards', { minute: 10 }, /it was signed at .*12:40:00.*, and the commit is of/u],
    ['without being let speak', { vouched: LOGIN }, /anna may not speak for bob/u],
  ])('%s, is found out', (_, order, message) => {
    expect(foundIn(order)).toEqual(expect.arrayContaining([expect.stringMatching(message)]));
  });
});
