import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { createAccount, createUser, fromSeed } from '@nats-io/nkeys';
import { ActorProof, QUERIES, subjects } from '#proto';
import { PROOF_MS_MAX, proveActor, verifyActorProof } from './index.js';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const SEED = text(createUser().getSeed());
const KEY = fromSeed(new TextEncoder().encode(SEED)).getPublicKey();
const OTHER_KEY = createUser().getPublicKey();
const AT = '2026-11-20T15:40:40.489Z';
const NOW = Date.parse(AT);
const subject = subjects.verb('run-1', 'CANCEL');
const body = { id: 'verb-1', reason: 'wrong hosts' };
const proof = proveActor(SEED, { subject, at: AT, body });

const PROVEN = { ok: true, key: KEY };
const refusedFor = (reason: RegExp) => ({ ok: false, reason: expect.stringMatching(reason) });
const UNFIT = refusedFor(/^The proof of the sender does not fit/u);

describe('the proof of a sender', () => {
  it('names the key that signed, and crosses the wire', () => {
    expect(ActorProof.parse(JSON.parse(JSON.stringify(proof)))).toEqual(proof);
    expect(verifyActorProof(proof, { subject, body, now: NOW })).toEqual(PROVEN);
  });

  it('does not depend on the order of fields, nor on the field that it stands in', () => {
    const received = { reason: 'wrong hosts', actor: proof, id: 'verb-1' };
    expect(verifyActorProof(proof, { subject, body: received, now: NOW })).toEqual(PROVEN);
  });

  it('is signed as a key of the bus signs: whoever has nkeys can make one', () => {
    const signed = `{"at":"${AT}","body":{"id":"verb-1","reason":"wrong hosts"},"subject":"${subject}"}`;
    const signature = fromSeed(new TextEncoder().encode(SEED)).sign(new TextEncoder().encode(signed));
    const byHand = { key: KEY, at: AT, signature: Buffer.from(signature).toString('base64url') };
    expect(verifyActorProof(byHand, { subject, body, now: NOW })).toEqual(PROVEN);
  });

  it('of the golden corpus is as good as ever: what is signed can never come out differently', () => {
    const text = readFileSync(
      new URL('../../proto/fixtures/RegistryHoldRequest/1-device.json', import.meta.url),
      'utf8',
    );
    const hold = QUERIES.registry.hold.request.parse((JSON.parse(text) as { message: unknown }).message);
    const command = { subject: subjects.query('registry', 'hold'), body: hold, now: Date.parse(hold.actor.at) };
    expect(verifyActorProof(hold.actor, command)).toEqual({ ok: true, key: hold.actor.key });
  });

  it('is good for five minutes to both sides', () => {
    for (const now of [NOW - PROOF_MS_MAX, NOW + PROOF_MS_MAX]) {
      expect(verifyActorProof(proof, { subject, body, now })).toEqual(PROVEN);
    }
  });
});

describe('refuses', () => {
  it('another body', () => {
    for (const other of [{ id: 'verb-2', reason: 'wrong hosts' }, { id: 'verb-1' }, { ...body, taskId: 'a' }, {}]) {
      expect(verifyActorProof(proof, { subject, body: other, now: NOW })).toEqual(UNFIT);
    }
  });

  it('another subject', () => {
    for (const other of [subjects.verb('run-2', 'CANCEL'), subjects.verb('run-1', 'PAUSE'), '']) {
      expect(verifyActorProof(proof, { subject: other, body, now: NOW })).toEqual(UNFIT);
    }
  });

  it("another's key", () => {
    expect(verifyActorProof({ ...proof, key: OTHER_KEY }, { subject, body, now: NOW })).toEqual(UNFIT);
  });

  it('a time that is put forward', () => {
    const at = '2026-11-20T15:44:40.489Z';
    expect(verifyActorProof({ ...proof, at }, { subject, body, now: Date.parse(at) })).toEqual(UNFIT);
  });

  it('what is too old, and what is from the future', () => {
    const ask = (now: number) => verifyActorProof(proof, { subject, body, now });
    expect(ask(NOW + PROOF_MS_MAX + 1)).toEqual(refusedFor(/is 300 s old/u));
    expect(ask(NOW - PROOF_MS_MAX - 1)).toEqual(refusedFor(/in the future/u));
  });

  it('garbage, without throwing', () => {
    const account = createAccount().getPublicKey();
    const garbage: unknown[] = [
      { ...proof, signature: '' },
      { ...proof, signature: 'AAAA' },
      { ...proof, signature: Buffer.alloc(64).toString('base64url') },
      { ...proof, signature: Buffer.alloc(64, 255).toString('base64url') },
      { ...proof, signature: `${proof.signature}AAAA` },
      { ...proof, signature: 7 },
      { ...proof, key: `U${'A'.repeat(55)}` },
      { ...proof, key: account },
      { ...proof, key: 'no key' },
      { ...proof, at: 'yesterday' },
      { ...proof, at: undefined },
      {},
      null,
      'proof',
    ];
    for (const given of garbage) {
      expect(verifyActorProof(given as ActorProof, { subject, body, now: NOW })).toMatchObject({ ok: false });
    }
  });

  it('a body without canonical form, without throwing', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const given of [null, circle, { id: '\uD800' }, { id: Number.NaN }, { id: 1n }]) {
      expect(verifyActorProof(proof, { subject, body: given as object, now: NOW })).toEqual(UNFIT);
    }
  });
});
