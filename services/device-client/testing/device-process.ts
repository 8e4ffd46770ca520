import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pathOfTests } from './programs.js';

export interface DeviceHome {
  readonly dir: string;
  readonly dataDir: string;
  readonly jailDir: string;
  readonly tokenFile: string;
  /** Lines of a file in the jail directory. */
  lines(file: string): Promise<string[]>;
  remove(): Promise<void>;
}

export const TOKEN = 'canary-token-0815';

export async function makeHome(): Promise<DeviceHome> {
  const dir = await mkdtemp(join(tmpdir(), 'orrery-device-'));
  const tokenFile = join(dir, 'token');
  await writeFile(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  const jailDir = join(dir, 'jail');
  return {
    dir,
    dataDir: join(dir, 'data'),
    jailDir,
    tokenFile,
    lines: async (file) => {
      const text = await readFile(join(jailDir, file), 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line !== '');
    },
    // What a device that was killed had started ends a moment after it, and may write until then.
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 }),
  };
}

export interface DeviceProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Everything it has written so far. */
  readonly output: () => string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  /** Resolves when it has ended by itself, with all that it has written. */
  readonly ended: Promise<unknown>;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = join(ROOT, 'dist/services/device-client/main.js');

/** A real device client process, of the program as it was built and is shipped. `codeDir` is where V8's code of it is kept, for all tests when absent. */
export function startDevice(
  home: DeviceHome,
  url: string,
  more: readonly string[] = [],
  codeDir = join(ROOT, '.cache/node-compile'),
): DeviceProcess {
  const args = [
    'join',
    '--url',
    url,
    '--token-file',
    home.tokenFile,
    '--data-dir',
    home.dataDir,
    '--jail-dir',
    home.jailDir,
  ];
  const child = spawn(process.execPath, [PROGRAM, ...args, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: pathOfTests(),
      HOME: home.dir,
      ORRERY_LOG_LEVEL: 'debug',
      SECRET: 'canary-secret-4711',
      NODE_COMPILE_CACHE: codeDir,
    },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [exited, ended] = [once(child, 'exit'), once(child, 'close')];
  return {
    pid: child.pid ?? 0,
    child,
    output: () => output,
    ended,
    kill: async (signal) => {
      child.kill(signal);
      await exited;
      return child.exitCode;
    },
  };
}
