import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { LineType, RUN_EVENT_TYPES, RUN_VERBS, VERB_DECISIONS, VERB_PATHS, VERB_ROWS } from '#proto';
import { complaintsAbout } from './closed-sets.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Tables that have a row for each member of a set; who adds a member is told of them by the compiler. */
const TABLES = [
  { path: 'libs/constellation/plan/line-types.ts', set: 'LineType', members: LineType.options },
  { path: 'libs/constellation/decide/control.ts', set: 'RunVerb', members: RUN_VERBS },
  { path: 'libs/constellation/views/event-words.ts', set: 'RunEventType', members: RUN_EVENT_TYPES },
];

describe.each(TABLES)('the table of $path', ({ path, set, members }) => {
  const text = readFileSync(`${ROOT}${path}`, 'utf8');

  it(`has a row for each ${set}`, () => {
    expect(complaintsAbout(text, set, members)).toEqual([]);
  });

  it('does not compile while it leaves one out', () => {
    const [complaint = '', ...more] = complaintsAbout(text, set, [...members, 'planted']);
    expect(complaint).toContain("'planted'");
    expect(more).toEqual([]);
  });

  it('does not compile with a row for none', () => {
    const [first = '', ...others] = members;
    const [complaint = ''] = complaintsAbout(text, set, others);
    expect(complaint).toContain(first);
  });
});

describe('docs/operating.md', () => {
  const text = readFileSync(`${ROOT}docs/operating.md`, 'utf8');

  it.each(RUN_VERBS)('says to people what %s does', (verb) => {
    expect(text).toMatch(new RegExp(`(?:\\./orrery |\`)${VERB_ROWS[verb].command.name} `, 'u'));
  });

  it.each(VERB_PATHS)('names the route of $verb', ({ path }) => {
    expect(text).toMatch(new RegExp(`\`${path.replaceAll(/\{(\w+?)(?:Id)?\}/gu, '<$1>')}\``, 'u'));
  });

  it.each(VERB_DECISIONS)('names the word for $verb', ({ decision }) => {
    expect(text).toMatch(new RegExp(`"decision": "[a-z|]*\\b${decision}\\b`, 'u'));
  });
});
