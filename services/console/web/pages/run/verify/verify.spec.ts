import { createHash as hashOfNode, hash as digestOfNode } from 'node:crypto';
import { isDeepStrictEqual as sameInNode } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { signerOf } from '#libs/keys';
import { createHash, createPublicKey, hash, verify } from './node-crypto.adapter.js';
import { isDeepStrictEqual } from './node-util.js';

const { sign } = process.getBuiltinModule('node:crypto');

describe('what a browser has in the place of the runtime', () => {
  it.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 1_000, 70_001])('has the same digest of %d characters', (chars) => {
    const text = 'aß€é'.repeat(chars).slice(0, chars);
    expect(hash('sha256', text, 'hex')).toBe(digestOfNode('sha256', text, 'hex'));
    const [half, rest] = [text.slice(0, chars / 2), text.slice(chars / 2)];
    expect(Buffer.from(createHash('sha256').update(half).update(rest).digest())).toEqual(
      hashOfNode('sha256').update(half).update(rest).digest(),
    );
  });

  it('takes a signature of the key, and no other', () => {
    const seed = new TextDecoder().decode(createUser().getSeed());
    const other = new TextDecoder().decode(createUser().getSeed());
    const bytes = new TextEncoder().encode('a command');
    const signature = sign(null, bytes, signerOf(seed).privateKey);
    const keyOf = (of: string) => {
      const { x = '' } = process.getBuiltinModule('node:crypto').createPublicKey(signerOf(of).privateKey).export({
        format: 'jwk',
      });
      return createPublicKey({ key: { x } });
    };
    expect(verify(null, bytes, keyOf(seed), signature)).toBe(true);
    expect(verify(null, bytes, keyOf(other), signature)).toBe(false);
    expect(verify(null, new TextEncoder().encode('another'), keyOf(seed), signature)).toBe(false);
  });

  it('finds the same things the same', () => {
    const things: unknown[] = [
      null,
      undefined,
      0,
      -0,
      '',
      'a',
      [],
      {},
      [1, [2]],
      [1, [3]],
      [[1], 2],
      { a: 1, b: { c: [] } },
      { b: { c: [] }, a: 1 },
      { a: 1, b: { c: {} } },
      { a: 1 },
      { a: 1, b: undefined },
      { 0: 1 },
      [1],
    ];
    for (const left of things) {
      for (const right of things) expect(isDeepStrictEqual(left, right)).toBe(sameInNode(left, right));
    }
  });
});
