import { rename, writeFile } from 'node:fs/promises';
import { failure, messageOf } from '../terminal/index.js';

/** Whole or not at all: half a proof is none. */
export async function writeWhole(file: string, text: string): Promise<void> {
  try {
    await writeFile(`${file}.part`, text);
    await rename(`${file}.part`, file);
  } catch (error) {
    throw failure(`${file} cannot be written: ${messageOf(error)}`, error);
  }
}
