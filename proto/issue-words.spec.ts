import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseWith, sentenceOf } from './index.js';

const Place = z.strictObject({ device: z.string(), port: z.int().min(1) });

const wrong = (schema: z.ZodType, input: unknown): string[] => {
  const parsed = parseWith(schema, input);
  return parsed.ok ? [] : parsed.issues.map(sentenceOf);
};

describe('what is wrong with an input', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.object({ id: z.string() }), {}, 'id: is missing; it must be a text'],
    [z.object({ at: z.array(z.int()) }), { at: 3 }, 'at: must be a list, not 3'],
    [z.object({ at: z.array(z.int()) }), { at: [1.5] }, 'at[0]: must be a whole number, not 1.5'],
    [z.record(z.string(), z.boolean()), [], 'must be an object, not a list'],
    [z.object({ on: z.boolean() }), { on: null }, 'on: must be true or false, not null'],
    [z.enum(['up', 'down']), 'sideways', 'must be one of "up", "down"'],
    [z.enum(['up', 'down']), 'donw', 'must be one of "up", "down"; did you mean "down"?'],
    [z.object({ on: z.literal('up') }), { on: 3 }, 'on: must be "up", not 3'],
    [Place, { divice: 'web-1', device: 'a', port: 1 }, 'divice: unknown field; did you mean "device"?'],
    [z.object({ at: Place }), { at: { device: 'a', port: 1, weight: 1 } }, 'at.weight: unknown field'],
    [z.literal(1), 2, 'must be 1, not 2'],
    [z.string().min(1), '', 'must have at least 1 character'],
    [z.string().length(2), 'a', 'must have exactly 2 characters'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 item'],
    [z.int().min(0), -1, 'must be at least 0'],
    [z.number().max(2), 3, 'must be at most 2'],
    [z.object({ to: z.union([z.string(), Place]) }), {}, 'to: is missing'],
    [z.union([z.string(), z.int()]), null, 'must be a text, not null, or must be a number, not null'],
    [z.union([z.string(), Place]), { device: 'web-1', port: 0 }, 'port: must be at least 1'],
    [z.union([z.int(), z.object({ at: Place })]), { at: { device: 'a', port: 1, name: 1 } }, 'at.name: unknown field'],
    [
      z.union([z.object({ at: Place, a: z.int() }), z.object({ at: Place, b: z.int(), c: z.int() })]),
      { at: { device: 'a', port: 1, x: 1 }, a: '' },
      'at.x is unknown',
    ],
    [z.union([z.string(), Place]), { device: 'web-1', port: 'x' }, 'port must be a number, not a text'],
  ])('is said with what would be valid: %#', (schema, input, sentence) => {
    expect(wrong(schema, input)).toEqual([sentence]);
  });

  it('is said of each field that nobody knows', () => {
    expect(wrong(Place, { device: 'a', port: 1, divice: 1, weight: 2, ports: 3 })).toEqual([
      'divice: unknown field; did you mean "device"?',
      'weight: unknown field',
      'ports: unknown field; did you mean "port"?',
    ]);
  });

  it('is said in the words of the schema where it has any', () => {
    expect(wrong(z.object({ id: z.string({ error: 'must be the id of a device' }) }), {})).toEqual([
      'id: must be the id of a device',
    ]);
  });

  it('never repeats a text, which may be a secret', () => {
    const schemas = [z.int(), z.enum(['a']), z.array(z.string()), z.string().max(1), z.union([z.int(), Place])];
    for (const schema of schemas) expect(wrong(schema, 'hunter2').join()).not.toMatch(/hunter2|^$/u);
  });
});
