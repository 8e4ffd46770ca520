import { expect, it } from '@jest/globals';
import { PeopleAnswer } from '#proto';
import { endOfDays, fits, roleChange } from './people.js';

const [ANNA] = PeopleAnswer.parse({
  people: [
    {
      actor: { kind: 'person', id: 'anna' },
      roles: ['viewer', 'operator'],
      namespace: 'anna',
      keys: [],
      logins: [{ issuer: 'https://login.example.org', subject: 'anna@example.org' }],
      revision: 1,
      addedAt: '2026-11-20T10:00:00.000Z',
    },
  ],
}).people;

it.each([
  ['', true],
  [' ANNA ', true],
  ['operator', true],
  ['login.example', true],
  ['auditor', false],
])('finds somebody by name, role and login: %j', (typed, found) => {
  if (ANNA === undefined) throw new Error('nobody is known');
  expect(fits(ANNA, typed)).toBe(found);
});

it('gives and takes what is another one, and nothing else', () => {
  expect(roleChange(['viewer', 'operator'], ['operator', 'auditor'])).toEqual({ give: ['auditor'], take: ['viewer'] });
  expect(roleChange(['viewer'], ['viewer'])).toEqual({ give: [], take: [] });
});

it('counts days from now on; none is for good', () => {
  expect(endOfDays('2', Date.parse('2026-11-20T10:00:00.000Z'))).toBe('2026-11-22T10:00:00.000Z');
  expect(endOfDays(' ', 0)).toBeNull();
});
