import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedServerError } from './errors.js';

/** The first version with the stream features relied upon: expected sequences over filters, scheduled messages, per-key TTL. */
const NATS_VERSION_MIN = '2.12';
/** A limit for a program that is none of ours and hangs: a busy machine takes seconds to start one. */
const VERSION_TIMEOUT_MS = 30_000;
const CACHE_PREFIX = 'nats-server-';

const run = promisify(execFile);
const acceptable = new Map<string, Promise<boolean>>();

/** Looks where `./orrery` puts or finds it: ORRERY_NATS_SERVER, PATH, the user's cache. Never downloads. */
export async function findNatsServer(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env['ORRERY_NATS_SERVER'];
  if (named !== undefined && named !== '') {
    if (await isAcceptable(named)) return named;
    throw new EmbeddedServerError(`ORRERY_NATS_SERVER=${named} is not a nats-server ${NATS_VERSION_MIN} or newer.`);
  }
  const onPath = (env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'nats-server'));
  for (const candidate of [...onPath, ...(await cached(env))]) {
    if (await isAcceptable(candidate)) return candidate;
  }
  throw new EmbeddedServerError(
    `No nats-server ${NATS_VERSION_MIN} or newer found; start through ./orrery, or set ORRERY_NATS_SERVER to one.`,
  );
}

async function cached(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const cache = join(env['XDG_CACHE_HOME'] ?? join(env['HOME'] ?? homedir(), '.cache'), 'orrery');
  const entries = await readdir(cache).catch(() => []);
  return entries.filter((entry) => entry.startsWith(CACHE_PREFIX)).map((entry) => join(cache, entry, 'nats-server'));
}

/** Asked once per process and path: the answer does not change while we run. Who gave none is asked again by the next. */
function isAcceptable(binary: string): Promise<boolean> {
  const known = acceptable.get(binary);
  if (known !== undefined) return known;
  const answer = run(binary, ['--version'], { timeout: VERSION_TIMEOUT_MS }).then(
    ({ stdout }) =>
      isAtLeast(/^nats-server: v(?<version>\S+)/u.exec(stdout)?.groups?.['version'] ?? '', NATS_VERSION_MIN),
    () => {
      acceptable.delete(binary);
      return false;
    },
  );
  acceptable.set(binary, answer);
  return answer;
}

/** Compares `major.minor`; whatever follows does not decide. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [major = Number.NaN, minor = Number.NaN] = numbers(version);
  const [majorMin = 0, minorMin = 0] = numbers(minimum);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

function numbers(version: string): readonly number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10));
}
