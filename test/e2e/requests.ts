import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { type RunId, RunRequest, SubmitAnswer, subjects } from '#proto';
import { until } from './system.js';

/** Writes a request into a file of its own and says where. */
export async function writeRequest(
  directory: string,
  request: { requestId: string } & Record<string, unknown>,
): Promise<string> {
  const file = join(directory, `${request.requestId}.json`);
  await writeFile(file, JSON.stringify(request));
  return file;
}

/** Sends a request without a process of its own; resolves when it is recorded. Until somebody is there who can serve it, it is sent again. */
export function sendRequest(
  nc: NatsConnection,
  request: { requestId: string } & Record<string, unknown>,
): Promise<RunId> {
  const body = JSON.stringify(RunRequest.parse(request));
  return until(`the acceptance of ${request.requestId}`, async () => {
    const message = await nc.request(subjects.submit, body, { timeout: ANSWER_MS_MAX }).catch((error: unknown) => {
      if (error instanceof errors.RequestError && error.isNoResponders()) return undefined;
      throw error;
    });
    if (message === undefined) return undefined;
    const answer = SubmitAnswer.parse(message.json());
    if ('runId' in answer) return answer.runId;
    if (answer.error.code === 'NO_PLANNER' || answer.error.code === 'TRY_AGAIN') return undefined;
    throw new Error(`${request.requestId} was refused: ${answer.error.message}`);
  });
}

const ANSWER_MS_MAX = 60_000;
