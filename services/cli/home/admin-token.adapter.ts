import { readFile } from 'node:fs/promises';
import { ADMIN_TOKEN_HASH, type Home } from './home.js';

/** Whether the token of the first start still lets in at the console of this home. */
export async function hasAdminToken(home: Home): Promise<boolean> {
  const text = await readFile(home.secretFile(ADMIN_TOKEN_HASH), 'utf8').catch(() => '');
  return /^[0-9a-f]{64}$/iu.test(text.trim());
}

/** How it is turned off; the console reads it again within seconds. */
export const offBy = (home: Home): string => `printf off > ${home.secretFile(ADMIN_TOKEN_HASH)}`;
