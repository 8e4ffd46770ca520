/** Models without an endpoint: scripted for tests, recorded for replays. */
export { TranscriptError, parseTranscript } from './recorded.js';
export * from './recording.adapter.js';
export * from './scripted-embedder.js';
export * from './scripted.js';
