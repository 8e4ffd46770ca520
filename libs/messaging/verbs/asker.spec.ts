import { createUser } from '@nats-io/nkeys';
import { describe, expect, it } from '@jest/globals';
import { checkKeptProof, proveActor, verifyActorProof } from '#libs/keys';
import { isSignedAction, mayDo, QUERIES, Role, ROLE_TABLE, subjects, type QueryAction } from '#proto';
import { askerOf, unlessOwn, type Authority, type Sender } from './asker.js';
import { QueryRefusedError, refused } from './refused.js';

const AT = '2026-11-20T12:00:00.000Z';
const seed = new TextDecoder().decode(createUser().getSeed());
const queries = Object.entries(QUERIES).flatMap(([service, names]) =>
  Object.keys(names).map((name) => [`${service}.${name}` as QueryAction, subjects.query(service, name)] as const),
);
const anna = (roles: readonly Role[], change: Partial<Sender> = {}): Sender => ({
  actor: { kind: 'person', id: 'anna' },
  namespace: 'anna',
  roles,
  mayVouch: false,
  ...change,
});
/** Whoever has signed it, for what it was signed, is this one. */
const taking =
  (sender: Sender): Authority =>
  async ({ proof, subject, body }) => {
    const verified = verifyActorProof(proof, { subject, body, now: Date.parse(AT) });
    if (!verified.ok) throw refused('UNAUTHORIZED', verified.reason);
    return sender;
  };
const signed = (subject: string, body: object = {}): object => ({
  ...body,
  actor: proveActor(seed, { subject, at: AT, body }),
});
const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return 'taken';
  } catch (error) {
    return error instanceof QueryRefusedError ? error.refusal.code : String(error);
  }
};

describe('who asks', () => {
  it.each(queries)('%s: is let in by the table of roles, and by nothing else', async (action, subject) => {
    for (const role of Role.options) {
      const asked = { action, subject, authority: taking(anna([role])) };
      const may = !isSignedAction(action) || mayDo([role], action, { own: true });
      expect([role, await codeOf(() => askerOf(signed(subject), asked))]).toEqual([
        role,
        may ? 'taken' : 'UNAUTHORIZED',
      ]);
    }
    const nobody = { action, subject, authority: taking(anna([])) };
    expect(await codeOf(() => askerOf(signed(subject), nobody))).toBe(
      isSignedAction(action) ? 'UNAUTHORIZED' : 'taken',
    );
  });

  it.each(queries.filter(([action]) => isSignedAction(action)))('%s: is refused unsigned', async (action, subject) => {
    const asked = { action, subject, authority: taking(anna(Role.options, { mayVouch: true })) };
    for (const json of [{}, undefined, null, 7, 'x', [], { actor: undefined }]) {
      expect(await codeOf(() => askerOf(json, asked))).toBe('UNAUTHORIZED');
    }
    expect(await codeOf(() => askerOf({ actor: {} }, asked))).toBe('INVALID_REQUEST');
    expect(await codeOf(() => askerOf(signed(subject), asked))).toBe('taken');
  });

  it('is nobody with what was signed for another query, or says something else', async () => {
    const [enroll, devices] = [subjects.query('registry', 'enroll'), subjects.query('registry', 'devices')];
    const asked = { action: 'registry.enroll', subject: enroll, authority: taking(anna(['operator'])) } as const;
    expect(await codeOf(() => askerOf(signed(devices), asked))).toBe('UNAUTHORIZED');
    const other = { ...signed(enroll, { deviceId: 'web-1' }), deviceId: 'web-2' };
    expect(await codeOf(() => askerOf(other, asked))).toBe('UNAUTHORIZED');
    expect(await codeOf(() => askerOf(signed(enroll, { deviceId: 'web-1' }), asked))).toBe('taken');
  });

  it('leaves a proof that holds for whoever looks later', async () => {
    const subject = subjects.query('registry', 'enroll');
    const json = signed(subject, { deviceId: 'web-1' });
    const { body, asker } = await askerOf(json, {
      action: 'registry.enroll',
      subject,
      authority: taking(anna(['operator'])),
    });
    expect(body).toEqual({ deviceId: 'web-1' });
    expect(asker).toMatchObject({ actor: { id: 'anna' }, proof: { subject, body: { deviceId: 'web-1' } } });
    expect(asker && checkKeptProof(asker.proof)).toBe('good');
  });

  it('says that a token was used only as who speaks for others', async () => {
    const [action, subject] = ['registry.token-used', subjects.query('registry', 'token-used')] as const;
    const asked = (sender: Sender) => () => askerOf(signed(subject), { action, subject, authority: taking(sender) });
    expect(await codeOf(asked(anna(Role.options)))).toBe('UNAUTHORIZED');
    expect(await codeOf(asked(anna([], { mayVouch: true })))).toBe('taken');
  });

  it('is refused what is of somebody else, where his roles go for his own only', async () => {
    const owned = queries.filter(([action]) => ROLE_TABLE[action].own !== undefined);
    expect(owned.map(([action]) => action)).toContain('registry.token-revoke');
    for (const [action] of owned) {
      expect(await codeOf(() => unlessOwn(action, anna(['viewer']), true))).toBe('taken');
      expect(await codeOf(() => unlessOwn(action, anna(['viewer']), false))).toBe('UNAUTHORIZED');
    }
  });
});
