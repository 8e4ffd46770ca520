import { z } from 'zod';
import { DIMENSIONS_MAX, Price, type PriceTable } from '../models/index.js';
import type { SecretKey } from './secret-key.js';

/** Settings that cannot be used; one sentence that names the place, without any key. */
export class ModelSettingsError extends Error {
  override readonly name = 'ModelSettingsError';
}

/** Where a key is; the key itself never stands in a setting. */
export const KeySource = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  {
    error: 'must be {env: NAME} or {file: PATH}; a key itself does not belong here',
  },
);
export type KeySource = z.infer<typeof KeySource>;

const BaseUrl = z
  .string({ error: 'must be a URL that starts with http:// or https://' })
  .superRefine((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/u.test(url.protocol)) {
      context.addIssue({ code: 'custom', message: 'must be a URL that starts with http:// or https://' });
    } else if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
      context.addIssue({
        code: 'custom',
        message: 'must be a URL without user, password or query; keys have a place of their own',
      });
    }
  });

const endpoint = {
  baseUrl: BaseUrl,
  key: KeySource.optional(),
  model: z.string({ error: 'must be the name of a model' }).min(1, 'must be the name of a model').max(256),
  /** Whether strict structured output is tried at all; found out when absent. */
  supportsSchema: z.boolean({ error: 'must be true or false' }).optional(),
} as const;

const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, error).max(max, error);
};

const manner = {
  temperature: z
    .number({ error: 'must be a number from 0 to 2' })
    .min(0, 'must be 0 or more')
    .max(2, 'must be at most 2')
    .optional(),
  maxTokens: whole(1, 1_000_000).optional(),
  timeoutMs: whole(1, 3_600_000).optional(),
  /** Tries after the first, at each endpoint. */
  retries: whole(0, 10).optional(),
  /** Whether it is shown pictures; false when absent. */
  seesPictures: z.boolean({ error: 'must be true or false' }).optional(),
} as const;

const Backup = z.strictObject({ ...endpoint, baseUrl: BaseUrl.optional() });
const Default = z.strictObject({
  ...endpoint,
  baseUrl: BaseUrl.optional(),
  model: endpoint.model.optional(),
  ...manner,
  backup: Backup.optional(),
});
const Agent = Default;
const EmbeddingOfFile = z.strictObject({
  baseUrl: BaseUrl.optional(),
  key: KeySource.optional(),
  model: endpoint.model.optional(),
  dimensions: whole(1, DIMENSIONS_MAX).optional(),
  timeoutMs: whole(1, 60_000).optional(),
  similarityMin: z
    .number({ error: 'must be a number from -1 to 1' })
    .min(-1, 'must be -1 or more')
    .max(1, 'must be at most 1')
    .optional(),
});

/** What a settings file holds. An agent says only what is different from the default. */
export const ModelFile = z.strictObject({
  default: Default.default({}),
  agents: z.record(z.string(), Agent).default({}),
  embedding: EmbeddingOfFile.optional(),
  prices: z.record(z.string(), Price).default({}),
});
export type ModelFile = z.infer<typeof ModelFile>;

export interface ModelEndpoint {
  readonly baseUrl: string;
  readonly key: SecretKey | null;
  readonly model: string;
  readonly supportsSchema: boolean;
}

/** How the model of one agent is asked. */
export interface ModelSettings extends ModelEndpoint {
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  /** Of one try. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** Pictures are put into its prompts; otherwise what is to be seen is told in words. */
  readonly seesPictures: boolean;
  readonly backup: ModelEndpoint | null;
}

/** How texts are turned into vectors. */
export interface EmbeddingSettings {
  readonly baseUrl: string;
  readonly key: SecretKey | null;
  readonly model: string;
  /** How many numbers a vector is to have; null: as many as the model gives. */
  readonly dimensions: number | null;
  /** Of one try. */
  readonly timeoutMs: number;
  /** Cosine below which two texts are about different things to this model. */
  readonly similarityMin: number;
}

export interface ModelSettingsBook {
  /** Those of this agent, else the default ones. */
  of(agent: string): ModelSettings;
  /** All that there are, to say at the start what is configured; `default` and the agents by name. */
  readonly all: Readonly<Record<string, ModelSettings>>;
  /** Null: no texts are turned into vectors. */
  readonly embedding: EmbeddingSettings | null;
  readonly prices: PriceTable;
}

const TIMEOUT_MS = 120_000;
const RETRIES = 2;
const EMBEDDING_TIMEOUT_MS = 10_000;
/** Models differ much in what they make of unrelated texts; this is for those that put them near 0. */
const SIMILARITY_MIN = 0.3;
const OPENAI_URL = 'https://api.openai.com/v1';

/** What the environment says, of the form of a file. */
export interface ModelEnvironment {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly embeddingModel?: string;
  readonly hasKey: boolean;
}

/** Puts file and environment together; the file counts first. `keyOf` finds a key or throws ModelSettingsError. */
export function makeSettings(file: ModelFile, environment: ModelEnvironment, keyOf: KeyOf): ModelSettingsBook {
  const base = { ...inherited(fromEnvironment(environment), file.default), ...file.default };
  const book: Record<string, ModelSettings> = { default: settingsOf(base, 'default', keyOf) };
  for (const [agent, own] of Object.entries(file.agents)) {
    book[agent] = settingsOf({ ...inherited(base, own), ...own }, `agents.${agent}`, keyOf);
  }
  const all = Object.freeze(book);
  const fallback = book['default'] as ModelSettings;
  return {
    of: (agent) => (Object.hasOwn(all, agent) ? (all[agent] ?? fallback) : fallback),
    all,
    embedding: embeddingOf(file.embedding, { base, model: environment.embeddingModel }, keyOf),
    prices: file.prices,
  };
}

/** Every key that these settings hold. */
export function keysOf({ all, embedding }: ModelSettingsBook): string[] {
  const endpoints = Object.values(all).flatMap(({ key, backup }) => [key, backup?.key]);
  return [...endpoints, embedding?.key].flatMap((key) => (key === null || key === undefined ? [] : [key.reveal()]));
}

type Raw = z.infer<typeof Default>;

type KeyOf = (source: KeySource, path: string) => SecretKey;

function embeddingOf(
  own: z.infer<typeof EmbeddingOfFile> | undefined,
  { base, model: ofEnvironment }: { readonly base: Raw; readonly model: string | undefined },
  keyOf: KeyOf,
): EmbeddingSettings | null {
  if (own === undefined && ofEnvironment === undefined) return null;
  const { dimensions = null, timeoutMs = EMBEDDING_TIMEOUT_MS, similarityMin = SIMILARITY_MIN, ...place } = own ?? {};
  const model = place.model ?? ofEnvironment;
  if (model === undefined) {
    throw new ModelSettingsError('embedding.model is not set; it must be the name of a model that makes embeddings.');
  }
  const { baseUrl, key } = endpointOf({ ...inherited(base, place), ...place, model }, 'embedding', keyOf);
  return { baseUrl, key, model, dimensions, timeoutMs, similarityMin };
}

function fromEnvironment({ baseUrl, model, hasKey }: ModelEnvironment): Raw {
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(model !== undefined && { model }),
    ...(hasKey && { key: { env: 'OPENAI_API_KEY' } }),
  };
}

/** A key belongs to the place it was given for: another base URL does not inherit it. */
function inherited(base: Raw, own: Raw): Raw {
  if (own.baseUrl === undefined || own.baseUrl === base.baseUrl) return base;
  const { key: _, ...others } = base;
  return others;
}

function settingsOf(raw: Raw, path: string, keyOf: KeyOf): ModelSettings {
  const { model, backup } = raw;
  if (model === undefined) throw new ModelSettingsError(`${path}.model is not set; it must be the name of a model.`);
  const main = { ...raw, model };
  return {
    ...endpointOf(main, path, keyOf),
    temperature: raw.temperature ?? null,
    maxTokens: raw.maxTokens ?? null,
    timeoutMs: raw.timeoutMs ?? TIMEOUT_MS,
    retries: raw.retries ?? RETRIES,
    seesPictures: raw.seesPictures ?? false,
    backup:
      backup === undefined ? null : endpointOf({ ...inherited(main, backup), ...backup }, `${path}.backup`, keyOf),
  };
}

function endpointOf(raw: Raw & { model: string }, path: string, keyOf: KeyOf): ModelEndpoint {
  return {
    baseUrl: (raw.baseUrl ?? OPENAI_URL).replace(/\/+$/u, ''),
    key: raw.key === undefined ? null : keyOf(raw.key, `${path}.key`),
    model: raw.model,
    supportsSchema: raw.supportsSchema ?? true,
  };
}
