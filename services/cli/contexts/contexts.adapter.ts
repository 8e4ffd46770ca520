import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseJson } from '#proto';
import { writeJson } from '../home/index.js';
import { badInput, errorCode } from '../terminal/index.js';
import { Contexts, NO_CONTEXTS } from './context-choice.js';

/** Of the person, not of a system: the XDG base directories have a place for that. */
function fileOf(env: NodeJS.ProcessEnv): string {
  const config = env['XDG_CONFIG_HOME'] ?? '';
  const home = env['HOME'] ?? homedir();
  return join(config === '' ? join(home, '.config') : config, 'orrery', 'contexts.json');
}

/** Throws CliError when the file is not one of ours. */
export async function readContexts(env: NodeJS.ProcessEnv): Promise<Contexts> {
  const file = fileOf(env);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (text === undefined) return NO_CONTEXTS;
  const parsed = Contexts.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw badInput(`${file} has no contexts in it; remove it, and add them again with "orrery context add".`);
}

export async function writeContexts(env: NodeJS.ProcessEnv, contexts: Contexts): Promise<void> {
  const file = fileOf(env);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeJson(file, contexts);
}
