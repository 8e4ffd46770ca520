import { sign } from 'node:crypto';
import { createAccount, createServer, createUser, fromPublic, type KeyPair } from '@nats-io/nkeys';
import { expect, it } from '@jest/globals';
import { signerOf } from './index.js';

const seedOf = (pair: KeyPair): string => new TextDecoder().decode(pair.getSeed());
const ROUNDS = 50;

it('knows the public key of a seed of every kind as nkeys does', () => {
  for (const make of [createUser, createAccount, createServer]) {
    for (let round = 0; round < ROUNDS; round++) {
      const pair = make();
      expect(signerOf(seedOf(pair)).key).toBe(pair.getPublicKey());
    }
  }
});

it('signs what nkeys verifies, and nothing else', () => {
  const { key, privateKey } = signerOf(seedOf(createUser()));
  const signature = sign(null, Buffer.from('nonce'), privateKey);
  expect(fromPublic(key).verify(Buffer.from('nonce'), signature)).toBe(true);
  expect(fromPublic(key).verify(Buffer.from('other'), signature)).toBe(false);
});

it('has no signer for what is no seed', () => {
  const seed = seedOf(createUser());
  const other = seed.at(20) === 'A' ? 'B' : 'A';
  for (const wrong of [
    '',
    'SU',
    createUser().getPublicKey(),
    `${seed.slice(0, 20)}${other}${seed.slice(21)}`,
    seed.slice(1),
  ])
    expect(() => signerOf(wrong)).toThrow();
});
