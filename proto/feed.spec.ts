import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { Actor } from './actors.js';
import { FeedMessage, feedOwner } from './feed.js';
import { MESSAGES } from './messages.js';
import { feedDurable, isFeedDurable } from './streams.js';

const FIXTURES = fileURLToPath(new URL('fixtures/FeedMessage/', import.meta.url));
const messages = readdirSync(FIXTURES)
  .map((file) => JSON.parse(readFileSync(`${FIXTURES}${file}`, 'utf8')) as { issues: string[]; message: unknown })
  .flatMap(({ issues, message }) => (issues.length === 0 ? [message] : []));

describe('a message of FEED', () => {
  it('is nothing else, wherever it is pushed to: no order, no fact, no request, no answer', () => {
    expect(messages.length).toBeGreaterThan(0);
    const taken = messages.flatMap((message) =>
      Object.entries(MESSAGES).flatMap(([name, { schema }]) => (schema.safeParse(message).success ? [name] : [])),
    );
    expect([...new Set(taken)]).toEqual(['FeedMessage']);
    expect(FeedMessage.safeParse(messages[0]).success).toBe(true);
  });
});

describe('whose the feed of a run is', () => {
  it.each<[string, Actor | undefined, string]>([
    ['of a system', { kind: 'external', id: 'billing' }, 'billing'],
    ['of a person', { kind: 'person', id: 'anna' }, 'anna'],
    ['of the one external system of 0.1.0', { kind: 'external', id: 'default' }, 'external'],
    ['of a person who is called so', { kind: 'person', id: 'default' }, 'default'],
    ['of nobody, of a client of AIP', { kind: 'external', id: 'aip:phone-1' }, '-'],
    ['of nobody, of a name that would be more than a token', { kind: 'external', id: 'a.b' }, '-'],
    ['of nobody, of a wildcard', { kind: 'external', id: '>' }, '-'],
    ['of nobody, of a run that nobody has asked for', undefined, '-'],
  ])('%s', (_, requestedBy, owner) => expect(feedOwner(requestedBy)).toBe(owner));

  it('is followed by a durable of a name of its own', () => {
    const ids = ['external', 'crm', 'external-crm', 'default'];
    const names = ids.map((id) => feedDurable(id).durable);
    expect(new Set(names).size).toBe(ids.length);
    expect(names.every((name) => isFeedDurable('FEED', name))).toBe(true);
    expect([isFeedDurable('RUNS', 'external-crm'), isFeedDurable('FEED', 'mine')]).toEqual([false, false]);
  });
});
