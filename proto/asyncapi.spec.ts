import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { asyncApiDocument } from './asyncapi.js';
import { MESSAGES } from './messages.js';
import { VERSION } from './version.js';

interface Channel {
  readonly address: string;
  readonly parameters?: Readonly<Record<string, { readonly description?: string }>>;
  readonly messages: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Document {
  readonly channels: Readonly<Record<string, Channel>>;
  readonly components: { readonly messages: Readonly<Record<string, { readonly name: string }>> };
}

interface Broken {
  readonly channels: object;
  readonly operations: { readonly requests: object };
}

const text = readFileSync(new URL('asyncapi.json', import.meta.url), 'utf8');
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
/** Values of buckets: they are read by key, not from a subject. */
const VALUES = ['AgentProfile', 'KnownActor', 'ActorEntry', 'RevokedGrants', 'Presence', 'Member'];

/** What `#/components/messages/Name` points to in the document; undefined when there is nothing. */
function pointedAt(document: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined;
  const names = ref.split('/').slice(1);
  return names.reduce<unknown>((found, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined;
  }, document);
}

/** References that lead nowhere, each with its place. */
function lostReferences(document: unknown, part: unknown = document, path = '#'): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]: [string, unknown]) =>
    key === '$ref' && typeof value === 'string'
      ? pointedAt(document, value) === undefined
        ? [`${path}: ${value}`]
        : []
      : lostReferences(document, value, `${path}/${key}`),
  );
}

describe('the AsyncAPI document', () => {
  const document = JSON.parse(text) as Document;
  let isValid: ValidateFunction;

  beforeAll(() => {
    const schema = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    // Formats that the schema of AsyncAPI names are checked; what it holds besides is not ours to judge.
    const ajv = new Ajv({ strict: false, logger: false });
    addFormats.default(ajv);
    isValid = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')) as object);
  });

  it('says of which version it is', () => expect(VERSION).toBe(version));

  it('is fresh: after a change of a schema run `npm run build && node tools/asyncapi.mjs`', () => {
    expect(document).toEqual(JSON.parse(JSON.stringify(asyncApiDocument())));
  });

  it('is as AsyncAPI 3.0.0 wants it, and every reference in it leads somewhere', () => {
    expect(isValid(document) ? [] : isValid.errors).toEqual([]);
    expect(lostReferences(document)).toEqual([]);
  });

  it.each<[string, (broken: Broken) => void]>([
    ['a channel that is a number', ({ channels }) => Object.assign(channels, { requests: 5 })],
    ['a field that nobody knows', ({ operations }) => Object.assign(operations.requests, { actions: 'send' })],
    [
      'a binding whose queue has no name',
      ({ operations }) => Object.assign(operations.requests, { bindings: { nats: { queue: 5 } } }),
    ],
  ])('would be refused with %s', (_, breakIt) => {
    const broken = JSON.parse(text) as Broken;
    breakIt(broken);
    expect(isValid(broken)).toBe(false);
  });

  it('would be refused with a reference to what is not there', () => {
    const broken = { ...document, more: { $ref: '#/components/messages/Nothing' } };
    expect(lostReferences(broken)).toEqual(['#/more: #/components/messages/Nothing']);
  });

  it('describes every message, and has a channel for each that is sent by itself', () => {
    const described = Object.values(document.components.messages).map(({ name }) => name);
    expect(new Set(described)).toEqual(new Set(Object.keys(MESSAGES)));
    const sent = new Set(Object.values(document.channels).flatMap(({ messages }) => Object.keys(messages)));
    const events = /^[A-Z_]+$/u;
    const alone = Object.keys(MESSAGES).filter((name) => !events.test(name) && !VALUES.includes(name));
    expect(alone.filter((name) => !sent.has(name))).toEqual([]);
  });

  it('names a parameter for each part of an address that varies', () => {
    for (const { address, parameters = {} } of Object.values(document.channels)) {
      expect(address).not.toMatch(/[*>]|\{\}/u);
      expect([...address.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name)).toEqual(Object.keys(parameters));
      for (const { description = '' } of Object.values(parameters)) expect(description).not.toBe('');
    }
  });
});
