/**
 * Models without an endpoint: scripted for tests, recorded for replays.
 */
export { TranscriptError } from './recorded.js';
export { withRecording } from './recording.adapter.js';
