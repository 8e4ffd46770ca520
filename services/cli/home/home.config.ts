import { homedir } from 'node:os';
import { homeAt, homeDirOf, type Home } from './home.js';

/** The home that this environment means. */
export function homeOf(env: NodeJS.ProcessEnv): Home {
  return homeAt(homeDirOf(env, { uid: process.getuid?.(), directory: homedir() }));
}
