import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { everyVerb } from '../../services/cli/testing/every-verb.js';
import { openApi } from '../../services/console/openapi/index.js';
import { COUNTERPARTS } from './counterparts.js';

const VERBS = everyVerb({ file: 'file', steps: 'steps', key: 'key' }).map(({ name }) => name);
const ROUTES = new Set(
  Object.entries(openApi()['paths'] as Readonly<Record<string, object>>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  ),
);
/** What acts upon a run, by what is typed: a page of the console asks for it. */
const ON_A_RUN = [
  'submit',
  'cancel',
  'pause',
  'resume',
  'retry',
  'fork',
  'propose',
  'say',
  'board set',
  'board delete',
  'annotate',
  'approve',
  'reject',
  'answer',
  'evaluate',
  'experience learn',
];

describe('what can be done on the command line', () => {
  it('can be done at the console, or there is a reason', () => {
    expect(VERBS.filter((verb) => COUNTERPARTS[verb] === undefined)).toEqual([]);
    expect(Object.keys(COUNTERPARTS).filter((verb) => !VERBS.includes(verb))).toEqual([]);
  });

  it('is a route that the console has', () =>
    expect(Object.values(COUNTERPARTS).filter((other) => typeof other === 'string' && !ROUTES.has(other))).toEqual([]));

  it('to a run can be done in its pages', () => {
    const pages = globSync('services/console/web/pages/**/*.{ts,tsx}').map((file) => readFileSync(file, 'utf8'));
    // The fields in braces stand as they are, or as what is put there: the last steps tell one route from another.
    const lastOf = (route: string): string => route.slice(route.lastIndexOf('}') + 1);
    const isAsked = (route: string): boolean =>
      pages.some((text) => text.includes(route) || (text.includes(`}${lastOf(route)}`) && lastOf(route) !== '')) ||
      (!route.includes('}') && pages.some((text) => text.includes(`'${route.slice(route.indexOf('/'))}'`)));
    const missing = ON_A_RUN.filter((verb) => {
      const other = COUNTERPARTS[verb];
      return typeof other !== 'string' || !isAsked(other);
    });
    expect(missing).toEqual([]);
  });
});
