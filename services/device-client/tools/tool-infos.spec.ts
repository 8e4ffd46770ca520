import { describe, expect, it } from '@jest/globals';
import type { ListedTool } from '#libs/mcp';
import { AIP_LIMITS, ClientTelemetry, type Json } from '#proto';
import { valuesOf } from '../output/fit.js';
import { toolInfos } from './tool-infos.js';

const tools = (count: number, description: string): ListedTool[] =>
  Array.from({ length: count }, (_, n) => ({
    name: `${'t'.repeat(120)}-${n}`,
    title: null,
    description,
    inputSchema: {},
    outputSchema: null,
    annotations: null,
    readOnly: n % 2 === 0,
  }));

describe('the tools in REGISTER', () => {
  it('keep their descriptions, up to what one may have', () =>
    expect(toolInfos(tools(1, 'd'.repeat(5_000)))).toEqual([
      { name: `${'t'.repeat(120)}-0`, description: 'd'.repeat(4_000), readOnly: true },
    ]));

  it.each([
    ['letters', 'd'],
    ['characters of three bytes', '€'],
    ['characters that are escaped', '\u0001'],
    ['halves of characters', '\ud83d\ude00'.slice(1)],
  ])('always fit into a frame: a thousand with descriptions of %s', (_, character) => {
    const infos = toolInfos(tools(1_000, character.repeat(5_000)));
    expect(infos).toHaveLength(1_000);
    expect(Buffer.byteLength(JSON.stringify(infos))).toBeLessThan(AIP_LIMITS.frameBytesMax / 2 + 1);
    expect(ClientTelemetry.shape.tools.safeParse(infos).success).toBe(true);
    expect(infos.every(({ description }) => description.length > 0)).toBe(true);
  });

  it('say how they are called and what they return', () => {
    const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
    const [tool] = tools(1, 'd');
    if (tool === undefined) throw new Error('no tool');
    const outputSchema = { properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    expect(toolInfos([{ ...tool, inputSchema, outputSchema }])).toMatchObject([
      { inputSchema, returns: '{ok: boolean}' },
    ]);
  });

  it('never have more values than a server takes', () => {
    const [tool] = tools(1, 'd');
    if (tool === undefined) throw new Error('no tool');
    const inputSchema = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`${n}`, {}]));
    const infos = toolInfos(Array.from({ length: 50 }, () => ({ ...tool, inputSchema })));
    expect(valuesOf(JSON.parse(JSON.stringify(infos)) as Json)).toBeLessThan(AIP_LIMITS.jsonValuesMax);
  });

  it('fit into a frame with their schemas, which are as large as they may be', () => {
    const [tool] = tools(1, 'd'.repeat(4_000));
    if (tool === undefined) throw new Error('no tool');
    const many = Array.from({ length: 1_000 }, () => ({ ...tool, inputSchema: { description: '€'.repeat(16_000) } }));
    const infos = toolInfos(many);
    expect(infos).toHaveLength(1_000);
    expect(Buffer.byteLength(JSON.stringify(infos))).toBeLessThan(AIP_LIMITS.frameBytesMax / 2 + 1);
  });
});
