import type { Json } from './ids.js';

type Fields = Readonly<Record<string, Json>>;

/** Whether a value of JSON is an object; a list is none. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

const decoder = new TextDecoder('utf-8', { fatal: true });

/** What a text says as JSON, or bytes in UTF-8; undefined when they are none, which no schema accepts. */
export function parseJson(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : decoder.decode(text));
  } catch {
    return undefined;
  }
}
