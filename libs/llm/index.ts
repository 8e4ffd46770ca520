/**
 * Models: asking them, making sure of what they answer, counting what it costs, and their stand-ins in tests and recordings.
 * What they are asked is written in `prompts` and put together in `libs/prompter`.
 */
export { mayCallModel, mayRunCommand, type Exhausted } from './models/budget-meter.js';
export type { ChatModel, ModelAnswer, ModelErrorCode, ModelRequest } from './models/chat-model.js';
export type { BreakerOptions } from './openai/circuit.js';
export {
  EMBEDDED_CHARS_MAX,
  EMBEDDED_TEXTS_MAX,
  type Embedded,
  type Embedder,
  type Embedding,
  type EmbeddingRequest,
  type NotEmbedded,
} from './models/embedder.js';
export { loadChatModel, loadEmbedder } from './load.adapter.js';
export { OpenAiEmbedder, type OpenAiEmbedderOptions } from './openai/embedder.adapter.js';
export { OpenAiChatModel, type OpenAiChatModelOptions } from './openai/chat-model.adapter.js';
export { costOf, Price, type PriceTable, type Tokens } from './models/price.js';
export { promptHash } from './models/prompt-hash.js';
export { parseTranscript, RecordingChatModel, ReplayedChatModel, TranscriptLine } from './stand-ins/recorded.js';
export { withRecording } from './stand-ins/recording.adapter.js';
export { ScriptedChatModel, type Script, type Scripted, type ScriptedOptions } from './stand-ins/scripted.js';
export { ScriptedEmbedder } from './stand-ins/scripted-embedder.js';
export { SecretKey } from './settings/secret-key.js';
export { loadModelSettings } from './settings/settings.adapter.js';
export {
  makeSettings,
  type EmbeddingSettings,
  type ModelEndpoint,
  type ModelSettings,
  type ModelSettingsBook,
} from './settings/settings.js';
export { countPromptTokens, countTokens } from './models/tokens.js';
export {
  StoringModelDesk,
  type ModelDesk,
  type ModelDeskParts,
  type ModelQuestion,
  strictSchema,
  type StrictSchema,
  askStructured,
  type CallRefusal,
  type StructuredAsk,
  type StructuredReply,
  thoughtFollower,
} from './replies/index.js';
