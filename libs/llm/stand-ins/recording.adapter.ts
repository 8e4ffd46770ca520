import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { ChatModel } from '../models/index.js';
import {
  parseTranscript,
  RecordingChatModel,
  ReplayedChatModel,
  TranscriptError,
  type TranscriptLine,
} from './recorded.js';
import { ModelSettingsError } from '../settings/index.js';

const READABLE_BY_OWNER = 0o600;

/**
 * What `ORRERY_MODEL_RECORDING` says: `record:<file>` adds what the model answers to a transcript, `replay:<file>` answers
 * out of one and needs no model. Absent or empty: the model itself. Throws ModelSettingsError or TranscriptError.
 */
export function withRecording(recording: string | undefined, model: ChatModel | null): ChatModel | null {
  if (recording === undefined || recording === '') return model;
  const [, mode, file] = /^(record|replay):(.+)$/su.exec(recording) ?? [];
  if (mode === undefined || file === undefined) {
    throw new ModelSettingsError('ORRERY_MODEL_RECORDING must be record:<file> or replay:<file>.');
  }
  if (mode === 'replay') return new ReplayedChatModel(parseTranscript(read(file), file));
  if (model === null) {
    throw new ModelSettingsError('ORRERY_MODEL_RECORDING is to record, but no model is configured; set ORRERY_MODEL.');
  }
  const earlier = begin(file);
  return new RecordingChatModel(model, (line) => appendFileSync(file, `${JSON.stringify(line)}\n`), earlier);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unusable(file, 'read', error);
  }
}

/** What is there is continued: a service that was killed goes on recording. A line that it did not finish is dropped. */
function begin(file: string): TranscriptLine[] {
  try {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole !== text || text === '') writeFileSync(file, whole, { mode: READABLE_BY_OWNER });
    return parseTranscript(whole, file);
  } catch (error) {
    throw error instanceof TranscriptError ? error : unusable(file, 'written', error);
  }
}

function unusable(file: string, what: string, error: unknown): ModelSettingsError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
  return new ModelSettingsError(`ORRERY_MODEL_RECORDING names ${file}, which cannot be ${what}${code}.`);
}
