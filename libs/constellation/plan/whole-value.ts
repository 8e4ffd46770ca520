import { type Json, LIMITS } from '#proto';
import { valuesIn } from './condition-language.js';

export type Whole = { readonly value: Json } | { readonly reason: string };

/** A result with all that belongs to it: parsed where it is a text, and with the whole outputs of its command. */
export function wholeValue(
  result: { readonly value: Json } | { readonly json: Uint8Array },
  streams: Readonly<Record<string, Uint8Array>>,
): Whole {
  const parsed = 'json' in result ? parse(result.json) : result;
  if ('reason' in parsed) return parsed;
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value };
  const texts = Object.entries(streams).map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]);
  return { value: { ...value, ...Object.fromEntries(texts) } };
}

function parse(json: Uint8Array): Whole {
  const text = new TextDecoder().decode(json);
  if (valuesIn(text) > LIMITS.conditionItemsMax) {
    return { reason: `the result has more than ${LIMITS.conditionItemsMax} values` };
  }
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return { reason: 'the stored result is no JSON' };
  }
}
