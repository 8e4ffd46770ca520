import { open } from 'node:fs/promises';
import { errorCode, InputError } from '../faults/index.js';
import { isTrusted } from '../secrets/index.js';

const OTHERS_WRITE = 0o022;
const POLICY_BYTES_MAX = 1024 * 1024;

/** The text of a policy file that its owner alone can have written. Throws InputError, one sentence. */
export async function readLocalPolicy(file: string): Promise<string> {
  const text = await readTrusted(file);
  const { parsePolicy } = await import('#libs/command-policy');
  const parsed = parsePolicy(text);
  if (!parsed.ok) throw new InputError(`--policy: ${file}: ${parsed.errors.join('; ')}`);
  return text;
}

async function readTrusted(file: string): Promise<string> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    const code = errorCode(error);
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown reason'})`;
    throw new InputError(`--policy: the file ${file} ${why}.`);
  });
  try {
    // Of the file that was opened, whatever its name means by now.
    const { uid, mode, size } = await handle.stat();
    if (!isTrusted(uid)) throw new InputError(`--policy: ${file} must belong to root or to the user of the client.`);
    if ((mode & OTHERS_WRITE) !== 0) {
      throw new InputError(`--policy: ${file} can be written by others; take that away with chmod go-w.`);
    }
    if (size > POLICY_BYTES_MAX) throw new InputError(`--policy: ${file} is longer than ${POLICY_BYTES_MAX} bytes.`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
