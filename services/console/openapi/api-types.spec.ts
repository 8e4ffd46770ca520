import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { apiTypes, openApi } from './index.js';

it('the types of the web application are fresh: after a change run `npm run build && node tools/api-types.mjs`', () =>
  expect(readFileSync('services/console/web/api/schema.d.ts', 'utf8')).toBe(apiTypes(openApi())));

it('says in types what is said in schemas', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: ['string', 'null'] },
      'b-c': { type: 'array', items: { anyOf: [{ const: 1 }, { $ref: '#/components/schemas/B' }] } },
      d: { type: 'object', additionalProperties: { type: 'integer' } },
      e: {},
    },
    required: ['a'],
    additionalProperties: false,
  };
  const text = { 'text/plain': { schema: { type: 'string' } } };
  const get = {
    summary: 'Look',
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'all', in: 'query', schema: { type: 'boolean' } },
    ],
    responses: { '200': { content: text } },
  };
  const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } };
  const post = { summary: 'Say', parameters: [], requestBody: body, responses: { '200': body } };
  const types = apiTypes({
    paths: { '/a/{id}': { get }, '/b': { post } },
    components: { schemas: { A: schema, B: { enum: ['x', 'y'] } } },
  });
  expect(types.split('\n').filter((line) => line.startsWith('  '))).toEqual([
    `  A: { a: (string | null); "b-c"?: readonly (1 | ApiSchemas['B'])[]; d?: Readonly<Record<string, number>>; e?: unknown };`,
    '  B: ("x" | "y");',
    '  /** Look */',
    "  'GET /a/{id}': { path: { id: string }; query?: { all?: boolean }; answer: string };",
    '  /** Say */',
    "  'POST /b': { body?: ApiSchemas['A']; answer: ApiSchemas['A'] };",
  ]);
});
