import { open } from 'node:fs/promises';
import { LIMITS } from '#proto';
import { badInput, errorCode } from './errors.js';

/** What a person wrote, in a file or, for `-`, on standard input; never more than a request may have. */
export async function readInput(file: string): Promise<string> {
  try {
    const handle = await open(file === '-' ? '/dev/stdin' : file);
    try {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of handle.createReadStream({ autoClose: false })) {
        const buffer = Buffer.from(chunk as Uint8Array);
        bytes += buffer.length;
        chunks.push(buffer);
        if (bytes > LIMITS.requestBytesMax) {
          throw badInput(`${file} is larger than ${LIMITS.requestBytesMax} bytes, the most that is taken.`);
        }
      }
      return Buffer.concat(chunks).toString('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code !== undefined) throw badInput(`${file} cannot be read (${code}).`);
    throw error;
  }
}
