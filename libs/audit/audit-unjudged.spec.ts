import { describe, expect, it } from '@jest/globals';
import type { ActorEvent, RunEvent } from '#proto';
import { type ProvenOrder, provenRun } from './proven-run.testing.js';

const { added, ANNA, at, BOB, changed, found, keyAdded, logs, ORDERS, requested, SETUP, verb } = provenRun;

describe('who leaves out that his commands are to be judged', () => {
  const DAY = 24 * 60;
  const tomorrow = (first: Partial<ProvenOrder>): ProvenOrder[] =>
    changed(0, first).map((order) => ({ ...order, minute: order.minute + DAY }));
  const unmarked = tomorrow({});
  const marked = tomorrow({ events: [requested({ judgeCommands: true })] });
  const anna = (roles: ('operator' | 'requester')[]): ActorEvent[] => [
    { type: 'ACTOR_ADDED', data: { actor: ANNA, roles, namespace: 'anna', by: SETUP, at: at(0) } },
    keyAdded('anna'),
  ];
  const changedRoles = (change: { given?: 'operator'[]; taken?: 'operator'[] }, minute: number): ActorEvent => ({
    type: 'ROLES_CHANGED',
    data: { given: [], taken: [], ...change, by: SETUP, at: at(minute) },
  });
  const told = (orders: readonly ProvenOrder[], log: readonly ActorEvent[]): string[] =>
    found(orders, logs({ anna: log }));
  const message = /RUN_REQUESTED: what anna wrote is not judged, and the role operator of anna /u;

  it('is told when he was no operator by then, whatever he is now', () => {
    const [none, once, later] = [
      anna(['requester']),
      [...anna(['operator']), changedRoles({ taken: ['operator'] }, DAY)],
      [...anna([]), changedRoles({ given: ['operator'] }, 2 * DAY)],
    ];
    for (const log of [none, once, later]) {
      expect(told(unmarked, log)).toEqual([expect.stringMatching(message)]);
      expect(told(marked, log)).toEqual([]);
    }
  });

  it('is believed while he was one, and in runs of before there were roles', () => {
    expect(told(unmarked, anna(['operator']))).toEqual([]);
    expect(told(unmarked, [...anna(['operator']), changedRoles({ taken: ['operator'] }, 2 * DAY)])).toEqual([]);
    expect(told(ORDERS, anna(['requester']))).toEqual([]);
  });

  it('is told when he came in with a token that is not good for it', () => {
    const subject = `token:${'T'.repeat(8)}`;
    const token = (scopes: ('operator' | 'requester')[]): ActorEvent => ({
      type: 'TOKEN_ISSUED',
      data: {
        tokenId: 'T'.repeat(8),
        tokenHash: '0'.repeat(64),
        scopes,
        label: '',
        expiresAt: null,
        by: SETUP,
        at: at(0),
      },
    });
    const vouched = { actor: 'anna', issuer: 'orrery', subject, session: 's-2' };
    const orders = tomorrow({ by: 'console', vouched });
    expect(told(orders, [...anna(['operator']), token(['operator'])])).toEqual([]);
    expect(told(orders, [...anna(['operator']), token(['requester'])])).toEqual([
      expect.stringContaining(`the ${subject} of anna is not good for the role operator`),
    ]);
  });

  it('is told of an edit, and of a client of a gateway', () => {
    const edit: RunEvent = {
      type: 'CONSTELLATION_MODIFIED',
      data: {
        revision: 2,
        tasks: 1,
        lines: 0,
        state: 'CONTINUE',
        edits: [],
        origin: 'operator',
        proposedBy: BOB,
        modifiedAt: at(DAY + 11),
      },
    };
    const proposal: ProvenOrder = { ...verb('PROPOSE', {}, 'e1'), events: [edit], minute: DAY + 11, by: 'bob' };
    expect(told([...marked.slice(0, 1), proposal], anna(['requester']))).toEqual([
      expect.stringMatching(
        /CONSTELLATION_MODIFIED: what bob wrote is not judged, and the role operator of bob was never given/u,
      ),
    ]);
    const client = requested({ requestedBy: { kind: 'external', id: 'aip:c-1' } });
    const gateway = { 'aip-gateway': [added({ kind: 'system', id: 'aip-gateway' })] };
    const of = (event: RunEvent): string[] =>
      found(tomorrow({ by: undefined, events: [event] }).slice(0, 1), logs(gateway));
    expect(of(client)).toEqual([expect.stringContaining('aip:c-1 is a client of a gateway')]);
    expect(of(requested({ ...client.data, judgeCommands: true }))).toEqual([]);
  });
});
