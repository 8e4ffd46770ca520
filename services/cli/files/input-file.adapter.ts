import { open } from 'node:fs/promises';
import { LIMITS } from '#proto';
import { badInput, errorCode } from '../terminal/index.js';

/** What a person wrote, in a file or, for `-`, on standard input; never more than a request may have. */
export async function readRequestFile(file: string): Promise<string> {
  try {
    // Not as /dev/stdin: what is a socket, as the pipes of a Node.js parent are, has no file to open.
    if (file === '-') return await wholeOf(process.stdin, file);
    const handle = await open(file);
    try {
      return await wholeOf(handle.createReadStream({ autoClose: false }), file);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code !== undefined) throw badInput(`${file} cannot be read (${code}).`);
    throw error;
  }
}

async function wholeOf(stream: AsyncIterable<unknown>, file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const buffer = Buffer.from(chunk as Uint8Array);
    bytes += buffer.length;
    chunks.push(buffer);
    if (bytes > LIMITS.requestBytesMax) {
      throw badInput(`${file} is larger than ${LIMITS.requestBytesMax} bytes, the most that is taken.`);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}
