import { expect, it } from '@jest/globals';
import { tokenHash } from '#libs/keys';
import { NamedToken } from '#proto';
import { madeToken } from './new-token.adapter.js';

it('makes a token that the services know by its hash, and another one each time', async () => {
  const made = await Promise.all([madeToken(), madeToken()]);
  for (const { secret, tokenId, tokenHash: hash } of made) {
    expect(secret).toMatch(/^ort_[\w-]{43}$/u);
    expect(hash).toBe(tokenHash(secret));
    expect(
      NamedToken.safeParse({ tokenId, tokenHash: hash, scopes: ['viewer'], label: '', expiresAt: null }).success,
    ).toBe(true);
  }
  expect(made[0]?.secret).not.toBe(made[1]?.secret);
});
