import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { openBashGrammar, openPolicy, parsePolicy, type CommandPolicy, type PolicyFile } from '#libs/command-policy';
import { badInput } from '../../terminal/index.js';
import { homeOf } from '../../home/index.js';
import { readRequestFile } from '../../files/index.js';
import { refusedPolicy } from './policy-text.js';

/** A policy file as it was found; without a file it is the built-in policy. */
export interface FoundPolicy {
  /** What a person calls it. */
  readonly name: string;
  readonly text: string | undefined;
  readonly file: PolicyFile | undefined;
}

const NAME_IN_HOME = 'policy.yaml';

/** The file that was named, otherwise the one of the home, otherwise none. @throws CliError bad input when it is no policy. */
export async function findPolicy(env: NodeJS.ProcessEnv, named: string | undefined): Promise<FoundPolicy> {
  const inHome = join(homeOf(env).root, NAME_IN_HOME);
  const path = named ?? ((await exists(inHome)) ? inHome : undefined);
  if (path === undefined) return { name: 'the built-in policy', text: undefined, file: undefined };
  const text = await readRequestFile(path);
  const parsed = parsePolicy(text);
  const name = path === '-' ? 'standard input' : path;
  if (!parsed.ok) throw badInput(refusedPolicy(name, parsed.errors));
  return { name, text, file: parsed.policy };
}

/** Ready to judge; the grammar is loaded once. */
export async function policyOf({ text }: FoundPolicy): Promise<CommandPolicy> {
  return openPolicy({ file: text }, await openBashGrammar());
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
