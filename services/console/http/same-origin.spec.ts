import { expect, it } from '@jest/globals';
import { isSameOrigin, type Change } from './same-origin.js';

const HOST = 'ops.example:8443';
const own = 'https://ops.example:8443';

it.each<[Partial<Change>, string | undefined]>([
  [{ origin: own }, own],
  [{ origin: own }, undefined],
  [{ origin: own, site: 'same-origin' }, own],
  [{ origin: `http://${HOST}` }, undefined],
  [{ site: 'same-origin' }, own],
])('%j is of this console', (change, origin) =>
  expect(isSameOrigin({ host: HOST, origin: undefined, site: undefined, ...change }, origin)).toBe(true),
);

it.each<[Partial<Change>, string | undefined]>([
  [{}, own],
  [{}, undefined],
  [{ origin: 'https://ops.example' }, own],
  [{ origin: 'https://ops.example:1234' }, undefined],
  [{ origin: 'https://evil.example', host: 'evil.example' }, own],
  [{ origin: 'null' }, own],
  [{ origin: 'null', host: undefined }, undefined],
  [{ origin: own, site: 'same-site' }, own],
  [{ origin: own, site: 'cross-site' }, own],
  [{ origin: own, site: 'none' }, own],
  [{ site: 'none' }, own],
])('%j is of another page, or of no page', (change, origin) =>
  expect(isSameOrigin({ host: HOST, origin: undefined, site: undefined, ...change }, origin)).toBe(false),
);
