import { describe, expect, it } from '@jest/globals';
import { ToolInfo, type Json } from '#proto';
import { fitToolInfos, returnsOf, schemaOf } from './tool-info.js';

const nested = (depth: number): Json => (depth === 0 ? 'x' : { properties: nested(depth - 1) });

describe('the schema of the arguments of a tool', () => {
  it('is passed on as it is, without its draft', () =>
    expect(schemaOf({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} })).toEqual({
      inputSchema: { type: 'object', properties: {} },
    }));

  it.each<[string, Json | undefined]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'object'],
    ['a list', [1]],
    ['an empty one', {}],
    ['one that is nested too deeply', nested(40)],
    ['one that is too large', { description: 'x'.repeat(20_000) }],
  ])('is none when it is %s', (_, schema) => expect(schemaOf(schema)).toEqual({}));
});

describe('what a tool returns', () => {
  it.each<[Json | undefined, string | undefined]>([
    [{ description: 'The weather.', type: 'object' }, 'The weather.'],
    [
      { type: 'object', properties: { stdout: { type: 'string' }, code: { type: 'integer' } }, required: ['stdout'] },
      '{stdout: string, code?: integer}',
    ],
    [
      { type: 'object', properties: { s: { enum: ['A', 'B'] }, any: {} }, required: ['s', 'any'] },
      '{s: "A" | "B", any}',
    ],
    [{ type: 'string' }, 'string'],
    [{ type: 'object', properties: {} }, undefined],
    [null, undefined],
    [undefined, undefined],
  ])('is said of %j as %j', (schema, returns) => expect(returnsOf(schema).returns).toBe(returns));

  it('has an end', () => expect(returnsOf({ description: 'x'.repeat(5_000) }).returns).toHaveLength(1_000));
});

describe('tools that have to fit', () => {
  const tool = (name: string, chars: number): ToolInfo => ({
    name,
    description: 'd'.repeat(3_000),
    readOnly: true,
    inputSchema: { description: 's'.repeat(chars) },
    returns: 'r',
  });
  const within = (chars: number) => (tools: readonly ToolInfo[]) => JSON.stringify(tools).length <= chars;

  it('say everything when they do', () => {
    const tools = [tool('a', 100), tool('b', 10_000)];
    expect(fitToolInfos(tools, within(20_000))).toEqual(tools);
  });

  it('lose the largest schemas first, then their descriptions, never their names', () => {
    const tools = [tool('a', 100), tool('b', 10_000)];
    const [small, large] = fitToolInfos(tools, within(8_000));
    expect(small).toEqual(tools[0]);
    expect(large).toEqual({ name: 'b', description: 'd'.repeat(3_000), readOnly: true, returns: 'r' });
    expect(fitToolInfos(tools, within(1_000)).map(({ description }) => description.length)).toEqual([400, 400]);
    expect(fitToolInfos(tools, () => false)).toEqual([
      { name: 'a', description: '', readOnly: true },
      { name: 'b', description: '', readOnly: true },
    ]);
  });

  it('are always what the contract allows', () => {
    const hostile = { ...tool('a', 10), description: '\ud83d'.repeat(9_000), returns: 'r'.repeat(9_000) };
    expect(ToolInfo.safeParse(fitToolInfos([hostile], () => true)[0]).success).toBe(true);
  });
});
