import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requestRun } from '#libs/testing';
import { type RunId, RunRequest } from '#proto';
import type { TestSystem } from './system.js';

/** Writes a request into a file of its own and says where. */
export async function writeRequest(
  directory: string,
  request: { requestId: string } & Record<string, unknown>,
): Promise<string> {
  const file = join(directory, `${request.requestId}.json`);
  await writeFile(file, JSON.stringify(request));
  return file;
}

/**
 * Sends a request without a process of its own, signed by the first operator; resolves when it is recorded. Until somebody is there
 * who can serve it, it is sent again.
 */
export async function sendRequest(
  system: TestSystem,
  request: { requestId: string } & Record<string, unknown>,
): Promise<RunId> {
  const seed = await readFile(join(system.home, 'keys/cli.seed'), 'utf8');
  return requestRun(await system.bus(), RunRequest.parse(request), seed.trim());
}
