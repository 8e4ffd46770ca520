import { beforeEach, describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { checkKeptProof, proveActor, verifyActorProof } from '#libs/keys';
import type { Actors, SenderAnswer } from '#libs/messaging';
import { LIMITS, subjects, type Actor, type Role } from '#proto';
import { requesterOf } from './requester.js';
import { readRequest } from './submission.js';

const AT = '2026-11-20T15:40:40.489Z';
const NOW = Date.parse(AT);
const LATER = NOW + 24 * 60 * 60 * 1_000;
const ANNA: Actor = { kind: 'person', id: 'anna' };
const EXTERNAL: Actor = { kind: 'external', id: 'external' };
const SHOP: Actor = { kind: 'external', id: 'shop' };
const newSeed = (): string => new TextDecoder().decode(createUser().getSeed());
const SEEDS = { anna: newSeed(), shop: newSeed(), nobody: newSeed() };
const request = { requestId: 'r', goal: 'look' };
const proofOn = (subject: string, who: keyof typeof SEEDS, body: object = request) =>
  proveActor(SEEDS[who], { subject, at: AT, body });
const keyOf = (who: keyof typeof SEEDS): string => proofOn('', who).key;

/** Two who are known, each with a namespace of its own. */
const actors: Pick<Actors, 'actorOf' | 'actorNamed'> = {
  actorOf: (proof, command): SenderAnswer => {
    const refused = (message: string): SenderAnswer => ({
      ok: false,
      refusal: { code: 'UNAUTHORIZED', message, issues: [] },
    });
    const actor = [ANNA, SHOP].find(({ id }) => keyOf(id as 'anna') === proof.key);
    if (actor === undefined) return refused('a stranger');
    const verified = verifyActorProof(proof, command);
    return verified.ok ? { ok: true, actor, namespace: actor.id, roles, mayVouch: false } : refused(verified.reason);
  },
  actorNamed: (id) => {
    const actor = [SHOP, EXTERNAL].find((one) => one.id === id);
    return actor && { actor, namespace: actor === EXTERNAL ? 'default' : actor.id, roles };
  },
};
let roles: readonly Role[] = ['requester'];
beforeEach(() => {
  roles = ['requester'];
});
const who = (subject: string, actor?: unknown, more: { json?: unknown; now?: number } = {}) =>
  requesterOf({ subject, json: request, actor, now: NOW, ...more }, actors);
const refusal = (message: RegExp) => ({ ok: false, refusal: { message: expect.stringMatching(message) } });

describe('who asks on orrery.submit', () => {
  it('is who has signed the request, and the proof of it is kept', () => {
    const known = who(subjects.submit, proofOn(subjects.submit, 'anna'));
    expect(known).toMatchObject({ ok: true, requester: { actor: ANNA, namespace: 'anna' } });
    const proof = known.ok ? known.requester.proof : undefined;
    expect(proof).toMatchObject({ subject: subjects.submit, body: request });
    expect(proof && checkKeptProof(proof)).toBe('good');
  });

  it.each<[string, unknown, RegExp]>([
    ['nobody', undefined, /this one is not/u],
    ['somebody in words', 'anna', /is not valid/u],
    ['a key that nobody knows', proofOn(subjects.submit, 'nobody'), /a stranger/u],
    ['who signed another request', proofOn(subjects.submit, 'anna', { ...request, goal: 'else' }), /does not fit/u],
    ['who signed it for somewhere else', proofOn(subjects.requests, 'anna'), /does not fit/u],
  ])('is not %s', (_, actor, message) => {
    expect(who(subjects.submit, actor)).toMatchObject(refusal(message));
  });

  it('is nobody who may not ask for runs, however he sends it', () => {
    roles = ['viewer', 'approver'];
    const needed = refusal(/SUBMIT needs the role requester; anna has viewer, approver/u);
    expect(who(subjects.submit, proofOn(subjects.submit, 'anna'))).toMatchObject(needed);
    const own = subjects.requestsOf('shop');
    expect(who(own)).toMatchObject(refusal(/shop has viewer, approver/u));
    expect(who(own, proofOn(own, 'shop'))).toMatchObject(refusal(/shop has viewer, approver/u));
    roles = [];
    expect(who(subjects.requests)).toMatchObject(refusal(/external has none/u));
  });

  it('is nobody after a day', () => {
    expect(who(subjects.submit, proofOn(subjects.submit, 'anna'), { now: LATER })).toMatchObject(refusal(/old/u));
  });

  it.each([null, 7, 'text', []])('refuses the request %j, whoever signed it', (json) => {
    expect(who(subjects.submit, proofOn(subjects.submit, 'anna', {}), { json }).ok).toBe(false);
  });
});

describe('who asks on a subject of the stream', () => {
  const own = subjects.requestsOf('shop');

  it('is whose subject it is', () => {
    expect(who(own)).toEqual({ ok: true, requester: { actor: SHOP, namespace: 'shop' } });
  });

  it('is shown by a signature, too, however long the request has waited', () => {
    const known = who(own, proofOn(own, 'shop'), { now: LATER });
    expect(known).toMatchObject({ ok: true, requester: { actor: SHOP, proof: { subject: own, body: request } } });
  });

  it('is not somebody else who has signed it', () => {
    expect(who(own, proofOn(own, 'anna'))).toMatchObject(refusal(/it is of anna, whose subject this is not/u));
    expect(who(subjects.requests, proofOn(subjects.requests, 'shop'))).toMatchObject(refusal(/it is of shop/u));
  });

  it('is nobody when nobody is called so', () => {
    for (const id of ['anna.b', 'mallory', '', '*']) {
      expect(who(subjects.requestsOf(id))).toMatchObject(refusal(/is the subject of nobody here/u));
    }
  });

  it('is the system that there was before each had one, with the runs that it had', () => {
    const external = { actor: { kind: 'external', id: 'external' }, namespace: 'default' };
    expect(who(subjects.requests)).toEqual({ ok: true, requester: external });
  });
});

describe('a request as it arrives', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const sized = (length: number) => ({ goal: 'x'.repeat(length - JSON.stringify({ goal: '' }).length) });

  it('is as large as it may be without its proof', () => {
    const actor = proofOn(subjects.submit, 'anna');
    const largest = sized(LIMITS.requestBytesMax);
    expect(readRequest(bytes(JSON.stringify({ ...largest, actor })))).toMatchObject({ ok: true, json: largest, actor });
    const larger = sized(LIMITS.requestBytesMax + 200);
    for (const sent of [larger, { ...larger, actor }, { ...largest, actor: { is: 'x'.repeat(10_000) } }]) {
      expect(readRequest(bytes(JSON.stringify(sent)))).toMatchObject({ ok: false, refusal: { code: 'TOO_LARGE' } });
    }
  });

  it.each(['', 'nonsense', '{', '\u0000'])('is refused when it is no JSON: %j', (text) => {
    expect(readRequest(bytes(text))).toMatchObject({ ok: false, refusal: { code: 'INVALID_JSON' } });
  });
});

describe('what somebody asks for', () => {
  const trusted = (subject: string, actor?: unknown) => {
    const known = who(subject, actor);
    return known.ok ? known.requester.trusted : 'refused';
  };
  const ways: [string, string, unknown][] = [
    ['signed', subjects.submit, proofOn(subjects.submit, 'anna')],
    ['published', subjects.requestsOf('shop'), undefined],
    ['published and signed', subjects.requestsOf('shop'), proofOn(subjects.requestsOf('shop'), 'shop')],
    ['published as once', subjects.requests, undefined],
  ];

  it.each(ways)('is trusted when he is an operator, and only then: %s', (_, subject, proof) => {
    expect(trusted(subject, proof)).toBeUndefined();
    roles = ['requester', 'approver', 'viewer', 'auditor', 'admin'];
    expect(trusted(subject, proof)).toBeUndefined();
    roles = ['requester', 'operator'];
    expect(trusted(subject, proof)).toBe(true);
  });
});
