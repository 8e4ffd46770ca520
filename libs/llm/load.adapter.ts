import type { ChatModel } from './chat-model.js';
import { OpenAiChatModel } from './openai.adapter.js';
import { withRecording } from './recording.adapter.js';
import { loadModelSettings } from './settings.adapter.js';

/**
 * The model that the environment configures: an endpoint, a recording of one, or null for none. Throws ModelSettingsError or
 * TranscriptError, in one sentence.
 */
export function loadChatModel(environment: Readonly<Record<string, string | undefined>>): ChatModel | null {
  const settings = loadModelSettings(environment);
  const model = settings === null ? null : new OpenAiChatModel({ settings });
  return withRecording(environment['ORRERY_MODEL_RECORDING'], model);
}
