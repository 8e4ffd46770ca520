import { expect, it } from '@jest/globals';
import { runMeant, runsToFind } from './run-name.js';

const WHOLE = '0k3j4m7n8p9q0r1s2t3v4w5x6y';
const found = (...ids: string[]) => ids.map((runId) => ({ runId }));

it.each([
  [WHOLE, undefined],
  [WHOLE.slice(0, 25), { id: WHOLE.slice(0, 25), limit: 5 }],
  ['0k3j', { id: '0k3j', limit: 5 }],
  ['0k3', undefined],
  ['', undefined],
  ['0K3J', undefined],
  ['0k3%', undefined],
  ['0k3j*', undefined],
  ['latest', { limit: 1 }],
  ['LATEST', undefined],
  ['plan.json', undefined],
])('%s is looked for as %j', (word, wanted) => {
  expect(runsToFind(word)).toEqual(wanted);
});

it('stands for the one that is found, for none of several, and for itself where it is a whole id', () => {
  expect(runMeant('0k3j', found())).toBeUndefined();
  expect(runMeant('0k3j', found(WHOLE))).toBe(WHOLE);
  expect(runMeant('0k3j', found(WHOLE, '0k3jz'))).toBeUndefined();
  expect(runMeant('0k3j', found(WHOLE, '0k3j'))).toBe('0k3j');
});
