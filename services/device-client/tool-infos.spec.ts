import { describe, expect, it } from '@jest/globals';
import type { ListedTool } from '#libs/mcp';
import { AIP_LIMITS, ClientTelemetry } from '#proto';
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
});
