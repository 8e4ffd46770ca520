import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** By platform: the program with which a desktop opens a file. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe', linux: 'xdg-open' };

/**
 * Whether a browser was asked to open it. It is told a file that only its owner can read, and that leads there: what stands on a command line every
 * user of the machine can see. The code in it is soon worth nothing, and the next one takes its place.
 */
export async function openInBrowser(link: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const opener = OPENERS[process.platform];
  const hasDesktop =
    process.platform !== 'linux' || (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
  if (opener === undefined || !hasDesktop || (env['SSH_CONNECTION'] ?? '') !== '') return false;
  const config = env['XDG_CONFIG_HOME'] ?? '';
  const folder = join(config === '' ? join(env['HOME'] ?? homedir(), '.config') : config, 'orrery');
  const file = join(folder, 'console.html');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // What is there may be readable for others.
    await rm(file, { force: true });
    await writeFile(file, pageTo(link), { mode: 0o600, flag: 'wx' });
  } catch {
    return false;
  }
  return started(opener, file, env);
}

function started(opener: string, file: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(opener, [file], { env, stdio: 'ignore', detached: true });
  child.once('spawn', () => resolve(true)).once('error', () => resolve(false));
  child.unref();
  return promise;
}

/** A link holds no character that HTML would read otherwise. */
function pageTo(link: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Orrery</title>
<meta http-equiv="refresh" content="0;url=${link}"><a href="${link}">Open the console</a>
`;
}
