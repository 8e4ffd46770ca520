import { ConfigError } from '#libs/platform';
import type { SettingsInUse } from '#proto';
import type { ChatModel, Embedder } from './models/index.js';
import { OpenAiEmbedder, OpenAiChatModel } from './openai/index.js';
import { TranscriptError, withRecording } from './stand-ins/index.js';
import { loadModelSettings, keysOf, modelsInUse, ModelSettingsError } from './settings/index.js';

/**
 * The model that the environment configures: an endpoint, a recording of one, or null for none. Throws ConfigError, in one sentence,
 * when it cannot be used as it is.
 */
export function loadChatModel(environment: Environment): ChatModel | null {
  return loaded(() => {
    const settings = loadModelSettings(environment);
    const model = settings === null ? null : new OpenAiChatModel({ settings });
    return withRecording(environment['ORRERY_MODEL_RECORDING'], model);
  });
}

/** How the environment has models asked, to be shown to people. Throws ConfigError like `loadChatModel`. */
export function loadModelsInUse(environment: Environment): Pick<SettingsInUse, 'models' | 'replays'> {
  return loaded(() => {
    const settings = loadModelSettings(environment);
    const replays = environment['ORRERY_MODEL_RECORDING']?.startsWith('replay:') === true;
    return { models: settings === null ? [] : modelsInUse(settings), replays };
  });
}

/** Which agents have a model that sees, by what is configured; none where there is no model. Throws ConfigError like `loadChatModel`. */
export function loadSight(environment: Environment): (agent: string) => boolean {
  const settings = loaded(() => loadModelSettings(environment));
  return (agent) => settings?.of(agent).seesPictures ?? false;
}

/** What makes embeddings, or null when the environment configures nothing that does. Throws ConfigError like `loadChatModel`. */
export function loadEmbedder(environment: Environment): Embedder | null {
  return loaded(() => {
    const book = loadModelSettings(environment);
    if (book === null || book.embedding === null) return null;
    return new OpenAiEmbedder({ settings: book.embedding, prices: book.prices, keys: keysOf(book) });
  });
}

type Environment = Readonly<Record<string, string | undefined>>;

function loaded<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (error instanceof ModelSettingsError || error instanceof TranscriptError) throw new ConfigError(error.message);
    throw error;
  }
}
