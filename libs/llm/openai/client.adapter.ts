import type { OpenAI } from 'openai';
import { boundedFetch } from './bounded-fetch.js';
import type { SecretKey } from '../settings/index.js';

/**
 * A client of one base URL with one key, which retries nothing, logs nothing and reads no variables. The library is large: a process
 * that never asks a model never loads it.
 */
export async function connectOpenAi(
  { baseUrl, key }: { readonly baseUrl: string; readonly key: SecretKey | null },
  fetch: typeof globalThis.fetch,
): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai');
  return new Client({
    baseURL: baseUrl,
    apiKey: key?.reveal() ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: boundedFetch(fetch),
  });
}
