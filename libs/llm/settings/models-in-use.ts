import type { ModelInUse } from '#proto';
import type { ModelEndpoint, ModelSettingsBook } from './settings.js';

/** How models are asked, without anything that lets somebody in: of an endpoint only the host, of a key only that there is one. */
export function modelsInUse({ all, embedding }: ModelSettingsBook): ModelInUse[] {
  const models = Object.entries(all).flatMap(
    ([of, { temperature, maxTokens, timeoutMs, retries, seesPictures, backup, ...main }]) => [
      { of, ...placeOf(main), temperature, maxTokens, timeoutMs, retries, seesPictures },
      ...(backup === null ? [] : [{ of: `backup of ${of}`, ...placeOf(backup), ...AS_MAIN }]),
    ],
  );
  if (embedding === null) return models;
  return [...models, { of: 'embedding', ...placeOf(embedding), ...AS_MAIN, timeoutMs: embedding.timeoutMs }];
}

const AS_MAIN = { temperature: null, maxTokens: null, timeoutMs: null, retries: null, seesPictures: null } as const;

const placeOf = ({ baseUrl, key, model }: Pick<ModelEndpoint, 'baseUrl' | 'key' | 'model'>) => ({
  model,
  host: new URL(baseUrl).host,
  hasKey: key !== null,
});
