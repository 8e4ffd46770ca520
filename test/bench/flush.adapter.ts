import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Times of appends to a file, each on the disk before the next one begins: what a journal costs without a journal. */
export async function flushTimes(directory: string, { bytes, count }: { bytes: number; count: number }) {
  const handle = await open(join(directory, 'flushes'), 'w');
  const line = Buffer.alloc(bytes, 0x20);
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await handle.write(line, 0, bytes, index * bytes);
    await handle.datasync();
    times.push(performance.now() - began);
  }
  await handle.close();
  return times;
}
