import type { Json } from '#proto';
import { type ModelRequest, sendable } from '../models/index.js';

/** What an endpoint is known to take. Begins with everything; each refusal that names a part takes that part away for good. */
export interface Abilities {
  readonly format: 'json_schema' | 'json_object' | 'none';
  readonly stream: 'with-usage' | 'plain' | 'none';
  readonly limit: 'max_tokens' | 'max_completion_tokens' | 'none';
  readonly temperature: boolean;
}

export const allAbilities = (supportsSchema: boolean): Abilities => ({
  format: supportsSchema ? 'json_schema' : 'json_object',
  stream: 'with-usage',
  limit: 'max_tokens',
  temperature: true,
});

export interface Manner {
  readonly model: string;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
}

/** Body of a chat completion. */
export function bodyOf(request: ModelRequest, manner: Manner, able: Abilities): Record<string, unknown> {
  const { name, json } = request.schema;
  return {
    ...parametersOf(manner, able),
    messages: sendable(request.messages),
    ...(able.format === 'json_schema' && {
      response_format: { type: 'json_schema', json_schema: { name: schemaName(name), strict: true, schema: json } },
    }),
  };
}

/** The same without the messages and the schema: what is recorded of it. */
export function parametersOf({ model, temperature, maxTokens }: Manner, able: Abilities): Record<string, Json> {
  return {
    model,
    ...(able.temperature && temperature !== null && { temperature }),
    ...(maxTokens !== null && able.limit !== 'none' && { [able.limit]: maxTokens }),
    ...(able.stream !== 'none' && { stream: true }),
    ...(able.stream === 'with-usage' && { stream_options: { include_usage: true } }),
    ...(able.format !== 'none' && { response_format: { type: able.format } }),
  };
}

/**
 * What to leave out after a refusal (HTTP 400 and its like) that says `text`; null when it names nothing that could be left out.
 * `sent`: what was sent, so that two requests that were refused at the same time take one step only.
 */
export function without(text: string, sent: Abilities, manner: Manner): Abilities | null {
  if (/response_format|json_schema|json_object|structured[ _]output/iu.test(text) && sent.format !== 'none') {
    return { ...sent, format: sent.format === 'json_schema' ? 'json_object' : 'none' };
  }
  if (/stream_options|include_usage/iu.test(text) && sent.stream === 'with-usage') return { ...sent, stream: 'plain' };
  if (/max_tokens|max_completion_tokens/iu.test(text) && manner.maxTokens !== null && sent.limit !== 'none') {
    return { ...sent, limit: sent.limit === 'max_tokens' ? 'max_completion_tokens' : 'none' };
  }
  if (/temperature/iu.test(text) && manner.temperature !== null && sent.temperature) {
    return { ...sent, temperature: false };
  }
  if (/\bstream(?:ing)?\b/iu.test(text) && sent.stream !== 'none') return { ...sent, stream: 'none' };
  return null;
}

/** What is able to do less of two: refusals of requests that ran at the same time add up. */
export function lesser(one: Abilities, other: Abilities): Abilities {
  const later = <T>(order: readonly T[], a: T, b: T): T => (order.indexOf(a) > order.indexOf(b) ? a : b);
  return {
    format: later(['json_schema', 'json_object', 'none'], one.format, other.format),
    stream: later(['with-usage', 'plain', 'none'], one.stream, other.stream),
    limit: later(['max_tokens', 'max_completion_tokens', 'none'], one.limit, other.limit),
    temperature: one.temperature && other.temperature,
  };
}

const schemaName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 64) || 'reply';
