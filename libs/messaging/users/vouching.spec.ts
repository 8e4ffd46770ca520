import { describe, expect, it } from '@jest/globals';
import type { Actor, Vouched } from '#proto';
import { clientVouched, vouchedBy } from './vouching.js';

const CONSOLE: Actor = { kind: 'system', id: 'console' };
const GATEWAY: Actor = { kind: 'system', id: 'aip-gateway' };
const FIRST: Vouched = { actor: 'cli', issuer: 'orrery', subject: 'admin-token', session: 's-1' };

describe('who speaks for somebody else', () => {
  it('is the console, for the first person who has logged in with the admin token', () => {
    expect(vouchedBy(CONSOLE, FIRST)).toEqual({ actor: { kind: 'person', id: 'cli' }, namespace: 'default' });
  });

  it('is a gateway, for a client of its own, who is called as nobody else is', () => {
    const client = clientVouched('phone-1', 'session-1');
    expect(vouchedBy(GATEWAY, client)).toEqual({
      actor: { kind: 'external', id: 'aip:phone-1' },
      namespace: 'default',
    });
    expect(vouchedBy(GATEWAY, { ...client, actor: 'phone-1' })).toContain('may not speak for phone-1');
    expect(vouchedBy(GATEWAY, { ...client, subject: 'phone-2' })).toContain('may not speak for aip:phone-1');
  });

  it.each<[string, Actor, Vouched]>([
    ['a gateway for a person', GATEWAY, FIRST],
    ['the console for a client', CONSOLE, clientVouched('phone-1', 's')],
    ['the console for a login that nobody has', CONSOLE, { ...FIRST, subject: 'else' }],
    ['the console for a stranger of the same name', CONSOLE, { ...FIRST, issuer: 'https://login.example' }],
    ['a person for another one', { kind: 'person', id: 'anna' }, FIRST],
    ['an external system for a person', { kind: 'external', id: 'external' }, FIRST],
    ['the planner for a client', { kind: 'system', id: 'planner' }, clientVouched('phone-1', 's')],
  ])('is not %s', (_, signer, vouched) => {
    expect(vouchedBy(signer, vouched)).toContain(`${signer.id} may not speak for ${vouched.actor}`);
  });
});
