import { expect, it } from '@jest/globals';
import { cookieName, cookieOf, setCookie } from './cookies.js';

it.each([
  ['a=1', '1'],
  ['b=2; a=1', '1'],
  ['a=1; a=2', '1'],
  [' a = 1 ', '1'],
  ['a=x=y', 'x=y'],
  ['a=', ''],
])('finds it in %j', (header, value) => expect(cookieOf(header, 'a')).toBe(value));

it.each([undefined, '', 'a', 'aa=1', 'A=1', '=1', 'b=a=1'])('does not find it in %j', (header) =>
  expect(cookieOf(header, 'a')).toBeUndefined(),
);

it('is for this host only where there is https, and never for scripts', () => {
  expect(setCookie({ name: cookieName('s', true), secure: true, maxAge: 9 }, 'v')).toBe(
    '__Host-s=v; Path=/; Max-Age=9; HttpOnly; SameSite=Lax; Secure',
  );
  expect(setCookie({ name: cookieName('s', false), secure: false, maxAge: 0 }, '')).toBe(
    's=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  );
});
