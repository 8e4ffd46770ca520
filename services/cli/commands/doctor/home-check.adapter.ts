import { chmod, lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../../home/index.js';
import { errorCode } from '../../terminal/index.js';
import { processesOf, supervisorOf } from '../../processes/index.js';
import { bad, ok, warn, type Diagnosis } from './finding.js';

const OTHERS = 0o077;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIR = 0o700;
const NAMED_MAX = 3;

/** Who of the home's processes is alive. */
export async function checkProcesses(home: Home): Promise<Diagnosis[]> {
  const [supervisor, alive, known] = await Promise.all([
    supervisorOf(home),
    processesOf(home),
    readFile(home.processesFile, 'utf8').catch(() => ''),
  ]);
  const names = namesIn(known);
  if (supervisor === undefined && names.length === 0) {
    return [bad('processes', `no system is running in ${home.root}`, 'orrery up')];
  }
  const dead = names.filter((name) => !alive.has(name));
  const findings: Diagnosis[] = [];
  if (supervisor === undefined) {
    findings.push(bad('processes', 'nobody supervises what runs here', 'orrery up takes over what is left'));
  }
  if (dead.length > 0) {
    findings.push(bad('processes', `${dead.join(', ')} not alive`, `see ${home.logs}; it is started again by itself`));
  }
  if (findings.length === 0) findings.push(ok('processes', `${names.length} alive: ${names.join(' ')}`));
  return findings;
}

function namesIn(text: string): string[] {
  try {
    return Object.keys(JSON.parse(text) as object);
  } catch {
    return [];
  }
}

interface Loose {
  readonly path: string;
  readonly mode: number;
}

/** Files and directories with secrets that somebody else can read or change. With `repair` they are made private. */
export async function checkModes(home: Home, repair: boolean): Promise<{ findings: Diagnosis[]; done: string[] }> {
  const secrets = await secretsOf(home);
  const loose = secrets.filter(({ mode }) => (mode & OTHERS) !== 0).map(({ path, mode }): Loose => ({ path, mode }));
  const first = loose[0];
  if (first === undefined) return { findings: [ok('files', `${secrets.length} with secrets, all private`)], done: [] };
  if (!repair) {
    const names = loose.slice(0, NAMED_MAX).map(({ path, mode }) => `${path} (${(mode & 0o777).toString(8)})`);
    const more = loose.length > NAMED_MAX ? ` and ${loose.length - NAMED_MAX} more` : '';
    const what = `others of this machine can read ${names.join(', ')}${more}`;
    return { findings: [bad('files', what, `chmod go= ${first.path}, or orrery doctor --repair`)], done: [] };
  }
  for (const { path } of loose) {
    const isDirectory = (await lstat(path)).isDirectory();
    await chmod(path, isDirectory ? PRIVATE_DIR : PRIVATE_FILE);
  }
  const done = loose.map(({ path }) => `made ${path} private`);
  const remedy = 'who could read them in the meantime has them: make new ones where that matters';
  return { findings: [warn('files', `${loose.length} were not private and are by now`, remedy)], done };
}

/** Everything below the keys, and what each device has. Links are not followed. */
async function secretsOf(home: Home): Promise<Loose[]> {
  const devices = await names(home.devices);
  const paths = [
    home.keys,
    ...(await below(home.keys)),
    join(home.nats, 'nats-server.conf'),
    ...devices.flatMap((id) => [home.deviceTokenFile(id), home.deviceIdentityFile(id), home.deviceSecretsDir(id)]),
    ...(await Promise.all(devices.map((id) => below(home.deviceSecretsDir(id))))).flat(),
  ];
  const looks = await Promise.all(
    paths.map(async (path): Promise<Loose[]> => {
      const found = await lstat(path).catch(() => undefined);
      return found === undefined || found.isSymbolicLink() ? [] : [{ path, mode: found.mode }];
    }),
  );
  return looks.flat();
}

async function below(directory: string): Promise<string[]> {
  const inside = await names(directory, true);
  return inside.map((name) => join(directory, name));
}

async function names(directory: string, recursive = false): Promise<string[]> {
  try {
    return await readdir(directory, { recursive });
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}
