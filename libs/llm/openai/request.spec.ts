import { describe, expect, it } from '@jest/globals';
import { sampleRequest } from '../models/chat-model.contract.js';
import { allAbilities, bodyOf, lesser, parametersOf, without, type Abilities } from './request.js';

const all = allAbilities(true);
const manner = { model: 'm', temperature: 0.5, maxTokens: 100 };
const nothing: Abilities = { format: 'none', stream: 'none', limit: 'none', temperature: false };

describe('a refusal takes away what it names, a step at a time', () => {
  it.each([
    ['response_format of type json_schema is not supported', { format: 'json_object' }],
    ['Invalid parameter: structured outputs', { format: 'json_object' }],
    ["Unsupported parameter: 'max_tokens'", { limit: 'max_completion_tokens' }],
    ['Unrecognized request argument: stream_options', { stream: 'plain' }],
    ['stream is not supported', { stream: 'none' }],
    ["'temperature' does not support 0.5", { temperature: false }],
  ])('%s', (text, less) => {
    expect(without(text, all, manner)).toEqual({ ...all, ...less });
  });

  it.each([['This model has a maximum context length of 8192'], ['upstream failed'], ['']])(
    'and nothing for what names nothing: %s',
    (text) => {
      expect(without(text, all, manner)).toBeNull();
    },
  );

  it('and nothing that was not sent', () => {
    const text = 'response_format stream_options stream max_tokens temperature';
    expect(without(text, nothing, manner)).toBeNull();
    const unsaid = { model: 'm', temperature: null, maxTokens: null };
    expect(without('max_tokens and temperature', all, unsaid)).toBeNull();
  });

  it('ends with a request that has nothing left to refuse', () => {
    const text = 'response_format stream_options stream max_tokens temperature';
    let able: Abilities | null = all;
    let steps = 0;
    for (let next: Abilities | null = all; next !== null; next = without(text, next, manner)) {
      able = next;
      steps++;
    }
    expect(able).toEqual(nothing);
    expect(steps).toBe(8);
    expect(bodyOf(sampleRequest(), manner, nothing)).toEqual({ model: 'm', messages: sampleRequest().messages });
  });
});

it('two refusals at the same time add up', () => {
  const one = without('temperature', all, manner) ?? all;
  const other = without('json_schema', all, manner) ?? all;
  expect(lesser(one, other)).toEqual({ ...all, temperature: false, format: 'json_object' });
  expect(lesser(lesser(one, other), nothing)).toEqual(nothing);
  expect(lesser(nothing, all)).toEqual(nothing);
});

it('a name that endpoints do not take is made one that they do', () => {
  const request = sampleRequest({ schema: { name: `größe/${'x'.repeat(80)}`, json: {} } });
  expect(bodyOf(request, manner, all)).toMatchObject({
    response_format: { json_schema: { name: `gr__e_${'x'.repeat(58)}` } },
  });
});

it('what is recorded holds neither messages nor schema', () => {
  expect(JSON.stringify(parametersOf(manner, all))).not.toMatch(/messages|"json_schema":/u);
});
