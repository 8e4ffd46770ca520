import { expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { encodeEditGrant, signEditGrant } from '#libs/keys';
import type { ActorAnswer } from '#libs/messaging';
import type { Refusal } from '#proto';
import { readCaller } from './caller.js';

const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const at = (ms: number): string => new Date(NOW + ms).toISOString();

it.each<[string, Refusal['code'], number]>([
  ['who is refused', 'UNAUTHORIZED', 401],
  ['of whom nobody can say now whether he is', 'TRY_AGAIN', 503],
])('a caller %s hears so', (_, code, status) => {
  const seed = new TextDecoder().decode(createUser().getSeed());
  const grant = signEditGrant(seed, { runId: 'run-1', access: 'edit', issuedAt: at(0), expiresAt: at(60_000) });
  const actors = { grantOf: (): ActorAnswer => ({ ok: false, refusal: { code, message: 'No.', issues: [] } }) };
  const authorization = `Bearer ${encodeEditGrant(grant)}`;
  const read = readCaller({ authorization, runId: 'run-1' }, { actors, now: NOW });
  expect(read).toMatchObject({ ok: false, refusal: { status, body: expect.stringContaining('No.') } });
});
