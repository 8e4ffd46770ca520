import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { createAccount, createUser, fromSeed } from '@nats-io/nkeys';
import { ActorProof, KeptProof, LIMITS, QUERIES, subjects, type Vouched } from '#proto';
import { checkKeptProof, hashOfBody, keepProof, PROOF_MS_MAX, proveActor, verifyActorProof } from './index.js';

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
    const { message } = JSON.parse(text) as { message: { actor: ActorProof } };
    const { actor, ...hold } = message;
    const command = { subject: subjects.query('registry', 'hold'), body: message, now: Date.parse(actor.at) };
    expect(QUERIES.registry.hold.request.safeParse(hold)).toMatchObject({ success: true });
    expect(verifyActorProof(actor, command)).toEqual({ ok: true, key: actor.key });
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

describe('a proof in the name of somebody else', () => {
  const vouched: Vouched = { actor: 'anna', issuer: 'https://login.example', subject: '2482', session: 's-1' };
  const spoken = proveActor(SEED, { subject, at: AT, body, vouched });

  it('names the key that signed, and for whom', () => {
    expect(ActorProof.parse(JSON.parse(JSON.stringify(spoken)))).toEqual({ ...spoken, vouched });
    expect(verifyActorProof(spoken, { subject, body, now: NOW })).toEqual(PROVEN);
  });

  it('is signed with all that it says of him', () => {
    for (const field of ['actor', 'issuer', 'subject', 'session'] as const) {
      const other = { ...spoken, vouched: { ...vouched, [field]: 'other' } };
      expect(verifyActorProof(other, { subject, body, now: NOW })).toEqual(UNFIT);
    }
  });

  it('is no proof of the signer himself, nor his own one of somebody else', () => {
    const { vouched: _, ...own } = spoken;
    expect(verifyActorProof(own, { subject, body, now: NOW })).toEqual(UNFIT);
    expect(verifyActorProof({ ...proof, vouched }, { subject, body, now: NOW })).toEqual(UNFIT);
  });
});

describe('a proof that is kept', () => {
  const stored = (given: KeptProof): KeptProof => KeptProof.parse(JSON.parse(JSON.stringify(given)));
  const signed = (command: object) => proveActor(SEED, { subject, at: AT, body: command });

  it('can be checked for ever, by whoever has it', () => {
    const kept = stored(keepProof(proof, { subject, body: { ...body, actor: proof } }));
    expect(kept).toEqual({ ...proof, subject, body });
    expect(checkKeptProof(kept)).toBe('good');
  });

  it('shows every change of what was signed', () => {
    const kept = stored(keepProof(proof, { subject, body }));
    const changes: Partial<KeptProof>[] = [
      { body: { ...body, reason: 'right hosts' } },
      { body: {} },
      { subject: subjects.verb('run-2', 'CANCEL') },
      { at: '2026-11-20T15:40:40.490Z' },
      { key: OTHER_KEY },
      { vouched: { actor: 'anna', issuer: 'i', subject: 's', session: 's' } },
    ];
    for (const change of changes) expect(checkKeptProof({ ...kept, ...change })).toBe('bad');
  });

  it('has the hash of a command that is too large, of a secret one, and of one that would be read back as another', () => {
    const large = { id: 'verb-1', reason: 'x'.repeat(LIMITS.proofBodyBytesMax) };
    const hidden = JSON.parse('{"id":"verb-1","__proto__":{"a":1}}') as object;
    const deep = { id: 'verb-1', in: Array.from({ length: 1_001 }).reduce((inner) => [inner], null) };
    for (const command of [large, hidden, deep]) {
      const kept = stored(keepProof(signed(command), { subject, body: command }));
      expect(kept).toEqual({ ...signed(command), subject, bodyHash: hashOfBody(command) });
      expect(checkKeptProof(kept)).toBe('unseen');
    }
    const { bodyHash, body: none } = keepProof(proof, { subject, body, isSecret: true });
    expect([bodyHash, none]).toEqual([hashOfBody({ ...body, actor: proof }), undefined]);
  });

  it('keeps a command of the largest size whole', () => {
    const room = LIMITS.proofBodyBytesMax - JSON.stringify({ reason: '' }).length;
    const command = { reason: 'x'.repeat(room) };
    expect(checkKeptProof(stored(keepProof(signed(command), { subject, body: command })))).toBe('good');
  });
});
