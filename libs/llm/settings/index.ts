/**
 * Which endpoint an agent asks and with which key, read from the environment and from a file.
 */
export { SecretKey } from './secret-key.js';
export { loadModelSettings } from './settings.adapter.js';
export { ModelSettingsError, keysOf } from './settings.js';
export type { EmbeddingSettings, ModelEndpoint, ModelSettings, ModelSettingsBook } from './settings.js';
