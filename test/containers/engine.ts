import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const ROOT = resolve(import.meta.dirname, '../..');
const CLI = join(ROOT, 'dist/services/cli/main.js');
/** Directories of a volume can be mounted since this one. */
const ENGINE_MAJOR_MIN = 26;
const ANSWER_MS_MAX = 10_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const POLL_MS = 200;
/** Liveness, not speed: a test that hits it hangs. */
const DEADLINE_MS = 180_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export function docker(args: readonly string[], options?: RunOptions): Promise<Ran> {
  return run('docker', args, options);
}

/** The command line on this machine. */
export function orrery(args: readonly string[], options?: RunOptions): Promise<Ran> {
  return run(process.execPath, [CLI, ...args], options);
}

function run(
  file: string,
  args: readonly string[],
  { input = '', env = {}, timeoutMs = 0 }: RunOptions = {},
): Promise<Ran> {
  const options = { cwd: ROOT, env: { ...process.env, ...env }, maxBuffer: OUTPUT_BYTES_MAX, timeout: timeoutMs };
  return new Promise((settle) => {
    const child = execFile(file, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      settle({ code, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined); // it may end without having read
    child.stdin?.end(input);
  });
}

/** Why there is nothing here to run containers with; undefined when there is. */
export async function whyNoEngine(): Promise<string | undefined> {
  const version = await docker(['version', '--format', '{{.Server.Version}}'], { timeoutMs: ANSWER_MS_MAX });
  if (version.code !== 0) return 'no Docker engine answers';
  if (Number.parseInt(version.stdout, 10) < ENGINE_MAJOR_MIN) {
    return `Docker engine ${version.stdout.trim()} is older than ${ENGINE_MAJOR_MIN}`;
  }
  const compose = await docker(['compose', 'version'], { timeoutMs: ANSWER_MS_MAX });
  return compose.code === 0 ? undefined : 'docker has no compose plugin';
}

/** Asks again until there is an answer; what fails meanwhile is what is being waited for. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (let last: unknown; ; await sleep(POLL_MS)) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw new Error(`${what} did not come`, { cause: last });
  }
}
