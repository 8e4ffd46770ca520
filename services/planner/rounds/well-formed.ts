import type { Json } from '#proto';

/**
 * What a schema read, as JSON: without halves of surrogate pairs, which a model may write as escapes and which have no canonical
 * form, and without fields that are undefined.
 */
export function wellFormed(value: unknown): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return Object.fromEntries(fields.map(([key, field]) => [key.toWellFormed(), wellFormed(field)]));
  }
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
