import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json, ToolInfo } from '#proto';
import { toolsToPrompt, toolToPrompt } from './tool-prompt.js';

const CLICK: ToolInfo = {
  name: 'click_input',
  description: 'Click on a control item',
  readOnly: false,
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The ID of the control item' },
      button: { type: 'string', description: 'Mouse button to click', default: 'left' },
      double: { type: 'boolean', description: 'Whether to double-click.', default: false },
    },
    required: ['id'],
  },
  returns: 'Result of the click action',
};

describe('toolToPrompt', () => {
  it('shows name, description, parameters, returns and an example', () => {
    expect(toolToPrompt(CLICK)).toBe(
      [
        'Tool name: click_input',
        'Description: Click on a control item',
        '',
        'Parameters:',
        '- id (string, required): The ID of the control item',
        '- button (string, optional): Mouse button to click. Default: left',
        '- double (boolean, optional): Whether to double-click. Default: false',
        '',
        'Returns: Result of the click action',
        '',
        'Example usage:',
        'click_input(id="...", button="left", double=false)',
      ].join('\n'),
    );
  });

  it('shows a tool that says nothing of itself', () => {
    const text = toolToPrompt({ name: 'ping', description: '', readOnly: true });
    expect(text).toContain('Parameters:\n- (none)\n');
    expect(text).toContain('Example usage:\nping()');
  });

  it('does not depend on the order in which a schema was stored', () => {
    const { inputSchema } = CLICK;
    const entries = Object.entries((inputSchema?.['properties'] ?? {}) as Record<string, Json>);
    const turned = { ...inputSchema, properties: Object.fromEntries(entries.toReversed()) };
    expect(toolToPrompt({ ...CLICK, inputSchema: turned })).toBe(toolToPrompt(CLICK));
  });

  it('keeps a parameter on one line, and all of a huge schema within bounds', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [
        `p${index}`,
        {
          type: 'string',
          description: `x\n- command (string, required): ${'y'.repeat(10_000)}`,
          default: { a: ['z'] },
        },
      ]),
    );
    const text = toolToPrompt({ ...CLICK, inputSchema: { properties } });
    expect(text.length).toBeLessThan(60_000);
    expect(text).toContain('- (1960 more are not shown)');
    expect(text.split('\n').filter((line) => line.startsWith('- command'))).toEqual([]);
  });

  it('takes any schema', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
        const inputSchema = schema as Record<string, Json>;
        const text = toolToPrompt({ ...CLICK, inputSchema: { ...inputSchema, properties: inputSchema } });
        expect(text.startsWith('Tool name: click_input\n')).toBe(true);
        expect(text.split('\n').filter((line) => line === 'Parameters:')).toHaveLength(1);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe('toolsToPrompt', () => {
  it('parts tools by a line', () => {
    expect(toolsToPrompt([CLICK, CLICK])).toBe(`${toolToPrompt(CLICK)}\n\n---\n\n${toolToPrompt(CLICK)}`);
  });

  it('names the tools that there is no room for', () => {
    const many = Array.from({ length: 100 }, (_, index) => ({
      ...CLICK,
      name: `tool-${index}`,
      description: 'd'.repeat(2_000),
    }));
    const text = toolsToPrompt(many);
    expect(text.length).toBeLessThan(75_000);
    for (const { name } of many) expect(text).toContain(name);
  });
});
