import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a request into a file of its own and says where. */
export async function writeRequest(
  directory: string,
  request: { requestId: string } & Record<string, unknown>,
): Promise<string> {
  const file = join(directory, `${request.requestId}.json`);
  await writeFile(file, JSON.stringify(request));
  return file;
}
