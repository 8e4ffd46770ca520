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

/** What stands behind the `?` of an address. */
export type SaidInAddress = Readonly<Record<string, unknown>>;

/** A number that is said in an address; nothing where nothing is said. */
export function numberIn(name: string, said: unknown): Record<string, unknown> {
  return said === undefined ? {} : { [name]: Number(said) };
}

/** Yes or no, as it is said in an address; what is neither is left as it is, for the schema to refuse. */
export function flagIn(name: string, said: unknown): Record<string, unknown> {
  if (said === undefined) return {};
  return { [name]: said === 'true' ? true : said === 'false' ? false : said };
}

/** Words that are said in an address, one by one or with commas, as the schemas have them. */
export function listIn(
  name: string,
  said: unknown,
  asSchema: (word: string) => string = (word) => word,
): Record<string, unknown> {
  if (said === undefined) return {};
  const words = [said].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : ['']));
  return { [name]: words.map((word) => asSchema(word.trim())) };
}
