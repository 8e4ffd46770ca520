import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { requestRun } from '#libs/testing';
import { type RunId, RunRequest } from '#proto';

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
  return requestRun(nc, RunRequest.parse(request));
}
