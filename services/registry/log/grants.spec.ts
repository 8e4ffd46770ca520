import { describe, expect, it } from '@jest/globals';
import { GRANTS_ID, type GrantSelection } from '#proto';
import { memoryFleetLog, verifyChain } from '#libs/event-log';
import { FleetState } from '#libs/fleet';
import { QueryRefusedError } from '#libs/messaging';
import { createLogger } from '#libs/platform';
import { BY_ANNA, GRACE_MS, T0 } from '../given.testing.js';
import { FleetHandler } from './fleet.handler.js';

const KEY = `U${'A'.repeat(55)}`;
const ONE: GrantSelection = { kind: 'grant', grantId: 'a'.repeat(64) };
const idOf = (index: number): GrantSelection => ({ kind: 'grant', grantId: index.toString(16).padStart(64, '0') });

describe('revoking grants', () => {
  const log = memoryFleetLog();
  const replica = (instance: string) => {
    const state = new FleetState();
    const handler = new FleetHandler({
      log,
      state,
      timers: { arm: () => Promise.resolve(), forget: () => undefined },
      presence: () => Promise.resolve(undefined),
      clock: { now: () => T0 },
      instance,
      graceMs: GRACE_MS,
      logger: createLogger({ service: 'registry', instance, level: 'silent' }),
    });
    return { state, handler };
  };

  it('keeps one chain for all of them: two replicas that are told the same record it once', async () => {
    const [a, b] = [replica('a'), replica('b')];
    const asked = { ...BY_ANNA, key: KEY, signedAt: T0, reason: 'stolen', grants: ONE };
    const decisions = await Promise.all([a.handler.revokeGrants(asked), b.handler.revokeGrants(asked)]);
    expect(decisions.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'ignored']);
    await b.handler.revokeGrants({ ...asked, grants: { kind: 'all' } });
    expect(b.state.grantRevocations().map(({ sequence, revoked }) => [sequence, revoked.grants.kind])).toEqual([
      [1, 'grant'],
      [2, 'all'],
    ]);
    const commits = (await log.load(GRANTS_ID)).map(({ commit }) => commit);
    expect([commits.length, verifyChain(commits)]).toEqual([2, []]);
    expect(b.state.all()).toEqual([]);
  });

  it('records all that are asked for at the same time', async () => {
    const { handler } = replica('d');
    const orders = Array.from({ length: 30 }, (_, index) =>
      handler.revokeGrants({ ...BY_ANNA, key: KEY, signedAt: T0, reason: '', grants: idOf(index) }),
    );
    expect(new Set((await Promise.all(orders)).map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  });

  it('leaves the name of the chain to nobody', async () => {
    const { handler } = replica('c');
    for (const asked of [
      handler.enroll({ deviceId: GRANTS_ID }, BY_ANNA),
      handler.enrollClient({ clientId: GRANTS_ID, targets: null }, BY_ANNA),
    ]) {
      await expect(asked).rejects.toThrow(QueryRefusedError);
    }
    expect(await handler.revoke(GRANTS_ID, { ...BY_ANNA, reason: '' })).toMatchObject({ reason: 'NOT_ENROLLED' });
    expect(await handler.hold(GRANTS_ID, { ...BY_ANNA, reason: '' })).toMatchObject({ reason: 'NOT_ENROLLED' });
  });
});
