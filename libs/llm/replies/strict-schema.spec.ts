import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Json, LinuxAgentReply, type Json as AnyJson } from '#proto';
import { strictSchema } from './strict-schema.js';

/** Every schema inside of one. */
function* nodes(node: AnyJson): Generator<Record<string, AnyJson>> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield node;
  for (const child of Object.values(node)) yield* nodes(child);
}

const ALLOWED = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'description',
  '$ref',
  '$defs',
]);

describe('the strict form of what a LinuxAgent answers', () => {
  const { json, toInput } = strictSchema(LinuxAgentReply);
  const full = {
    observation: null,
    thought: 'look first',
    plan: ['df'],
    comment: null,
    notes: null,
    result: null,
    action: { function: 'EXEC_CLI', arguments: '{"command": "df -h", "timeout": 5}', status: 'CONTINUE' },
  };

  it('requires every property, and takes no other', () => {
    const objects = [...nodes(json)].filter((node) => node['type'] === 'object');
    expect(objects).toHaveLength(2);
    for (const node of objects) {
      expect(node['additionalProperties']).toBe(false);
      expect(node['required']).toEqual(Object.keys(node['properties'] as object));
    }
  });

  it('uses nothing but what the dialect knows', () => {
    for (const node of nodes(json)) {
      if (!('type' in node) && !('anyOf' in node)) continue;
      expect(Object.keys(node).filter((keyword) => !ALLOWED.has(keyword))).toEqual([]);
    }
  });

  it('is read back: null is absent, arguments are what their text says', () => {
    expect(LinuxAgentReply.parse(toInput(full))).toEqual({
      observation: '',
      thought: 'look first',
      plan: ['df'],
      comment: '',
      notes: [],
      result: '',
      action: { function: 'EXEC_CLI', arguments: { command: 'df -h', timeout: 5 }, status: 'CONTINUE' },
    });
  });

  it('does not mind a model that answers in the plain form', () => {
    const plain = { thought: 't', result: 'done', action: { status: 'FINISH', arguments: { a: 'null' } } };
    expect(LinuxAgentReply.parse(toInput(plain))).toMatchObject({ action: { arguments: { a: 'null' } } });
  });

  it.each([
    ['null where something is required', { ...full, thought: null }, 'thought'],
    ['arguments that are no JSON', { ...full, action: { ...full.action, arguments: 'df -h' } }, 'action.arguments'],
    ['arguments that are a list', { ...full, action: { ...full.action, arguments: '["df"]' } }, 'action.arguments'],
    [
      'arguments with a name twice',
      { ...full, action: { ...full.action, arguments: '{"a":1,"a":2}' } },
      'action.arguments',
    ],
    ['a field too many', { ...full, command: 'rm -rf /' }, ''],
    ['a list instead of an object', [full], ''],
    ['no object at all', 'df -h', ''],
    ['null', null, ''],
  ])('leaves %s to be refused', (_, value, path) => {
    const parsed = LinuxAgentReply.safeParse(toInput(value));
    expect(parsed.error?.issues.map((issue) => issue.path.join('.'))).toContain(path);
  });

  it('says bounds that the dialect does not know', () => {
    const { properties } = json as { properties: Record<string, { description?: string }> };
    expect(properties['thought']?.description).toBe('at most 20000 characters');
  });
});

describe('a strict schema', () => {
  it('goes through unions by the constant that tells them apart', () => {
    const Union = z.strictObject({
      step: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('run'), args: z.record(z.string(), Json).optional() }),
        z.strictObject({ kind: z.literal('say'), args: z.string() }),
      ]),
    });
    const { toInput } = strictSchema(Union);
    expect(Union.parse(toInput({ step: { kind: 'run', args: '{"a": [1]}' } }))).toEqual({
      step: { kind: 'run', args: { a: [1] } },
    });
    expect(Union.parse(toInput({ step: { kind: 'run', args: null } }))).toEqual({ step: { kind: 'run' } });
    expect(Union.parse(toInput({ step: { kind: 'say', args: '{}' } }))).toEqual({ step: { kind: 'say', args: '{}' } });
  });

  it('keeps null where null is meant, and text where text is meant', () => {
    const Schema = z.strictObject({
      a: z.string().nullable(),
      b: z.string().nullable().optional(),
      c: z.string().optional(),
    });
    const { json, toInput } = strictSchema(Schema);
    expect(Schema.parse(toInput({ a: null, b: null, c: null }))).toEqual({ a: null, b: null });
    expect(json['properties']).toMatchObject({ a: { type: ['string', 'null'] } });
  });

  it('takes a map that may be null', () => {
    const Schema = z.strictObject({ a: z.record(z.string(), z.int()).nullable() });
    const { toInput } = strictSchema(Schema);
    expect(Schema.parse(toInput({ a: null }))).toEqual({ a: null });
    expect(Schema.parse(toInput({ a: '{"b": 1}' }))).toEqual({ a: { b: 1 } });
    expect(Schema.parse(toInput({ a: '' }))).toEqual({ a: {} });
  });

  it('wraps what is not an object', () => {
    const Schema = z.union([z.strictObject({ a: z.int() }), z.strictObject({ b: z.int() })]);
    const { json, toInput } = strictSchema(Schema);
    expect(json).toMatchObject({ type: 'object', required: ['reply'] });
    expect(Schema.parse(toInput({ reply: { b: 1 } }))).toEqual({ b: 1 });
    expect(Schema.parse(toInput({ b: 1 }))).toEqual({ b: 1 });
  });

  it('follows a schema that contains itself', () => {
    interface Tree {
      name: string;
      children?: Tree[] | undefined;
    }
    const Tree: z.ZodType<Tree> = z.strictObject({
      name: z.string(),
      children: z.lazy(() => z.array(Tree)).optional(),
    });
    const { toInput } = strictSchema(z.strictObject({ tree: Tree }));
    expect(toInput({ tree: { name: 'a', children: [{ name: 'b', children: null }] } })).toEqual({
      tree: { name: 'a', children: [{ name: 'b' }] },
    });
  });

  it('refuses what it cannot say', () => {
    const Schema = z.strictObject({ a: z.tuple([z.string(), z.int()]) });
    expect(() => strictSchema(Schema)).toThrow('strict structured output cannot say "prefixItems"');
  });
});
