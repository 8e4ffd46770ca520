import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Parser, type AsyncAPIDocumentInterface } from '@asyncapi/parser';
import { asyncApiDocument } from './asyncapi.js';
import { MESSAGES } from './messages.js';
import { VERSION } from './version.js';

const text = readFileSync(new URL('asyncapi.json', import.meta.url), 'utf8');
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
/** Values of buckets: they are read by key, not from a subject. */
const VALUES = ['AgentProfile', 'KnownActor', 'ActorEntry', 'RevokedGrants', 'Presence', 'Member'];

describe('the AsyncAPI document', () => {
  let document: AsyncAPIDocumentInterface;

  beforeAll(async () => {
    const parsed = await new Parser().parse(text);
    // There is a document exactly when nothing worse than a hint was found.
    if (parsed.document === undefined) throw new Error(JSON.stringify(parsed.diagnostics, null, 2));
    document = parsed.document;
  });

  it('says of which version it is', () => expect(VERSION).toBe(version));

  it('is fresh: after a change of a schema run `npm run build && node tools/asyncapi.mjs`', () => {
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(asyncApiDocument())));
  });

  it('describes every message, and has a channel for each that is sent by itself', () => {
    const described = document
      .components()
      .messages()
      .all()
      .map((message) => message.name());
    expect(new Set(described)).toEqual(new Set(Object.keys(MESSAGES)));
    const sent = new Set(
      document
        .channels()
        .all()
        .flatMap((channel) =>
          channel
            .messages()
            .all()
            .map((message) => message.name()),
        ),
    );
    const events = /^[A-Z_]+$/u;
    const alone = Object.keys(MESSAGES).filter((name) => !events.test(name) && !VALUES.includes(name));
    expect(alone.filter((name) => !sent.has(name))).toEqual([]);
  });

  it('names a parameter for each part of an address that varies', () => {
    for (const channel of document.channels().all()) {
      const address = channel.address() ?? '';
      expect(address).not.toMatch(/[*>]|\{\}/u);
      const named = channel
        .parameters()
        .all()
        .map((parameter) => parameter.id());
      expect([...address.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name)).toEqual(named);
      for (const parameter of channel.parameters().all()) expect(parameter.description()).not.toBe('');
    }
  });
});
