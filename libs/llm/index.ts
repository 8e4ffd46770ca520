export { addUsage, mayCallModel, mayRunCommand, usageOfCalls, type Exhausted } from './budget-meter.js';
export type { ChatModel, ModelAnswer, ModelErrorCode, ModelRequest } from './chat-model.js';
export type { BreakerOptions } from './circuit.js';
export {
  EMBEDDED_CHARS_MAX,
  EMBEDDED_TEXTS_MAX,
  type Embedded,
  type Embedder,
  type Embedding,
  type EmbeddingRequest,
  type NotEmbedded,
} from './embedder.js';
export { loadChatModel, loadEmbedder } from './load.adapter.js';
export { OpenAiEmbedder, type OpenAiEmbedderOptions } from './openai-embedder.adapter.js';
export { OpenAiChatModel, type OpenAiChatModelOptions } from './openai.adapter.js';
export { costOf, Price, type PriceTable, type Tokens } from './price.js';
export { promptHash } from './prompt-hash.js';
export { StoringModelDesk, type ModelDesk, type ModelDeskParts, type ModelQuestion } from './model-desk.js';
export { parseTranscript, RecordingChatModel, ReplayedChatModel, TranscriptLine } from './recorded.js';
export { withRecording } from './recording.adapter.js';
export { ScriptedChatModel, type Script, type Scripted, type ScriptedOptions } from './scripted.js';
export { ScriptedEmbedder } from './scripted-embedder.js';
export { SecretKey } from './secret-key.js';
export { loadModelSettings } from './settings.adapter.js';
export {
  makeSettings,
  type EmbeddingSettings,
  type ModelEndpoint,
  type ModelSettings,
  type ModelSettingsBook,
} from './settings.js';
export { strictSchema, type StrictSchema } from './strict-schema.js';
export { askStructured, type Refusal, type StructuredAsk, type StructuredReply } from './structured-reply.js';
export { thoughtFollower } from './thought-stream.js';
export { countPromptTokens, countTokens } from './tokens.js';
