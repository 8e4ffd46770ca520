import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ACTOR_EVENT_TYPES } from './actor-events.js';
import { ATTEMPT_EVENT_TYPES } from './attempt-events.js';
import { ATTENTION_EVENT_TYPES } from './attention.js';
import { FLEET_EVENT_TYPES } from './fleet-events.js';
import { MESSAGES } from './messages.js';
import { parseWith } from './parse.js';
import { PLAN_EVENT_TYPES } from './plan-events.js';
import { RUN_EVENT_TYPES } from './run-events.js';

/**
 * The golden corpus, `<message>/<version>-<case>.json`: a message, the paths of what is wrong with it (none: it is accepted),
 * and what parsing makes of it where that differs. A file is never changed, only added: old messages stay readable for ever.
 */
const Fixture = z.strictObject({ issues: z.array(z.string()), message: z.json(), parsed: z.json().optional() });

const ROOT = fileURLToPath(new URL('fixtures/', import.meta.url));
/** Transcripts of AIP conversations with foreign clients, not single messages. */
const TRANSCRIPTS = 'aip';
const FILE = /^[1-9]\d*-[a-z0-9-]+\.json$/u;

const folders = readdirSync(ROOT).filter((name) => name !== TRANSCRIPTS);
const corpus = folders.flatMap((kind) =>
  readdirSync(`${ROOT}${kind}`).map((file) => {
    const fixture = Fixture.parse(JSON.parse(readFileSync(`${ROOT}${kind}/${file}`, 'utf8')));
    return { kind, file, title: `${kind}/${file}`, ...fixture };
  }),
);

describe('the golden corpus', () => {
  it('has accepted and refused messages of every kind that crosses a wire, and of no other', () => {
    const kinds = Object.keys(MESSAGES);
    const having = (accepted: boolean) =>
      new Set(corpus.filter(({ issues }) => (issues.length === 0) === accepted).map(({ kind }) => kind));
    expect(kinds.filter((kind) => !having(true).has(kind))).toEqual([]);
    expect(kinds.filter((kind) => !having(false).has(kind))).toEqual([]);
    expect(folders.filter((folder) => MESSAGES[folder] === undefined)).toEqual([]);
  });

  it('covers every event type', () => {
    const types = [
      ...RUN_EVENT_TYPES,
      ...ATTEMPT_EVENT_TYPES,
      ...PLAN_EVENT_TYPES,
      ...FLEET_EVENT_TYPES,
      ...ACTOR_EVENT_TYPES,
      ...ATTENTION_EVENT_TYPES,
    ];
    expect(types.filter((type) => !folders.includes(type))).toEqual([]);
  });

  it('names its files by version and case', () => {
    expect(corpus.filter(({ file }) => !FILE.test(file)).map(({ title }) => title)).toEqual([]);
  });
});

const schemaOf = (kind: string): z.ZodType => MESSAGES[kind]?.schema ?? z.never();

describe('accepts', () => {
  it.each(corpus.filter(({ issues }) => issues.length === 0))('$title', ({ kind, message, parsed }) => {
    expect(parseWith(schemaOf(kind), message)).toEqual({ ok: true, value: parsed ?? message });
  });

  it.each(corpus.filter(({ parsed }) => parsed !== undefined))('$title again as it was parsed', ({ kind, parsed }) => {
    expect(parseWith(schemaOf(kind), parsed)).toEqual({ ok: true, value: parsed });
  });
});

describe('refuses, with the path of what is wrong,', () => {
  it.each(corpus.filter(({ issues }) => issues.length > 0))('$title', ({ kind, message, issues }) => {
    const parsed = parseWith(schemaOf(kind), message);
    const paths = parsed.ok ? [] : [...new Set(parsed.issues.map(({ path }) => path))];
    expect(paths).toEqual(issues);
  });
});
