import { ApiError, getText } from '../../../wire/index.js';
import type { VerifyAnswer, VerifyQuestion } from './verify-words.js';

interface Asked {
  readonly runId: string;
  /** The run that it was forked from. */
  readonly parent: string | undefined;
}

/** Loads the records of a run as they are stored and has them verified here. Rejects with the sentence to be shown. */
export async function verifyHere({ runId, parent }: Asked, signal: AbortSignal): Promise<VerifyAnswer> {
  const records = await getText(`/v1/runs/${runId}/records`, signal);
  const before = parent === undefined ? undefined : await recordsIfThere(parent, signal);
  const worker = new Worker(new URL('./verify.worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise<VerifyAnswer>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')));
      worker.addEventListener('message', ({ data }: MessageEvent<VerifyAnswer>) => resolve(data));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      const question: VerifyQuestion = { runId, records, parent: before };
      worker.postMessage(question, { transfer: [] });
    });
  } finally {
    worker.terminate();
  }
}

/** What is not kept any more is not checked, and the report says so. */
async function recordsIfThere(runId: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await getText(`/v1/runs/${runId}/records`, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
