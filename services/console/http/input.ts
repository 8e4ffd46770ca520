import type { z } from 'zod';
import { parseWith, sentenceOf, parseJson, isObject } from '#proto';
import { RefusedError } from './refusal.js';

/** What a client sent, checked; throws RefusedError. */
export function valid<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = parseWith(schema, input);
  if (parsed.ok) return parsed.value;
  const message = parsed.issues.map(sentenceOf).join('; ');
  throw new RefusedError({ code: 'INVALID_REQUEST', message, issues: parsed.issues });
}

/** The bytes of a body as the JSON object they have to be; throws RefusedError. */
export function jsonObject(body: unknown): object {
  const json = body instanceof Uint8Array ? parseJson(body) : undefined;
  if (json === undefined) throw new RefusedError({ code: 'INVALID_JSON', message: 'The body is not JSON in UTF-8.' });
  if (isObject(json)) return json;
  throw new RefusedError({ code: 'INVALID_REQUEST', message: 'The body must be a JSON object.' });
}

/** As `jsonObject`, where all of it may be left out. */
export function optionalJsonObject(body: unknown): object {
  return body instanceof Uint8Array && body.length > 0 ? jsonObject(body) : {};
}
